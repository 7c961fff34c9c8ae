"""One agent in several problems, the last of which may be another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.model.query import Agent, Query, Response, Situation, WalkStep


class Problems(AgentDecorator):
    """Asks the agent of each problem; ``asked`` has the steps in each of them. It does nothing by itself."""

    def __init__(self, agents: Sequence[Agent]) -> None:
        super().__init__(agents[0])
        self.agents, self.asked = agents, Counter[int]()

    def initial(self) -> list[Situation]:
        first = [agent.initial()[0] for agent in self.agents]
        return [Situation((number, one.handle), one.state) for number, one in enumerate(first)]

    def answer(self, number: int, query: Query) -> Response:
        """What the agent of a problem answers."""
        return self.agents[number].ask(query)

    def ask(self, query: Query) -> Response:
        assert isinstance(query.initial.handle, tuple)
        number, handle = query.initial.handle
        self.asked[number] += len(query.plan)
        response = self.answer(number, replace(query, initial=Situation(handle, query.initial.state)))
        return replace(response, final=Situation((number, response.final.handle), response.final.state))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return []
