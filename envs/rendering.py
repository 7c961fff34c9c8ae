"""PDDLGym's pictures, pixel for pixel, a thousand times faster.

PDDLGym draws every cell's sprites with matplotlib at four times the size and reduces the picture with
Pillow's LANCZOS filter: 100 to 500 ms a frame. Here each cell with its stack of sprites is drawn once,
when it is first needed, on a sheet that has the same pixels, and kept as the *patch* of reduced pixels that
the cell owns. A frame is the previous one with the patches of changed cells replaced.

LANCZOS looks 12 source pixels around. Where sprites nearly touch (Doors on small boards), pixels at a
cell's edge depend on the neighbours too: a patch is therefore looked up by the cell's own stack and by
those sprites of its neighbours that are large enough to reach into it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.lanczos import Axis, reduce_part
from aam_vision.envs.sheet import DPI, POINTS, Pixels, Sheet
from aam_vision.envs.sprite_stacks import picture_key
from aam_vision.errors import UnusableInput
from aam_vision.perception import Cell, Frame

Codes = NDArray[np.uint8]
"""A board, (rows, columns): the code of the stack of sprites in every cell."""

_REDUCTION = 0.25
KEPT_BOARDS = 32
"""Board shapes whose sprites are kept: more cost memory, fewer are drawn again."""
_NEIGHBOURS = [(dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if (dr, dc) != (0, 0)]


class Paper(Protocol):
    """What boards are drawn on: a `Sheet`, or one of PDDLGym's figures."""

    def at(self, x: float, y: float) -> tuple[float, float]: ...

    def background(self) -> Pixels: ...

    def draw(self, canvas: Pixels, sprite: NDArray[np.float32], row: int, column: int) -> None: ...


def paper(rows: int, columns: int) -> Paper:
    """A sheet, or where matplotlib lacks what that needs, a figure."""
    try:
        return Sheet(rows, columns)
    except ImportError:
        from aam_vision.envs.pddlgym_drawing import FigureSheet

        return FigureSheet(rows, columns)


