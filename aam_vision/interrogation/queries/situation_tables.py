"""Near misses in hundreds of situations at once: the situations' facts as tables, joined by :mod:`aam_vision.relations`.

A fact that differs between situations gets the situation's number as a further argument; what is the same everywhere is
kept once. The answer says which values the atoms of an action have where certain atoms hold, and in which situation first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.ground_literals import atoms
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.joins import Row
from aam_vision.relations import Absence, Condition, Numbers, ObjectNumbers, Relation, Table
from aam_vision.strips import LiftedAtom, Objects, State

MAX_BINDINGS = 100_000
"""Bindings that are looked at together. More: longer scans of situations in which little is known to be required."""


class Pattern(NamedTuple):
    """Values of an action's atoms under some arguments, and the first situation where they are found."""

    held: int
    unknown: int
    first: int
    """The place of the situation in the list of them."""


class TooMany(Exception):
    """Raised when there are more than ``MAX_BINDINGS`` bindings."""


class SituationTables:
    """The situations of one problem as tables that grow with them."""

    def __init__(self, objects: Objects) -> None:
        self._numbers = ObjectNumbers(objects)
        self._states: list[State] = []
        self._places: list[int] = []
        """The place of each situation among all that the policy looks at."""
        self._changing: set[str] = set()
        self._rows: dict[int, dict[str, Numbers]] = {}
        """Per situation and predicate that differs somewhere: its true facts."""
        self._hidden: dict[int, dict[str, Numbers]] = {}
        """The same of unknown facts."""
        self._tables: dict[tuple[str, bool], Table | None] = {}

    def update(self, nodes: Sequence[tuple[int, Node]]) -> None:
        """Take in the situations, each with its place; those that are known already are compared by their states."""
        states = [node.state for _, node in nodes]
        if len(states) == len(self._states) and all(
            one is other for one, other in zip(states, self._states, strict=True)
        ):
            return
        base = states[0]
        for number, state in enumerate(states):
            if number < len(self._states) and state is self._states[number]:
                continue
            self._changing |= {predicate for predicate, _ in (state.true ^ base.true) | state.unknown}
            self._rows.pop(number, None)
            self._hidden.pop(number, None)
        self._states, self._places = states, [place for place, _ in nodes]
        self._tables.clear()

    def patterns(
        self, action: ActionHypotheses, required: Literals, watched: int, begin: int
    ) -> list[Pattern]:
        """The values of the watched atoms wherever the required literals hold, from the place ``begin`` on.

        Raises:
            TooMany: there are too many bindings to look at.
        """
        from_here = [number for number, place in enumerate(self._places) if place >= begin]
        if not from_here:
            return []
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
        given = np.full((len(from_here), arity + 1), -1, dtype=np.int64)
        given[:, arity] = from_here
        relation = Relation(
            [*(self._numbers.members(kind) for kind in header.types), None], conditions, absences
        )
        found: dict[tuple[int, int], int] = {}
        looked = 0
        for rows in relation.solutions(given):
            looked += len(rows)
            if looked > MAX_BINDINGS:
                raise TooMany
            self._collect(found, rows, action, watched)
        return [Pattern(*values, self._places[first]) for values, first in found.items()]

    def _collect(
        self, found: dict[tuple[int, int], int], rows: Numbers, action: ActionHypotheses, watched: int
    ) -> None:
        """Add the values under these bindings, each with the first situation that shows them."""
        selected = [(number, atom) for number, atom in enumerate(action.index.atoms) if watched >> number & 1]
        size = len(action.index.atoms)
        values = np.zeros((len(rows), 2, size), dtype=bool)
        for number, atom in selected:
            for kind in (0, 1):
                condition = self._condition(atom, rows.shape[1] - 1, kind == 0)
                if condition is not None:
                    values[:, kind, number] = condition.holds(rows)
        packed = np.packbits(values, axis=2, bitorder="little")
        width = packed.shape[2]
        keys = np.ascontiguousarray(packed.reshape(len(rows), 2 * width)).view([("", np.uint8)] * (2 * width))
        unique, inverse = np.unique(keys.ravel(), return_inverse=True)
        first = np.full(len(unique), len(self._states), dtype=np.int64)
        np.minimum.at(first, inverse, rows[:, -1])
        for key, number in zip(unique, first.tolist(), strict=True):
            data = key.tobytes()
            values_ = int.from_bytes(data[:width], "little"), int.from_bytes(data[width:], "little")
            found[values_] = min(number, found.get(values_, number))

    def _condition(self, atom: LiftedAtom, state: int, known: bool) -> Condition | None:
        """The atom as a condition on a table; None where no situation has such facts."""
        table = self._table(atom.predicate, known)
        if table is None:
            return None
        arguments = self._numbers.arguments(atom)
        return Condition(table, (*arguments, state) if atom.predicate in self._changing else arguments)

    def _table(self, predicate: str, known: bool) -> Table | None:
        key = predicate, known
        if key not in self._tables:
            self._tables[key] = self._made_table(predicate, known)
        return self._tables[key]

    def _made_table(self, predicate: str, known: bool) -> Table | None:
        base = max(len(self._numbers), len(self._states)) + 1
        if predicate not in self._changing:
            rows = self._facts(0, predicate, known)
            return Table(rows, base) if len(rows) else None
        parts = []
        for number in range(len(self._states)):
            rows = self._facts(number, predicate, known)
            parts.append(np.column_stack([rows, np.full(len(rows), number)]) if len(rows) else None)
        filled = [part for part in parts if part is not None]
        return Table(np.concatenate(filled), base) if filled else None

    def _facts(self, number: int, predicate: str, known: bool) -> Numbers:
        """The rows of one predicate in one situation."""
        cache = self._rows if known else self._hidden
        if predicate not in (rows := cache.get(number, {})):
            state = self._states[number]
            wanted = self._changing | {predicate}
            facts: dict[str, list[Row]] = {name: [] for name in sorted(wanted)}
            for name, row in (
                state.true if known else state.unknown
            ):  # tables are sorted: the order is of no account
                if name in wanted:
                    facts[name].append(row)
            rows = {name: self._numbers.rows(own, len(own[0]) if own else 0) for name, own in facts.items()}
            cache[number] = rows
        return rows[predicate]


class KnownSituations:
    """The tables of all situations, one for each problem."""

    def __init__(self) -> None:
        self._problems: list[tuple[Objects, SituationTables]] = []

    def patterns(
        self, nodes: Sequence[Node], action: ActionHypotheses, required: Literals, watched: int, begin: int
    ) -> list[Pattern]:
        """The same as that of ``SituationTables``, over the situations of all problems."""
        groups: dict[int, list[tuple[int, Node]]] = {}
        for place, node in enumerate(nodes):
            groups.setdefault(self._number(node.state.objects), []).append((place, node))
        found = []
        for number, group in groups.items():
            tables = self._problems[number][1]
            tables.update(group)
            found += tables.patterns(action, required, watched, begin)
        return found

    def _number(self, objects: Objects) -> int:
        """The number of the problem with these objects."""
        for number, (known, _) in enumerate(self._problems):
            if known is objects or known == objects:
                return number
        self._problems.append((objects, SituationTables(objects)))
        return len(self._problems) - 1
