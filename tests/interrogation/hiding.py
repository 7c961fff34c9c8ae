"""A symbolic agent that does not show everything: some facts of a state are unknown, always the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from zlib import crc32

import numpy as np

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import Atom, State
from experiments.random_strips import Domain, ground_atoms


class HidingAgent(SymbolicAgent):
    """Hides each fact of a situation with a probability. The handle of a situation is its true state."""

    def __init__(self, domain: Domain, access: Access, share: float) -> None:
        super().__init__(domain.model, domain.problems, access)
        self._share = share
        self._shown = cache(self._show)

    def initial(self) -> Sequence[Situation]:
        return [self._shown(situation.state) for situation in super().initial()]

    def ask(self, query: Query) -> Response:
        response = super().ask(Query(_true(query.initial), query.plan))
        return Response(response.executed, self._shown(response.final.state))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return [
            WalkStep(self._shown(before.state), action, self._shown(after.state))
            for before, action, after in super().walk(_true(start), steps, rng)
        ]

    def hidden(self, state: State) -> frozenset[Atom]:
        """The facts of this state that are not shown."""
        facts = ground_atoms(self.vocabulary, state.objects)
        rng = np.random.default_rng(crc32(" ".join(sorted(map(str, state.true))).encode()))
        return frozenset(fact for fact in facts if rng.random() < self._share)

    def _show(self, state: State) -> Situation:
        hidden = self.hidden(state)
        return Situation(state, State(state.true - hidden, state.objects, hidden))


def _true(situation: Situation) -> Situation:
    state = situation.handle
    assert isinstance(state, State)
    return Situation(state, state)
