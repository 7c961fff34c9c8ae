"""What an examination came to, in figures and in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from aam_vision.support.wording import counted

ENOUGH = 59
"""Steps that have to come out as predicted before a model counts as examined: so many bound the others by 5%."""
LEVEL = 0.95
"""The confidence of that bound."""


@dataclass(frozen=True)
class Exam:
    """The steps of an examination: predicted by the learned model, then attempted by the agent."""

    steps: int = 0
    """The number of predicted steps that were attempted."""
    wrong: int = 0
    """The number of them that came out otherwise."""

    @property
    def bound(self) -> float:
        """The share of such steps that may come out otherwise, with 95% confidence at most; 1 if none was attempted.

        The exact (Clopper-Pearson) bound where no step was wrong. The steps are those of the examination's own
        kind: random plans of many lengths (``examination.plans``).
        """
        if not self.steps or self.wrong:
            return 1.0
        return float(1 - (1 - LEVEL) ** (1 / self.steps))

    @property
    def enough(self) -> bool:
        """Whether the examination was long enough, and passed."""
        return self.steps >= ENOUGH and not self.wrong

    def __str__(self) -> str:
        if not self.steps:
            return "not examined"
        right = self.steps - self.wrong
        found = f"{right} of {counted(self.steps, 'step')} came out as predicted"
        if self.wrong:
            return found
        return f"{found}: with 95% confidence at most {100 * self.bound:.0f}% of such steps would not"
