"""Which of many numbered literals may hold together: a table of pairs, and its fixpoint under operators.

Sets of literals are Python integers, so that one operator is one intersection of the rows of its precondition:
thousands of operators take milliseconds a round. The opposite of literal ``n`` is ``n ^ 1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from aam_vision.planning.bitmasks import mask_of, numbers_in, turned

FEW = 64
"""New companions of a literal up to which they are noted one by one. More: rounds later see less of the same round."""


class NumberedOperator(NamedTuple):
    """The literals that an operator requires, those that it makes true, and those that it may make true."""

    before: tuple[int, ...]
    sure: tuple[int, ...]
    perhaps: tuple[int, ...]


class PairTable:
    """The literals that may hold together: for each one the others."""

    def __init__(self, size: int, less: PairTable | None = None) -> None:
        """``less``: a table with as many literals to go on from; what it holds is not worked out again."""
        self.rows: list[int] = [0] * size if less is None else list(less.rows)
        self._earlier = list(self.rows)
        self._done: frozenset[NumberedOperator] = frozenset() if less is None else less._done
        """The operators that were taken in where the rows were as earlier."""
        self._one_sided: set[int] = set()
        """Literals that are noted to hold with others, where those are not noted to hold with them yet."""

    def together(self, literals: Sequence[int]) -> int | None:
        """All literals compatible with each of these; None if these are not with each other."""
        mask = -1
        for literal in literals:
            mask &= self.rows[literal]
        if any(not mask >> literal & 1 for literal in literals):
            return None
        return mask

    def take_in(self, operators: Sequence[NumberedOperator]) -> None:
        """What may hold together once these operators may be applied, in any order and number.

        They make possible all that the operators made possible that ``less`` took in.
        """
        masks: list[tuple[int, int, int] | None] = [None] * len(operators)
        reachable = mask_of(i for i, row in enumerate(self.rows) if row)
        changed_at = [int(row != before) for row, before in zip(self.rows, self._earlier, strict=True)]
        done_at = [int(one in self._done) for one in operators]
        """When each row changed last, and when each operator was looked at last: moments, counted from 1."""
        moment = 1
        order = range(len(operators))
        while True:
            begun = moment
            for place in order:
                before, sure, perhaps = operators[place]
                done = done_at[place]
                if before and done and all(changed_at[literal] < done for literal in before):
                    continue  # nothing that it requires has changed since
                moment += 1
                done_at[place] = moment
                mask = self.together(before)
                if mask is None:
                    continue
                kept, made, optional = masks[place] = masks[place] or (
                    ~mask_of(literal ^ 1 for literal in sure),
                    mask_of(sure),
                    mask_of(perhaps),
                )
                stays = (mask & reachable & kept) | made
                for literal in sure:
                    self._join(literal, stays, changed_at, moment)
                for literal in perhaps:
                    beside = (stays | optional) & ~(1 << (literal ^ 1))
                    self._join(literal, beside, changed_at, moment)
                reachable |= made | optional
            moment += 1
            self._mirror(changed_at, moment)
            if max(changed_at, default=0) <= begun:
                break
            order = order[::-1]  # what one direction spreads slowly the other one spreads at once
        self._earlier, self._done = list(self.rows), frozenset(operators)

    def _join(self, literal: int, others: int, changed_at: list[int], moment: int) -> None:
        """Note that the literal may hold together with each of the others.

        That the others may hold with it follows at once where they are few, else at the end of the round.
        """
        new = others & ~self.rows[literal]
        if not new:
            return
        self.rows[literal] |= new
        changed_at[literal] = moment
        if new.bit_count() > FEW:
            self._one_sided.add(literal)
            return
        bit = 1 << literal
        for other in numbers_in(new):
            self.rows[other] |= bit
            changed_at[other] = moment

    def _mirror(self, changed_at: list[int], moment: int) -> None:
        """Make the table symmetric again: whatever may hold with another may do so the other way round."""
        literals = sorted(self._one_sided)
        self._one_sided.clear()
        rows = [self.rows[literal] for literal in literals]
        for other, row in turned(rows, literals, len(self.rows)):
            if row & ~self.rows[other]:
                self.rows[other] |= row
                changed_at[other] = moment
