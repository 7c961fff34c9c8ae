"""What a case may lack so that its conditions can be said: an object that a fact determines, or one that never differs.

``moveto(?loc)`` depends on the room of the location, the only one with ``locinroom(?loc, ?room)``; ``right`` always
concerns ``dir-right``, and may depend on the only cell with ``next(?here, ?cell, dir-right)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aam_vision.controls.cases import Case, Example, Separation
from aam_vision.controls.operators import Derivation
from aam_vision.controls.transitions import Transition
from aam_vision.model.strips import LiftedAtom

MAX_COST = 4
"""Objects that are added to a case, at most."""
BY_CHANCE = 3
"""A constant that never differed perhaps by chance counts as so many objects."""
BESIDE_CONSTANTS = 2
"""The same where a constant was found already: it was what takes most."""
MAX_CANDIDATES = 30
"""Ways to add objects that are followed further: those that leave fewest counterexamples."""
HARDLY_CHANCE = 4
"""Different bindings of a control without arguments in which an object is the same, of several of its type, so that it
is taken for a constant first."""


def separable(case: Case, separation: Separation, most: int = MAX_COST) -> Case | None:
    """The case with as few additional parameters and constants as its conditions need; None if these do not help.

    ``most``: objects that are added, at most.
    """
    if separation.counterexample(case) is None:
        return case
    if separation.spent:
        return None
    tried = [[(case, separation.against(case))]]
    for _ in range(most):
        longer = []
        for back in (1, BY_CHANCE):
            for one, among in tried[-back] if back <= len(tried) else ():
                if separation.spent:
                    return None
                for extended in _extended(one, by_chance=back != 1):
                    left = separation.against(extended, among)
                    if not left:
                        return extended
                    longer.append((extended, left))
        if len(longer) > MAX_CANDIDATES:
            longer.sort(key=lambda found: len(found[1]))
        tried.append(longer[:MAX_CANDIDATES])
    return None


def rather_by_facts(case: Case, separation: Separation) -> Case:
    """The case with the only object of which some predicate is true, where that takes the place of what was false.

    "The hand is not free" and "this key is held" may be true in the same situations, of all that were seen: which of both
    the case requires is a guess then. A fact about an object is taken rather than that another fact is false.
    """
    if not case.examples or separation.told_by_facts(case):
        return case
    for fact, values in _determined(case):
        if len(fact.arguments) == 1:
            longer = _longer(case, fact, values)
            if separation.told_by_facts(longer):
                return longer
    return case


def with_sure_constants(case: Case) -> Case:
    """The case with the objects as constants that never differed in its examples, where that is hardly chance."""
    while True:
        found = [one for one, sure in _never_differing(case, list(_determined(case))) if sure]
        if not found:
            return case
        case = found[0]


def _extended(case: Case, *, by_chance: bool) -> Iterator[Case]:
    """The case with one more object: as a constant where it never differed though it could have, or as a parameter.

    ``by_chance``: only as a constant that may never have differed by chance.
    """
    found = list(_determined(case))
    constants = _never_differing(case, found)
    yield from [one for one, sure in constants if sure is not by_chance]
    if by_chance:
        yield from _beside_a_constant(case)
        return
    for fact, values in found:
        yield _longer(case, fact, values)


def _beside_a_constant(case: Case) -> Iterator[Case]:
    """The case with one more constant and the object that a fact about it determines, if both came up more than once."""
    if case.control.arity or len({one.objects for one in case.examples}) == 1:
        return
    for name in _names_beside(case):
        objects = case.examples[0].transition.before.objects
        if len(objects.of_type(objects[name])) == 1:
            continue
        constants = {**case.constants, name: objects[name]}
        for fact, values in _determined(case, name):
            yield replace(_longer(case, fact, values), constants=constants)


def _longer(case: Case, fact: LiftedAtom, values: list[str]) -> Case:
    """The case with one more parameter, which the fact determines; in each example it stands for one of the values."""
    examples = tuple(
        Example(one.transition, (*one.objects, value))
        for one, value in zip(case.examples, values, strict=True)
    )
    derivation = Derivation(case.arity, fact)
    return replace(case, examples=examples, derivations=(*case.derivations, derivation))


def _names_beside(case: Case) -> list[str]:
    """Objects that stand in facts about what the case concerns and one more object, in every example."""
    found: set[str] | None = None
    for transition, objects in case.examples:
        bound, beside = set(objects), set()
        for rows in transition.before.rows.values():
            for row in rows:
                others = set(row) - bound
                if len(others) == 2 and len(set(row)) > 2:
                    beside |= others
        found = beside if found is None else found & beside
    return sorted(found or ())


def _never_differing(case: Case, found: list[tuple[LiftedAtom, list[str]]]) -> list[tuple[Case, bool]]:
    """The case with each object that was the same in all examples as a constant, and whether that is hardly chance."""
    same = sorted({values[0] for _, values in found if len(set(values)) == 1} - set(case.constants))
    often = not case.control.arity and len({one.objects for one in case.examples}) >= HARDLY_CHANCE
    constants = []
    for name in same:
        objects = case.examples[0].transition.before.objects
        longer = replace(case, constants={**case.constants, name: objects[name]})
        constants.append((longer, often and len(objects.of_type(objects[name])) > 1))
    return constants


def _determined(case: Case, constant: str | None = None) -> Iterator[tuple[LiftedAtom, list[str]]]:
    """Facts (about a constant, if one is given) that determine one more object in every example, with the objects."""
    first = case.examples[0]
    for fact in candidate_facts(first.transition, first.objects, constant):
        derivation = Derivation(case.arity, fact)
        values: list[str] = []
        for one in case.examples:
            value = derivation.value(one.transition.before, (*one.objects, None))
            if value is None or value in one.objects:
                break
            values.append(value)
        else:
            yield fact, values


def candidate_facts(
    transition: Transition, objects: tuple[str, ...], constant: str | None = None
) -> list[LiftedAtom]:
    """The facts of a situation about bound objects and one other, lifted; the other one is the next parameter.

    ``constant``: only facts that name this object, too, which is none of these.
    """
    place: dict[str, int | str] = {name: number for number, name in enumerate(objects)}
    if constant is not None:
        place[constant] = constant
    found: dict[LiftedAtom, None] = {}
    for predicate, rows in transition.before.rows.items():
        for row in rows:
            if constant is not None and constant not in row:
                continue
            others = {name for name in row if name not in place}
            if len(others) == 1 and (len(row) == 1 or len(others) < len(set(row))):
                lifted = LiftedAtom(predicate, tuple([place.get(name, len(objects)) for name in row]))
                found[lifted] = None
    return sorted(found, key=lambda fact: (len(fact.arguments), str(fact)))
