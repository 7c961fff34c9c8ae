"""Derived predicates for planners that know STRIPS alone: operators that change how many facts there are carry the count along.

That at least two facts hold is a fact of its own, as is every other number of them that may come to hold. An operator that adds or deletes one
becomes an operator for each count before it, and for each value that the fact may have had. Where some are unknown, and with them their number,
none of these can be relied on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from aam_vision.model.derived import AtLeast
from aam_vision.model.strips import Atom, State
from aam_vision.planning.grounding import Operator, TooManyOperators
from aam_vision.planning.joins import Fact, Row

LIMIT = 50_000
"""Operators at most."""


class _Group(NamedTuple):
    """Facts of which some derived fact says how many hold."""

    kind: AtLeast
    objects: Row
    most: int
    """How many there may be."""

    def at_least(self, number: int) -> Fact:
        """That so many of them hold."""
        return Atom(replace(self.kind, number=number).predicate.name, self.objects)

    def contains(self, fact: Fact) -> bool:
        """Whether it counts the fact."""
        predicate, row = fact
        return predicate == self.kind.of.name and bool(self.kind.count([row], self.objects))

    def count(self, facts: Iterable[Fact]) -> int:
        """How many of these facts it counts."""
        return sum(map(self.contains, facts))


@dataclass(frozen=True)
class Counting:
    """What is counted in a problem."""

    groups: Sequence[_Group]

    @staticmethod
    def of(derived: Iterable[AtLeast], wanted: Iterable[Fact], reachable: Iterable[Fact]) -> Counting:
        """What has to be counted where these facts are ``wanted``, or that they do not hold; ``reachable``: the facts that may come to hold."""
        kinds = {one.predicate.name: replace(one, number=1) for one in derived}
        facts = [*reachable]
        found = dict.fromkeys((kinds[name], objects) for name, objects in sorted(wanted) if name in kinds)
        groups = [_Group(kind, objects, 0) for kind, objects in found]
        return Counting([group._replace(most=group.count(facts)) for group in groups])

    def start(self, state: State) -> tuple[frozenset[Fact], frozenset[Fact]]:
        """The facts that are true, and those that are unknown, of which what is counted is told."""
        true, unknown = set[Fact](), set[Fact]()
        for group in self.groups:
            known = group.count(state.true)
            possible = known + group.count(state.unknown)
            true.update(group.at_least(number) for number in range(1, known + 1))
            unknown.update(group.at_least(number) for number in range(known + 1, possible + 1))
        return frozenset(true), frozenset(unknown)

    def counted(self, operators: Iterable[Operator]) -> list[Operator]:
        """The operators with the counts that they change.

        Raises:
            TooManyOperators: there are more than ``LIMIT``.
        """
        found: list[Operator] = []
        for operator in operators:
            for one in self._variants(operator):
                found.append(one)
                if len(found) > LIMIT:
                    raise TooManyOperators(f"more than {LIMIT} operators that know how many facts hold")
        return found

    def _variants(self, operator: Operator) -> Iterator[Operator]:
        touched = {
            fact: [group for group in self.groups if group.contains(fact)]
            for fact in sorted(operator.add | operator.delete)
        }
        touched = {fact: groups for fact, groups in touched.items() if groups}
        if not touched:
            yield operator
            return
        befores = [
            [True] if fact in operator.positive else [False] if fact in operator.negative else [True, False]
            for fact in touched
        ]
        for values in product(*befores):
            before = dict(zip(touched, values, strict=True))
            changes: dict[_Group, int] = {}
            for fact, groups in touched.items():
                for group in groups:
                    changes[group] = changes.get(group, 0) + (fact in operator.add) - before[fact]
            fixed = operator._replace(
                positive=operator.positive | {fact for fact, value in before.items() if value},
                negative=operator.negative | {fact for fact, value in before.items() if not value},
            )
            yield from _with_counts(fixed, {group: by for group, by in changes.items() if by})


def _with_counts(operator: Operator, changes: Mapping[_Group, int]) -> Iterator[Operator]:
    """The operator for every count before it of what it changes."""
    ranges = [
        [count for count in range(group.most + 1) if 0 <= count + by <= group.most]
        for group, by in changes.items()
    ]
    for counts in product(*ranges):
        positive, negative, add, delete = map(set, operator[1:])
        for (group, by), count in zip(changes.items(), counts, strict=True):
            if count:
                positive.add(group.at_least(count))
            if count < group.most:
                negative.add(group.at_least(count + 1))
            (add if by > 0 else delete).update(
                group.at_least(number)
                for number in range(min(count, count + by) + 1, max(count, count + by) + 1)
            )
        if positive.isdisjoint(negative):
            yield Operator(operator.action, *map(frozenset, (positive, negative, add, delete)))
