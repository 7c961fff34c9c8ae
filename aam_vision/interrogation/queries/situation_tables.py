"""Near misses in hundreds of situations at once: the situations' facts as tables, joined by :mod:`aam_vision.relations`.

A fact that differs between situations gets the situation's number as a further argument; what is the same everywhere is
kept once. The answer says which values the atoms of an action have where certain atoms hold, and in which situation first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aam_vision.conditions import Absence, Condition
from aam_vision.fact_tables import Numbers, ObjectNumbers, Table
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.ground_literals import atoms
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.joins import Row
from aam_vision.relations import Relation, TooManyBindings
from aam_vision.strips import LiftedAtom, Objects, State

MAX_BINDINGS = 100_000
"""Bindings that are looked at together. More: longer scans of situations in which little is known to be required."""


class Pattern(NamedTuple):
    """Values of an action's atoms under some arguments, and the first situation where they are found."""

    held: int
    unknown: int
    first: int
    """The place of the situation in the list of them."""


class SituationTables:
    """The situations of all problems as tables that grow with them.

    A row of a predicate that differs within a problem ends with the number of the situation; of another one, with that
    of the problem.
    """

    def __init__(self) -> None:
        self._problems: list[Objects] = []
        self._numbers = ObjectNumbers()
        self._states: list[State] = []
        self._problem_of: list[int] = []
        self._bases: dict[int, State] = {}
        """A state of each problem, with which the others are compared."""
        self._changing: set[str] = set()
        self._rows: dict[tuple[int, bool], dict[str, Numbers]] = {}
        """Per situation, true or unknown facts of the predicates that differ within a problem."""
        self._tables: dict[tuple[str, bool], Table | None] = {}
        self._members: dict[str, Table] = {}

    def patterns(
        self, nodes: Sequence[Node], action: ActionHypotheses, required: Literals, watched: int, begin: int
    ) -> list[Pattern]:
        """The values of the watched atoms wherever the required literals hold, from the place ``begin`` on.

        Raises:
            TooManyBindings: there are too many bindings to look at.
        """
        self._take_in([node.state for node in nodes])
        header, arity = action.index.header, action.index.header.arity
        conditions = []
        for atom in atoms(action, required.positive):
            condition = self._condition(atom, arity, True)
            if condition is None:
                return []
            conditions.append(condition)
        absences = [
            Absence(*condition[:2], np.full(len(condition.table), -1))
            for atom in atoms(action, required.negative)
            for known in (True, False)
            if (condition := self._condition(atom, arity, known)) is not None
        ]
        conditions += self._existing(header.types, conditions)
        given = np.full((max(len(self._states) - begin, 0), arity + 2), -1, dtype=np.int64)
        given[:, arity] = np.arange(begin, begin + len(given))
        given[:, arity + 1] = self._problem_of[begin:]
        allowed = [*(self._numbers.members(kind) for kind in header.types), None, None]
        relation = Relation(allowed, conditions, absences)
        found: dict[tuple[int, int], int] = {}
        looked = 0
        for rows in relation.solutions(given) if len(given) else ():
            looked += len(rows)
            if looked > MAX_BINDINGS:
                raise TooManyBindings(f"{MAX_BINDINGS} bindings")
            self._collect(found, rows, action, watched)
        return [Pattern(*values, first) for values, first in found.items()]

    def _existing(self, kinds: Sequence[str], conditions: Sequence[Condition]) -> list[Condition]:
        """That an object is there in the problem, and of the type, where no condition says so."""
        if len(self._problems) == 1:
            return []
        arity = len(kinds)
        named = {argument for condition in conditions for argument in condition.arguments}
        return [
            Condition(self._members_of(kind), (parameter, arity + 1))
            for parameter, kind in enumerate(kinds)
            if parameter not in named or self._numbers.ambiguous
        ]

    def _members_of(self, kind: str) -> Table:
        if kind not in self._members:
            rows = [
                (self._numbers.of[name], number)
                for number, objects in enumerate(self._problems)
                for name in objects.of_type(kind)
            ]
            self._members[kind] = self._table_of(np.array(rows, dtype=np.int64).reshape(len(rows), 2))
        return self._members[kind]

    def _collect(
        self, found: dict[tuple[int, int], int], rows: Numbers, action: ActionHypotheses, watched: int
    ) -> None:
        """Add the values under these bindings, each with the first situation that shows them."""
        selected = [(number, atom) for number, atom in enumerate(action.index.atoms) if watched >> number & 1]
        size, arity = max(len(action.index.atoms), 1), action.index.header.arity
        values = np.zeros((len(rows), 2, size), dtype=bool)
        for number, atom in selected:
            for kind in (0, 1):
                condition = self._condition(atom, arity, kind == 0)
                if condition is not None:
                    values[:, kind, number] = condition.holds(rows)
        packed = np.packbits(values, axis=2, bitorder="little")
        width = packed.shape[2]
        keys = np.ascontiguousarray(packed.reshape(len(rows), 2 * width)).view([("", np.uint8)] * (2 * width))
        unique, inverse = np.unique(keys.ravel(), return_inverse=True)
        first = np.full(len(unique), len(self._states), dtype=np.int64)
        np.minimum.at(first, inverse, rows[:, arity])
        for key, number in zip(unique, first.tolist(), strict=True):
            data = key.tobytes()
            values_ = int.from_bytes(data[:width], "little"), int.from_bytes(data[width:], "little")
            found[values_] = min(number, found.get(values_, number))

    # --- the tables --------------------------------------------------------------------------------

    def _take_in(self, states: list[State]) -> None:
        """Take in the states of the situations; those that are known already are the same objects."""
        old = self._states
        changed = [n for n, state in enumerate(states) if n >= len(old) or state is not old[n]]
        if not changed and len(states) == len(old):
            return
        self._states, self._problem_of = states, self._problem_of[: len(states)]
        for number in changed:
            state = states[number]
            problem = self._problem(state.objects)
            self._problem_of[number : number + 1] = [problem]
            base = self._bases.setdefault(problem, state)
            self._changing |= {name for name, _ in (state.true ^ base.true) | state.unknown}
            self._rows.pop((number, True), None)
            self._rows.pop((number, False), None)
        self._tables.clear()

    def _problem(self, objects: Objects) -> int:
        """The number of the problem with these objects."""
        for number, known in enumerate(self._problems):
            if known is objects or known == objects:
                return number
        self._problems.append(objects)
        self._numbers = ObjectNumbers(*self._problems)
        self._rows.clear()
        self._members.clear()
        return len(self._problems) - 1

    def _condition(self, atom: LiftedAtom, arity: int, known: bool) -> Condition | None:
        """The atom as a condition on a table; None where no situation has such facts."""
        key = atom.predicate, known
        if key not in self._tables:
            self._tables[key] = self._made_table(*key)
        table = self._tables[key]
        if table is None:
            return None
        last = arity if atom.predicate in self._changing else arity + 1
        return Condition(table, (*self._numbers.arguments(atom), last))

    def _made_table(self, predicate: str, known: bool) -> Table | None:
        if predicate in self._changing:
            parts = [(number, self._facts(number, predicate, known)) for number in range(len(self._states))]
        else:
            parts = [
                (problem, self._numbered(base, predicate, known)) for problem, base in self._bases.items()
            ]
        filled = [np.column_stack([rows, np.full(len(rows), last)]) for last, rows in parts if len(rows)]
        return self._table_of(np.concatenate(filled)) if filled else None

    def _table_of(self, rows: Numbers) -> Table:
        return Table(rows, max(len(self._numbers), len(self._states), len(self._problems)) + 1)

    def _numbered(self, state: State, predicate: str, known: bool) -> Numbers:
        rows = [row for name, row in (state.true if known else state.unknown) if name == predicate]
        return self._numbers.rows(rows, len(rows[0]) if rows else 0)

    def _facts(self, number: int, predicate: str, known: bool) -> Numbers:
        """The rows of one predicate in one situation; all that differ are numbered together."""
        if predicate not in (rows := self._rows.get((number, known), {})):
            state = self._states[number]
            facts: dict[str, list[Row]] = {name: [] for name in sorted(self._changing)}
            for name, row in (
                state.true if known else state.unknown
            ):  # tables are sorted: the order is of no account
                if name in facts:
                    facts[name].append(row)
            rows = {name: self._numbers.rows(own, len(own[0]) if own else 0) for name, own in facts.items()}
            self._rows[number, known] = rows
        return rows[predicate]
