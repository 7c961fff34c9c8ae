"""How sure the figures of an agent with chance are to be, what they may cost, and what was learned of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aam_vision.agents.counting import Counts
from aam_vision.interrogation.chance.intervals import ALPHA
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.prior import Prior
from aam_vision.interrogation.task.undetermined import Undetermined
from aam_vision.interrogation.task.verdict import COMPLETE, NOT_STRIPS
from aam_vision.model.strips import Location, Model
from aam_vision.support.resources import Resources

_STEPS, _USUAL = 20_000, 0.05
"""Steps of an interrogation, at most, where no budget is given and intervals are to be as narrow as this, or wider."""


def most_steps(within: float) -> int:
    """The budget of steps where none is given: narrower intervals take more, with the square of how narrow they are."""
    return int(_STEPS * max(1.0, (_USUAL / within) ** 2))


@dataclass(frozen=True)
class Options:
    """How sure the figures are to be, and what they may cost."""

    within: float = 0.05
    """Half width of the intervals that are wanted."""
    alpha: float = ALPHA
    """Probability that some interval of an action is wrong."""
    max_steps: int | None = None
    prior: Prior | None = None
    """Earlier findings: what is as before is verified with ``MARGIN`` times as wide intervals."""
    resources: Resources = field(default_factory=Resources)
    """Time and memory that may be taken."""
    max_queries: int | None = None
    exam: int = 0
    """Steps drawn at random that have to tell nothing new, one after the other, before it ends as complete."""
    tries_on: bool = True
    """Whether an action that no model with outcomes explains is tried until it is known how often its outcomes come on the whole.

    Other versions of the agent are compared by that; otherwise the interrogation ends where it is found.
    """
    refusals: tuple[str, ...] = ()
    """The actions of which a refusal counts as an outcome in which nothing changes (``refusals``)."""
    at_a_time: int = 1
    """Questions that are chosen before the first of them is answered, at most, where the agent can begin with several (``query.expect``)."""


@dataclass(frozen=True)
class ChanceResult:
    """What was learned of an agent with chance, and what it cost.

    ``status`` is ``complete`` if nothing that can be reached tells any more about the structure and every interval of an
    action is narrow enough, or cannot be made so, ``open`` if something is left that was not executed, tried or told apart,
    ``budget`` if the steps that were allowed ended before, ``not-strips`` if no model with outcomes explains the answers,
    ``failed`` if the agent failed; ``why`` says it in a line.
    """

    model: Model
    actions: tuple[ActionKnowledge, ...]
    options: Options
    status: str
    why: str
    counts: Counts
    exam_steps: int = 0
    """Steps drawn at random since anything new was told."""

    @property
    def complete(self) -> bool:
        """Whether nothing is missing: ``status`` is ``complete``."""
        return self.status == COMPLETE

    @property
    def contradicted(self) -> bool:
        """Whether no model with outcomes explains the answers: ``status`` is ``not-strips``."""
        return self.status == NOT_STRIPS

    @property
    def missing(self) -> str | None:
        """What is missing for ``complete``, in a line; None if nothing is, or no model fits."""
        return None if self.status in (COMPLETE, NOT_STRIPS) else self.why

    @property
    def sentences(self) -> list[str]:
        """What each action does, how often and when, and what of that is not certain."""
        return list(map(str, self.actions))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each outcome of each action under each condition (``Result.to_frame``)."""
        return [
            {"action": one.index.header.name, "condition": ", ".join(told.get("condition", ()))}
            | {"effects": ", ".join(told["effects"]), "probability": told["probability"]}
            | {"low": told["interval"][0], "high": told["interval"][1], "trials": told["trials"]}
            for one in self.actions
            for told in one.listed
        ]

    @property
    def undecided(self) -> list[Undetermined]:
        """What may be required, and may be not, each literal for itself."""
        return [
            Undetermined(one.index.header.name, Location.PRE.value, (literal,), "no step has told")
            for one in self.actions
            for literal in one.index.text(one.precondition.undecided)
        ]
