"""Which cases of a control are one action with conditional effects: same parameters, settled by what all of them require."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations

from aam_vision.controls.conditional import Branch, ConditionalAction, Facts, Split, exhaustive, values_of
from aam_vision.controls.mapping import Carriers
from aam_vision.model.strips import ActionSchema, Effects, LiftedAtom, Model
from aam_vision.support.wording import listed

MAX_IMPLICIT = 6
"""Parameters beside the control's own, at most: all orders of them are tried."""


def conditional(model: Model, carriers: Carriers) -> Split:
    """The cases of every control that are one action.

    Args:
        model: of the operators.
        carriers: by operator its control; the operators of one control are its cases.
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
    moved = [(first, tuple(range(first.header.arity)))]
    for schema in schemas[1:]:
        if sorted(schema.header.types[given:]) != sorted(first.header.types[given:]):
            return f"{names[1]} has other parameters than {names[0]}"
        if schema.header.arity - given > MAX_IMPLICIT:
            return f"{names[1]} has more than {MAX_IMPLICIT} parameters beside those of {control}"
        moved.append(_placed(schema, first, given))
    positive = frozenset.intersection(*(one.positive for one, _ in moved))
    negative = frozenset.intersection(*(one.negative for one, _ in moved))
    settled = {place for atom in positive for place in atom.arguments}
    for place in range(given, first.header.arity):
        if place not in settled:
            return f"nothing that {names[0]} and {names[1]} both require says what ?{first.header.parameters[place]} is"
    overlapping = []
    for (one, _), (other, _) in combinations(moved, 2):
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
        frozenset.intersection(*(one.add for one, _ in moved)),
        frozenset.intersection(*(one.delete for one, _ in moved)),
    )
    if none and not exhaustive(
        [values_of(one.positive - positive, one.negative - negative) for one, _ in moved]
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
            for one, places in moved
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
        moved = replace(
            schema,
            positive=_moved(schema.positive, places),
            negative=_moved(schema.negative, places),
            add=_moved(schema.add, places),
            delete=_moved(schema.delete, places),
        )
        required = len(moved.positive & first.positive) + len(moved.negative & first.negative)
        alike = required, len(moved.add & first.add) + len(moved.delete & first.delete)
        if alike > most:
            best, most = (moved, places), alike
    assert best is not None, "the types are the same in some order"
    return best


def _moved(atoms: frozenset[LiftedAtom], places: Sequence[int]) -> frozenset[LiftedAtom]:
    return frozenset(
        atom._replace(arguments=tuple([places[a] if isinstance(a, int) else a for a in atom.arguments]))
        for atom in atoms
    )


def _apart(one: ActionSchema, other: ActionSchema) -> bool:
    """Whether two cases cannot both be done under one binding, or do the same where they can."""
    if one.positive & other.negative or one.negative & other.positive:
        return True
    known = values_of(one.positive | other.positive, one.negative | other.negative)
    named = any(isinstance(a, str) for atom in (*_changed(one), *_changed(other)) for a in atom.arguments)
    return not named and _after(one, known) == _after(
        other, known
    )  # an object may be what a parameter stands for


def _changed(schema: ActionSchema) -> Iterator[LiftedAtom]:
    yield from schema.add
    yield from schema.delete


def _after(schema: ActionSchema, known: Facts) -> Facts:
    """What is known after a case; what is added and deleted is added."""
    return known | dict.fromkeys(schema.delete, False) | dict.fromkeys(schema.add, True)
