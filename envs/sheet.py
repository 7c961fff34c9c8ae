"""The sheet that PDDLGym draws boards on, as matplotlib draws it, without matplotlib's figures.

To import what figures need takes half a second, and an artist draws a sprite in 4 ms. Of matplotlib only the function
that resamples images is used here, which does not need the rest. Everything else follows matplotlib's sums one by one:
where things lie decides about single pixels. `BoardRenderer` uses a figure where this function is missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import pairwise
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DPI = 150
POINTS = 72
_EDGE = 0.05
"""Cells between the board and the edge of its axes."""
_GREY, _WHITE = 136, 255
_FAINT, _OUTSIDE, _INSIDE = 11, 1, 22
"""What a line of 1 point, which is 2 pixels and a twelfth, covers of the pixels beside it, and of those at its corners
outside and inside of a cell; of 255."""

Pixels = NDArray[np.uint8]


class Sheet:
    """An empty board, and where sprites go on it; ImportError if matplotlib's function cannot be had without matplotlib."""

    def __init__(self, rows: int, columns: int) -> None:
        self._resample = _resampler()
        self.rows, self.columns = rows, columns
        self.height, self.width = (rows + 2) * DPI, (columns + 2) * DPI
        self._matrix = self._to_pixels()

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place in pixels of a point of the board in cells, both from the left and from below."""
        (across, _, left), (_, up, below), _ = self._matrix
        return float(across * x + left), float(up * y + below)

    def _to_pixels(self) -> NDArray[np.float64]:
        """The matrix of matplotlib's ``transData`` for axes of equal scale in the middle of the figure."""
        low, right, top = -_EDGE, self.columns + _EDGE, self.rows + _EDGE
        wide, high = abs(right - low), abs(top - low)
        shape, whole = high / wide, self.height / self.width
        part_high = shape / whole
        size = (1.0, part_high) if part_high <= 1.0 else (whole / shape, 1.0)
        corner = [0.5 * (1.0 - one) for one in size]
        (x0, x1), (y0, y1) = (
            (start * pixels, (start + one) * pixels)
            for start, one, pixels in zip(corner, size, (self.width, self.height), strict=True)
        )
        limits = np.array(
            [[1.0 / wide, 0, -low * (1.0 / wide)], [0, 1.0 / high, -low * (1.0 / high)], [0, 0, 1.0]]
        )
        axes = np.array([[x1 - x0, 0, x0], [0, y1 - y0, y0], [0, 0, 1.0]])
        matrix: NDArray[np.float64] = axes @ limits
        return matrix

    def background(self) -> Pixels:
        """The empty board, (height, width, 3): every cell is filled, and framed in grey."""
        canvas = np.full((self.height, self.width), _WHITE, np.uint8)
        xs = [floor(self.at(x, 0)[0] + 0.5) for x in range(self.columns + 1)]
        ys = [self.height - floor(self.at(0, y)[1] + 0.5) for y in range(self.rows, -1, -1)]
        for top, bottom in pairwise(ys):
            for left, right in pairwise(xs):
                canvas[top:bottom, left:right] = _WHITE
                _frame(canvas, top, bottom, left, right)
        return np.repeat(canvas[..., None], 3, axis=2)

    def draw(self, canvas: Pixels, sprite: NDArray[np.float32], row: int, column: int) -> None:
        """Lay a sprite, float32 (H, W, 4) from 0 to 1, over a cell of a canvas, uint8 (height, width, 3)."""
        pixels, left, below = self._resampled(sprite, row, column)
        top = self.height - (below + len(pixels))
        part = canvas[top : top + len(pixels), left : left + pixels.shape[1]]
        _lay_over(part, pixels[::-1])

    def _resampled(self, sprite: NDArray[np.float32], row: int, column: int) -> tuple[Pixels, int, int]:
        """The sprite's pixels, the lowest row first, and its left and lower edge."""
        high, wide = sprite.shape[:2]
        zoom = 1.0 / max(self.rows, self.columns) ** 0.5
        size = DPI / POINTS * wide * zoom, DPI / POINTS * high * zoom
        middle = self.at(column + 0.5, (self.rows - 1 - row) + 0.5)
        x0, y0 = (at - 0.5 * one for at, one in zip(middle, size, strict=True))
        x1, y1 = size[0] + x0, size[1] + y0
        left, right = floor(x0 + 0.5), floor(x1 + 0.5 + 1e-8)
        below, above = ceil(y0 - 0.5 - 1e-8), ceil(y1 - 0.5)
        share = [x0 / self.width, y0 / self.height, x1 / self.width, y1 / self.height]
        flipped = np.array([[1.0, 0, 0], [0, -1.0, high], [0, 0, 1.0]])
        scaled = np.array(
            [
                [(share[2] - share[0]) / wide, 0, share[0]],
                [0, (share[3] - share[1]) / high, share[1]],
                [0, 0, 1],
            ]
        )
        onto = np.array([[float(self.width), 0, 0], [0, float(self.height), 0], [0, 0, 1]])
        moved = np.array([[1.0, 0, -left], [0, 1.0, -below], [0, 0, 1]])
        transform = (moved @ ((onto @ scaled) @ flipped)).view(_Transform)
        alpha = sprite[..., 3]
        if (alpha != 1).any():
            sprite = sprite * alpha[..., None]
            sprite[..., 3] = alpha
        found = np.zeros((above - below, right - left, 4), sprite.dtype)
        self._resample(sprite, found, transform)
        alpha = found[..., 3].copy()
        found /= np.where(alpha != 0, alpha, 1)[..., None]
        found[..., 3] = alpha
        return (found * 255).astype(np.uint8), left, below


