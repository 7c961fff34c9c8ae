"""An agent that holds a STRIPS model and answers from it, for any PDDL domain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aam_vision.joins import StateIndex, bindings
from aam_vision.query import Access, Query, Response, Situation, WalkStep
from aam_vision.strips import ActionHeader, GroundAction, Model, Objects, State, Vocabulary


class SymbolicAgent:
    """A STRIPS model as a black box. Its situations' handles are the states themselves.

    Under ``settable`` access any state may be asked about; under the others the states reached so far.
    Acting on its own it names no object twice in one instruction, unless ``repeated``.
    """

    def __init__(
        self,
        model: Model,
        initial: Sequence[State],
        access: Access = Access.SETTABLE,
        *,
        repeated: bool = False,
        refuses_surely: bool = False,
    ) -> None:
        self.access = access
        self.refuses_surely = refuses_surely
        self._repeated = repeated
        self._model = model
        self._initial = tuple(initial)
        self._indices: dict[Objects, StateIndex] = {}
        """By problem, the index of the state that a walk reached last: other states share most facts with it."""
        self._required = [sorted(schema.positive, key=str) for schema in model.actions]

    @property
    def vocabulary(self) -> Vocabulary:
        return self._model.vocabulary

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return self._model.headers

    def initial(self) -> Sequence[Situation]:
        """The initial state of every problem."""
        return [Situation(state, state) for state in self._initial]

    def ask(self, query: Query) -> Response:
        """Run the plan in the model as far as it goes."""
        executed, final = self._model.run(query.initial.state, query.plan)
        return Response(executed, Situation(final, final))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """Do something that can be done, chosen by instruction first and by its arguments second."""
        walked = []
        here, objects = start, start.state.objects
        known = self._indices.get(objects)
        index = StateIndex(start.state) if known is None else known.of(start.state)
        for _ in range(steps):
            action = self._choose(index, rng)
            if action is None:
                break
            state = self._model.schema(action.name).successor(index.state, action.objects)
            walked.append(WalkStep(here, action, after := Situation(state, state)))
            here, index = after, index.of(state)
        self._indices[objects] = index
        return walked

    def _choose(self, index: StateIndex, rng: np.random.Generator) -> GroundAction | None:
        for number in rng.permutation(len(self._model.actions)):
            schema, required = self._model.actions[int(number)], self._required[int(number)]
            options = list(bindings(index, schema.header, required, repeated=self._repeated))
            if schema.negative:
                true = index.state.true
                options = [
                    objects
                    for objects in options
                    if not any(atom.ground(objects) in true for atom in schema.negative)
                ]
            if options:
                return GroundAction(schema.header.name, options[int(rng.integers(len(options)))])
        return None
