"""Pillow's LANCZOS reduction of 8-bit images, for any part of the picture and exact to the last bit.

Pillow reduces columns first, then rows, each with weights rounded to 22 fractional bits and results
rounded to bytes. Unlike Pillow's ``box``, a part is reduced with the weights it has in the whole picture.
All sums are whole numbers below 2 ** 53, which float64 holds exactly, whatever their order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from aam_vision.products import product

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
