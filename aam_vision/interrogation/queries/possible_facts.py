"""Whether some arguments of an action may make a set of its literals true together, in any reachable state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import islice

import numpy as np

from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, atoms
from aam_vision.model.strips import Objects
from aam_vision.planning.fact_tables import Absence, Condition, Numbers, ObjectNumbers, Table
from aam_vision.planning.grounding import Grounding
from aam_vision.planning.joins import Fact, Row
from aam_vision.planning.mutexes import Mutexes
from aam_vision.planning.relations import Relation, TooManyBindings

TOGETHER = 100_000
"""Partial bindings up to which several literals are looked at together. More: fewer searches, each of them longer."""

CHUNK = 256
"""Arguments that are looked at together. More: fewer operations of numpy, more of them for nothing."""


class PossibleFacts:
    """The facts that may become true or false in a problem, as tables, with the pairs that exclude each other."""

    def __init__(
        self,
        objects: Objects,
        grounding: Grounding,
        mutexes: Mutexes,
        *,
        repeated: bool = False,
    ) -> None:
        """``repeated``: whether one object may stand for several parameters."""
        self._repeated = repeated
        self._numbers = ObjectNumbers(objects)
        self._mutexes = mutexes
        self._compatibility = mutexes.compatibility
        self._true: dict[str, tuple[Table, Numbers | None]] = {}
        for predicate, facts in grounding.facts.rows.items():
            table, literals = self._table(predicate, facts, True)
            constant = bool((literals == mutexes.compatibility.free).all())
            self._true[predicate] = table, None if constant else literals
        by_predicate: dict[str, list[Row]] = {}
        for predicate, row in mutexes.facts:
            by_predicate.setdefault(predicate, []).append(row)
        self._false = {
            predicate: self._table(predicate, rows, False) for predicate, rows in by_predicate.items()
        }

    def requiring(self, one_of: Sequence[frozenset[Fact]]) -> PossibleFacts:
        """The same where of each of these sets of facts at least one is always true."""
        sharper = copy(self)
        literals = [[self._mutexes.literal(fact, True) for fact in sorted(facts)] for facts in one_of]
        sharper._compatibility = self._compatibility.requiring(literals)
        return sharper

    def somewhere(self, action: ActionHypotheses, literals: Literals) -> bool:
        """Whether the literals may hold together for some arguments; False is a proof (by pairs) that they never do."""
        relation = self._relation(action, literals)
        return relation is not None and relation.any()

    def where(self, action: ActionHypotheses, literals: Literals) -> Iterator[Row]:
        """The arguments under which they may."""
        relation = self._relation(action, literals)
        for rows in () if relation is None else relation.solutions():
            yield from self._numbers.named(rows.tolist())

    def nearest(
        self, action: ActionHypotheses, literals: Literals, distance: Mapping[Fact, int], count: int
    ) -> list[Row]:
        """So many of the arguments under which they may: those whose true facts are nearest, in order.

        Args:
            action: the action.
            literals: what may hold together.
            distance: how far away each fact is; 0 where it is not in there.
            count: the most arguments that are given.
        """
        relation = self._relation(action, literals)
        if relation is None:
            return []
        away = np.zeros(self._compatibility.free + 1, dtype=np.int64)
        for fact, steps in distance.items():
            if (literal := self._mutexes.literal(fact, True)) >= 0:
                away[literal] = steps
        best = np.empty((0, action.index.header.arity), dtype=np.int64)
        far = np.empty(0, dtype=np.int64)
        looked = 0
        for rows, used in relation.supported():
            best, far = np.concatenate([best, rows]), np.concatenate([far, away[used].sum(axis=1)])
            nearest = np.argsort(far, kind="stable")[:count]
            best, far = best[nearest], far[nearest]
            looked += len(rows)
            if looked > TOGETHER:
                break
        return sorted(self._numbers.named(best.tolist()))

    def among(self, action: ActionHypotheses, literals: Literals, rows: Iterable[Row]) -> Iterator[Row]:
        """Those of the arguments under which they may; in the same order."""
        parts = self._parts(action, literals)
        if parts is None:
            return
        arity = action.index.header.arity
        relation = Relation([None] * arity, *parts, self._compatibility)
        left = iter(rows)
        while some := list(islice(left, CHUNK)):
            for found in relation.solutions(self._numbers.rows(some, arity)):
                yield from self._numbers.named(found.tolist())

    def beside(self, action: ActionHypotheses, literals: Literals, others: Sequence[Literals]) -> list[bool]:
        """For each of these single literals, whether it may hold somewhere together with the literals.

        Raises:
            TooManyBindings: the question about some of them is too large.
        """
        relation = self._relation(action, literals, TOGETHER)
        if relation is None:
            return [False] * len(others)
        try:
            parts = [self._parts(action, other) for other in others]
            questions: list[Condition | Absence] = []
            for part in parts:
                questions += [] if part is None else [*part[0], *part[1]]
            answers = iter(relation.allows(questions))
            anything = relation.any()
            return [part is not None and (next(answers) if any(part) else anything) for part in parts]
        except TooManyBindings:  # each by itself rules out more
            return [self.somewhere(action, union([literals, other])) for other in others]

    def _relation(
        self, action: ActionHypotheses, literals: Literals, most: int | None = None
    ) -> Relation | None:
        parts = self._parts(action, literals)
        if parts is None:
            return None
        return Relation(
            [self._numbers.members(kind) for kind in action.index.header.types],
            *parts,
            self._compatibility,
            distinct=not self._repeated,
            most=most,
        )

    def _parts(
        self, action: ActionHypotheses, literals: Literals
    ) -> tuple[list[Condition], list[Absence]] | None:
        """The literals as parts of a query; None if one of them holds nowhere."""
        positive = atoms(action, literals.positive)
        if any(atom.predicate not in self._true for atom in positive):
            return None
        conditions, absences = [], []
        for atom in positive:
            table, which = self._true[atom.predicate]
            conditions.append(Condition(table, self._numbers.arguments(atom), which))
        for atom in atoms(action, literals.negative):
            if atom.predicate in self._false:
                table, where_false = self._false[atom.predicate]
                absences.append(Absence(table, self._numbers.arguments(atom), where_false))
        return conditions, absences

    def _table(self, predicate: str, rows: Iterable[Row], value: bool) -> tuple[Table, Numbers]:
        rows = list(rows)
        numbers = self._numbers.rows(rows, len(rows[0]) if rows else 0)
        literals = np.array([self._mutexes.literal((predicate, row), value) for row in rows], dtype=np.int64)
        if value:
            numbers, literals = numbers[literals >= 0], literals[literals >= 0]
        return self._numbers.table(numbers), literals
