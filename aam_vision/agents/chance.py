"""A symbolic agent with chance: it holds a model with outcomes, and what it does is drawn from a seeded generator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aam_vision.agents.symbolic import Choice, ModelAgent
from aam_vision.model.outcomes import ChanceModel
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction, State
from aam_vision.planning.joins import StateIndex


class ChanceAgent(ModelAgent[ChanceModel]):
    """A model with outcomes as a black box. Its situations' handles are the states themselves.

    The same query may have another answer each time. A step is refused exactly where its precondition does not hold.

    Args:
        model: what it does.
        initial: the initial state of every problem.
        rng: draws the outcomes; the order of the questions matters.
        access: where queries may start.
    """

    refuses_surely = True

    def __init__(
        self,
        model: ChanceModel,
        initial: Sequence[State],
        rng: np.random.Generator,
        access: Access = Access.SETTABLE,
    ) -> None:
        super().__init__(model, initial, access)
        self._rng = rng
        self._choice = Choice([schema.bare for schema in model.actions])

    def ask(self, query: Query) -> Response:
        """Run the plan as far as it goes; every step draws its outcome."""
        state, executed = query.initial.state, 0
        for action in query.plan:
            if not self._model.schema(action.name).applicable(state, action.objects):
                break
            state = self._drawn(state, action)
            executed += 1
        return Response(executed, Situation(state, state))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """Do something that can be done, chosen by instruction first and by its arguments second."""
        walked: list[WalkStep] = []
        here = start
        for _ in range(steps):
            action = self._choice.step(StateIndex(here.state), rng)
            if action is None:
                break
            after = self._drawn(here.state, action)
            walked.append(WalkStep(here, action, Situation(after, after)))
            here = walked[-1].after
        return walked

    def _drawn(self, state: State, action: GroundAction) -> State:
        """The state after a step that can be done."""
        outcomes = self._model.schema(action.name).case(state, action.objects).outcomes
        shares = np.cumsum([one.probability for one in outcomes])
        place = int(np.searchsorted(shares, self._rng.random() * shares[-1], side="right"))
        return outcomes[min(place, len(outcomes) - 1)].effects.applied(state, action.objects)
