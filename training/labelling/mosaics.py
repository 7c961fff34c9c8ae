"""Boards put together of cells whose labels are known: labels for free, and any thing beside any other.

The picture of a walk is the ground, and some of its cells are replaced by cells of other pictures. A rare look is put in as
often as a common one: all kinds of labels are drawn alike. A place of several cells keeps its label only if none of
them is replaced.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.resampling import resized
from aam_vision.training.boards import Example
from aam_vision.training.labelling.pool import NO_LOOK, Pool, PooledPicture
from aam_vision.training.labels import NO_LABEL, Labels

REPLACED: Final = 0.3
"""Share of the cells that are replaced: more of them show more neighbours, and look less like a board."""


ZOOM: Final = 2
"""Pixels of a cell's side that may be cut off when a look is enlarged: more of them change things more than layouts do."""


class Mosaics:
    """Makes boards of a pool's looks.

    Args:
        pool: the pictures.
        labels: of all looks, (looks, heads), ``NO_LABEL`` throughout for those that are not known.
    """

    def __init__(self, pool: Pool, labels: Labels) -> None:
        self._pool, self._labels = pool, labels
        kinds: dict[bytes, dict[bytes, list[int]]] = {}
        for look in np.flatnonzero((labels != NO_LABEL).any(1)):
            own = kinds.setdefault(pool.asked[look], {})
            own.setdefault(labels[look].tobytes(), []).append(int(look))
        self._kinds = {asked: list(groups.values()) for asked, groups in kinds.items()}

    def example(self, number: int, follows: Labels, rng: np.random.Generator) -> Example:
        """The picture of a number with some cells replaced.

        Args:
            number: of a picture of the pool.
            follows: its labels, as far as they are known: (heads, places).
            rng: the source of all chance.
        """
        pooled, labels = self._pool.pictures[number], follows.copy()
        pixels, side = pooled.pixels.copy(), pooled.pixels.shape[1] // pooled.index.scene.rows
        replaced: set[int] = set()
        for place, cells in enumerate(pooled.index.cells):
            look = int(pooled.looks[place])
            groups = self._kinds.get(self._pool.asked[look]) if look != NO_LOOK else None
            if groups is None or cells[0] in replaced or rng.random() >= REPLACED:
                continue
            group = groups[int(rng.integers(len(groups)))]
            chosen = group[int(rng.integers(len(group)))]
            self._put(pixels, pooled, cells[0], self._cut(chosen, side, rng))
            replaced.add(cells[0])
            labels[:, place] = self._labels[chosen]
        for place, cells in enumerate(pooled.index.cells):
            if pooled.looks[place] == NO_LOOK and replaced.intersection(cells):
                labels[:, place] = NO_LABEL
        return pooled.example(labels, pixels)

    def _cut(self, look: int, side: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """The pixels of a look, a little larger or smaller, and moved: (3, side, side).

        Things are drawn in other sizes on boards of other shapes, as against the cell.
        """
        whole = self._pool.looks[look]
        size = int(rng.integers(side - ZOOM, whole.shape[1] + 1))
        down, right = (int(step) for step in rng.integers(0, whole.shape[1] - size + 1, 2))
        part = np.ascontiguousarray(whole[:, down : down + size, right : right + size].transpose(1, 2, 0))
        found: NDArray[np.uint8] = resized(part[None], side, side)[0]
        return found

    def _put(
        self, pixels: NDArray[np.uint8], pooled: PooledPicture, cell: int, cut: NDArray[np.uint8]
    ) -> None:
        side = cut.shape[1]
        row, column = (side * part for part in divmod(cell, pooled.index.scene.columns))
        pixels[:, row : row + side, column : column + side] = cut
