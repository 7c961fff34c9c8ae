"""Chance and noise together: every situation is looked at until it is known what is true there.

Noise flips an atom at one look and not at the next; a slip changes the situation, and every look shows it. So looks at one
situation tell the two apart, before anything is learned from it. What is read wrongly at every look is beyond that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Final

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.errors import UnusableInput
from aam_vision.interrogation.statistics.error_rates import Misreading
from aam_vision.interrogation.statistics.sequential_test import SequentialTest
from aam_vision.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.strips import State

_RATE: Final = 0.25
_RATES: Final = Misreading(_RATE, _RATE)
"""Both kinds of error weigh the same: then looks are only counted, whatever the rate."""


class LookingAgent(AgentDecorator):
    """An agent of which every situation is looked at several times.

    An atom has the value that was seen ``margin`` times more often than the other one: where a look flips an atom with probability
    p, that is wrong with a probability of at most (p / (1 - p))^margin (Wald's sequential test). An atom of which that is not
    so after ``most`` looks is unknown. Looks are queries with an empty plan, and no steps.

    Args:
        agent: the one that is asked; what it shows at one look must not depend on what it showed at another.
        margin: how many looks more have to show one value; 6 errs twice in a hundred million atoms where looks flip 5% of them.
        most: looks at a situation, at most.

    Raises:
        UnusableInput: a situation is a state that is asked for (``settable`` access), so there is nothing to look at again.
    """

    def __init__(self, agent: Agent, margin: int = 6, most: int = 40) -> None:
        super().__init__(agent)
        if agent.access is Access.SETTABLE:
            raise UnusableInput(
                "with settable access a state that was seen wrongly cannot be looked at again: use snapshot or reset"
            )
        if not 0 < margin <= most:
            raise UnusableInput(f"a margin of {margin} in at most {most} looks: use one from 1 to {most}")
        self._most = most
        self._misreadings = {one.name: _RATES for one in agent.vocabulary.predicates}
        self._threshold = (margin - 0.5) * log((1 - _RATE) / _RATE)
        self.looks = 0
        """All looks, the first ones included."""

    def initial(self) -> Sequence[Situation]:
        return [self._seen(situation) for situation in self.agent.initial()]

    def ask(self, query: Query) -> Response:
        response = self.agent.ask(query)
        return replace(response, final=self._seen(response.final))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """The agent's walk, step by step, for a look is at where the agent stands."""
        here, walked = start, []
        for _ in range(steps):
            step = next(iter(self.agent.walk(here, 1, rng)), None)
            if step is None:
                break
            after = self._seen(step.after)
            walked.append(WalkStep(here, step.action, after))
            here = after
        return walked

    def _seen(self, first: Situation) -> Situation:
        """The same situation with what is surely true there."""
        test = SequentialTest(first.state.objects, dict.fromkeys(self._misreadings, 1))
        test.add(first.state)
        while not (read := test.read(self._misreadings, self._threshold)).certain and test.looks < self._most:
            test.add(self.agent.ask(Query(first, ())).final.state)
        self.looks += test.looks
        state = read.state
        return replace(
            first,
            state=State(state.true - read.doubtful, state.objects, state.unknown | read.doubtful),
        )
