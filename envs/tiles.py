"""Boards that PDDLGym draws sprite by sprite: each cell's stack of sprites is asked of PDDLGym's own renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aam_vision.envs.rendering import Codes, board_renderer, overlapping_tiles
from aam_vision.envs.whole_pictures import WholePictures
from aam_vision.perception import Frame
from aam_vision.strips import Atom

if TYPE_CHECKING:
    from aam_vision.envs.board import Layout


KEPT = 4096
"""States of one problem whose codes are kept; the oldest go first. Every step shows its state twice."""


class BoardCodes:
    """The code of every cell's stack of sprites in the states of one problem."""

    def __init__(self, layout: Layout) -> None:
        from aam_vision.envs.pddlgym_domains import Literals

        self._domain = layout.domain
        self._literals = Literals(layout)
        self._known: dict[frozenset[Atom], Codes] = {}

    def __call__(self, atoms: frozenset[Atom]) -> Codes:
        """The codes of a legal state, (rows, columns), not to be changed; its unchangeable atoms may be left out."""
        known = self._known.get(atoms)
        if known is None:
            known = self._known[atoms] = self._found(atoms)
            if len(self._known) > KEPT:
                del self._known[next(iter(self._known))]
        return known

    def _found(self, atoms: frozenset[Atom]) -> Codes:
        from aam_vision.envs.pddlgym_drawing import cells, stacks

        found, known = cells(self._domain, self._literals.of_state(atoms)), stacks(self._domain)
        rows, columns = found.shape[:2]
        return np.array([[known.code(found[r, c]) for c in range(columns)] for r in range(rows)], np.uint8)


class Tiles:
    """Draws a problem whose sprites stay within their cells; see ``aam_vision.envs.board.Drawing``."""

    def __init__(self, layout: Layout) -> None:
        self._codes = BoardCodes(layout)
        rows, columns = self._codes(layout.initial).shape
        self._renderer = board_renderer(layout.domain, rows, columns)
        self.shape = self._renderer.shape

    def frame(self, atoms: frozenset[Atom]) -> Frame:
        """The picture of a legal state, uint8 (H, W, 3); its unchangeable atoms may be left out."""
        return self._renderer.frame(self._codes(atoms))


def overlapping(layout: Layout) -> WholePictures:
    """Draws a problem whose sprites overlap their neighbours."""
    codes = BoardCodes(layout)
    rows, columns = codes(layout.initial).shape
    tiles = overlapping_tiles(layout.domain, rows, columns)
    return WholePictures(layout, lambda atoms: tiles.frame(codes(atoms)))
