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
from itertools import combinations, permutations, product
from typing import NamedTuple

from aam_vision.interrogation.controls.mapping import CONDITIONAL, Carriers
from aam_vision.interrogation.controls.operators import moved
from aam_vision.model.pddl.writing import action_of, action_text, conjunction, domain_of, literals_text
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Effects,
    GroundAction,
    LiftedAtom,
    Model,
    State,
    Vocabulary,
)
from aam_vision.support.wording import listed

MAX_ATOMS = 12
"""Atoms in the conditions of one action of which all values are tried."""

Facts = dict[LiftedAtom, bool]
"""Values of atoms about an action's parameters."""
MAX_IMPLICIT = 6
"""Parameters beside the control's own, at most: all orders of them are tried."""


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
        """Which cases are one action with conditional effects, and which are not, and why."""
        told = [
            f"{listed([one.operator for one in action.branches])} are one action in {CONDITIONAL}: {action.header}"
            for action in self.actions
        ]
        return [*told, *(f"not all cases of {control}: {why}" for control, why in self.apart.items())]

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


def conditional(model: Model, carriers: Carriers) -> Split:
    """The cases of every control that are one action.

    ``carriers``: by operator its control; the operators of one control are its cases.
    """
    by_control: dict[str, list[ActionSchema]] = {}
    for schema in model.actions:
        by_control.setdefault(carriers[schema.header.name].control, []).append(schema)
    taken = {header.name for header in model.headers}
    actions: list[ConditionalAction] = []
    apart: dict[str, str] = {}
    for control, schemas in by_control.items():
        if len(schemas) < 2:
            continue
        given = carriers[schemas[0].header.name].given
        groups, why = _groups(control, given, schemas)
        for group in groups:
            name = _name(control, taken)  # no operator's, so that a step of a plan is one or the other
            taken.add(name)
            actions.append(replace(group, header=replace(group.header, name=name)))
        if why:
            apart[control] = why
    return Split(tuple(actions), apart)


def _name(control: str, taken: set[str]) -> str:
    """The control's name where no operator has it."""
    number, name = 1, control
    while name in taken:
        name = f"{control}-cases" if number == 1 else f"{control}-cases-{number}"
        number += 1
    return name


def _groups(control: str, given: int, schemas: Sequence[ActionSchema]) -> tuple[list[ConditionalAction], str]:
    """The actions that the cases of one control make; and why they are not a single one, if they are not."""
    groups: list[list[ActionSchema]] = []
    reasons: list[str] = []
    for schema in schemas:
        whys = []
        for group in groups:
            found = _joined(control, given, [*group, schema], len(schemas))
            if isinstance(found, ConditionalAction):
                group.append(schema)
                break
            whys.append(found)
        else:
            groups.append([schema])
            reasons += whys[:1]
    made = [_joined(control, given, group, len(schemas)) for group in groups if len(group) > 1]
    return [one for one in made if isinstance(one, ConditionalAction)], "; ".join(reasons)


def _joined(control: str, given: int, schemas: Sequence[ActionSchema], cases: int) -> ConditionalAction | str:
    """Some cases of a control as one action; or why they are none."""
    first = schemas[0]
    names = listed([schema.header.name for schema in schemas[:-1]]), schemas[-1].header.name
    placed = [(first, tuple(range(first.header.arity)))]
    for schema in schemas[1:]:
        if sorted(schema.header.types[given:]) != sorted(first.header.types[given:]):
            return f"{names[1]} has other parameters than {names[0]}"
        if schema.header.arity - given > MAX_IMPLICIT:
            return f"{names[1]} has more than {MAX_IMPLICIT} parameters beside those of {control}"
        placed.append(_placed(schema, first, given))
    positive = frozenset.intersection(*(one.positive for one, _ in placed))
    negative = frozenset.intersection(*(one.negative for one, _ in placed))
    settled = {place for atom in positive for place in atom.arguments}
    for place in range(given, first.header.arity):
        if place not in settled:
            return f"nothing that {names[0]} and {names[1]} both require says what ?{first.header.parameters[place]} is"
    overlapping = []
    for (one, _), (other, _) in combinations(placed, 2):
        if _apart(one, other):
            continue
        for some, more in ((one, other), (other, one)):
            if some.positive <= more.positive and some.negative <= more.negative:
                return (
                    f"{some.header.name} can be done wherever {more.header.name} can, and does something else"
                )
        overlapping.append((one.header.name, other.header.name))
    none = len(schemas) == cases and given == first.header.arity
    shared = Effects(
        frozenset.intersection(*(one.add for one, _ in placed)),
        frozenset.intersection(*(one.delete for one, _ in placed)),
    )
    if none and not exhaustive(
        [values_of(one.positive - positive, one.negative - negative) for one, _ in placed]
    ):
        shared = Effects()  # nothing happens where no condition holds
    else:
        none = False
    return ConditionalAction(
        control,
        first.header,
        positive,
        negative,
        shared,
        tuple(
            Branch(
                one.header.name,
                places,
                one.positive - positive,
                one.negative - negative,
                Effects(one.add - shared.add, one.delete - shared.delete),
            )
            for one, places in placed
        ),
        none,
        tuple(overlapping),
    )


