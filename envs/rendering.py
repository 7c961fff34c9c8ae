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
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Cell, Frame
from aam_vision.envs.sheet import DPI, POINTS, Pixels, Sheet, picture_key
from aam_vision.envs.whole_pictures import WholePictures
from aam_vision.model.strips import Atom
from aam_vision.support.errors import UnusableInput
from aam_vision.support.products import product

if TYPE_CHECKING:
    from aam_vision.envs.board import Layout


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


# Pillow's LANCZOS reduction of 8-bit images, for any part of the picture and exact to the last bit.
#
# Pillow reduces columns first, then rows, each with weights rounded to 22 fractional bits and results
# rounded to bytes. Unlike Pillow's ``box``, a part is reduced with the weights it has in the whole picture.
# All sums are whole numbers below 2 ** 53, which float64 holds exactly, whatever their order.


_BITS = 22
_RADIUS = 3.0
_BLOCK = 16
"""Reduced pixels that are made together, from the part of the source that they depend on."""


@dataclass(frozen=True)
class Axis:
    """The reduction of one axis: reduced pixel ``i`` is the sum of ``taps[i, k] * source[first[i] + k]``."""

    first: NDArray[np.intp]
    last: NDArray[np.intp]
    taps: NDArray[np.int32]  # (reduced, most taps), zero beyond ``last``
    _matrices: dict[tuple[int, int], NDArray[np.float64]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, source: int, reduced: int) -> Axis:
        """The reduction of ``source`` pixels to ``reduced``, fewer, ones."""
        scale = source / reduced
        support = _RADIUS * scale
        centres = (np.arange(reduced) + 0.5) * scale
        first = np.maximum(np.floor(centres - support + 0.5), 0).astype(np.intp)
        last = np.minimum(np.floor(centres + support + 0.5), source).astype(np.intp)
        taps = np.zeros((reduced, int((last - first).max())), np.int32)
        for i in range(reduced):
            distance = (np.arange(first[i], last[i]) - centres[i] + 0.5) / scale
            kernel = np.where(abs(distance) < _RADIUS, np.sinc(distance) * np.sinc(distance / _RADIUS), 0.0)
            scaled = kernel / kernel.sum() * (1 << _BITS)
            taps[i, : last[i] - first[i]] = np.trunc(scaled + np.copysign(0.5, scaled))
        return cls(first, last, taps)

    def window(self, start: int, stop: int) -> tuple[int, int]:
        """The source pixels that the reduced pixels ``start:stop`` depend on."""
        return int(self.first[start]), int(self.last[stop - 1])

    def reduce(self, source: NDArray[np.float64], start: int, stop: int) -> NDArray[np.float64]:
        """Reduced pixels ``start:stop`` along the last axis of their window, (N, window) -> (N, stop-start)."""
        reduced = np.empty((len(source), stop - start))
        for low in range(start, stop, _BLOCK):
            high = min(low + _BLOCK, stop)
            first = int(self.first[low] - self.first[start])
            matrix = self._matrix(low, high)
            reduced[:, low - start : high - start] = product(source[:, first : first + len(matrix)], matrix)
        reduced += 1 << (_BITS - 1)
        reduced *= 2.0**-_BITS
        np.floor(reduced, out=reduced)
        return np.clip(reduced, 0, 255, out=reduced)

    def _matrix(self, start: int, stop: int) -> NDArray[np.float64]:
        """The weights of the window in the reduced pixels, (window, stop-start)."""
        known = self._matrices.get((start, stop))
        if known is None:
            low, high = self.window(start, stop)
            known = self._matrices[start, stop] = np.zeros((high - low, stop - start))
            for place, i in enumerate(range(start, stop)):
                known[self.first[i] - low : self.last[i] - low, place] = self.taps[
                    i, : self.last[i] - self.first[i]
                ]
        return known


def reduce_part(
    part: NDArray[np.uint8], down: Axis, across: Axis, rows: tuple[int, int], columns: tuple[int, int]
) -> NDArray[np.uint8]:
    """The reduced pixels in ``rows`` x ``columns`` (start, stop), uint8 (rows, columns, 3).

    Args:
        part: the source pixels inside ``down.window(*rows)`` x ``across.window(*columns)``.
        down: the reduction of the vertical axis.
        across: the reduction of the horizontal axis.
        rows: first reduced row, and the one after the last.
        columns: first reduced column, and the one after the last.
    """
    height, width = part.shape[:2]
    by_column = part.transpose(0, 2, 1).astype(np.float64, order="C").reshape(-1, width)
    narrow = across.reduce(by_column, *columns).reshape(height, 3, -1)
    by_row = np.ascontiguousarray(narrow.transpose(1, 2, 0)).reshape(-1, height)
    found = down.reduce(by_row, *rows).reshape(3, columns[1] - columns[0], -1)
    return np.ascontiguousarray(found.transpose(2, 1, 0)).astype(np.uint8)


# Boards whose sprites overlap, pixel for pixel as PDDLGym draws them.
#
# `rendering` keeps every cell for itself and refuses such boards. Here each sprite is drawn once per cell, with
# PDDLGym's artists on PDDLGym's figure, and laid over those before it, row by row, as PDDLGym does. That is exact
# for sprites without half-transparent pixels, which is checked; then the whole picture is reduced: about 10 ms.


_DPI = 150

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


# Boards that PDDLGym draws sprite by sprite: each cell's stack of sprites is asked of PDDLGym's own renderer.


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
