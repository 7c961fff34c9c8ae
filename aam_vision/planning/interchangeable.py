"""Objects that differ only in where they are: a few stand for all of them.

Twenty stones, or sixteen packages, of which the same never changes: what may hold together of any two of them may hold of
every two. So a table of pairs needs only as many *representatives* as one operator names, and one more. Whatever is true
of the objects is true of their representatives in some naming; the table says too much is possible, never too little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

from aam_vision.planning.joins import Fact


class PossibleOperator(NamedTuple):
    """A ground operator as far as it is known: ``may_add`` and ``may_delete`` happen or not."""

    positive: frozenset[Fact]
    negative: frozenset[Fact]
    add: frozenset[Fact]
    delete: frozenset[Fact]
    may_add: frozenset[Fact] = frozenset()
    may_delete: frozenset[Fact] = frozenset()

    def renamed(self, names: Mapping[str, str]) -> PossibleOperator:
        """The operator with other objects."""
        return PossibleOperator(*(frozenset([renamed(fact, names) for fact in facts]) for facts in self))


class Representatives(NamedTuple):
    """Interchangeable objects, and those of them that stand for all."""

    members: frozenset[str]
    chosen: tuple[str, ...]

    def owner(self, fact: Fact) -> str | None:
        """The one interchangeable object that the fact names, if any."""
        return next((name for name in fact[1] if name in self.members), None)

    def naming(self, fact: Fact, place: int) -> Fact:
        """The fact about one of the representatives."""
        owner = self.owner(fact)
        return fact if owner is None else renamed(fact, {owner: self.chosen[place]})

    def namings(self, fact: Fact) -> list[Fact]:
        """The fact about each of the representatives."""
        return [self.naming(fact, place) for place in range(len(self.chosen))]

    def operators(self, operators: Iterable[PossibleOperator]) -> list[PossibleOperator]:
        """The operators of the representatives, in every naming."""
        found: dict[PossibleOperator, None] = {}
        for operator in operators:
            owners = sorted(_named(operator) & self.members)
            if not owners:
                found[operator] = None
                continue
            first = operator.renamed(dict(zip(owners, self.chosen, strict=False)))
            if first in found:
                continue
            for names in permutations(self.chosen, len(owners)):
                found[operator.renamed(dict(zip(owners, names, strict=True)))] = None
        return list(found)


def renamed(fact: Fact, names: Mapping[str, str]) -> Fact:
    """The fact with other objects."""
    predicate, row = fact
    return predicate, tuple([names.get(name, name) for name in row])


def _named(operator: PossibleOperator) -> set[str]:
    """The objects that an operator's facts name."""
    return {name for facts in operator for _, row in facts for name in row}


def representatives(
    operators: Sequence[PossibleOperator], changing: Iterable[Fact], constant: Iterable[Fact]
) -> Representatives | None:
    """The largest set of objects of which the same is true for ever, and those that may stand for all of them.

    None where no fact's change would be left out: no set is larger than its representatives, or facts name two of one set.
    """
    about: dict[str, set[Fact]] = {}
    objects = {name for fact in changing for name in fact[1]}
    for fact in constant:
        for name in fact[1]:
            if name in objects:
                about.setdefault(name, set()).add(renamed(fact, {name: ""}))
    predicates: dict[str, set[tuple[str, int]]] = {}
    for predicate, row in changing:
        for place, name in enumerate(row):
            predicates.setdefault(name, set()).add((predicate, place))
    groups: dict[tuple[frozenset[Fact], frozenset[tuple[str, int]]], list[str]] = {}
    for name in sorted(objects):
        key = frozenset(about.get(name, ())), frozenset(predicates[name])
        groups.setdefault(key, []).append(name)
    for group in sorted(groups.values(), key=len, reverse=True):
        members = frozenset(group)
        if any(sum(name in members for name in row) > 1 for _, row in changing):
            continue
        most = 0
        for operator in operators:
            most = max(most, len(_named(operator) & members))
        if len(group) > max(most + 1, 2):
            return Representatives(members, tuple(group[: max(most + 1, 2)]))
    return None
