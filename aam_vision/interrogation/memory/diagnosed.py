"""A diagnosed agent for which a model is sought: how it is interrogated once it is seen in another way, and what may come of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from aam_vision.agents.counting import CountingAgent, Counts
from aam_vision.interrogation.evidence.anomalies import contradicted_query
from aam_vision.interrogation.evidence.moves import Entry
from aam_vision.interrogation.memory.histories import RecordingAgent
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget, Until
from aam_vision.interrogation.task.loop import DOUBTED, Interrupted, interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Agent
from aam_vision.support.wording import counted

if TYPE_CHECKING:
    from aam_vision.interrogation.evidence.transcript import Transcript
    from aam_vision.interrogation.memory.constants import Constants
    from aam_vision.interrogation.memory.divided import Divisions
    from aam_vision.interrogation.memory.facts import InventedFact
    from aam_vision.interrogation.task.repeated_looks import LookingAgent
    from aam_vision.model.delayed import Delays


class Way(StrEnum):
    """What may explain an agent that is no deterministic STRIPS agent; the values say with what a run goes on."""

    ANEW = "the agent as it is now"
    CONSTANTS = "objects that steps change without naming them"
    REPEATED = "facts that name one object twice"
    CASES = "several actions in place of one, told apart by facts about their objects"
    DELAYED = "effects that come later"
    OUTCOMES = "outcomes, when each comes, and how often"
    MEMORY = "what may be remembered"
    REFUSED = "all actions but those that are refused everywhere"


@dataclass(frozen=True)
class Further:
    """What was gone on to from a diagnosis."""

    found: Result | None
    """In the diagnosis' stead; None if nothing explains the agent."""
    why: str = ""
    """Why nothing does, in sentences."""
    way: Way | None = None
    """What explains the agent, if anything does."""
    fact: InventedFact | None = None
    """What was invented, if anything was."""
    constants: Constants = field(default_factory=dict)
    """What the vocabulary was extended by."""
    refusals: tuple[str, ...] = ()
    """The actions of which a refusal is an outcome."""
    divisions: Divisions | None = None
    """The actions that are several in the model, if any are."""
    delays: Delays | None = None
    """The effects that come later, if any do."""
    looking: LookingAgent | None = None
    """With what every situation was looked at until it was certain, if looks err."""
    transcript: Transcript | None = None
    """All that was seen, as it was read, if anything explains it."""

    @classmethod
    def of(cls, found: Result | str, **by: Any) -> Further:
        """What was learned, and what explains it; or why nothing does."""
        return cls(None, found) if isinstance(found, str) else cls(found, **by)

    def json(self) -> dict[str, object]:
        """By what the agent is explained, as the journal notes it."""
        assert self.found is not None, "it is explained"
        if self.fact is not None:
            return {"fact": self.fact.json()}
        if self.found.changed:
            return {"anew": True}
        if self.found.hypotheses.repeated:
            return {"repeated": True, "deterministic": True}
        if self.found.refused:
            return {"refused": [*self.found.refused], "deterministic": True}
        by: dict[str, object] = {"constants": dict(self.constants), "deterministic": True}
        if self.divisions is not None:
            by["divisions"] = self.divisions.json()
        elif self.delays is not None:
            by["delays"] = self.delays.json()
        return by


@dataclass(frozen=True)
class Diagnosed:
    """An agent that is no deterministic STRIPS agent: what it was asked, and what it may be asked yet.

    All that asks it raises ``AgentFailed`` where it cannot answer any more.
    """

    recorded: RecordingAgent
    """The agent, with all that it was asked since."""
    result: Result
    """With a diagnosis."""
    rng: np.random.Generator
    """For its own walks."""
    budget: Budget
    """Of the whole run."""
    exam: int | None
    """Steps of the examination; None for a quarter of all others."""

    @property
    def counts(self) -> Counts:
        """What was spent by the whole run."""
        return self.result.counts + self.recorded.counts

    @property
    def steps(self) -> int:
        """The steps that were taken, examinations included."""
        return self.counts.steps + self.result.counts.exam_steps

    def sharing(self) -> Diagnosed:
        """The same with half of the steps that are left, if these are bounded."""
        half = self.budget.half(self.counts)
        return self if half is None else replace(self, budget=replace(self.budget, steps=self.steps + half))

    def spent(self, steps: int, queries: int = 0) -> bool:
        """Whether the budget does not allow so many more."""
        return bool(self.budget.spent(self.counts, steps=steps, queries=queries))

    def as_deterministic(
        self,
        agent: Agent,
        how: str,
        invented: str = "",
        *,
        known: Sequence[Entry] | None = None,
        repeated: bool = False,
    ) -> Result | str:
        """What is learned of the agent that is seen in another way; or why no model fits it so, either, in a line.

        Args:
            agent: how it is to be seen.
            how: it is seen, as "deterministic with lamp1 as a constant".
            invented: what the model has more, in sentences.
            known: what was asked before, as it is seen so; None if that is no different.
            repeated: whether a fact, or an instruction, may name one object twice.
        """
        known = self.recorded.transcript.entries if known is None else known
        found = self.interrogated(agent, known, repeated=repeated)
        if isinstance(found, str):
            return found
        if doubt := found.doubt or contradicted_query(found.transcript, found.hypotheses):
            return doubt
        return replace(found, why=f"{how}: {found.why}", diagnosis=self.result.diagnosis, invented=invented)

    def interrogated(
        self, agent: Agent, known: Sequence[Entry] = (), *, repeated: bool = False
    ) -> Result | str:
        """Interrogate and examine it as a deterministic STRIPS agent within what is left of the budget; or how it contradicts that it is one.

        Args:
            agent: how it is to be seen.
            known: what was asked before, and counts.
            repeated: whether a fact, or an instruction, may name one object twice.
        """
        made, spent, left = self.recorded.counts, self.result.counts, self.budget.rest(self.counts)
        before, counting = replace(made), CountingAgent(agent)

        def over() -> str:  # histories that are made anew take steps, too
            if left.steps is None or made.steps - before.steps < left.steps:
                return ""
            return f"the budget of {counted(left.steps, 'further step')} is spent"

        policy = Until(Interrogation(counting, exam=self.exam).moves(), over)
        try:
            found = interrogate(
                counting,
                policy,
                self.rng,
                budget=left,
                repeated=repeated,
                scrutiny=DOUBTED,
                known=known,
            )
        except Interrupted as error:
            if error.contradicted:
                return str(error)
            raise
        steps = spent.steps + made.steps - counting.counts.exam_steps  # with those of histories made anew
        return replace(found, counts=replace(spent + before + counting.counts, steps=steps))