def _frame(canvas: Pixels, top: int, bottom: int, left: int, right: int) -> None:
    """Draw the frame of a cell over a canvas of greys; its lines run along these edges."""
    for out, cover in ((2, _FAINT), (1, 255)):
        for row in (top - out, bottom + out - 1):
            _blend(canvas[row : row + 1, left - 1 : right + 1], cover)
        for column in (left - out, right + out - 1):
            _blend(canvas[top - 1 : bottom + 1, column : column + 1], cover)
    for row in (top, bottom - 1):
        _blend(canvas[row : row + 1, left:right], 255)
    for column in (left, right - 1):
        _blend(canvas[top:bottom, column : column + 1], 255)
    for row in (top + 1, bottom - 2):
        _blend(canvas[row : row + 1, left + 2 : right - 2], _FAINT)
    for column in (left + 1, right - 2):
        _blend(canvas[top + 2 : bottom - 2, column : column + 1], _FAINT)
    for row in (top - 2, bottom + 1):
        for column in (left - 2, right + 1):
            _blend(canvas[row : row + 1, column : column + 1], _OUTSIDE)
    for row in (top + 1, bottom - 2):
        for column in (left + 1, right - 2):
            _blend(canvas[row : row + 1, column : column + 1], _INSIDE)


def _blend(part: Pixels, cover: int) -> None:
    """Mix so much of the frame's grey, of 255, into a part of an opaque canvas."""
    part[...] = _mixed(part.astype(np.int64), np.int64(_GREY), np.int64(cover))


def _lay_over(part: Pixels, pixels: Pixels) -> None:
    """Lay pixels with opacity, uint8 (H, W, 4), over an opaque part of a canvas."""
    alpha = pixels[..., 3:]
    if (alpha == 255).all():
        part[...] = pixels[..., :3]
        return
    mixed = _mixed(part.astype(np.int64), pixels[..., :3].astype(np.int64), alpha.astype(np.int64))
    part[...] = np.where(alpha == 255, pixels[..., :3], np.where(alpha == 0, part, mixed))


def _mixed(below: Any, above: Any, alpha: Any) -> Any:
    """Two colours as Agg mixes them where the lower one is opaque."""
    premultiplied = below * 255
    opacity = ((alpha + 255) << 8) - alpha * 255
    return (((above << 8) - premultiplied) * alpha + (premultiplied << 8)) // opacity


class _Transform(np.ndarray[Any, np.dtype[np.float64]]):
    """A matrix as matplotlib's function wants it: an array, which it reads without a call of Python.

    It takes an interrupt that comes within such a call for an invalid matrix.
    """

    is_affine = True


@cache
def _resampler() -> Any:
    """A function of (pixels, result, transform) that resamples as matplotlib does sprites.

    Raises:
        ImportError: there is none in the matplotlib that is installed.
    """
    spec = find_spec("matplotlib")
    folders = [] if spec is None or not spec.submodule_search_locations else spec.submodule_search_locations
    for folder in folders:
        for ending in EXTENSION_SUFFIXES:
            path = Path(folder) / f"_image{ending}"
            if path.exists():
                return _of_module(path)
    raise ImportError("no extension module of matplotlib for images")


def _of_module(path: Path) -> Any:
    spec = spec_from_file_location("matplotlib._image", path)
    assert spec is not None, "it is a file"
    assert spec.loader is not None, "it is a file"
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        kind = module._InterpolationType.HANNING
    except AttributeError as error:
        raise ImportError(f"{path} is of another version of matplotlib") from error

    def resample(pixels: NDArray[np.float32], found: NDArray[np.float32], transform: _Transform) -> None:
        module.resample(pixels, found, transform, kind, False, 1, True, 4.0)

    return resample


# Numbers for the stacks of sprites that a cell of a board can show.


Sprites = tuple[NDArray[Any], ...]
"""Pictures that lie on each other in a cell, the lowest first."""


def picture_key(sprite: NDArray[Any]) -> str:
    """Equal for equal pictures, whatever PDDLGym calls them."""
    return hashlib.sha256(repr(sprite.shape).encode() + sprite.tobytes()).hexdigest()


class SpriteStacks:
    """Stacks of sprites and their codes: stacks that look the same have one code, counted from 0."""

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
