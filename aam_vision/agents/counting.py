"""Counting the cost of an interrogation: a decorator around any agent."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.model.query import Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction

T = TypeVar("T")


@dataclass
class Counts:
    """The questions and steps of an interrogation. ``steps`` counts every attempted action, walks included.

    ``looks`` are second looks at a situation, in which nothing is attempted.
    """

    queries: int = 0
    steps: int = 0
    failed_steps: int = 0
    walk_steps: int = 0
    resets: int = 0
    looks: int = 0
    exam_steps: int = 0
    """Steps that only examined what was learned; no other figure counts them."""

    def __add__(self, other: Counts) -> Counts:
        """Those of both together."""
        return Counts(
            **{one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(Counts)}
        )


class CountingAgent(AgentDecorator):
    """An agent whose questions and steps are counted; a repeated query counts once as a query."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent)
        self.counts = Counts()
        self.latest_answer: tuple[Query, Response] | None = None
        """The last query and its answer, for observers."""
        self.latest_walk: Sequence[WalkStep] = ()
        self._asked: set[tuple[Hashable, tuple[GroundAction, ...]]] = set()
        self._at: Hashable = None

    def ask(self, query: Query) -> Response:
        key = (query.initial.handle, query.plan)
        response = self.ask_again(query)
        if key not in self._asked:
            self._asked.add(key)
            self.counts.queries += 1
        return response

    def ask_again(self, query: Query) -> Response:
        """The answer to a query that was asked before, alone or as part of a longer one: only its steps count."""
        self._go(query.initial)
        response = self.agent.ask(query)
        refused = response.executed < len(query.plan)
        self.counts.steps += response.executed + refused
        self.counts.failed_steps += refused
        self._at = response.final.handle
        self.latest_answer = query, response
        return response

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        self._go(start)
        walked = self.agent.walk(start, steps, rng)
        self.counts.steps += len(walked)
        self.counts.walk_steps += len(walked)
        self.latest_walk = walked
        if walked:
            self._at = walked[-1].after.handle
        return walked

    def examined(self, exchange: Callable[[], T]) -> T:
        """The outcome of an exchange that only examines what was learned: its steps are counted apart."""
        before = replace(self.counts)
        try:
            return exchange()
        finally:
            taken = self.counts.steps - before.steps
            for one in fields(Counts):
                setattr(self.counts, one.name, getattr(before, one.name))
            self.counts.exam_steps += taken

    def _go(self, start: Situation) -> None:
        """Count a reset (or a restored snapshot) if the start is not where the agent stands."""
        if self._at is not None and start.handle != self._at:
            self.counts.resets += 1
        self._at = start.handle
