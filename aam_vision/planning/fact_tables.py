"""Facts as tables of numbers, with look-ups by the values at any places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aam_vision.model.strips import LiftedAtom, Objects
from aam_vision.planning.joins import Row

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

MAX_CODE = 2**62
"""Codes of rows up to this fit into 64 bits; greater ones are Python's integers, which are slower."""


class ObjectNumbers:
    """The objects of some problems as numbers from 0, and the members of each type; objects of one name are one."""

    def __init__(self, *problems: Objects) -> None:
        self._problems = problems
        kinds = {name: kind for objects in problems for name, kind in objects.items()}
        self.names = tuple(kinds)
        self.of = {name: number for number, name in enumerate(self.names)}
        self.ambiguous = any(kinds[name] != kind for objects in problems for name, kind in objects.items())
        """Whether some name stands for objects of different types."""
        self._members: dict[str, Mask] = {}

    def __len__(self) -> int:
        return len(self.names)

    def arguments(self, atom: LiftedAtom) -> tuple[int, ...]:
        """An atom's arguments as conditions have them; a constant that is no object here equals no object."""
        return tuple(
            [a if isinstance(a, int) else -1 - self.of.get(a, len(self.names)) for a in atom.arguments]
        )

    def table(self, rows: Numbers) -> Table:
        """Rows of objects as a table."""
        return Table(rows, len(self.names) + 1)

    def members(self, kind: str) -> Mask:
        """For each number, whether the object is a ``kind``; shape (objects,)."""
        if kind not in self._members:
            mask = np.zeros(len(self.names), dtype=bool)
            mask[[self.of[name] for objects in self._problems for name in objects.of_type(kind)]] = True
            self._members[kind] = mask
        return self._members[kind]

    def rows(self, rows: Iterable[Row], width: int) -> Numbers:
        """Rows of names as numbers; shape (rows, width)."""
        numbers = [[self.of[name] for name in row] for row in rows]
        return np.array(numbers, dtype=np.int64).reshape(len(numbers), width)

    def named(self, rows: Iterable[Sequence[int]]) -> Iterator[Row]:
        """Rows of numbers as names."""
        for row in rows:
            yield tuple([self.names[number] for number in row])


