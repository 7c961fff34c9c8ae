"""Answers asked for until they are certain, where no state can be made: a decorator around an unreliable agent.

Where the agent stands it can be looked at again, without a step, and a refused step can be attempted again. So every
situation is looked at until each of its atoms is certain, and a refusal counts once it is repeated so often that
chance does not explain it. What comes out is a reliable agent, which any policy interrogates as ever, with all
proofs; and rates of error, which decide how often is enough.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import ceil, log

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.errors import AgentFailed
from aam_vision.interrogation.evidence.refusal_support import REFUSALS
from aam_vision.interrogation.statistics.error_rates import EXECUTED, REFUSED, ErrorRates, posterior_mean
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.repeated_looks import RepeatedLooks
from aam_vision.query import Access, Query, Response, Situation, WalkStep, refuses_surely


class Spent(AgentFailed):
    """Raised when the budget does not allow to ask until an answer is certain."""


class RepeatingAgent(CountingAgent):
    """An agent's answers, as far as they are certain.

    Args:
        agent: the one to ask; its counts go on.
        starts: the situations that the interrogation begins with.
        confidence: how probable it is at least that all that is shown is right, for ``repeated_looks.ANSWERS`` situations.
        budget: how many steps may be attempted altogether.
    """

    def __init__(
        self, agent: CountingAgent, starts: Sequence[Situation], confidence: float, budget: Budget
    ) -> None:
        super().__init__(agent.agent)
        self.counts, self._at = agent.counts, agent._at
        self._starts = starts
        self._budget = budget
        self._looks = RepeatedLooks(agent.vocabulary, confidence, self._look)
        self._mistaken_refusals = 0
        """Refused steps that were executed when they were asked for again."""
        self._executions = 0
        self._certain_situations: dict[Hashable, Situation] = {}
        """By handle, the situations that are not looked at any more."""

    @property
    def rates(self) -> ErrorRates:
        """The rates of error, as far as they have shown."""
        executions = posterior_mean(EXECUTED, 0, 0)  # nothing here tells of them: the prior
        surely = refuses_surely(self.agent) and not self._mistaken_refusals
        return ErrorRates(self._looks.misreadings, self._refusal_rate, executions, surely)

    @property
    def erred(self) -> bool:
        """Whether anything was misread, or refused by mistake."""
        return bool(self._mistaken_refusals) or self._looks.erred

    @property
    def _refusal_rate(self) -> float:
        return posterior_mean(REFUSED, self._mistaken_refusals, self._mistaken_refusals + self._executions)

    def initial(self) -> Sequence[Situation]:
        """The situations to begin with; the rates of error are estimated from them first."""
        return [self._kept(seen) for seen in self._looks.begin(self._starts)]

    def ask_again(self, query: Query) -> Response:
        """The answer, every refusal of it repeated and its last situation looked at until they are certain.

        Raises:
            Spent: the budget does not allow that.
            AgentFailed: the agent cannot answer any more.
        """
        at, rest, refused = query.initial, query.plan, 0
        while True:
            response = super().ask_again(Query(at, rest))
            rest = rest[response.executed :]
            if response.executed:
                self._mistaken_refusals += refused
                self._executions += response.executed
                at, refused = response.final, 0
            else:
                at = replace(at, handle=response.final.handle)
            if not rest or (refused := refused + 1) >= self._refusals_needed:
                break
            if spent := self._budget.spent(self.counts, steps=len(rest)):
                raise Spent(spent)
        executed = len(query.plan) - len(rest)
        return Response(executed, self._looked_at_until_certain(at) if executed else at)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """The agent's walk; where its situations cannot be gone back to, in single steps, each looked at."""
        walked: list[WalkStep] = []
        if self.access is Access.SNAPSHOT:
            for step in super().walk(start, steps, rng):
                walked.append(WalkStep(start, step.action, self._looked_at_until_certain(step.after)))
                start = walked[-1].after
            return walked
        while len(walked) < steps and (taken := super().walk(start, 1, rng)):
            walked.append(WalkStep(start, taken[0].action, self._looked_at_until_certain(taken[0].after)))
            start = walked[-1].after
        return walked

    @property
    def _refusals_needed(self) -> int:
        """Refusals in a row that are not chance."""
        return max(REFUSALS, ceil(log(self._looks.allowed_error) / log(self._refusal_rate)))

    def _looked_at_until_certain(self, at: Situation) -> Situation:
        """The situation, looked at until every atom is certain; what cannot be is unknown."""
        known = self._certain_situations.get(at.handle)
        return self._kept(self._looks.settled(at)) if known is None else known

    def _kept(self, seen: Situation) -> Situation:
        """A situation that is not looked at any more, as it was shown first."""
        return self._certain_situations.setdefault(seen.handle, seen)

    def _look(self, at: Situation) -> Situation:
        self._go(at)
        self.counts.looks += 1
        final = self.agent.ask(Query(at, ())).final
        self._at = final.handle
        return final
