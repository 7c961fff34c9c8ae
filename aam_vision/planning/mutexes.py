"""h^2 mutexes: pairs of literals that hold together in no reachable state.

The classic over-approximation of reachability (Haslum and Geffner's h^2, without costs) over facts and
their complements. Sets of literals are Python integers, so that one operator is one intersection of the
rows of its precondition: thousands of operators take milliseconds a round.

Effects that are not known yet are taken as possible both ways, so that the answer "never together" holds
in every model that is still possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from aam_vision.joins import Fact
from aam_vision.relations import Compatibility

FEW = 64
"""New companions of a literal up to which they are noted one by one. More: rounds later see less of the same round."""
BLOCK = 256
"""Bytes of each row that are mirrored together. More: faster, more memory."""


class PossibleOperator(NamedTuple):
    """A ground operator as far as it is known: ``may_add`` and ``may_delete`` happen or not."""

    positive: frozenset[Fact]
    negative: frozenset[Fact]
    add: frozenset[Fact]
    delete: frozenset[Fact]
    may_add: frozenset[Fact] = frozenset()
    may_delete: frozenset[Fact] = frozenset()


class Mutexes:
    """Which literals can hold together in some state reachable from the initial facts.

    Unknown facts may be true or false initially. Facts that no operator changes keep their value.
    """

    def __init__(
        self,
        operators: Sequence[PossibleOperator],
        states: Sequence[tuple[frozenset[Fact], frozenset[Fact]]],
    ) -> None:
        """``states`` are those to start from: facts that are true, facts that are unknown."""
        fluent: set[Fact] = set()
        for operator in operators:
            fluent |= operator.add | operator.delete | operator.may_add | operator.may_delete
        always = frozenset.intersection(*(true for true, _ in states))
        for true, unknown in states:
            fluent |= (true - always) | unknown
        self._true = always
        self._number = {fact: 2 * i for i, fact in enumerate(sorted(fluent))}
        self._rows = [0] * (2 * len(fluent))
        self._one_sided = False
        """Whether some pair is noted for one of its literals only."""
        for true, unknown in states:
            self._start(true, unknown)
        self._run(operators)

    def _start(self, true: frozenset[Fact], unknown: frozenset[Fact]) -> None:
        """Note that the literals of one initial state hold together."""
        holding = _mask(range(1, len(self._rows), 2))
        for fact in true:
            if (number := self._number.get(fact)) is not None:
                holding ^= 3 << number
        either = 0
        for fact in unknown:
            holding |= 3 << self._number[fact]
            either |= 3 << self._number[fact]
        for literal in _bits(holding):
            opposite = 1 << (literal ^ 1)
            self._rows[literal] |= holding & ~opposite if either & opposite else holding

    def possible(self, positive: Iterable[Fact], negative: Iterable[Fact] = ()) -> bool:
        """Whether these literals may hold together somewhere; False is a proof that they never do."""
        wanted = self._literals(positive, negative)
        return wanted is not None and self._together(wanted) is not None

    @cached_property
    def compatibility(self) -> Compatibility:
        """The table for questions about many literals at once; its last literal stands for a constant that holds."""
        size = len(self._rows) + 1
        width = (size + 7) // 8
        free = 1 << (size - 1)
        rows = [(row | free).to_bytes(width, "little") for row in self._rows]
        rows.append(((1 << size) - 1).to_bytes(width, "little"))
        return Compatibility(np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(size, width))

    @property
    def facts(self) -> Iterable[Fact]:
        """All facts that occur: those that may change, in order, and the constant ones that are true."""
        yield from self._number
        yield from sorted(self._true)

    def literal(self, fact: Fact, value: bool) -> int:
        """The number of a literal in ``compatibility``; -1 if it never holds."""
        number = self._number.get(fact)
        if number is not None:
            return number + (not value)
        return len(self._rows) if (fact in self._true) == value else -1

    def _literals(self, positive: Iterable[Fact], negative: Iterable[Fact]) -> list[int] | None:
        """Numbers of the changing literals; None if a constant one is false."""
        wanted = []
        for fact in positive:
            number = self._number.get(fact)
            if number is not None:
                wanted.append(number)
            elif fact not in self._true:
                return None
        for fact in negative:
            number = self._number.get(fact)
            if number is not None:
                wanted.append(number + 1)
            elif fact in self._true:
                return None
        return wanted

    def _together(self, literals: Sequence[int]) -> int | None:
        """All literals compatible with each of these; None if these are not with each other."""
        mask = -1
        for literal in literals:
            mask &= self._rows[literal]
        if any(not mask >> literal & 1 for literal in literals):
            return None
        return mask

    def _run(self, operators: Sequence[PossibleOperator]) -> None:
        prepared = []
        for operator in operators:
            before = self._literals(operator.positive, operator.negative)
            if before is None:
                continue
            add, delete = operator.add, operator.delete - operator.add
            sure = [self._number[f] for f in sorted(add)] + [self._number[f] + 1 for f in sorted(delete)]
            gone = [self._number[f] + 1 for f in add] + [self._number[f] for f in delete]
            perhaps = [self._number[f] for f in sorted(operator.may_add - add)]
            perhaps += [self._number[f] + 1 for f in sorted(operator.may_delete - delete)]
            prepared.append((before, sure, ~_mask(gone), _mask(sure), perhaps, _mask(perhaps)))
        reachable = _mask(i for i, row in enumerate(self._rows) if row)
        changed_in, done_in = [0] * len(self._rows), [0] * len(prepared)
        """When each row changed last, and when each operator was looked at: rounds, counted from 1."""
        current = 0
        while current < max(changed_in, default=0) + 1:
            current += 1
            for place, (before, sure, kept, made, perhaps, optional) in enumerate(prepared):
                if before and all(changed_in[literal] < done_in[place] for literal in before):
                    continue  # nothing that it requires has changed since
                done_in[place] = current
                mask = self._together(before)
                if mask is None:
                    continue
                stays = (mask & reachable & kept) | made
                for literal in sure:
                    self._join(literal, stays, changed_in, current)
                for literal in perhaps:
                    beside = (stays | optional) & ~(1 << (literal ^ 1))
                    self._join(literal, beside, changed_in, current)
                reachable |= made | optional
            self._mirror(changed_in, current)

    def _join(self, literal: int, others: int, changed_in: list[int], current: int) -> None:
        """Note that the literal may hold together with each of the others.

        That the others may hold with it follows at once where they are few, else at the end of the round.
        """
        new = others & ~self._rows[literal]
        if not new:
            return
        self._rows[literal] |= new
        changed_in[literal] = current
        if new.bit_count() > FEW:
            self._one_sided = True
            return
        bit = 1 << literal
        for other in _bits(new):
            self._rows[other] |= bit
            changed_in[other] = current

    def _mirror(self, changed_in: list[int], current: int) -> None:
        """Make the table symmetric again: whatever may hold with another may do so the other way round."""
        if not self._one_sided:
            return
        self._one_sided = False
        size, width = len(self._rows), (len(self._rows) + 7) // 8
        packed = np.frombuffer(b"".join(row.to_bytes(width, "little") for row in self._rows), dtype=np.uint8)
        packed = packed.reshape(size, width)
        for first in range(0, width, BLOCK):
            columns = np.unpackbits(packed[:, first : first + BLOCK], axis=1, bitorder="little")
            turned = np.packbits(columns.T, axis=1, bitorder="little")
            for literal, data in enumerate(turned[: size - 8 * first], start=8 * first):
                row = int.from_bytes(data.tobytes(), "little")
                if row & ~self._rows[literal]:
                    self._rows[literal] |= row
                    changed_in[literal] = current


def _bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _mask(literals: Iterable[int]) -> int:
    mask = 0
    for literal in literals:
        mask |= 1 << literal
    return mask
