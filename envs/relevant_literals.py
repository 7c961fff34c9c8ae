"""Which literals of a state can matter to the choice of an operator: PDDLGym's search then looks at no others.

That search goes through all literals of a predicate again and again, which takes milliseconds a step. Here the
conditions of every operator are followed once from what the action names, through an index. What is left out occurs in
no assignment that satisfies the conditions, so that PDDLGym finds the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

Literal = Any
"""A literal of PDDLGym's. Its predicates and objects are compared by name: that is quicker, and names are unique."""
Domains = dict[str, set[str]]
"""The objects that a variable may stand for."""


class LiteralIndex:
    """Literals by predicate, and by predicate, place and object."""

    def __init__(self, literals: Iterable[Literal]) -> None:
        self.by_predicate: dict[str, list[Literal]] = {}
        self.by_object: dict[tuple[str, int, str], list[Literal]] = {}
        for literal in literals:
            name = literal.predicate.name
            self.by_predicate.setdefault(name, []).append(literal)
            for place, item in enumerate(literal.variables):
                self.by_object.setdefault((name, place, item.name), []).append(literal)


class Conditions:
    """What an operator requires of a state, besides the action.

    Args:
        literals: all of its conditions.
        action: the name of the action's predicate, which is no part of a state.
        constants: the names of the domain's constants.
    """

    def __init__(self, literals: Sequence[Literal], action: str, constants: Iterable[str]) -> None:
        own = [one for one in literals if one.predicate.name != action]
        self._positive = [
            (one.predicate.name, [variable.name for variable in one.variables])
            for one in own
            if not one.is_negative
        ]
        self._negative = [one.predicate.name for one in own if one.is_negative]
        self._constants = {name: {name} for name in constants}
        known = {name for _, names in self._positive for name in names} | set(self._constants)
        self._free = {v.name for one in own if one.is_negative for v in one.variables} - known

    def relevant(self, indices: Sequence[LiteralIndex], bound: Mapping[str, str]) -> Iterator[Literal] | None:
        """The literals that can satisfy a condition, or that a negative one speaks of.

        Args:
            indices: of the state's literals, each literal in one of them.
            bound: the objects of those of the operator's variables that the action names.

        Returns:
            None if some condition cannot be satisfied.
        """
        if self._free - bound.keys():  # any object of the state will do
            return chain.from_iterable(chain.from_iterable(i.by_predicate.values()) for i in indices)
        domains: Domains = self._constants | {variable: {item} for variable, item in bound.items()}
        found = [one for name in self._negative for i in indices for one in i.by_predicate.get(name, ())]
        waiting = list(self._positive)
        while waiting:
            candidates = [_candidates(indices, *condition, domains) for condition in waiting]
            number = min(range(len(waiting)), key=lambda place: len(candidates[place]))
            _, variables = waiting.pop(number)
            places = [(place, domains[one]) for place, one in enumerate(variables) if one in domains]
            kept = [
                one
                for one in candidates[number]
                if all(one.variables[place].name in items for place, items in places)
            ]
            if not kept:
                return None
            found += kept
            for place, variable in enumerate(variables):  # the objects are among those that it had before
                domains[variable] = {one.variables[place].name for one in kept}
        return iter(found)


def _candidates(
    indices: Sequence[LiteralIndex], predicate: str, variables: Sequence[str], domains: Domains
) -> list[Literal]:
    """The literals of a predicate, where an object is known only those of it."""
    known = [(place, domains[one]) for place, one in enumerate(variables) if one in domains]
    if not known:
        return [one for index in indices for one in index.by_predicate.get(predicate, ())]
    place, items = min(known, key=lambda pair: len(pair[1]))
    return [
        one
        for index in indices
        for item in items
        for one in index.by_object.get((predicate, place, item), ())
    ]
