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

from collections.abc import Callable
from contextlib import nullcontext
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Cell, Frame
from aam_vision.envs.sheet import DPI, POINTS, Pixels, Sheet, picture_key
from aam_vision.model.strips import Atom
from aam_vision.support.errors import UnusableInput
from aam_vision.support.recent import Recent
from aam_vision.support.resampling import Axis, lanczos, reduce_part

if TYPE_CHECKING:
    from aam_vision.envs.board import Layout
    from aam_vision.envs.pddlgym_drawing import FigureSheet


Codes = NDArray[np.uint8]
"""A board, (rows, columns): the code of the stack of sprites in every cell."""

_REDUCTION = 0.25
KEPT_BOARDS = 32
"""Board shapes whose sprites are kept: more cost memory, fewer are drawn again."""
_NEIGHBOURS = [(dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if (dr, dc) != (0, 0)]


def paper(rows: int, columns: int) -> Sheet | FigureSheet:
    """What boards are drawn on: a sheet, or where matplotlib lacks what that needs, a figure."""
    try:
        return Sheet(rows, columns)
    except ImportError:
        from aam_vision.envs.pddlgym_drawing import FigureSheet

        return FigureSheet(rows, columns)


class BoardRenderer:
    """Draws boards of one domain and one shape; UnusableInput if the board is so small that PDDLGym's sprites overlap."""

    def __init__(self, domain: str, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self._domain = domain
        self._paper = paper(rows, columns)
        self._background = self._paper.background()
        self._canvas = self._background.copy()
        height, width = self._background.shape[:2]
        self.shape = (int(height * _REDUCTION), int(width * _REDUCTION), 3)
        self._down, self._across = lanczos(height, self.shape[0]), lanczos(width, self.shape[1])
        xs = [self._paper.at(c, 0)[0] for c in range(columns + 1)]
        ys = [height - self._paper.at(0, rows - r)[1] for r in range(rows + 1)]
        # whole-pixel borders between cells; the outermost cells own the margins too
        self._xs, self._ys = [0, *map(round, xs[1:-1]), width], [0, *map(round, ys[1:-1]), height]
        self._pitch = xs[1] - xs[0]
        # how many source pixels beyond its own cell a patch depends on, at most
        down = [(self._window(r, 0)[0], self._ys[r : r + 2]) for r in range(rows)]
        across = [(self._window(0, c)[1], self._xs[c : c + 2]) for c in range(columns)]
        self._margin = max(max(own[0] - seen[0], seen[1] - own[1]) for seen, own in down + across)
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
        for (r, c), key in keys.items():
            if key not in self._patches:
                self._patches[key] = self._draw_patch(r, c, codes)
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

    def _key(self, r: int, c: int, codes: Codes) -> tuple[Any, ...]:
        """All that a cell's patch depends on: its stack, and what reaches in from its neighbours."""
        around = self._around(r, c)
        return (r, c, int(codes[r, c]), *[self._reach(int(codes[cell])) for cell in around])

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
        return _reduced(part, self._down, self._across, (top, bottom), (left, right))

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


def _reduced(
    part: Pixels, down: Axis, across: Axis, rows: tuple[int, int], columns: tuple[int, int]
) -> Pixels:
    """``reduce_part`` of one picture, (H, W, 3) -> (rows, columns, 3)."""
    return np.ascontiguousarray(reduce_part(part[None], down, across, rows, columns)[0].transpose(1, 2, 0))


board_renderer = lru_cache(maxsize=KEPT_BOARDS)(BoardRenderer)
"""The renderer of a board shape, shared by all problems that have it (not between threads)."""


# Boards whose sprites overlap, pixel for pixel as PDDLGym draws them.
#
# `BoardRenderer` keeps every cell for itself and refuses such boards. Here each sprite is drawn once per cell and laid over those
# before it, row by row, as PDDLGym does. That is exact for sprites without half-transparent pixels, which is checked; then the
# whole picture is reduced: about 10 ms.


Block = tuple[tuple[slice, slice], Pixels]
"""Where a sprite covers the picture, and with what."""


class OverlappingTiles:
    """Draws boards of one domain, by PDDLGym's name of it, and one shape."""

    def __init__(self, domain: str, rows: int, columns: int) -> None:
        self._domain, self._paper = domain, paper(rows, columns)
        self._background = self._paper.background()
        self._blocks: dict[tuple[Cell, int], list[Block]] = {}

    def frame(self, codes: Codes) -> Frame:
        """The picture of a board, uint8 (H, W, 3); UnusableInput if a sprite has half-transparent pixels, or is not a rectangle."""
        from aam_vision.envs.pddlgym_drawing import stacks

        picture = self._background.copy()
        for (row, column), found in np.ndenumerate(codes):
            cell, code = (row, column), int(found)
            if (cell, code) not in self._blocks:
                sprites = stacks(self._domain).sprites(code)
                self._blocks[cell, code] = [self._block(cell, sprite) for sprite in sprites]
            for where, pixels in self._blocks[cell, code]:
                picture[where] = pixels
        height, width = picture.shape[:2]
        rows, columns = int(height * _REDUCTION), int(width * _REDUCTION)
        return _reduced(picture, lanczos(height, rows), lanczos(width, columns), (0, rows), (0, columns))

    def _block(self, cell: Cell, sprite: NDArray[Any]) -> Block:
        """A sprite as it covers a black picture and a white one: nothing may show through in part."""
        on_black, on_white = (np.full_like(self._background, shade) for shade in (0, 255))
        for canvas in (on_black, on_white):
            self._paper.draw(canvas, sprite, *cell)
        covered = (on_black == on_white).all(axis=-1)
        rows, columns = (np.flatnonzero(covered.any(axis=axis)) for axis in (1, 0))
        in_part = ~covered & ((on_black != 0) | (on_white != 255)).any(axis=-1)
        if covered.any() and not in_part.any():
            where = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
            if covered[where].all():
                return where, on_black[where].copy()
        raise UnusableInput(f"{self._domain}: a sprite shows what is below it; draw its pictures whole")


overlapping_tiles = lru_cache(maxsize=KEPT_BOARDS)(OverlappingTiles)
"""The tiles that draw a board shape, shared in the same way."""


# Boards that PDDLGym draws sprite by sprite: each cell's stack of sprites is asked of PDDLGym's own renderer.


KEPT = 4096
"""States of one problem whose codes are kept. Every step shows its state twice."""


class BoardCodes:
    """The code of every cell's stack of sprites in the states of one problem."""

    def __init__(self, layout: Layout) -> None:
        from aam_vision.envs.pddlgym_domains import Literals

        self._domain = layout.domain
        self._literals = Literals(layout)
        self._known: Recent[frozenset[Atom], Codes] = Recent(KEPT)

    def __call__(self, atoms: frozenset[Atom]) -> Codes:
        """The codes of a legal state, (rows, columns), not to be changed; its unchangeable atoms may be left out."""
        return self._known.of(atoms, lambda: self._found(atoms))

    def _found(self, atoms: frozenset[Atom]) -> Codes:
        from aam_vision.envs.pddlgym_drawing import cells, stacks

        found, known = cells(self._domain, self._literals.of_state(atoms)), stacks(self._domain)
        return np.array([[known.code(cell) for cell in row] for row in found], np.uint8)


class Tiles:
    """Draws a problem whose sprites stay within their cells; see ``aam_vision.envs.board.Drawing``."""

    def __init__(self, layout: Layout) -> None:
        self._codes = BoardCodes(layout)
        rows, columns = self._codes(layout.initial).shape
        self._renderer = board_renderer(layout.domain, rows, columns)
        self.shape = self._renderer.shape

    def frame(self, atoms: frozenset[Atom]) -> Frame:
        return self._renderer.frame(self._codes(atoms))


# Pictures that are drawn whole instead of cell by cell, once for each of the latest states: where the picture is made of
# rectangles (Hanoi, Blocks), PDDLGym's own renderer draws it in about 15 ms.


KEPT_FRAMES = 2048
"""Frames that are kept for one problem: more cost memory, fewer are drawn again."""


class WholePictures:
    """Draws the states of one problem; see ``aam_vision.envs.board.Drawing``."""

    def __init__(self, layout: Layout, draw: Callable[[frozenset[Atom]], Frame]) -> None:
        from aam_vision.envs.pddlgym_domains import changing_predicates, static_atoms

        self._layout, self._draw = layout, draw
        self._changing = changing_predicates(layout.domain)
        self._static = static_atoms(layout)
        self._frames: Recent[frozenset[Atom], Frame] = Recent(KEPT_FRAMES)

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        height, width, channels = self.frame(self._layout.initial).shape
        return height, width, channels

    def frame(self, atoms: frozenset[Atom]) -> Frame:
        state = frozenset(atom for atom in atoms if atom.predicate in self._changing)
        return self._frames.of(state, lambda: self._draw(state | self._static)).copy()


def drawn_by_pddlgym(layout: Layout, *, crosses: bool = False) -> WholePictures:
    """The pictures of a problem, each drawn by PDDLGym itself; ``crosses``: those on destroyed blocks are drawn last."""
    palette: dict[str, Any] = {}

    def draw(atoms: frozenset[Atom]) -> Frame:
        from aam_vision.envs.pddlgym_drawing import crosses_on_top, reference_frame

        with crosses_on_top(layout.domain) if crosses else nullcontext():
            return reference_frame(layout, atoms, palette)

    return WholePictures(layout, draw)


def overlapping(layout: Layout) -> WholePictures:
    """Draws a problem whose sprites overlap their neighbours."""
    codes = BoardCodes(layout)
    rows, columns = codes(layout.initial).shape
    tiles = overlapping_tiles(layout.domain, rows, columns)
    return WholePictures(layout, lambda atoms: tiles.frame(codes(atoms)))
