"""Boards whose sprites overlap, pixel for pixel as PDDLGym draws them.

`rendering` keeps every cell for itself and refuses such boards. Here each sprite is drawn once per cell, with
PDDLGym's artists on PDDLGym's figure, and laid over those before it, row by row, as PDDLGym does. That is exact
for sprites without half-transparent pixels, which is checked; then the whole picture is reduced: about 10 ms.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.rendering import KEPT_BOARDS, Codes
from aam_vision.errors import UnusableInput
from aam_vision.perception import Cell, Frame

_DPI = 150
_REDUCTION = 0.25

Block = tuple[tuple[slice, slice], NDArray[np.uint8]]
"""Where a sprite covers the picture, and with what."""


class OverlappingTiles:
    """Draws boards of one domain and one shape.

    Args:
        domain: PDDLGym's name of the domain.
        rows: height of the board in cells.
        columns: width of the board in cells.
    """

    def __init__(self, domain: str, rows: int, columns: int) -> None:
        from aam_vision.envs.pddlgym_drawing import drawing

        self._domain, self._size = domain, (rows, columns)
        with drawing() as utils:
            self._figure, self._axes = utils.initialize_figure(rows, columns)
            self._figure.set_dpi(_DPI)
            self._figure.canvas.draw()
        self._canvas: NDArray[np.uint8] = np.asarray(self._figure.canvas.buffer_rgba())
        self._background = self._canvas.copy()
        self._blocks: dict[tuple[Cell, int], list[Block]] = {}

    def frame(self, codes: Codes) -> Frame:
        """The picture of a board, uint8 (H, W, 3).

        Raises:
            UnusableInput: if a sprite has half-transparent pixels, or is not a rectangle.
        """
        from aam_vision.envs.pddlgym_drawing import drawing

        picture = self._background.copy()
        with drawing() as utils:
            for (row, column), code in np.ndenumerate(codes):
                for where, pixels in self._drawn(utils, (row, column), int(code)):
                    picture[where] = pixels
            height, width = picture.shape[:2]
            size = int(width * _REDUCTION), int(height * _REDUCTION)
            reduced = utils.Image.fromarray(picture).resize(size, utils.Image.ANTIALIAS)
        return np.array(reduced)[..., :3]

    def _drawn(self, utils: Any, cell: Cell, code: int) -> list[Block]:
        if (cell, code) not in self._blocks:
            from aam_vision.envs.pddlgym_drawing import stacks

            sprites = stacks(self._domain).sprites(code)
            self._blocks[cell, code] = [self._block(utils, cell, sprite) for sprite in sprites]
        return self._blocks[cell, code]

    def _block(self, utils: Any, cell: Cell, sprite: NDArray[Any]) -> Block:
        """A sprite as it covers a black picture and a white one: nothing may show through in part."""
        drawn = []
        for shade in (0, 255):
            self._canvas[..., :3], self._canvas[..., 3] = shade, 255
            box = utils.draw_token(sprite, *cell, self._axes, *self._size)
            self._axes.draw_artist(box)
            box.remove()
            drawn.append(self._canvas.copy())
        on_black, on_white = drawn
        covered = (on_black == on_white).all(axis=-1)
        rows, columns = (np.flatnonzero(covered.any(axis=axis)) for axis in (1, 0))
        in_part = ~covered & ((on_black[..., :3] != 0) | (on_white[..., :3] != 255)).any(axis=-1)
        if covered.any() and not in_part.any():
            where = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
            if covered[where].all():
                return where, on_black[where].copy()
        raise UnusableInput(f"{self._domain}: a sprite shows what is below it; draw its pictures whole")


@lru_cache(maxsize=KEPT_BOARDS)
def overlapping_tiles(domain: str, rows: int, columns: int) -> OverlappingTiles:
    """The tiles that draw a board shape, shared by all problems that have it (not between threads)."""
    return OverlappingTiles(domain, rows, columns)