class BoardRenderer:
    """Draws boards of one domain and one shape.

    Args:
        domain: PDDLGym's name of the domain.
        rows: height of the board in cells.
        columns: width of the board in cells.

    Raises:
        UnusableInput: if the board is so small that PDDLGym's sprites overlap.
    """

    def __init__(self, domain: str, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self._domain = domain
        self._paper = paper(rows, columns)
        self._background = self._paper.background()
        self._canvas = self._background.copy()
        height, width = self._background.shape[:2]
        self.shape = (int(height * _REDUCTION), int(width * _REDUCTION), 3)
        self._down, self._across = Axis.of(height, self.shape[0]), Axis.of(width, self.shape[1])
        corners = np.array([self._paper.at(c, rows - r) for r, c in _diagonal(rows, columns)])
        self._xs = _edges(corners[: columns + 1, 0], width)
        self._ys = _edges(height - corners[: rows + 1, 1], height)
        self._pitch = float(corners[1, 0] - corners[0, 0])
        self._margin = self._look_around()
        self._sprites: dict[int, tuple[NDArray[Any], ...]] = {}
        self._reaching: dict[int, tuple[str, ...]] = {}
        self._blocks: dict[tuple[Cell, int], NDArray[np.uint8]] = {}
        self._patches: dict[tuple[Any, ...], NDArray[np.uint8]] = {}
        self._codes: Codes | None = None
        self._frame: Frame = np.zeros(self.shape, np.uint8)

    def frame(self, codes: Codes) -> Frame:
        """The picture of a board, uint8 (H, W, 3): a copy, the caller's own."""
        before = self._codes
        changed = np.ones(codes.shape, bool) if before is None else codes != before
        self._codes = None  # an interrupted frame must not be taken for a finished one
        keys = {cell: self._key(*cell, codes) for cell in self._touched(codes, before, changed)}
        new = [cell for cell, key in keys.items() if key not in self._patches]
        if new:
            self._draw(new, keys, codes)
        for (r, c), key in keys.items():
            top, bottom, left, right = self._owned(r, c)
            self._frame[top:bottom, left:right] = self._patches[key]
        self._codes = codes.copy()
        return self._frame.copy()

    def _touched(self, codes: Codes, before: Codes | None, changed: NDArray[np.bool_]) -> list[Cell]:
        """The changed cells, and their neighbours where a reaching sprite came or went."""
        cells = [(int(r), int(c)) for r, c in zip(*np.nonzero(changed), strict=True)]
        if before is None:
            return cells
        found = dict.fromkeys(cells)
        for r, c in cells:
            if self._reach(int(codes[r, c])) != self._reach(int(before[r, c])):
                found.update(dict.fromkeys(self._around(r, c)))
        return list(found)

    def _around(self, r: int, c: int) -> list[Cell]:
        return [
            (r + dr, c + dc)
            for dr, dc in _NEIGHBOURS
            if 0 <= r + dr < self.rows and 0 <= c + dc < self.columns
        ]

    def _owned(self, r: int, c: int) -> tuple[int, int, int, int]:
        """The reduced pixels that belong to a cell: top, bottom, left, right."""
        ys, xs = self._ys, self._xs
        vertical, horizontal = self.shape[0] / ys[-1], self.shape[1] / xs[-1]
        return (
            round(ys[r] * vertical),
            round(ys[r + 1] * vertical),
            round(xs[c] * horizontal),
            round(xs[c + 1] * horizontal),
        )

    def _window(self, r: int, c: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The source rows and columns that a cell's reduced pixels depend on."""
        top, bottom, left, right = self._owned(r, c)
        return self._down.window(top, bottom), self._across.window(left, right)

    def _look_around(self) -> int:
        """How many source pixels beyond its own cell a patch depends on, at most."""
        down = [(self._window(r, 0)[0], self._ys[r : r + 2]) for r in range(self.rows)]
        across = [(self._window(0, c)[1], self._xs[c : c + 2]) for c in range(self.columns)]
        return max(max(own[0] - seen[0], seen[1] - own[1]) for seen, own in down + across)

    def _key(self, r: int, c: int, codes: Codes) -> tuple[Any, ...]:
        """All that a cell's patch depends on: its stack, and what reaches in from its neighbours."""
        around = self._around(r, c)
        return (r, c, int(codes[r, c]), *[self._reach(int(codes[cell])) for cell in around])

    def _draw(self, cells: Sequence[Cell], keys: Mapping[Cell, tuple[Any, ...]], codes: Codes) -> None:
        for cell in cells:
            self._patches[keys[cell]] = self._draw_patch(*cell, codes)

    def _draw_patch(self, r: int, c: int, codes: Codes) -> NDArray[np.uint8]:
        """The reduced pixels of a cell, made from the source pixels around it."""
        top, bottom, left, right = self._owned(r, c)
        (y0, y1), (x0, x1) = self._window(r, c)
        part = self._background[y0:y1, x0:x1].copy()
        for i, j in [(r, c), *self._around(r, c)]:
            if (i, j) == (r, c) or self._reach(int(codes[i, j])):
                ys, xs = self._ys[i : i + 2], self._xs[j : j + 2]
                a, b, d, e = max(y0, ys[0]), min(y1, ys[1]), max(x0, xs[0]), min(x1, xs[1])
                if a < b and d < e:
                    block = self._block((i, j), int(codes[i, j]))
                    part[a - y0 : b - y0, d - x0 : e - x0] = block[
                        a - ys[0] : b - ys[0], d - xs[0] : e - xs[0]
                    ]
        return reduce_part(part, self._down, self._across, (top, bottom), (left, right))

    def _block(self, cell: Cell, code: int) -> NDArray[np.uint8]:
        """A cell before the reduction."""
        if (cell, code) in self._blocks:
            return self._blocks[cell, code]
        r, c = cell
        here = np.s_[self._ys[r] : self._ys[r + 1], self._xs[c] : self._xs[c + 1]]
        for sprite in self._stack(code):
            self._paper.draw(self._canvas, sprite, r, c)
        block = self._canvas[here].copy()
        self._canvas[here] = self._background[here]
        if self._reach(code):  # the neighbours' patches will need it as well
            self._blocks[cell, code] = block
        return block

    def _stack(self, code: int) -> tuple[NDArray[Any], ...]:
        if code not in self._sprites:
            from aam_vision.envs.pddlgym_drawing import stacks

            self._sprites[code] = stacks(self._domain).sprites(code)
            if any(self._gap(sprite) < 0 for sprite in self._sprites[code]):
                raise UnusableInput(
                    f"a {self.rows}x{self.columns} board is too small for PDDLGym's {self._domain} sprites: "
                    f"they would overlap; use a longer side"
                )
        return self._sprites[code]

    def _gap(self, sprite: NDArray[Any]) -> float:
        """Source pixels between a sprite's edge and that of its cell, on the safe side."""
        zoom = float(max(self.rows, self.columns)) ** -0.5 * DPI / POINTS
        half: float = max(sprite.shape[:2]) * zoom / 2
        return self._pitch / 2 - half - 1.5  # the sprite's and the cell's edges are whole pixels

    def _reach(self, code: int) -> tuple[str, ...]:
        """The sprites of a stack that neighbours can see through the filter, by identity of picture."""
        if code not in self._reaching:
            self._reaching[code] = tuple(
                picture_key(sprite) for sprite in self._stack(code) if self._gap(sprite) <= self._margin
            )
        return self._reaching[code]


def _diagonal(rows: int, columns: int) -> list[tuple[int, int]]:
    """Grid corners such that the first n+1 run over all rows, and over all columns."""
    return [(min(i, rows), min(i, columns)) for i in range(max(rows, columns) + 1)]


def _edges(positions: NDArray[np.float64], size: int) -> list[int]:
    """Whole-pixel borders between cells; the outermost cells own the margins too."""
    return [0, *[round(float(p)) for p in positions[1:-1]], size]


@lru_cache(maxsize=KEPT_BOARDS)
def board_renderer(domain: str, rows: int, columns: int) -> BoardRenderer:
    """The renderer of a board shape, shared by all problems that have it (not between threads)."""
    return BoardRenderer(domain, rows, columns)
