"""Which picture to label next: the one that says most about the looks of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.training.labelling.pool import NO_LOOK, KnownLooks, Pool

SAME: Final = 3.0
"""Looks that are nearer than this to one that was just labelled are not asked for again before the next training."""

RANDOM, ACTIVE = "random", "active"

STRANGE: Final = 30.0
"""Distance from which on a look is as strange as can be: a larger one has rare large things labelled before small marks."""

DOUBTED: Final = 4.0
"""Weight of a look that the classifiers do not read surely, or otherwise than its label: a larger one follows the classifiers
sooner, and what is merely new later."""


def at_random(pool: Pool, labelled: Sequence[int], rng: np.random.Generator) -> int | None:
    """Any picture that is not labelled yet; None if there is none."""
    rest = _others(pool, labelled)
    return rest[int(rng.integers(len(rest)))] if rest else None


def least_labelled(pool: Pool, labelled: Sequence[int], rng: np.random.Generator) -> int | None:
    """A picture at random of the problems with the fewest labelled pictures, so that it tests what was learned elsewhere."""
    rest = _others(pool, labelled)
    if not rest:
        return None
    often = Counter(pool.pictures[number].picture.problem for number in labelled)
    fewest = min(often[pool.pictures[number].picture.problem] for number in rest)
    chosen = [number for number in rest if often[pool.pictures[number].picture.problem] == fewest]
    return chosen[int(rng.integers(len(chosen)))]


@dataclass(frozen=True)
class Open:
    """What is not known yet.

    Attributes:
        looks: (looks,), whether a look is not read surely.
        rooms: (pictures,), how many places of several cells are not read surely.
    """

    looks: NDArray[np.bool_]
    rooms: NDArray[np.intp]

    @classmethod
    def nothing(cls, pool: Pool) -> Open:
        """Nothing is open."""
        return cls(np.zeros(len(pool.looks), bool), np.zeros(len(pool.pictures), np.intp))

    def any(self) -> bool:
        """Whether anything is open."""
        return bool(self.looks.any() or self.rooms.any())

    def close(self, pool: Pool, number: int) -> None:
        """A picture was labelled: what it shows is not open any more, nor what looks the same."""
        looks = pool.pictures[number].looks
        own = looks[looks != NO_LOOK]
        self.looks[pool.distances[:, own].min(1, initial=np.inf) < SAME] = False
        self.rooms[number] = 0


def most_telling(pool: Pool, known: KnownLooks, labelled: Sequence[int], doubted: Open) -> int | None:
    """The picture whose label says most; None if all are labelled.

    By turns it is the one after whose label all looks together are nearest to labelled ones, and one with the strangest look of
    all. Every look counts once, however often it is seen, so that what is rare is not drowned by floors and walls. What is not
    read surely is as strange as can be, until something is labelled that looks the same.

    Args:
        pool: all pictures.
        known: what was answered.
        labelled: numbers of the pictures that are labelled.
        doubted: what is not read surely.
    """
    weight = np.where(doubted.looks, DOUBTED, 1.0)
    near = np.where(doubted.looks, STRANGE, np.minimum(known.nearest(), STRANGE)) ** 2
    candidates = _others(pool, labelled)
    if len(labelled) % 2 and not doubted.rooms.any():
        strangest = int((weight * near).argmax())
        candidates = [one for one in candidates if strangest in pool.pictures[one].looks] or candidates
    gains = []
    for number in candidates:
        own = np.unique(pool.pictures[number].looks)
        own = own[own != NO_LOOK]
        after = pool.distances[:, own].min(1, initial=STRANGE) ** 2
        gain = (weight * np.maximum(near - after, 0)).sum()
        gains.append(gain + DOUBTED * STRANGE**2 * doubted.rooms[number])
    return candidates[int(np.argmax(gains))] if candidates else None


def _others(pool: Pool, labelled: Sequence[int]) -> list[int]:
    """The numbers of the pictures that are not labelled."""
    done = set(labelled)
    return [number for number in range(len(pool.pictures)) if number not in done]


# When labels are enough: a test on answers that were not learned from.


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
