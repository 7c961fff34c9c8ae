"""Which literals may hold together, pairwise, asked of many literals at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from aam_vision.fact_tables import Mask, Numbers, Sets

BLOCK = 2048
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
        for begin in range(0, len(used), BLOCK):
            some = used[begin : begin + BLOCK]
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
