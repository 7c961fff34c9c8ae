"""An agent whose longest calls are announced, so that whoever waits for the first answer knows what is going on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.query import Agent, Query, Response, Situation, WalkStep


class AnnouncedAgent(AgentDecorator):
    """An agent that announces its walks, and the look at its initial situations, before they begin.

    Args:
        agent: the one to ask.
        announce: called with a line of text before such a call.
    """

    def __init__(self, agent: Agent, announce: Callable[[str], None]) -> None:
        super().__init__(agent)
        self._announce = announce

    def initial(self) -> Sequence[Situation]:
        self._announce("looking at the initial situations")
        return self.agent.initial()

    def ask(self, query: Query) -> Response:
        return self.agent.ask(query)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        self._announce(
            f"the agent acts on its own, up to {steps} {'step' if steps == 1 else 'steps'} at a time"
        )
        return self.agent.walk(start, steps, rng)
