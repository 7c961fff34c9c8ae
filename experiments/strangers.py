"""Agents that are not STRIPS agents, made of one that is: some of their effects depend on something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.query import Query, Response, Situation, WalkStep
from aam_vision.strips import Atom, GroundAction, State

Twist = Callable[[State, GroundAction, State, np.random.Generator], State]
"""The true outcome of a step, given the state before it, the step, the outcome under STRIPS, and a generator."""


class Stranger(AgentDecorator):
    """An agent whose steps sometimes lead elsewhere; its situations' handles are the states themselves."""

    def __init__(self, agent: SymbolicAgent, twist: Twist, rng: np.random.Generator) -> None:
        super().__init__(agent)
        self._twist = twist
        self._rng = rng
        self.strange = 0
        """How often it has departed from STRIPS."""

    @property
    def refuses_surely(self) -> bool:
        return False

    def initial(self) -> Sequence[Situation]:
        return self.agent.initial()

    def ask(self, query: Query) -> Response:
        state = query.initial.state
        for executed, step in enumerate(query.plan):
            response = self.agent.ask(Query(Situation(state, state), (step,)))
            if not response.executed:
                return Response(executed, Situation(state, state))
            state = self._twisted(state, step, response.final.state)
        return Response(len(query.plan), Situation(state, state))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked: list[WalkStep] = []
        while len(walked) < steps and (taken := self.agent.walk(start, 1, rng)):
            step = taken[0]
            state = self._twisted(start.state, step.action, step.after.state)
            walked.append(WalkStep(start, step.action, Situation(state, state)))
            start = walked[-1].after
        return walked

    def _twisted(self, before: State, step: GroundAction, after: State) -> State:
        state = self._twist(before, step, after, self._rng)
        self.strange += state != after
        return state


def conditional(before: State, step: GroundAction, after: State, rng: np.random.Generator) -> State:
    """A block that lies on the table stays clear, whatever is put on it."""
    if step.name == "stack" and before.value(Atom("ontable", (step.objects[1],))):
        return replace(after, true=after.true | {Atom("clear", (step.objects[1],))})
    return after


def fickle(before: State, step: GroundAction, after: State, rng: np.random.Generator) -> State:
    """Three blocks in ten slip from the gripper at once."""
    return before if step.name == "pick-up" and rng.random() < 0.3 else after


TWISTS: dict[str, Twist] = {"conditional": conditional, "fickle": fickle}
