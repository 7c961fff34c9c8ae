"""The looks of a board's places: the pixels that the answer about a place can depend on.

The networks for boards see a cell and about a quarter of a cell around it. Two places with the same pixels there get the same
answer, whatever the weights. Beyond the edge of a board there are no pixels, which is a look of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Patches = NDArray[np.int16]
"""(cells, 3, size, size): pixels from 0 to 255, and ``OUTSIDE``."""

OUTSIDE = -1


def patches(board: NDArray[np.uint8], side: int, border: int) -> Patches:
    """Every cell of a board with so many pixels around it, row by row.

    Args:
        board: (3, side * rows, side * columns).
        side: of a cell, in pixels.
        border: pixels around the cell that count.

    Returns:
        int16, (rows * columns, 3, side + 2 * border, side + 2 * border).
    """
    padded = np.pad(
        board.astype(np.int16), ((0, 0), (border, border), (border, border)), constant_values=OUTSIDE
    )
    size = side + 2 * border
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(1, 2))
    chosen = windows[:, ::side, ::side]  # (3, rows, columns, size, size)
    found: Patches = np.ascontiguousarray(chosen.transpose(1, 2, 0, 3, 4)).reshape(-1, 3, size, size)
    return found


def place_looks(
    board: NDArray[np.uint8], side: int, cells: Sequence[Sequence[int]], border: int
) -> list[bytes]:
    """Per place, what is equal for places that no network for boards can tell apart.

    Args:
        board: (3, side * rows, side * columns).
        side: of a cell, in pixels.
        cells: per place, its cells as row * columns + column.
        border: pixels around a cell that count.
    """
    each = [patch.tobytes() for patch in patches(board, side, border)]
    return [b"".join(each[cell] for cell in covered) for covered in cells]
