"""h^2 mutexes: pairs of literals that hold together in no reachable state.

The classic over-approximation of reachability (Haslum and Geffner's h^2, without costs) over facts and
their complements. Sets of literals are Python integers, so that one operator is one intersection of the
rows of its precondition: thousands of operators take milliseconds a round.

Effects that are not known yet are taken as possible both ways, so that the answer "never together" holds
in every model that is still possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aam_vision.joins import Fact


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
        for true, unknown in states:
            self._start(true, unknown)
        self._run(operators)

    def _start(self, true: frozenset[Fact], unknown: frozenset[Fact]) -> None:
        """Note that the literals of one initial state hold together."""
        holding = 0
        for fact, number in self._number.items():
            holding |= (3 if fact in unknown else 1 if fact in true else 2) << number
        for number in range(0, len(self._rows), 2):
            others = holding & ~(3 << number)
            for literal in (number, number + 1):
                if holding >> literal & 1:
                    self._rows[literal] |= others | 1 << literal

    def possible(self, positive: Iterable[Fact], negative: Iterable[Fact] = ()) -> bool:
        """Whether these literals may hold together somewhere; False is a proof that they never do."""
        wanted = self._literals(positive, negative)
        return wanted is not None and self._together(wanted) is not None

    def companions(self, positive: Iterable[Fact], negative: Iterable[Fact]) -> Companions | None:
        """The literals that may hold in a state where these hold; None if these never do together."""
        wanted = self._literals(positive, negative)
        if wanted is None or (mask := self._together(wanted)) is None:
            return None
        return Companions(self, mask)

    def number(self, fact: Fact) -> int | None:
        """The number of the fact's positive literal (the negative one is next); None for a constant."""
        return self._number.get(fact)

    def always(self, fact: Fact) -> bool:
        """Whether a constant fact is true."""
        return fact in self._true

    def row(self, literal: int) -> int:
        """All literals that may hold together with this one."""
        return self._rows[literal]

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
        changed = True
        while changed:
            changed = False
            for before, sure, kept, made, perhaps, optional in prepared:
                mask = self._together(before)
                if mask is None:
                    continue
                stays = (mask & reachable & kept) | made
                for literal in sure:
                    changed = self._join(literal, stays) or changed
                for literal in perhaps:
                    beside = (stays | optional) & ~(1 << (literal ^ 1))
                    changed = self._join(literal, beside) or changed
                reachable |= made | optional

    def _join(self, literal: int, others: int) -> bool:
        """Note that the literal may hold together with each of the others."""
        new = others & ~self._rows[literal]
        if not new:
            return False
        self._rows[literal] |= new
        bit = 1 << literal
        while new:
            low = new & -new
            self._rows[low.bit_length() - 1] |= bit
            new ^= low
        return True


class Companions:
    """The literals that may hold together with a set of literals (its rows of the mutex table, combined)."""

    def __init__(self, mutexes: Mutexes, mask: int) -> None:
        self._mutexes = mutexes
        self._mask = mask

    @property
    def nowhere(self) -> bool:
        """Whether the literals hold together in no reachable state."""
        return self._mask == 0

    def allow(self, fact: Fact, value: bool) -> bool:
        """Whether the fact may have the value there (pairwise)."""
        number = self._mutexes.number(fact)
        if number is None:
            return self._mutexes.always(fact) == value and self._mask != 0
        return bool(self._mask >> (number + (not value)) & 1)

    def beside(self, fact: Fact, value: bool) -> Companions:
        """The literals that may hold if the fact has the value as well."""
        number = self._mutexes.number(fact)
        if number is None:
            return self if self._mutexes.always(fact) == value else Companions(self._mutexes, 0)
        literal = number + (not value)
        if not self._mask >> literal & 1:
            return Companions(self._mutexes, 0)
        return Companions(self._mutexes, self._mask & self._mutexes.row(literal))


def _mask(literals: Iterable[int]) -> int:
    mask = 0
    for literal in literals:
        mask |= 1 << literal
    return mask
