"""Reduction of 8-bit images with antialiasing, to the bit as Pillow and torch do it.

Columns first, then rows, each with weights rounded to a number of fractional bits, and results rounded to bytes. All sums are whole
numbers, which floating point numbers of the right size hold exactly, whatever their order. Unlike with Pillow's ``box``, a part of
an image is reduced with the weights that it has in the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aam_vision.support.products import product

_BLOCK = 16
"""Reduced pixels that are made together, from the part of the source that they depend on."""

Floats = NDArray[np.floating]


class Axis:
    """The reduction of one axis.

    Args:
        source: pixels along it.
        reduced: pixels that become of them.
        kernel: weights by distances in reduced pixels.
        radius: from which on the kernel is 0.
        bits: fractional bits of the weights; None: as many as still let the greatest one fit in 16.
    """

    def __init__(
        self,
        source: int,
        reduced: int,
        kernel: Callable[[NDArray[Any]], NDArray[Any]],
        radius: float,
        bits: int | None = None,
    ) -> None:
        scale = source / reduced
        support = radius * max(scale, 1.0)
        inverse = 1 / max(scale, 1.0)
        self._first: list[int] = []
        rows: list[NDArray[Any]] = []
        for number in range(reduced):
            centre = scale * (number + 0.5)
            start, stop = max(int(centre - support + 0.5), 0), min(int(centre + support + 0.5), source)
            stop = min(stop, start + 2 * ceil(support) + 1)
            weights = kernel((np.arange(stop - start) + (start - centre) + 0.5) * inverse)
            self._first.append(start)
            rows.append(weights / sum(weights.tolist()))  # summed one by one: the last bit counts
        self._bits = _precision(max(float(row.max()) for row in rows)) if bits is None else bits
        # what holds sums of bytes exactly whose weights add up to 2 ** bits
        self.exact: type[np.floating] = np.float32 if self._bits <= 16 else np.float64
        scaled = [row * 2.0**self._bits for row in rows]
        self._weights = [np.trunc(row + np.copysign(0.5, row)).astype(self.exact) for row in scaled]
        self._matrices: dict[tuple[int, int], Floats] = {}

    def window(self, start: int, stop: int) -> tuple[int, int]:
        """The source pixels that the reduced pixels ``start:stop`` depend on."""
        ends = (
            first + len(own)
            for first, own in zip(self._first[start:stop], self._weights[start:stop], strict=True)
        )
        return self._first[start], max(ends)

    def reduce(self, lines: Floats, start: int, stop: int) -> Floats:
        """Reduced pixels ``start:stop`` along the last axis of their window, (N, window) -> (N, stop - start): from 0 to 255."""
        sums = np.empty((len(lines), stop - start), self.exact)
        for low in range(start, stop, _BLOCK):
            high = min(low + _BLOCK, stop)
            first, matrix = self._first[low] - self._first[start], self._matrix(low, high)
            sums[:, low - start : high - start] = product(lines[:, first : first + len(matrix)], matrix)
        sums += 0.5 * 2.0**self._bits
        sums *= 2.0**-self._bits
        np.floor(sums, out=sums)
        return np.clip(sums, 0, 255, out=sums)

    def _matrix(self, start: int, stop: int) -> Floats:
        """The weights of the window in the reduced pixels, (window, stop - start)."""
        if (start, stop) not in self._matrices:
            low, high = self.window(start, stop)
            made = self._matrices[start, stop] = np.zeros((high - low, stop - start), self.exact)
            for place, number in enumerate(range(start, stop)):
                first, own = self._first[number] - low, self._weights[number]
                made[first : first + len(own), place] = own
        return self._matrices[start, stop]


def _precision(greatest: float) -> int:
    """The number of fractional bits with which the greatest weight still fits in 16 bits."""
    bits = 0
    while bits < 22 and int(0.5 + greatest * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    return bits


@lru_cache(maxsize=256)
def bilinear(source: int, reduced: int) -> Axis:
    """As torch's ``interpolate`` does it, with antialiasing."""
    return Axis(source, reduced, lambda distance: np.maximum(1 - abs(distance), 0), 1.0)


@lru_cache(maxsize=256)
def lanczos(source: int, reduced: int) -> Axis:
    """As Pillow's LANCZOS filter does it, to fewer pixels."""
    within = 3.0
    return Axis(
        source,
        reduced,
        lambda far: np.where(abs(far) < within, np.sinc(far) * np.sinc(far / within), 0.0),
        within,
        bits=22,
    )


def reduce_part(
    part: NDArray[np.uint8], down: Axis, across: Axis, rows: tuple[int, int], columns: tuple[int, int]
) -> NDArray[np.uint8]:
    """The reduced pixels in ``rows`` x ``columns`` (start, stop): (N, H, W, 3) -> uint8 (N, 3, rows, columns).

    Args:
        part: the source pixels inside ``down.window(*rows)`` x ``across.window(*columns)`` of images of one size.
        down: the reduction of the vertical axis.
        across: the reduction of the horizontal axis.
        rows: first reduced row, and the one after the last.
        columns: first reduced column, and the one after the last.
    """
    number, height, width, colours = part.shape
    lines = part.transpose(0, 1, 3, 2).astype(across.exact, order="C").reshape(-1, width)
    narrow = across.reduce(lines, *columns).reshape(number, height, colours, -1)
    lines = narrow.transpose(0, 2, 3, 1).astype(down.exact, order="C").reshape(-1, height)
    found = down.reduce(lines, *rows).reshape(number, colours, columns[1] - columns[0], -1)
    return found.transpose(0, 1, 3, 2).astype(np.uint8, order="C")


def resized(images: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """Images in another size, as torch's ``interpolate`` makes them: uint8 (N, H, W, 3) -> (N, 3, height, width)."""
    down, across = bilinear(images.shape[1], height), bilinear(images.shape[2], width)
    return reduce_part(images, down, across, (0, height), (0, width))
