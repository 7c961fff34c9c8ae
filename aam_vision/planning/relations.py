"""Conjunctive queries over many facts at once: whole columns are joined, not one row at a time.

:mod:`aam_vision.planning.joins` finds the bindings in one state one by one, which is best where few are wanted. Here the question is
asked of thousands of facts, or of hundreds of states together: facts are rows of integers, one join is a few operations of
numpy. Partial bindings are followed in blocks, depth first, so that memory stays bounded and a first answer comes early.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from aam_vision.planning.fact_tables import Absence, Condition, Mask, Numbers, Sets, columns_of, narrowed

BLOCK = 8192
"""Partial bindings that are followed together. More: fewer operations of numpy, more memory, a later first answer."""
MAX_BINDINGS = 2_000_000
"""Partial bindings of one query. More: answers in larger worlds, slower."""
MAX_SCANNED = 10_000_000
"""Facts that are looked at beside the partial bindings of one query; most of them may not go together."""


class TooManyBindings(ValueError):
    """Raised when a query has more bindings than are looked at."""


@dataclass
class Relation:
    """A conjunctive query: parameters, and the conditions that are joined in a good order."""

    allowed: Sequence[Mask | None]
    """For each parameter which numbers it may have; None for one that is given from the start."""
    conditions: Sequence[Condition]
    absences: Sequence[Absence] = ()
    compatibility: Compatibility | None = None
    distinct: bool = True
    """Whether parameters that are not given from the start must differ from each other."""
    most: int | None = None
    """Partial bindings that are followed at most; default ``MAX_BINDINGS``."""
    _steps: list[_Step] = field(default_factory=list)
    _followed: int = 0
    _scanned: int = 0

    def __post_init__(self) -> None:
        self.allowed, self.conditions = narrowed(
            self.allowed, self.conditions, self.absences, distinct=self.distinct
        )
        self._plan()

    def solutions(self, given: Numbers | None = None) -> Iterator[Numbers]:
        """Blocks of bindings, depth first; each of shape (some, parameters).

        ``given``: partial bindings to begin with, -1 where a parameter is open; default one that is open everywhere.

        Raises:
            TooManyBindings: more than ``most`` partial bindings were followed, or too many facts looked at for them.
        """
        for rows, _ in self.supported(given):
            yield rows

    def supported(self, given: Numbers | None = None) -> Iterator[tuple[Numbers, Numbers]]:
        """The same with the literals that each binding uses; shapes (some, parameters), (some, literals)."""
        self._followed = self._scanned = 0
        if self._nothing:
            return
        rows = np.full((1, len(self.allowed)), -1, dtype=np.int64) if given is None else given
        yield from self._follow(rows, np.empty((len(rows), 0), dtype=np.int64), 0)

    def any(self) -> bool:
        """Whether there is any binding."""
        return next(self.solutions(), None) is not None

    def allows(self, others: Sequence[Condition | Absence]) -> list[bool]:
        """For each of these, whether there is a binding under which it holds, too.

        They are looked at together, which is quick where the bindings are few.

        Raises:
            TooManyBindings: as in ``solutions``.
        """
        allowed = [False] * len(others)
        for rows, used in self.supported():
            for place, other in enumerate(others):
                if not allowed[place]:
                    narrowed = self._with if isinstance(other, Condition) else self._without
                    left = narrowed(rows, used, other)[1]  # type: ignore[arg-type]
                    allowed[place] = bool(
                        len(left) if self.compatibility is None else self.compatibility.completed(left).any()
                    )
            if all(allowed):
                break
        return allowed

    # --- the order of the steps --------------------------------------------------------------------

    def _plan(self) -> None:
        bound = {number for number, allowed in enumerate(self.allowed) if allowed is None}
        left, absent = list(self.conditions), list(self.absences)
        while left:
            best = min(left, key=lambda one: _growth(one, bound))
            left.remove(best)
            self._steps.append(best)
            bound |= {argument for argument in best.arguments if argument >= 0}
            absent = self._append_checks(absent, bound)
        sizes = [0 if domain is None else int(domain.sum()) for domain in self.allowed]
        self._nothing = any(
            not size for size, domain in zip(sizes, self.allowed, strict=True) if domain is not None
        )
        for number in sorted(range(len(self.allowed)), key=sizes.__getitem__):
            if number not in bound:
                self._steps.append(number)
                bound.add(number)
                absent = self._append_checks(absent, bound)
        self._append_checks(absent, bound)

    def _append_checks(self, absent: list[Absence], bound: set[int]) -> list[Absence]:
        waiting = []
        for one in absent:
            if all(a < 0 or a in bound for a in one.arguments):
                self._steps.append(one)
            else:
                waiting.append(one)
        return waiting

    # --- one step after the other ------------------------------------------------------------------

    def _follow(self, rows: Numbers, used: Numbers, level: int) -> Iterator[tuple[Numbers, Numbers]]:
        most = MAX_BINDINGS if self.most is None else self.most
        while level < len(self._steps) and len(rows):
            step = self._steps[level]
            level += 1
            if isinstance(step, Absence):
                rows, used = self._without(rows, used, step)
            elif isinstance(step, Condition) and all(a < 0 or rows[0, a] >= 0 for a in step.arguments):
                rows, used = self._with(rows, used, step)
            else:
                grown = (
                    self._joined(rows, used, step)
                    if isinstance(step, Condition)
                    else self._filled(rows, used, step)
                )
                for some, literals in grown:
                    self._followed += len(some)
                    if self._followed > most:
                        raise TooManyBindings(f"{most} bindings")
                    yield from self._follow(some, literals, level)
                return
        if len(rows) and self.compatibility is not None:
            fine = self.compatibility.completed(used)
            rows, used = rows[fine], used[fine]
        if len(rows):
            yield rows, used

    def _with(self, rows: Numbers, used: Numbers, step: Condition) -> tuple[Numbers, Numbers]:
        """The bindings under which a condition without open parameters holds."""
        found = step.table.find(columns_of(rows, step.arguments), len(rows))
        there = found >= 0
        return self._compatible(rows[there], used[there], step.literals, found[there])

    def _without(self, rows: Numbers, used: Numbers, step: Absence) -> tuple[Numbers, Numbers]:
        found = step.table.find(columns_of(rows, step.arguments), len(rows))
        literals = np.where(found >= 0, step.literals[found], self._free) if len(step.table) else None
        if literals is None:
            return rows, used
        fine = literals >= 0
        return self._compatible(rows[fine], used[fine], literals[fine], None)

    def _joined(self, rows: Numbers, used: Numbers, step: Condition) -> Iterator[tuple[Numbers, Numbers]]:
        """The bindings that a condition with open parameters allows, in blocks."""
        places = tuple(p for p, a in enumerate(step.arguments) if a < 0 or rows[0, a] >= 0)
        open_places = [p for p in range(len(step.arguments)) if p not in places]
        columns = columns_of(rows, [step.arguments[p] for p in places])
        first, count, order = step.table.ranges(places, columns, len(rows))
        for begin, end in _blocks(count):
            number = count[begin:end]
            self._scanned += int(number.sum())
            if self._scanned > MAX_SCANNED:
                raise TooManyBindings(f"{MAX_SCANNED} facts looked at")
            source = np.repeat(np.arange(begin, end), number)
            offset = np.arange(len(source)) - np.repeat(np.cumsum(number) - number, number)
            fact = order[first[source] + offset]
            grown, fine = rows[source], np.ones(len(source), dtype=bool)
            for place in open_places:
                fine &= self._bind(grown, step.arguments[place], step.table.rows[fact, place])
            yield self._compatible(grown[fine], used[source[fine]], step.literals, fact[fine])

    def _filled(self, rows: Numbers, used: Numbers, parameter: int) -> Iterator[tuple[Numbers, Numbers]]:
        """The bindings that give an open parameter every object of its type, in blocks."""
        allowed = self.allowed[parameter]
        assert allowed is not None, "a parameter that is given is not open"
        values = np.flatnonzero(allowed)
        for begin, end in _blocks(np.full(len(rows), len(values))):
            grown = np.repeat(rows[begin:end], len(values), axis=0)
            fine = self._bind(grown, parameter, np.tile(values, end - begin))
            yield grown[fine], np.repeat(used[begin:end], len(values), axis=0)[fine]

    def _bind(self, rows: Numbers, parameter: int, values: Numbers) -> Mask:
        """Write the values into the rows; where that is allowed."""
        own = rows[:, parameter]
        if len(own) and own[0] >= 0:  # the parameter stands twice in one atom
            return np.asarray(own == values)
        allowed = self.allowed[parameter]
        fine = allowed[values] if allowed is not None else np.ones(len(values), dtype=bool)
        if self.distinct:
            for other, kinds in enumerate(self.allowed):
                if kinds is not None and other != parameter:
                    fine &= rows[:, other] != values
        rows[:, parameter] = values
        return fine

    def _compatible(
        self, rows: Numbers, used: Numbers, literals: Numbers | None, facts: Numbers | None
    ) -> tuple[Numbers, Numbers]:
        if self.compatibility is None or literals is None:
            return rows, used
        new = literals if facts is None else literals[facts]
        fine = self.compatibility.filter(used, new)
        return rows[fine], np.column_stack([used[fine], new[fine]])

    @property
    def _free(self) -> int:
        return 0 if self.compatibility is None else self.compatibility.free


_Step = Condition | Absence | int


def _growth(condition: Condition, bound: set[int]) -> float:
    """By how much a condition is expected to multiply the bindings."""
    places = tuple(p for p, a in enumerate(condition.arguments) if a < 0 or a in bound)
    if len(places) == len(condition.arguments):
        return -1.0 / (1 + len(condition.table))
    return condition.table.matches_each(places)


def _blocks(counts: Numbers) -> Iterator[tuple[int, int]]:
    """Ranges of rows that give about ``BLOCK`` rows each."""
    total = np.cumsum(counts)
    begin, done = 0, 0
    while begin < len(counts):
        end = max(int(np.searchsorted(total, done + BLOCK, side="right")), begin + 1)
        yield begin, end
        done = int(total[end - 1])
        begin = end


# Which literals may hold together, pairwise, asked of many literals at once.


USED_BLOCK = 2048
"""Choices of literals that are completed together. More: fewer operations of numpy, more memory."""


@dataclass
class Compatibility:
    """Which literals may hold together, pairwise.

    Literals are numbers; the last one stands for whatever is compatible with everything.
    """

    packed: npt.NDArray[np.uint8]
    """Bit ``j`` of row ``i``: whether the literals may hold together; shape (rows, bytes)."""
    first: Numbers | None = None
    """The row of each literal, where several share one; shape (literals,). By default literals are rows."""
    second: Numbers | None = None
    """The row of each literal as it stands beside a literal of another owner."""
    owner: Numbers | None = None
    """Whom each literal is about, or -1."""
    one_of: Sequence[Sequence[int]] = ()
    """Sets of literals of which at least one always holds."""

    def requiring(self, one_of: Sequence[Sequence[int]]) -> Compatibility:
        """The same, where of each of these sets of literals at least one always holds."""
        return replace(self, one_of=one_of)

    def filter(self, used: Numbers, new: Numbers) -> Mask:
        """Whether the new literals can hold, and with those used so far; shapes (n, used), (n,) -> (n,)."""
        if self.first is None or self.second is None or self.owner is None:
            fine = self._bits(new, new)
            if used.shape[1]:
                fine &= self._bits(used, new[:, None]).all(axis=1)
            return fine
        own = self.first[new]
        fine = self._bits(own, own)
        if used.shape[1]:
            whose, owner = self.owner[used], self.owner[new][:, None]
            alike = (whose == owner) | (whose < 0) | (owner < 0)
            beside = np.where(alike, own[:, None], self.second[new][:, None])
            fine &= self._bits(self.first[used], beside).all(axis=1)
        return fine

    def completed(self, used: Numbers) -> Mask:
        """Whether beside all literals used one of each set can hold of which one always does; shapes (n, used) -> (n,).

        Only sets are looked at of which some literal is used the other way round.
        """
        fine = np.ones(len(used), dtype=bool)
        if not self.one_of or not used.shape[1]:
            return fine
        for begin in range(0, len(used), USED_BLOCK):
            some = used[begin : begin + USED_BLOCK]
            row, place = np.nonzero(self._excludes.count(some) > 0)
            which, group = self._excludes.of(some[row, place])
            pairs = np.stack(np.divmod(np.unique(row[which] * len(self.one_of) + group), len(self.one_of)))
            pair, member = self._members.of(pairs[1])
            holds = self.filter(some[pairs[0][pair]], member)
            possible = np.bincount(pair[holds], minlength=pairs.shape[1]) > 0
            fine[begin + pairs[0][~possible]] = False
        return fine

    @cached_property
    def _members(self) -> Sets:
        """By set the literals in it."""
        members = [member for members in self.one_of for member in members]
        of = np.repeat(np.arange(len(self.one_of)), [len(members) for members in self.one_of])
        return Sets(of, np.array(members, dtype=np.int64), len(self.one_of), self.free + 1)

    @cached_property
    def _excludes(self) -> Sets:
        """By literal the sets of which it excludes a member, being its opposite."""
        members = self._members
        changing = members.members < self.free
        opposite = members.members[changing] ^ 1
        return Sets(opposite, members.rows[changing], self.free + 1, len(members))

    def _bits(self, rows: Numbers, columns: Numbers) -> Mask:
        some = self.packed[rows, columns >> 3] >> (columns & 7).astype(np.uint8) & 1
        return np.asarray(some, dtype=bool)

    @property
    def free(self) -> int:
        """The literal that is compatible with everything."""
        return len(self.packed if self.first is None else self.first) - 1
