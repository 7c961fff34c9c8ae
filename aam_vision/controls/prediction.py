"""What a learned model says that a control does in a state: the next state, or that nothing happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aam_vision.controls.operators import Operator
from aam_vision.model.strips import GroundAction, LiftedAtom, Model, State
from aam_vision.planning.joins import StateIndex, bindings


class ControlModel:
    """A model of operators, read as a model of the controls that carry them out."""

    def __init__(self, model: Model, operators: Sequence[Operator]) -> None:
        self._model = model
        self._operators: Mapping[str, list[Operator]] = {
            operator.control: [one for one in operators if one.control == operator.control]
            for operator in operators
        }

    def next_states(self, state: State, control: GroundAction, index: StateIndex | None = None) -> set[State]:
        """The states that the applicable operators of a control lead to; the state itself where none is applicable.

        More than one where the model contradicts itself. ``index`` is that of the state, where it is known already.
        """
        index = index or StateIndex(state)
        found = set()
        for operator in self._operators.get(control.name, ()):
            schema = self._model.schema(operator.header.name)
            match = LiftedAtom("", tuple(range(operator.given))), control.objects
            for objects in bindings(index, schema.header, sorted(schema.positive, key=str), match=match):
                if schema.applicable(state, objects):
                    found.add(schema.successor(state, objects))
        return found or {state}

    def agrees(
        self, state: State, control: GroundAction, after: State, index: StateIndex | None = None
    ) -> bool:
        """Whether it predicts the state after a control, and nothing else; unknown atoms agree with everything."""
        found = self.next_states(state, control, index)
        return len(found) == 1 and all(
            (value := one.value(atom)) is None or (seen := after.value(atom)) is None or value == seen
            for one in found
            for atom in one.true | after.true
        )
