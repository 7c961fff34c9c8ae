"""Agents that hold a model and answer from it, for any PDDL domain, with chance or without."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    GroundAction,
    Model,
    Objects,
    State,
    Vocabulary,
)
from aam_vision.planning.joins import StateIndex, bindings


class ModelAgent:
    """An agent that holds a model; its situations' handles are the states themselves.

    ``access``: where queries may start.
    """

    def __init__(self, model: Model, initial: Sequence[State], access: Access) -> None:
        self.access = access
        self._model = model
        self._initial = tuple(initial)

    @property
    def vocabulary(self) -> Vocabulary:
        return self._model.vocabulary

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return self._model.headers

    def initial(self) -> Sequence[Situation]:
        return [Situation(state, state) for state in self._initial]


class SymbolicAgent(ModelAgent):
    """A model as a black box. Its situations' handles are the states themselves.

    Under ``settable`` access any state may be asked about; under the others the states reached so far.
    A step is refused exactly where its precondition does not hold.

    Args:
        model: what it does.
        initial: the initial state of every problem.
        access: where queries may start.
        repeated: whether, acting on its own, it names an object twice in one instruction.
        refuses_surely: whether the engine is told that no refusal is a mistake.
        chance: draws the outcome of every step, so that the same query may have another answer each time, and the order of
            the questions matters. A model without cases needs none.
    """

    def __init__(
        self,
        model: Model,
        initial: Sequence[State],
        access: Access = Access.SETTABLE,
        *,
        repeated: bool = False,
        refuses_surely: bool = False,
        chance: np.random.Generator | None = None,
    ) -> None:
        super().__init__(model, initial, access)
        self.refuses_surely = refuses_surely
        self.chance = chance
        self._indices: dict[Objects, StateIndex] = {}
        """By problem, the index of the state that a walk reached last: other states share most facts with it."""
        self._choice = Choice(model.actions, repeated=repeated)

    def ask(self, query: Query) -> Response:
        """Run the plan as far as it goes."""
        executed, state = self._model.run(query.initial.state, query.plan, self.after)
        return Response(executed, Situation(state, state))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """Do something that can be done, chosen by instruction first and by its arguments second."""
        walked = []
        here, objects = start, start.state.objects
        known = self._indices.get(objects)
        index = StateIndex(start.state) if known is None else known.of(start.state)
        for _ in range(steps):
            action = self._choice.step(index, rng)
            if action is None:
                break
            state = self.after(index.state, action)
            walked.append(WalkStep(here, action, after := Situation(state, state)))
            here, index = after, index.of(state)
        self._indices[objects] = index
        return walked

    def after(self, state: State, action: GroundAction) -> State:
        """The state after a step that can be done."""
        schema = self._model.schema(action.name)
        if self.chance is None:
            return schema.successor(state, action.objects)
        outcomes = schema.case(state, action.objects).outcomes
        place = drawn([one.probability for one in outcomes], self.chance)
        return outcomes[place].effects.applied(state, action.objects)


def drawn(shares: Sequence[float], rng: np.random.Generator) -> int:
    """One of several outcomes at random, each with its share of all."""
    until = np.cumsum(shares)
    place = int(np.searchsorted(until, rng.random() * until[-1], side="right"))
    return min(place, len(shares) - 1)


class Choice:
    """What a symbolic agent does on its own: any step that can be done, by instruction first and by its arguments second.

    ``repeated``: whether one object may be named twice in one instruction.
    """

    def __init__(self, actions: Sequence[ActionSchema], *, repeated: bool = False) -> None:
        self._actions = [(schema, sorted(schema.positive, key=str)) for schema in actions]
        self._repeated = repeated

    def step(self, index: StateIndex, rng: np.random.Generator) -> GroundAction | None:
        """A step in a state; None where nothing can be done."""
        for number in rng.permutation(len(self._actions)):
            schema, required = self._actions[int(number)]
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
