"""Pillow's LANCZOS reduction of 8-bit images, for any part of the picture and exact to the last bit.

Pillow reduces columns first, then rows, each with weights rounded to 22 fractional bits and results
rounded to bytes. Unlike Pillow's ``box``, a part is reduced with the weights it has in the whole picture.
Plain integer sums, tap by tap: a matrix product would wake BLAS's threads for less than a millisecond's
work.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_BITS = 22
_RADIUS = 3.0


@dataclass(frozen=True)
class Axis:
    """The reduction of one axis: reduced pixel ``i`` is the sum of ``taps[i, k] * source[first[i] + k]``."""

    first: NDArray[np.intp]
    last: NDArray[np.intp]
    taps: NDArray[np.int32]  # (reduced, most taps), zero beyond ``last``

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

    def reduce(self, source: NDArray[np.int32], start: int, stop: int) -> NDArray[np.int32]:
        """Reduced pixels ``start:stop`` along the first axis of their window, (window, N) -> (stop-start, N).

        Weights add up to 1, their magnitudes to less than 1.5: no sum of bytes leaves 32 bits.
        """
        where = self.first[start:stop] - self.first[start]
        sums = np.full((stop - start, source.shape[1]), 1 << (_BITS - 1), np.int32)
        for k, weights in enumerate(self.taps[start:stop].T):
            sums += source[np.minimum(where + k, len(source) - 1)] * weights[:, None]
        reduced: NDArray[np.int32] = np.clip(sums >> _BITS, 0, 255)
        return reduced


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
    by_column = part.transpose(1, 0, 2).reshape(width, -1).astype(np.int32)
    narrow = across.reduce(by_column, *columns).reshape(-1, height, 3)
    by_row = np.ascontiguousarray(narrow.transpose(1, 0, 2)).reshape(height, -1)
    return down.reduce(by_row, *rows).reshape(rows[1] - rows[0], -1, 3).astype(np.uint8)
