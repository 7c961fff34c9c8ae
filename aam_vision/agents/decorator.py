"""The base of all decorators around an agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from aam_vision.model.query import (
    Access,
    Agent,
    Expected,
    Query,
    Response,
    Situation,
    WalkStep,
    expect,
    refuses_surely,
    traced,
)
from aam_vision.model.strips import ActionHeader, Vocabulary


class AgentDecorator:
    """An agent around another one, with the same instructions, vocabulary and access; it passes on what it does not define itself."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    @property
    def vocabulary(self) -> Vocabulary:
        return self.agent.vocabulary

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return self.agent.headers

    @property
    def access(self) -> Access:
        return self.agent.access

    @property
    def refuses_surely(self) -> bool:
        return refuses_surely(self.agent)

    @property
    def traced(self) -> object | None:
        return traced(self.agent)

    def initial(self) -> Sequence[Situation]:
        return self.agent.initial()

    def ask(self, query: Query) -> Response:
        return self.agent.ask(query)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return self.agent.walk(start, steps, rng)

    def expect(self, questions: Sequence[Expected]) -> None:
        """Pass on what will be asked next."""
        expect(self.agent, questions)


# An agent whose longest calls are announced, so that whoever waits for the first answer knows what is going on.


class AnnouncedAgent(AgentDecorator):
    """An agent that announces its walks, and the look at its initial situations, before they begin.

    ``announce``: called with a line of text before such a call.
    """

    def __init__(self, agent: Agent, announce: Callable[[str], None]) -> None:
        super().__init__(agent)
        self._announce = announce

    def initial(self) -> Sequence[Situation]:
        self._announce("looking at the initial situations")
        return self.agent.initial()

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        self._announce(
            f"the agent acts on its own, up to {steps} {'step' if steps == 1 else 'steps'} at a time"
        )
        return self.agent.walk(start, steps, rng)
