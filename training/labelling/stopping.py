"""When labels are enough: a test on answers that were not learned from."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb
from typing import Final

CONFIDENCE: Final = 0.95
"""Of all bounds."""

TOLERATED: Final = 0.02
"""Largest share of wrong answers, by its upper bound, with which labelling stops: a smaller one needs more answers."""

IN_A_ROW: Final = 2
"""Held-out pictures in a row that must have been read without a mistake, and whole."""


def upper_bound(wrong: int, number: int, confidence: float = CONFIDENCE) -> float:
    """The largest share that fits so many wrong ones of a number of answers (Clopper and Pearson, 1934).

    The chance of at most ``wrong`` is exactly ``1 - confidence`` there; 1.0 without an answer.
    """
    if wrong >= number:
        return 1.0
    low, high = wrong / number, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_most(wrong, number, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _at_most(wrong: int, number: int, share: float) -> float:
    """The chance of at most so many wrong ones of a number."""
    return float(
        sum(
            comb(number, count) * share**count * (1 - share) ** (number - count) for count in range(wrong + 1)
        )
    )


@dataclass
class Examination:
    """Answers about pictures chosen at random, each read before it was learned from.

    Figures count since the last mistake: what was learned after it may have cured it, and what came before says nothing of
    that.
    """

    answers: int = 0
    whole: int = 0
    mistakes: int = 0
    history: list[tuple[int, int, int]] = field(default_factory=list)

    def add(self, right: int, wrong: int, refused: int) -> None:
        """Take in a picture: numbers of answers that were right, wrong, and not given though the picture shows them."""
        self.history.append((right, wrong, refused))
        self.mistakes += wrong
        if wrong:
            self.answers = self.whole = 0
        else:
            self.answers += right
            self.whole = 0 if refused else self.whole + 1

    @property
    def bound(self) -> float:
        """The upper bound of the share of wrong answers."""
        return upper_bound(0, self.answers)

    @property
    def passed(self) -> bool:
        """Whether enough answers in a row were right."""
        return self.whole >= IN_A_ROW and self.bound <= TOLERATED
