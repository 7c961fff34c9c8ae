"""Grounding by relaxed reachability: from the facts outwards, never as a product of objects.

An operator is instantiated when all its positive preconditions have become reachable while deletes are
ignored. Every new fact is joined with the rest of each precondition that it occurs in (semi-naive
evaluation), so that nothing is found twice for the same reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aam_vision.errors import AamError
from aam_vision.joins import Fact, FactIndex, Row, bindings
from aam_vision.strips import ActionHeader, GroundAction, LiftedAtom, Objects


class Operator(NamedTuple):
    """A ground operator over facts."""

    action: GroundAction
    positive: frozenset[Fact]
    negative: frozenset[Fact]
    add: frozenset[Fact]
    delete: frozenset[Fact]


class LiftedOperator(NamedTuple):
    """An action as grounding needs it: sorted lifted atoms of each kind."""

    header: ActionHeader
    positive: tuple[LiftedAtom, ...]
    negative: tuple[LiftedAtom, ...] = ()
    add: tuple[LiftedAtom, ...] = ()
    delete: tuple[LiftedAtom, ...] = ()

    def under(self, objects: Row) -> Operator:
        """The operator under a binding."""
        return Operator(
            GroundAction(self.header.name, objects),
            frozenset([atom.ground(objects) for atom in self.positive]),
            frozenset([atom.ground(objects) for atom in self.negative]),
            frozenset([atom.ground(objects) for atom in self.add]),
            frozenset([atom.ground(objects) for atom in self.delete]),
        )


class Grounding(NamedTuple):
    """Reachable operators and facts; ``fluent`` facts are those that some operator may change."""

    operators: list[Operator]
    facts: FactIndex
    reachable: frozenset[Fact]
    fluent: frozenset[Fact]


class TooManyOperators(AamError):
    """Raised when grounding passes its limit."""


_Trigger = tuple[LiftedOperator, LiftedAtom, tuple[LiftedAtom, ...]]
"""An operator, one of its positive preconditions, and the others."""


def ground(
    operators: Sequence[LiftedOperator],
    initial: Iterable[Fact],
    objects: Objects,
    limit: int = 50_000,
    *,
    repeated: bool = False,
) -> Grounding:
    """All operators reachable from the initial facts under the delete relaxation.

    Arguments of one operator are different objects unless ``repeated``.

    Negative preconditions are ignored by the relaxation; operators whose negative precondition is an
    initial fact that nothing deletes are dropped in the end.

    Raises:
        TooManyOperators: there are more than ``limit``.
    """
    initial = frozenset(initial)
    reachable: set[Fact] = set()
    index, triggers = FactIndex(objects), _triggers(operators)
    queue = sorted(initial)
    seen: dict[tuple[str, Row], Operator] = {}

    def found(operator: LiftedOperator, objects_: Row) -> None:
        key = (operator.header.name, objects_)
        if key not in seen:
            if len(seen) >= limit:
                raise TooManyOperators(f"grounding passed {limit} operators")
            seen[key] = grounded = operator.under(objects_)
            queue.extend(sorted(fact for fact in grounded.add if fact not in reachable))

    for operator in operators:
        if not operator.positive:
            for objects_ in bindings(index, operator.header, (), repeated=repeated):
                found(operator, objects_)
    position = 0
    while position < len(queue):
        fact = queue[position]
        position += 1
        if fact in reachable:
            continue
        reachable.add(fact)
        index.add(*fact)
        for operator, atom, rest in triggers.get(fact[0], ()):
            rows = bindings(index, operator.header, rest, repeated=repeated, match=(atom, fact[1]))
            for objects_ in rows:
                found(operator, objects_)
    deletable = frozenset(fact for operator in seen.values() for fact in operator.delete)
    kept = [
        operator
        for operator in seen.values()
        if all(fact not in initial or fact in deletable for fact in operator.negative)
    ]
    fluent = frozenset(fact for operator in kept for fact in operator.add | operator.delete) & reachable
    return Grounding(kept, index, frozenset(reachable), fluent)


def _triggers(operators: Sequence[LiftedOperator]) -> dict[str, list[_Trigger]]:
    """By predicate, the preconditions that a new fact may satisfy."""
    triggers: dict[str, list[_Trigger]] = defaultdict(list)
    for operator in operators:
        for atom in operator.positive:
            rest = tuple(other for other in operator.positive if other is not atom)
            triggers[atom.predicate].append((operator, atom, rest))
    return triggers