def _placed(schema: ActionSchema, first: ActionSchema, given: int) -> tuple[ActionSchema, tuple[int, ...]]:
    """A case over the parameters of another one: in the order in which they share most; and that order."""
    orders = permutations(range(given, first.header.arity))
    own, types = schema.header.types[given:], first.header.types
    best: tuple[ActionSchema, tuple[int, ...]] | None = None
    most = (-1, -1)
    for order in orders:
        if tuple(types[place] for place in order) != own:
            continue
        places = (*range(given), *order)
        case = replace(
            schema,
            positive=frozenset(moved(atom, places) for atom in schema.positive),
            negative=frozenset(moved(atom, places) for atom in schema.negative),
            add=frozenset(moved(atom, places) for atom in schema.add),
            delete=frozenset(moved(atom, places) for atom in schema.delete),
        )
        required = len(case.positive & first.positive) + len(case.negative & first.negative)
        alike = required, len(case.add & first.add) + len(case.delete & first.delete)
        if alike > most:
            best, most = (case, places), alike
    assert best is not None, "the types are the same in some order"
    return best


def _apart(one: ActionSchema, other: ActionSchema) -> bool:
    """Whether two cases cannot both be done under one binding, or do the same where they can."""
    if one.positive & other.negative or one.negative & other.positive:
        return True
    known = values_of(one.positive | other.positive, one.negative | other.negative)
    then = values_after(Effects(one.add, one.delete), known)
    return then is not None and then == values_after(Effects(other.add, other.delete), known)


def values_after(effects: Effects, known: Facts) -> Facts | None:
    """What is known after these effects: what is added and deleted is added; None where they name objects.

    An object may be what a parameter stands for.
    """
    if any(isinstance(one, str) for atom in effects.add | effects.delete for one in atom.arguments):
        return None
    return known | dict.fromkeys(effects.delete, False) | dict.fromkeys(effects.add, True)


def conditional_text(model: Model, split: Split) -> str:
    """The model as a PDDL domain in which cases that are one action are written as one, with ``when``."""
    left = [schema for schema in model.actions if schema.header.name not in split.operators]
    negative = any(schema.negative for schema in model.actions)
    either = any(action.one_required for action in split.actions)
    wanted = (
        ":strips :typing"
        + " :negative-preconditions" * negative
        + " :disjunctive-preconditions" * either
        + " :conditional-effects"
    )
    actions = [conditional_action_text(action, model.vocabulary) for action in split.actions]
    actions += [action_text(schema, model.vocabulary) for schema in left]
    headers = [*(action.header for action in split.actions), *(schema.header for schema in left)]
    return domain_of(model.vocabulary, headers, wanted, actions)


def conditional_action_text(action: ConditionalAction, vocabulary: Vocabulary) -> str:
    """One action with conditional effects."""
    header = action.header
    precondition = literals_text(action.positive, action.negative, header, vocabulary)
    effect = literals_text(action.effects.add, action.effects.delete, header, vocabulary)
    conditions = []
    for one in action.branches:
        condition = literals_text(one.positive, one.negative, header, vocabulary)
        conditions.append(condition[0] if len(condition) == 1 else f"(and {' '.join(condition)})")
        own = literals_text(one.effects.add, one.effects.delete, header, vocabulary)
        if own and condition:
            changes = own[0] if len(own) == 1 else conjunction(own, 12)
            effect.append(f"(when {conditions[-1]}\n          {changes})")
        else:
            effect += own
    if action.one_required:
        precondition.append(f"(or {' '.join(conditions)})")
    comment = "".join(
        f"  ; {one} and {other} contradict each other where both conditions hold\n"
        for one, other in action.overlapping
    )
    return comment + action_of(header, conjunction(precondition), conjunction(effect))
