"""A symbolic agent whose controls are all that is seen of it: each carries out whichever of its operators applies.

A control names some of the parameters of its operators; the state settles the others. A control that fits no operator
changes nothing. Its instructions (``headers``) are the controls, and every one of them is always carried out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aam_vision.agents.symbolic import ModelAgent
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import ActionHeader, GroundAction, LiftedAtom, Model, Objects, State
from aam_vision.planning.joins import StateIndex, bindings
from aam_vision.support.errors import UnusableInput

BARE_ACCESS = (Access.SNAPSHOT,)
"""What bare agents may allow so far."""


@dataclass(frozen=True)
class Control:
    """A control, and the operators that it may carry out, by name; each has parameters of the same names."""

    header: ActionHeader
    operators: tuple[str, ...]


def control_of(model: Model, name: str, parameters: Sequence[str], operators: Sequence[str]) -> Control:
    """A control of a model's operators; its parameters get the types that they have there.

    Raises:
        UnusableInput: the model has no such operator, or one of them lacks a parameter or has it with another type.
    """
    known = {header.name: header for header in model.headers}
    types: tuple[str, ...] | None = None
    for operator in operators:
        if operator not in known:
            raise UnusableInput(f"no operator {operator!r}: use some of {', '.join(known)}", "bare")
        header = known[operator]
        missing = [one for one in parameters if one not in header.parameters]
        if missing:
            raise UnusableInput(
                f"{operator} has no parameter ?{missing[0]}: it has "
                f"{', '.join(f'?{one}' for one in header.parameters) or 'none'}",
                "bare",
            )
        own = tuple(header.types[header.parameters.index(one)] for one in parameters)
        if types is not None and own != types:
            raise UnusableInput(f"the parameters of {name} have other types in {operator}", "bare")
        types = own
    if types is None:
        raise UnusableInput(f"{name} carries out no operator: name one", "bare")
    return Control(ActionHeader(name, tuple(parameters), types), tuple(operators))


class BareSymbolicAgent(ModelAgent):
    """A STRIPS model behind controls. Its situations' handles are the states themselves.

    Where several operators or bindings apply, the first one is carried out, in the order of the operators and objects;
    ``ambiguous`` counts these steps if they would have led to different states.
    """

    refuses_surely = True

    def __init__(self, model: Model, controls: Sequence[Control], initial: Sequence[State]) -> None:
        super().__init__(model, initial, Access.SNAPSHOT)
        self._controls = {control.header.name: control for control in controls}
        self._places: Mapping[str, tuple[tuple[str, tuple[int, ...]], ...]] = {
            name: tuple((one, self._taken(control, one)) for one in control.operators)
            for name, control in self._controls.items()
        }
        self.ambiguous = 0

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        """The controls."""
        return tuple(control.header for control in self._controls.values())

    def ask(self, query: Query) -> Response:
        """Give the controls one after the other."""
        state = query.initial.state
        for control in query.plan:
            state = self.given(state, control)
        return Response(len(query.plan), Situation(state, state))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """Give controls at random."""
        walked = []
        for _ in range(steps):
            control = random_control(self.headers, start.state, rng)
            if control is None:
                break
            state = self.given(start.state, control)
            walked.append(WalkStep(start, control, after := Situation(state, state)))
            start = after
        return walked

    def given(self, state: State, control: GroundAction) -> State:
        """The state after a control."""
        outcomes = self.outcomes(state, control)
        self.ambiguous += len(set(outcomes)) > 1
        return outcomes[0] if outcomes else state

    def outcomes(self, state: State, control: GroundAction) -> list[State]:
        """The states that the operators of a control lead to; none where no operator applies."""
        index, found = StateIndex(state), []
        for name, places in self._places[control.name]:
            schema = self._model.schema(name)
            match = LiftedAtom("", places), control.objects
            required = sorted(schema.positive, key=str)
            for objects in sorted(bindings(index, schema.header, required, match=match)):
                if schema.applicable(state, objects):
                    found.append(schema.successor(state, objects))
        return found

    def _taken(self, control: Control, operator: str) -> tuple[int, ...]:
        """Where an operator has the control's parameters."""
        parameters = self._model.schema(operator).header.parameters
        return tuple(parameters.index(one) for one in control.header.parameters)


def random_control(
    controls: Sequence[ActionHeader], state: State, rng: np.random.Generator
) -> GroundAction | None:
    """A control at random, with different objects of the right types at random; None if there is no control."""
    for number in rng.permutation(len(controls)):
        if (control := with_objects(controls[int(number)], state.objects, rng)) is not None:
            return control
    return None


def with_objects(header: ActionHeader, objects: Objects, rng: np.random.Generator) -> GroundAction | None:
    """A control with different objects of the right types at random; None if there are too few."""
    chosen: list[str] = []
    for kind in header.types:
        options = [name for name in objects.of_type(kind) if name not in chosen]
        if not options:
            return None
        chosen.append(options[int(rng.integers(len(options)))])
    return GroundAction(header.name, tuple(chosen))
