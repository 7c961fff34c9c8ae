"""Grounding by relaxed reachability: from the facts outwards, never as a product of objects.

An operator is instantiated when all its positive preconditions have become reachable while deletes are
ignored. In every round the new facts are joined with the rest of each precondition in which they occur (semi-naive
evaluation), as whole columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple, Self

import numpy as np

from aam_vision.model.strips import ActionHeader, GroundAction, LiftedAtom, Objects
from aam_vision.planning.fact_tables import Condition, Numbers, ObjectNumbers, Table, columns_of, distinct
from aam_vision.planning.joins import Fact, FactIndex, Row
from aam_vision.planning.relations import Relation, TooManyBindings
from aam_vision.support.errors import AamError


class Operator(NamedTuple):
    """A ground operator over facts."""

    action: GroundAction
    positive: frozenset[Fact]
    negative: frozenset[Fact]
    add: frozenset[Fact]
    delete: frozenset[Fact]

    def __deepcopy__(self, memo: object) -> Self:
        return self


class LiftedOperator(NamedTuple):
    """An action as grounding needs it: sorted lifted atoms of each kind."""

    header: ActionHeader
    positive: tuple[LiftedAtom, ...]
    negative: tuple[LiftedAtom, ...] = ()
    add: tuple[LiftedAtom, ...] = ()
    delete: tuple[LiftedAtom, ...] = ()

    def under(self, bindings: Sequence[Row]) -> list[Operator]:
        """The operators under some bindings."""
        name = self.header.name
        kinds = [grounded(atoms, bindings) for atoms in self[1:]]
        return [
            Operator(GroundAction(name, objects), *facts)
            for objects, *facts in zip(bindings, *kinds, strict=True)
        ]


def grounded(atoms: Sequence[LiftedAtom], bindings: Sequence[Row]) -> list[frozenset[Fact]]:
    """The facts that the atoms are under each of some bindings; all of them are bound together, which is faster."""
    if not atoms or not bindings:
        return [frozenset()] * len(bindings)
    columns = list(zip(*bindings, strict=True))
    facts = [
        zip(
            repeat(atom.predicate, len(bindings)),
            zip(
                *(columns[a] if isinstance(a, int) else repeat(a, len(bindings)) for a in atom.arguments),
                strict=True,
            )
            if atom.arguments
            else repeat((), len(bindings)),
            strict=True,
        )
        for atom in atoms
    ]
    return [frozenset(some) for some in zip(*facts, strict=True)]


class Grounding(NamedTuple):
    """Reachable operators and facts."""

    operators: list[Operator]
    facts: FactIndex
    reachable: Mapping[Fact, int]
    """The facts with how far away each is: the round of the relaxation in which it was reached, 0 for initial ones."""
    fluent: frozenset[Fact]
    """Facts that some operator may change."""

    def __deepcopy__(self, memo: dict[int, object]) -> Grounding:
        """Itself: it never changes."""
        return self


class TooManyOperators(AamError):
    """Raised when grounding passes its limit."""


def ground(
    operators: Sequence[LiftedOperator],
    initial: Iterable[Fact],
    objects: Objects,
    limit: int = 50_000,
    *,
    always: Iterable[Fact] | None = None,
    repeated: bool = False,
) -> Grounding:
    """All operators reachable from the initial facts under the delete relaxation, action by action.

    Negative preconditions are ignored by the relaxation; operators whose negative precondition is
    true in every initial state, and deleted by nothing, are dropped in the end.

    ``initial``: the facts that may be true in an initial state. ``always``: the initial facts that are true in every initial state;
    default all of them.

    Raises:
        TooManyOperators: there are more than ``limit``.
    """
    initial = frozenset(initial)
    certain = initial if always is None else frozenset(always)
    relaxed = _Relaxation(operators, initial, objects, limit, repeated)
    while relaxed.advance():
        pass
    found = relaxed.operators()
    deletable = frozenset(fact for operator in found for fact in operator.delete)
    kept = [
        operator
        for operator in found
        if all(fact not in certain or fact in deletable for fact in operator.negative)
    ]
    reachable = relaxed.facts()
    fluent = (
        frozenset(fact for operator in kept for fact in operator.add | operator.delete) & reachable.keys()
    )
    return Grounding(kept, FactIndex(objects, sorted(reachable)), reachable, fluent)


class _Relaxation:
    """The facts and operators reached so far; new facts are joined with the old ones, round by round."""

    def __init__(
        self,
        operators: Sequence[LiftedOperator],
        initial: frozenset[Fact],
        objects: Objects,
        limit: int,
        repeated: bool,
    ) -> None:
        self._operators = operators
        self._numbers = ObjectNumbers(objects)
        self._limit = limit
        self._repeated = repeated
        rows: dict[str, list[Row]] = {}
        for predicate, row in sorted(initial):
            rows.setdefault(predicate, []).append(row)
        self._all: dict[str, Table] = {}
        self.new: dict[str, Table] = {
            name: self._numbers.table(self._numbers.rows(own, len(own[0]))) for name, own in rows.items()
        }
        """The facts that were reached in the last round."""
        self._found: list[set[tuple[int, ...]]] = [set() for _ in operators]
        self._rounds: dict[str, list[Numbers]] = {}
        """For each predicate the rounds in which its facts were reached."""
        self._round = 0

    def advance(self) -> bool:
        """One round: the operators that the new facts allow, and the facts that those add; whether there are any."""
        new, self.new = self.new, {}
        for name, table in new.items():
            old = self._all.get(name)
            rows = table.rows if old is None else np.concatenate([old.rows, table.rows])
            self._all[name] = self._numbers.table(rows)
            self._rounds.setdefault(name, []).append(np.full(len(table), self._round))
        added: dict[str, list[Numbers]] = {}
        for number, operator in enumerate(self._operators):
            for rows in self._bindings(operator, new):
                rows = self._unknown(number, rows)
                for atom in operator.add if len(rows) else ():
                    columns = columns_of(rows, self._numbers.arguments(atom))
                    made = np.column_stack(columns) if columns else np.empty((1, 0), dtype=np.int64)
                    added.setdefault(atom.predicate, []).append(made)
        self._round += 1
        for name, parts in sorted(added.items()):
            made = np.concatenate(parts)
            made = made[distinct(made)[0]]
            if name in self._all:
                known = self._all[name].find(list(made.T), len(made))
                made = made[known < 0]
            if len(made):
                self.new[name] = self._numbers.table(made)
        return bool(self.new)

    def _bindings(self, operator: LiftedOperator, new: dict[str, Table]) -> Iterator[Numbers]:
        """Bindings under which all that is required was reached, some of it in the last round."""
        if any(atom.predicate not in self._all for atom in operator.positive):
            return
        allowed = [self._numbers.members(kind) for kind in operator.header.types]
        everything = [
            Condition(self._all[atom.predicate], self._numbers.arguments(atom)) for atom in operator.positive
        ]
        if not self._round:
            choices = [everything]
        else:
            choices = [
                [
                    *everything[:place],
                    Condition(new[atom.predicate], everything[place].arguments),
                    *everything[place + 1 :],
                ]
                for place, atom in enumerate(operator.positive)
                if atom.predicate in new
            ]
        for conditions in choices:
            relation = Relation(allowed, conditions, distinct=not self._repeated)
            try:
                yield from relation.solutions()
            except TooManyBindings as error:
                raise TooManyOperators(f"grounding {operator.header.name} passed {error}") from error

    def _unknown(self, number: int, rows: Numbers) -> Numbers:
        """The bindings that were not found before; notes them."""
        found = self._found[number]
        kept = []
        for place, row in enumerate(map(tuple, rows.tolist())):
            if row not in found:
                found.add(row)
                kept.append(place)
        if sum(map(len, self._found)) > self._limit:
            raise TooManyOperators(f"grounding passed {self._limit} operators")
        return rows[kept]

    def operators(self) -> list[Operator]:
        """The operators that were found: of one action after the other, by their objects."""
        return [
            ground
            for operator, found in zip(self._operators, self._found, strict=True)
            for ground in operator.under(list(self._numbers.named(sorted(found))))
        ]

    def facts(self) -> dict[Fact, int]:
        """The facts that were reached, with the rounds in which they were."""
        return {
            (name, row): number
            for name, table in self._all.items()
            for row, number in zip(
                self._numbers.named(table.rows.tolist()),
                np.concatenate(self._rounds[name]).tolist(),
                strict=True,
            )
        }
