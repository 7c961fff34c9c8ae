"""Values that never change, and so need no copies."""

from __future__ import annotations

from typing import Self, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Unchanging:
    """A value that ``deepcopy`` gives back as it is.

    What it keeps for later may grow in another thread meanwhile, so that copying it could fail.
    """

    def __deepcopy__(self, memo: object) -> Self:
        return self


class Kept(dict[K, V]):
    """What was worked out, by what it follows from: ``deepcopy`` copies no entry, as none ever changes."""

    def __deepcopy__(self, memo: object) -> Self:
        return type(self)(self)
