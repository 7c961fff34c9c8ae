"""Numbers for the stacks of sprites that a cell of a board can show."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Sprites = tuple[NDArray[Any], ...]
"""Pictures that lie on each other in a cell, the lowest first."""


def picture_key(sprite: NDArray[Any]) -> str:
    """Equal for equal pictures, whatever PDDLGym calls them."""
    return hashlib.sha256(repr(sprite.shape).encode() + sprite.tobytes()).hexdigest()


class SpriteStacks:
    """Stacks of sprites and their codes: stacks that look the same have one code, counted from 0.

    Args:
        sprites_of: PDDLGym's pictures of what its layout of a board has in a cell.
    """

    def __init__(self, sprites_of: Callable[[Any], Iterable[NDArray[Any]]]) -> None:
        self._sprites_of = sprites_of
        self._of_cell: dict[bytes, int] = {}
        self._of_stack: dict[tuple[str, ...], int] = {}
        self._stacks: list[Sprites] = []

    def code(self, cell: Any) -> int:
        """The code of what a cell shows."""
        key = np.asarray(cell).tobytes()
        known = self._of_cell.get(key)
        if known is None:
            sprites = tuple(self._sprites_of(cell))
            known = self._of_stack.setdefault(tuple(map(picture_key, sprites)), len(self._stacks))
            if known == len(self._stacks):
                self._stacks.append(sprites)
            self._of_cell[key] = known
        return known

    def sprites(self, code: int) -> Sprites:
        """The stack of a code."""
        return self._stacks[code]
