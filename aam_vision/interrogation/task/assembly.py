"""One interrogation put together: agent, policy, planner and budget. The command, the API and the experiments use it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from aam_vision.agents.image import known_of
from aam_vision.interrogation.evidence.moves import Policy
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.examination.examining import Examining
from aam_vision.interrogation.examination.lasting import Lasting
from aam_vision.interrogation.policies.decorators import Untellable, confirmed
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import Result, check_prior
from aam_vision.interrogation.task.resuming import MoveRecord
from aam_vision.interrogation.task.robust import CONFIDENCE, Observer, Setup, interrogate_robustly
from aam_vision.interrogation.task.rounds import width
from aam_vision.interrogation.task.traced import Retelling
from aam_vision.model.query import Agent, refuses_surely, traced
from aam_vision.model.strips import Model
from aam_vision.planning.planner import Planner
from aam_vision.planning.ppo import ProblemFolder
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.support.errors import UnusableInput
from aam_vision.support.threads import one_thread


@dataclass(frozen=True)
class Interrogation:
    """An agent, and how it is interrogated.

    Raises:
        UnusableInput: there is no such policy, it or the prior does not fit the agent, or a number is none that it can be.
    """

    agent: Agent
    policy: str = "economical"
    planner: Planner = field(default_factory=PyperplanPlanner)
    prior: Model | None = None
    """A model learned earlier, to be verified instead of learned anew."""
    budget: Budget = field(default_factory=Budget)
    repeated: bool = False
    """Whether one object may be named twice in an instruction."""
    confidence: float = CONFIDENCE
    """How probable the model has to be where answers prove unreliable."""
    confirm: bool = False
    """Whether no answer is taken at its word, even if none proves unreliable."""
    exam: int | None = None
    """Steps of the examination of what was learned; None for a quarter of those that the interrogation took, 60 at least. Those that
    meet mistakes which last (``lasting``) come after them."""
    copies: int = 1
    """How many copies of the agent answer at a time; with one, every question waits for the answer before."""
    untellable: Untellable | None = None
    """Says why no answer can tell what is left open, if anything does."""
    write_ppo: Path | None = None
    """Folder for the planning problems that the queries of the policy ``aia`` solve, as PDDL."""

    def __post_init__(self) -> None:
        if self.write_ppo is not None and self.policy != "aia":
            raise UnusableInput(
                "only the policy aia makes such problems: use it", "write_ppo", self.write_ppo
            )
        if self.exam is not None and self.exam < 0:
            raise UnusableInput("give a number from 0", "exam", self.exam)
        if not 0.5 <= self.confidence < 1:
            raise UnusableInput("give a number from 0.5 to below 1", "confidence", f"{self.confidence:g}")
        if self.prior is not None:
            check_prior(self.prior, self.agent.vocabulary, self.agent.headers)
        self.moves()

    def moves(self) -> Policy:
        """A fresh policy: it asks again for refusals unless the agent refuses surely, and examines what it learned.

        Of traces it is what they tell.
        """
        if isinstance(record := traced(self.agent), Transcript):
            return Retelling(record)
        policy = confirmed(self._policy(self.policy, self.prior), self.agent, self.planner)
        access = self.agent.access
        several = self.copies > 1 and access.returns
        surely = refuses_surely(self.agent)
        lasting = None if surely and not access.constructs else Lasting(access, surely)
        return Examining(policy, access, self.exam, several, lasting)

    def run(
        self,
        rng: np.random.Generator,
        *,
        record: MoveRecord | None = None,
        observer: Observer | None = None,
    ) -> Result:
        """Interrogate the agent until nothing is left to ask, or the budget is spent.

        Args:
            rng: the source of all random choices.
            record: keeps all moves, and gives back those of a run that was cut short.
            observer: follows what is done.

        Raises:
            AccessViolation: the policy started where the agent's access does not allow.
            Interrupted: the agent or the planner failed, or the agent is not a STRIPS agent; its ``result`` holds
                what was learned.
        """
        setup = Setup(
            self.moves(),
            lambda: Examining(self._policy("economical"), self.agent.access, self.exam),
            self.budget,
            self.repeated,
            self.confidence,
            self.confirm,
            width(self.copies),
            (self.planner,),
        )
        with one_thread():
            result = interrogate_robustly(self.agent, setup, rng, record=record, observer=observer)
        return replace(result, **known_of(self.agent))

    def _policy(self, name: str, prior: Model | None = None) -> Policy:
        ppo = None if self.write_ppo is None else ProblemFolder(self.write_ppo)
        return policy_for(self.agent.access, name, self.planner, prior, ppo, self.untellable)
