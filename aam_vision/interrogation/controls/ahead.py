"""What will be given next if every control comes out as the operators predict, so that copies of the agent can begin with it.

The last walks are chosen at random, and end at the first control that surprises. So they are made beforehand with an agent that does
what is predicted, on copies of all that is known; the real ones then ask the same, until something surprises.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.interrogation.controls.giving import Giving
from aam_vision.interrogation.controls.rules import ControlModel, Rules
from aam_vision.model.query import Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction
from aam_vision.support.errors import AamError


class _Expected(NamedTuple):
    """The handle of a situation that nobody has seen."""

    number: int


class _PredictedAgent:
    """An agent that does what a model predicts; ``ways`` are the controls that it was given, from situations that were seen."""

    def __init__(self, giving: Giving, predicted: ControlModel) -> None:
        agent = giving.agent
        self.vocabulary, self.headers, self.access = agent.vocabulary, agent.headers, agent.access
        self.ways: list[tuple[Situation, list[GroundAction]]] = []
        self._predicted = predicted
        self._seen = {one.handle for one in (*giving.initial(), *[given.after for given in giving.given])}
        self._ends: dict[Hashable, int] = {}
        """By expected situation in which a way ends so far, the number of the way."""
        self._situations = 0

    def initial(self) -> Sequence[Situation]:
        """Nothing: they were looked at before."""
        return []

    def ask(self, query: Query) -> Response:
        """Where the controls probably lead."""
        here = query.initial
        for control in query.plan:
            way = self._ends.pop(here.handle, None)
            if here.handle in self._seen:
                way = len(self.ways)
                self.ways.append((here, []))
            found = self._predicted.next_states(here.state, control)
            state = next(iter(found)) if len(found) == 1 else here.state
            self._situations += 1
            handle = state if here.handle == here.state else _Expected(self._situations)
            here = Situation(handle, state)
            if way is not None:  # else it goes on from the midst of a way
                self.ways[way][1].append(control)
                self._ends[handle] = way
        return Response(len(query.plan), here)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """No step: it does nothing on its own."""
        return []


def foreseen(
    giving: Giving,
    rules: Rules,
    predicted: ControlModel,
    rng: np.random.Generator,
    walks: Callable[[Giving, Rules, np.random.Generator], object],
) -> list[tuple[Situation, list[GroundAction]]]:
    """The ways that walks will probably take; neither what is known nor the generator changes."""
    agent = _PredictedAgent(giving, predicted)
    counting = CountingAgent(agent)
    counting.counts = replace(giving.agent.counts)
    memo = {id(giving.agent): counting, id(giving.indices): giving.indices}
    own, its_rules, its_rng = deepcopy((giving, rules, rng), memo)
    own.copies = 1
    with suppress(AamError):  # what contradicts what was seen, or is more than may be given, ends the walks
        walks(own, its_rules, its_rng)
    return agent.ways
