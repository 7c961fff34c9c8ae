"""Enforcing an agent's access: a decorator around any agent."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.support.errors import AccessViolation


class EnforcingAgent(AgentDecorator):
    """An agent that refuses queries and walks that start where its access does not allow.

    Under ``trajectory`` access the first query may start in any initial situation, which chooses the problem,
    and there are no walks: every step is the interrogator's own choice.

    Args:
        agent: the one to ask.
        stands: where it stands already, if it has departed.
    """

    def __init__(self, agent: Agent, stands: Situation | None = None) -> None:
        super().__init__(agent)
        self._initial: set[Hashable] = set()
        self._seen: set[Hashable] = set()
        self._at: Hashable = None if stands is None else stands.handle
        self._departed = stands is not None

    def initial(self) -> Sequence[Situation]:
        """The initial situations.

        Raises:
            AccessViolation: under ``trajectory`` access, once the agent has departed from one of them.
        """
        if self._departed and not self.access.restarts:
            raise AccessViolation("trajectory access: the agent cannot be started a second time")
        situations = self.agent.initial()
        self._initial |= {situation.handle for situation in situations}
        self._seen |= self._initial
        return situations

    def ask(self, query: Query) -> Response:
        """The agent's answer.

        Raises:
            AccessViolation: the query starts where the access does not allow.
        """
        self._depart(query.initial, "query")
        response = self.agent.ask(query)
        self._arrive(response.final)
        return response

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """The agent's walk.

        Raises:
            AccessViolation: it starts where the access does not allow, or the access allows no walks.
        """
        if not self.access.restarts:
            raise AccessViolation("trajectory access: there are no walks; ask for every step")
        self._depart(start, "walk")
        walked = self.agent.walk(start, steps, rng)
        for step in walked:
            self._seen.add(
                step.before.handle
            )  # an agent may show again what it did before (``controls.agent``)
            self._arrive(step.after)
        return walked

    def _depart(self, start: Situation, what: str) -> None:
        if not self._allowed(start.handle):
            raise AccessViolation(
                f"{self.access.value} access: a {what} may not start there ({_WHERE[self.access]})"
            )
        self._departed, self._at = True, start.handle

    def _allowed(self, handle: Hashable) -> bool:
        match self.access:
            case Access.TRAJECTORY:
                return handle == self._at if self._departed else handle in self._initial
            case Access.RESET:
                return handle in self._initial or (self._departed and handle == self._at)
            case Access.SNAPSHOT:
                return handle in self._seen
            case Access.SETTABLE:
                return True

    def _arrive(self, situation: Situation) -> None:
        self._at = situation.handle
        self._seen.add(situation.handle)


_WHERE = {
    Access.TRAJECTORY: "only where the last answer ended, or at first in an initial situation",
    Access.RESET: "only in an initial situation, or where the last answer or walk ended",
    Access.SNAPSHOT: "only in a situation that was seen before",
}