class Table:
    """Rows of numbers, all different, with look-ups by the values at any places.

    Args:
        rows: shape (facts, places).
        base: more than the greatest number.
    """

    def __init__(self, rows: Numbers, base: int) -> None:
        self.rows = rows
        self._base = base
        self._kind: type = object if base ** max(rows.shape[1], 1) > MAX_CODE else np.int64
        self._sorted: dict[tuple[int, ...], tuple[Numbers, Numbers, int]] = {}
        self._occurring: dict[int, Mask] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def having(self, keep: Mask) -> Table:
        """The table of some of the rows; shape (facts,)."""
        return Table(self.rows[keep], self._base)

    def _by(self, places: tuple[int, ...]) -> tuple[Numbers, Numbers, int]:
        """Codes of these places in order, the rows in that order, and how many codes differ."""
        if places not in self._sorted:
            codes = self.code([self.rows[:, place] for place in places], len(self.rows))
            order = np.argsort(codes, kind="stable")
            codes = codes[order]
            different = int(np.count_nonzero(codes[1:] != codes[:-1])) + bool(len(codes))
            self._sorted[places] = codes, order, different
        return self._sorted[places]

    def code(self, columns: Sequence[Numbers], length: int) -> Numbers:
        """One integer for the values of the columns; shape (length,)."""
        codes: Numbers = np.zeros(length, dtype=self._kind)
        for column in columns:
            codes = codes * self._base + column
        return codes

    def occurring(self, place: int, size: int) -> Mask:
        """For each number below ``size`` whether it occurs at this place."""
        if place not in self._occurring:
            mask = np.zeros(size, dtype=bool)
            mask[self.rows[:, place]] = True
            self._occurring[place] = mask
        return self._occurring[place]

    def matches_each(self, places: tuple[int, ...]) -> float:
        """The mean number of rows for values that occur at these places."""
        return len(self.rows) / max(self._by(places)[2], 1)

    def find(self, columns: Sequence[Numbers], length: int) -> Numbers:
        """The number of the row with these values at all places, or -1; shape (length,)."""
        codes, order, _ = self._by(tuple(range(self.rows.shape[1])))
        if not len(codes):
            return np.full(length, -1, dtype=np.int64)
        wanted = self.code(columns, length)
        at = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        return np.where(codes[at] == wanted, order[at], -1)

    def ranges(
        self, places: tuple[int, ...], columns: Sequence[Numbers], length: int
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Where the rows with these values at some places stand: first and count, in the order that comes third."""
        codes, order, _ = self._by(places)
        wanted = self.code(columns, length)
        first = np.searchsorted(codes, wanted, side="left")
        return first, np.searchsorted(codes, wanted, side="right") - first, order


def distinct(rows: npt.NDArray[Any]) -> tuple[Numbers, Numbers]:
    """Where each different row stands first, by the order of their values, and for each row which of these it is.

    ``np.unique(axis=0)`` compares whole rows, and forgets an interrupt (Ctrl-C) that comes meanwhile.

    Args:
        rows: shape (rows, columns); the places have shapes (different rows,) and (rows,).
    """
    if not rows.shape[1]:
        return np.arange(min(len(rows), 1)), np.zeros(len(rows), dtype=np.int64)
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    which = np.empty(len(rows), dtype=np.int64)
    which[order] = np.cumsum(new) - 1
    return order[new], which


class Sets:
    """Many sets of small numbers, each as the list of its members in order: of large sets of sets most would be empty space.

    Args:
        of: for each member which set it is in.
        members: the members; a pair may occur twice.
        count: how many sets there are.
        size: more than the greatest member.
    """

    def __init__(self, of: Numbers, members: Numbers, count: int, size: int) -> None:
        self.size = size
        codes = np.unique(of * size + members)
        self.rows: Numbers = codes // max(size, 1)
        """For each member which set it is in, in order."""
        self.members: Numbers = codes % max(size, 1)
        self._end = np.cumsum(np.bincount(self.rows, minlength=count))

    def __len__(self) -> int:
        return len(self._end)

    def turned(self) -> Sets:
        """For each number the sets that it is in."""
        return Sets(self.members, self.rows, self.size, len(self))

    def count(self, some: Numbers) -> Numbers:
        """How many members some sets have; any shape."""
        return np.asarray(self._end[some] - np.where(some > 0, self._end[some - 1], 0))

    def of(self, some: Numbers) -> tuple[Numbers, Numbers]:
        """The members of some sets, each with the place of its set among these; shapes (n,) -> (m,), (m,)."""
        end, counts = self._end[some], self.count(some)
        place = np.repeat(np.arange(len(some)), counts)
        within = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
        return place, self.members[(end - counts)[place] + within]

    def columns(self, filling: int) -> Numbers:
        """The members of each set, one column after the other, filled up with a number; shape (most members, sets)."""
        counts = self.count(np.arange(len(self)))
        columns = np.full((int(counts.max(initial=0)), len(self)), filling, dtype=np.int64)
        columns[np.arange(len(self.rows)) - (np.cumsum(counts) - counts)[self.rows], self.rows] = self.members
        return columns


# The conditions of a query over facts, narrowed to the objects and facts that its answers can use.


LARGE = 1000
"""Facts from which a table is narrowed to those that a query can use; smaller ones are joined as quickly."""


class Condition(NamedTuple):
    """An atom that is to be true: a table and, for each place, a parameter's number or, negative, ``-1 - object``."""

    table: Table
    arguments: tuple[int, ...]
    literals: Numbers | None = None
    """For each row of the table the literal that it is, where compatibility matters."""

    def holds(self, rows: Numbers) -> Mask:
        """Under which of these complete bindings the atom is true."""
        return self.table.find(columns_of(rows, self.arguments), len(rows)) >= 0


class Absence(NamedTuple):
    """An atom that is to be false."""

    table: Table
    """The facts that may be false, or may not."""
    arguments: tuple[int, ...]
    literals: Numbers
    """For each row of the table the literal that the fact is false; negative where it never is."""


def narrowed(
    allowed: Sequence[Mask | None],
    conditions: Sequence[Condition],
    absences: Sequence[Absence],
    *,
    distinct: bool,
) -> tuple[list[Mask | None], list[Condition]]:
    """The values that each parameter may have, and the conditions with the facts that these leave.

    ``allowed``: for each parameter which numbers it may have; None for one that is given from the start. ``distinct``: whether
    parameters that are not given must differ from each other.
    """
    domains = _possible(allowed, conditions, absences)
    conditions = list(conditions)
    if any(len(condition.table) >= LARGE for condition in conditions):
        domains = _different(domains) if distinct else domains
        conditions = [_with_fewer_facts(condition, domains) for condition in conditions]
        domains = _possible(domains, conditions, absences)
        domains = _different(domains) if distinct else domains
    return domains, conditions


def _possible(
    allowed: Sequence[Mask | None], conditions: Sequence[Condition], absences: Sequence[Absence]
) -> list[Mask | None]:
    """The values of each parameter that no single condition rules out."""
    domains = list(allowed)
    for table, arguments, _ in conditions:
        for place, argument in enumerate(arguments):
            if argument >= 0 and (domain := domains[argument]) is not None:
                domains[argument] = domain & table.occurring(place, len(domain))
    for absence in absences:
        parameter = absence.arguments[0] if len(absence.arguments) == 1 else -1
        if parameter >= 0 and (domain := domains[parameter]) is not None:
            domain = domain.copy()
            domain[absence.table.rows[absence.literals < 0, 0]] = False
            domains[parameter] = domain
    return domains


def _different(domains: Sequence[Mask | None]) -> list[Mask | None]:
    """The values without those that are another parameter's only one."""
    left = list(domains)
    for number, domain in enumerate(domains):
        if domain is not None and domain.sum() == 1:
            for other, values in enumerate(left):
                if other != number and values is not None:
                    left[other] = values & ~domain
    return left


def _with_fewer_facts(condition: Condition, domains: Sequence[Mask | None]) -> Condition:
    """The condition without the facts whose objects the parameters cannot be, if these are many."""
    table, arguments, literals = condition
    if len(table) < LARGE:
        return condition
    keep = np.ones(len(table), dtype=bool)
    for place, argument in enumerate(arguments):
        values = table.rows[:, place]
        if argument < 0:
            keep &= values == -1 - argument
        elif (domain := domains[argument]) is not None:
            keep &= domain[values]
    if 2 * keep.sum() > len(keep):
        return condition
    return Condition(table.having(keep), arguments, None if literals is None else literals[keep])


def columns_of(rows: Numbers, arguments: Sequence[int]) -> list[Numbers]:
    """The values of an atom's arguments under each binding."""
    return [rows[:, a] if a >= 0 else np.full(len(rows), -1 - a) for a in arguments]
