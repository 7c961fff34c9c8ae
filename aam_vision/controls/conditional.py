"""The cases of a control as one action with conditional effects, ``(when CONDITION EFFECT)`` in PDDL.

Cases with the same parameters that share part of their preconditions are one action: what they share is its precondition, what they do
not share says which of the effects come about. The action says what the cases say, neither more nor less: it can be done exactly where
one of them can be done, under the same binding of its parameters, and leads to the same state. (Where two cases with different effects
can both be done, the cases contradict each other, and so does the action, which does both.) Everything is a function of the model and of
``controls.json``, so that a folder of a run tells it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Effects,
    GroundAction,
    LiftedAtom,
    Model,
    State,
)
from aam_vision.support.wording import listed

MAX_ATOMS = 12
"""Atoms in the conditions of one action of which all values are tried."""

Facts = dict[LiftedAtom, bool]
"""Values of atoms about an action's parameters."""


class Branch(NamedTuple):
    """A case as part of an action: beside what all cases share, what it requires and what it changes."""

    operator: str
    places: tuple[int, ...]
    """The action's parameter that each of the operator's parameters is."""
    positive: frozenset[LiftedAtom]
    negative: frozenset[LiftedAtom]
    effects: Effects


@dataclass(frozen=True)
class ConditionalAction:
    """Cases of one control, as one action."""

    control: str
    header: ActionHeader
    positive: frozenset[LiftedAtom]
    negative: frozenset[LiftedAtom]
    effects: Effects
    """The effects of all cases."""
    branches: tuple[Branch, ...]
    somewhere_none: bool
    """Whether it can be done, and does nothing, where its precondition holds and none of its conditions does: so it is where
    these are all cases of the control, and their parameters are the control's. Otherwise one of the conditions is required."""
    overlapping: tuple[tuple[str, str], ...] = ()
    """Cases with different effects of which the conditions alone do not say that they exclude each other."""

    @property
    def exhaustive(self) -> bool:
        """Whether one of the conditions holds whatever the values of the atoms are."""
        return exhaustive([values_of(one.positive, one.negative) for one in self.branches])

    @property
    def one_required(self) -> bool:
        """Whether its precondition has to say that one of the conditions holds."""
        return not self.somewhere_none and not self.exhaustive

    def case(self, model: Model, state: State, objects: Sequence[str]) -> GroundAction | None:
        """The case that is carried out in a state, as far as that is known; None if none is.

        What is unknown in the state counts as what the case requires, unless another case is certain.
        """
        steps = self.steps(objects)
        for step in steps:
            if model.schema(step.name).applicable(state, step.objects):
                return step
        return next((step for step in steps if not _lacking(model.schema(step.name), state, step)), None)

    def steps(self, objects: Sequence[str]) -> list[GroundAction]:
        """Its cases under a binding."""
        return [
            GroundAction(one.operator, tuple([objects[place] for place in one.places]))
            for one in self.branches
        ]

    def none_holds(self, state: State, objects: Sequence[str]) -> bool:
        """Whether it can be done in a state in which none of its cases can be, and changes nothing."""
        own = ActionSchema(self.header, self.positive, self.negative)
        return self.somewhere_none and own.applicable(state, objects)


@dataclass(frozen=True)
class Split:
    """The actions with conditional effects that cases make, and what is left."""

    actions: tuple[ConditionalAction, ...]
    apart: Mapping[str, str]
    """By control with several cases that are not one action, why."""

    @property
    def operators(self) -> frozenset[str]:
        """The cases that are part of some action."""
        return frozenset(one.operator for action in self.actions for one in action.branches)

    @property
    def sentences(self) -> list[str]:
        """What became of each control with several cases, in words."""
        told = [
            f"{listed([one.operator for one in action.branches])} are one action, {action.header.name}"
            for action in self.actions
        ]
        return told + [f"{control}: {why}" for control, why in self.apart.items()]

    def added_to(self, model: Model) -> Model:
        """The model with these actions, without what they require and change: for reading plans that name them."""
        return replace(model, actions=(*model.actions, *(ActionSchema(one.header) for one in self.actions)))

    def named(self, name: str) -> ConditionalAction | None:
        """The action of that name; None if there is none."""
        return next((one for one in self.actions if one.header.name == name), None)


def in_cases(
    model: Model, split: Split, initial: State, plan: Sequence[GroundAction]
) -> list[GroundAction | None]:
    """A plan that may name actions with conditional effects, in operators of the model; None for a step that changes nothing.

    A step that cannot be carried out there, and all after it, are the case that lacks least.
    """
    state, found = initial, list[GroundAction | None]()
    for step in plan:
        action = split.named(step.name)
        own: GroundAction | None = step
        if action is not None:
            own = action.case(model, state, step.objects)
            if own is None and not action.none_holds(state, step.objects):
                own = min(
                    action.steps(step.objects), key=lambda one: _lacking(model.schema(one.name), state, one)
                )
        found.append(own)
        if own is not None:
            state = model.schema(own.name).successor(state, own.objects)
    return found


def _lacking(schema: ActionSchema, state: State, step: GroundAction) -> int:
    """How much of what a step requires is certainly not so in a state."""
    return sum(state.value(atom.ground(step.objects)) is False for atom in schema.positive) + sum(
        state.value(atom.ground(step.objects)) is True for atom in schema.negative
    )


def values_of(positive: frozenset[LiftedAtom], negative: frozenset[LiftedAtom]) -> Facts:
    """The values of atoms where these literals hold."""
    return dict.fromkeys(negative, False) | dict.fromkeys(positive, True)


def exhaustive(conditions: Sequence[Facts]) -> bool:
    """Whether one of these conditions holds under all values of the atoms."""
    atoms = list(dict.fromkeys(atom for one in conditions for atom in one))
    if len(atoms) > MAX_ATOMS:
        return False
    for values in product((False, True), repeat=len(atoms)):
        chosen = dict(zip(atoms, values, strict=True))
        if not any(all(chosen[atom] == value for atom, value in one.items()) for one in conditions):
            return False
    return True
