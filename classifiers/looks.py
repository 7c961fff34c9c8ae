"""Looks: the pixels of cells, in several sizes, and those that were labelled when classifiers learned from few labels.

A look is compared with others in several sizes, because things are drawn in other sizes on boards of other shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import NO_LABEL as NO_LABEL
from aam_vision.support.resampling import resized

Looks = NDArray[np.uint8]
"""(n, 3, side + 2, side + 2): the pixels of cells with one pixel around them, because cells begin at fractions of a pixel."""

Answers = NDArray[np.int8]
"""(n, heads): 1, 0, or ``NO_LABEL``."""

CUT: Final = (0, 2, 4)
"""Pixels of a look's side that are cut off before it is enlarged again; more sizes take more time."""

ADDED: Final = (1, 2)
"""Pixels that are added on each side before a look is made smaller."""

SIZES: Final = len(CUT) + len(ADDED)

BLOCK: Final = 256
"""Looks that are compared with all others at a time: more of them cost memory, fewer cost time."""

EDGE: Final = 2
"""Pixels on each side of a cell that do not count: what is beside a cell blends into them."""

IDENTICAL: Final = 1.0
"""What is nearer than this to a labelled look has its label, whatever the network says: a larger one believes looks more."""

GREY: Final = 128
"""Subtracted from all pixels, so that sums of squares are smaller and lose less to rounding."""


def inner(looks: Looks) -> Looks:
    """The pixels that are compared: those without the edges."""
    return looks[..., 1 + EDGE : -1 - EDGE, 1 + EDGE : -1 - EDGE]


Shifted = Iterable[tuple[NDArray[np.float32], NDArray[np.float32]]]
"""Per shift by one pixel at most, what looks are compared with: (m, pixels), and their sums of squares, (m,)."""


def shifted(looks: Looks) -> Shifted:
    """Looks as others are compared with them; see ``distances``."""
    first, side = 1 + EDGE, looks.shape[2] - 2 - 2 * EDGE
    for top in range(first - 1, first + 2):
        for left in range(first - 1, first + 2):
            moved = looks[:, :, top : top + side, left : left + side]
            theirs = moved.reshape(len(looks), -1).astype(np.float32) - GREY
            yield theirs, (theirs**2).sum(1)


def distances(looks: Looks, others: Looks | Shifted) -> NDArray[np.float32]:
    """The distance of every look from every other one: (n, m).

    It is the root of the mean squared difference of their pixels without the edges, the least of all shifts by one pixel.
    """
    flat = inner(looks).reshape(len(looks), -1).astype(np.float32) - GREY
    own, found = (flat**2).sum(1), np.zeros((0, 0), np.float32)
    for theirs, squares in shifted(others) if isinstance(others, np.ndarray) else others:
        found = found if found.size else np.full((len(looks), len(theirs)), np.inf, np.float32)
        for begin in range(0, len(looks), BLOCK):
            part = slice(begin, begin + BLOCK)
            each = own[part, None] + squares[None] - 2 * (flat[part] @ theirs.T)
            np.minimum(found[part], each, out=found[part])
    return np.sqrt(np.maximum(found, 0) / max(flat.shape[1], 1))


def in_sizes(looks: Looks) -> Looks:
    """Looks in ``SIZES`` sizes, all of one size first: (SIZES * n, 3, side + 2, side + 2)."""
    size = looks.shape[2]
    parts = [looks[:, :, cut // 2 : cut // 2 + size - cut, cut // 2 : cut // 2 + size - cut] for cut in CUT]
    parts += [np.pad(looks, ((0, 0), (0, 0), (wide, wide), (wide, wide)), mode="edge") for wide in ADDED]
    channels_last = (np.ascontiguousarray(part.transpose(0, 2, 3, 1)) for part in parts)
    return np.concatenate([resized(part, size, size) for part in channels_last])


def distances_in_sizes(looks: Looks, sized: Looks | Shifted) -> NDArray[np.float32]:
    """The distance of every look from the nearest size of every other one: (n, m); ``sized`` comes from ``in_sizes``."""
    found: NDArray[np.float32] = distances(looks, sized).reshape(len(looks), SIZES, -1).min(1)
    return found


def cells_of(board: NDArray[np.uint8], places: Iterable[Iterable[int]], side: int) -> list[Looks]:
    """The looks of the cells of places, each given as row * columns + column, on a board (3, side * rows, side * columns)."""
    padded, size = np.pad(board, ((0, 0), (1, 1), (1, 1)), mode="edge"), side + 2
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(1, 2))[:, ::side, ::side]
    every = windows.transpose(1, 2, 0, 3, 4).reshape(-1, 3, size, size)
    return [every[[*cells]] for cells in places]


@dataclass(frozen=True)
class LabelledLooks:
    """Places with labels, each by the looks of its cells; what is saved beside weights.

    Args:
        looks: different ones.
        cells: (cells,), the number of a cell's look.
        places: (cells,), the number of the place that a cell belongs to, from 0 on without a gap.
        asked: (places, heads), which classifiers are asked of it.
        labels: (places, heads).
        limits: (places,), the distance from which on a cell does not look like those of the place.
    """

    looks: Looks
    cells: NDArray[np.int32]
    places: NDArray[np.int32]
    asked: NDArray[np.bool_]
    labels: Answers
    limits: NDArray[np.float32]

    def of_heads(self, rows: Sequence[int]) -> LabelledLooks:
        """With some of the classifiers alone, in that order."""
        return replace(self, asked=self.asked[:, rows], labels=self.labels[:, rows])

    def by_kind(self) -> dict[bytes, NDArray[np.intp]]:
        """The numbers of the places of which the same classifiers are asked, by the bytes of these classifiers' row of ``asked``."""
        return {
            asked.tobytes(): np.flatnonzero((self.asked == asked).all(1))
            for asked in np.unique(self.asked, axis=0)
        }
