"""The verdict on an agent that did what its model rules out: which part of the assumption is false.

What an examination came to, in figures and in a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from aam_vision.model.query import Situation
from aam_vision.model.strips import GroundAction
from aam_vision.support.wording import counted

ENOUGH = 59
"""Steps that have to come out as predicted before a model counts as examined: so many bound the others by 5%."""
LEVEL = 0.95
"""The confidence of that bound."""


class Family(Enum):
    """The ways in which an agent can fail to be a deterministic STRIPS agent that is seen rightly."""

    RANDOM = "random"
    """The same step from the same snapshot has several outcomes."""
    CONDITIONAL = "conditional"
    """The outcome depends on the perceived state in a way that no precondition and no effect of STRIPS expresses."""
    HIDDEN = "hidden"
    """Two situations that look alike went differently: a predicate is missing."""
    MISREAD = "misread"
    """A classifier is wrong about a picture."""
    CHANGING = "changing"
    """The same step from the same snapshot once had another outcome, and keeps the new one."""
    UNKNOWN = "unknown"
    """None of these could be shown within the access."""


@dataclass(frozen=True)
class Example:
    """One of the two situations that show what is wrong."""

    situation: Situation
    """Where the step was attempted."""
    step: GroundAction
    outcome: str
    """What happened, in words: ``refused``, ``executed``, or what changed."""
    after: Situation | None = None
    """Where it led, if it was executed."""


@dataclass(frozen=True)
class Diagnosis:
    """Which part of the assumption is false, as far as experiments told."""

    family: Family
    culprit: str
    """The action, or for ``misread`` the predicate, that it is about."""
    why: str
    """One line of at most 100 characters, which begins with the culprit; of traces, followed by the lines that contradict each other."""
    examples: tuple[Example, ...] = ()
    """At most two: the expected outcome first, then the other one."""
    literal: str | None = None
    """The literal on which the outcome depends, if one explains it."""
    seen: int = 0
    """How often the unexpected outcome was seen."""
    tried: int = 0
    """How often the step was attempted for that."""
    pixels_differ: bool | None = None
    """Whether the images of the two situations differ; None if that is not known."""
    unread: bool = False
    """Whether images show it that nobody has to read: the same pixels before a step, and then others, or a refusal."""
    by_chance: bool = False
    """Whether chance may be the reason, so that weighing the answers may make up for it: misreadings, refusals."""
    ever_since: bool = False
    """Whether the outcome was another one up to some step, and this one ever since."""
    steps: int = 0
    """The number of steps that the experiments took."""
    otherwise: str = ""
    """What else may be behind it that no experiment with the agent tells apart, as a sentence: classifiers that are not to be
    relied on misread the same picture in the same way again."""
    further: str = ""
    """Why outcomes and cases do not explain the answers either, as a sentence, where that was tried."""


@dataclass(frozen=True)
class Exam:
    """The steps of an examination: predicted by the learned model, then attempted by the agent."""

    steps: int = 0
    """The number of predicted steps that were attempted."""
    wrong: int = 0
    """The number of them that came out otherwise."""
    further: int = 0
    """The number of steps after them that were made to meet mistakes which last (``lasting``); they count for no bound."""

    @property
    def bound(self) -> float:
        """The share of such steps that may come out otherwise, with 95% confidence at most; 1 if none was attempted.

        The exact (Clopper-Pearson) bound where no step was wrong; failures that come in spells, several in a row, escape
        it more often (``lasting`` is to meet them). The steps are those of the examination's own kind: random plans of many
        lengths (``examining.Choice``).
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
        bound = f"with 95% confidence at most {100 * self.bound:.0f}% of such steps would not"
        more = f"; so did {self.further} more, to meet lasting mistakes" if self.further else ""
        return f"{found}: {bound}, if they fail independently{more}"
