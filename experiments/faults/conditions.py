"""Conditions on a state, as a fault may have them: atoms over an action's parameters and over other objects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from aam_vision.strips import ActionHeader, LiftedAtom, Model, State, lifted_atoms

OTHER = "*"
"""In a lifted atom: some object that is no argument of the step."""


def holds(condition: LiftedAtom, state: State, objects: Sequence[str]) -> bool:
    """Whether the condition holds for a step with these arguments; ``OTHER`` stands for any other object."""
    if OTHER not in condition.arguments:
        return condition.ground(objects) in state.true
    return any(
        all(
            one not in objects if argument == OTHER else one == objects[argument]  # type: ignore[index]
            for one, argument in zip(row, condition.arguments, strict=True)
        )
        for row in state.rows.get(condition.predicate, ())
    )


def own(model: Model, header: ActionHeader) -> list[LiftedAtom]:
    """Atoms over the parameters, those of P*."""
    return list(lifted_atoms(model.vocabulary, header))


def foreign(model: Model, header: ActionHeader) -> list[LiftedAtom]:
    """Atoms over parameters and at least one object that is no argument."""
    types = model.vocabulary.types
    found = []
    for predicate in model.vocabulary.predicates:
        pools: list[list[int | str]] = [
            [OTHER, *(place for place, own in enumerate(header.types) if types.is_a(own, kind))]
            for kind in predicate.types
        ]
        found += [LiftedAtom(predicate.name, row) for row in product(*pools) if OTHER in row]
    return found


def named(text: str, condition: LiftedAtom, header: ActionHeader) -> bool:
    """Whether a text such as ``not at(?ball, room1)`` names this condition, whatever its sign.

    Parameters must be the same; where the condition has some other object, any name but a parameter's fits.
    """
    parameters = [f"?{name}" for name in header.parameters]
    for predicate, listed in re.findall(r"([\w-]+)\(([^()]*)\)", text):
        arguments = [one.split(" - ")[0].strip() for one in listed.split(",")] if listed.strip() else []
        if predicate == condition.predicate and len(arguments) == len(condition.arguments):
            pairs = zip(arguments, condition.arguments, strict=True)
            return all(
                one not in parameters if place == OTHER else one == parameters[place]  # type: ignore[index]
                for one, place in pairs
            )
    return False
