"""The places of many pictures, and which of them look alike.

A place of one cell has a *look*: its pixels, with one pixel around them, because cells begin at fractions of a pixel. The
distance of two looks is the root of the mean squared difference of their pixels, the least of all shifts by one pixel. Places
of which other classifiers are asked (a room of one cell, and the cell) have looks of their own, however alike they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from aam_vision.classifiers.board import resample_scene
from aam_vision.classifiers.network import pooling_matrix
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.perception import VisualVocabulary
from aam_vision.training.boards import Example
from aam_vision.training.labelling.walks import Walked
from aam_vision.training.labels import NO_LABEL, Labels

BLOCK: Final = 256
"""Looks that are compared with all others at a time: more of them cost memory, fewer cost time."""

GREY: Final = 128
"""Subtracted from all pixels, so that sums of squares are smaller and lose less to rounding."""

NO_LOOK: Final = -1
"""Of a place with several cells."""


@dataclass(frozen=True)
class PooledPicture:
    """A picture with the looks of its places.

    Args:
        picture: as it was taken.
        index: of its scene.
        pixels: its board, (3, side * rows, side * columns).
        looks: (places,), numbers of looks, ``NO_LOOK`` for places with several cells.
    """

    picture: Walked
    index: SceneIndex
    pixels: NDArray[np.uint8]
    looks: NDArray[np.intp]

    def example(self, labels: Labels, pixels: NDArray[np.uint8] | None = None) -> Example:
        """The board with labels (heads, places), to learn from; or another one of its shape."""
        scene = self.index.scene
        pooling = pooling_matrix(self.index.cells, scene.rows * scene.columns)
        board = self.pixels if pixels is None else pixels
        return Example(torch.from_numpy(board), pooling, torch.from_numpy(labels))


class Pool:
    """Pictures, their looks, and the distances of all looks.

    Args:
        vocabulary: of the pictures.
        pictures: any.
        side: of a cell, in pixels of the boards.
    """

    def __init__(self, vocabulary: VisualVocabulary, pictures: Sequence[Walked], side: int) -> None:
        numbers: dict[tuple[bytes, bytes], int] = {}
        indices: dict[str, SceneIndex] = {}
        self.pictures: list[PooledPicture] = []
        self.problems: list[str] = []
        """Per look, the problem in which it was seen first."""
        for picture in pictures:
            if picture.problem not in indices:
                indices[picture.problem] = SceneIndex(vocabulary, picture.scene)
            index = indices[picture.problem]
            pixels = resample_scene(picture.frame, picture.scene, side)
            padded = np.pad(pixels, ((0, 0), (1, 1), (1, 1)), mode="edge")
            looks = np.full(len(index.places), NO_LOOK, np.intp)
            for place, cells in enumerate(index.cells):
                if len(cells) == 1:
                    row, column = (side * part for part in divmod(cells[0], picture.scene.columns))
                    look = padded[:, row : row + side + 2, column : column + side + 2].tobytes()
                    kind = index.legality.asked[:, place].tobytes()
                    looks[place] = numbers.setdefault((kind, look), len(numbers))
                    if len(numbers) > len(self.problems):
                        self.problems.append(picture.problem)
            self.pictures.append(PooledPicture(picture, index, pixels, looks))
        contents = [np.frombuffer(look, np.uint8) for _, look in numbers]
        self.looks = np.array(contents, np.uint8).reshape(-1, 3, side + 2, side + 2)
        self.asked = [kind for kind, _ in numbers]
        """Per look, what tells which classifiers are asked of such places."""
        kinds = np.array(self.asked)
        self.distances = np.where(
            kinds[:, None] == kinds, distances(self.looks, self.looks), np.float32(np.inf)
        )
        """(looks, looks)."""


def distances(looks: NDArray[np.uint8], others: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The distance of every look, (n, 3, s, s), from every other one, (m, 3, s, s): (n, m)."""
    inner = looks[:, :, 1:-1, 1:-1]
    size, side = inner[0].size if len(inner) else 1, looks.shape[2] - 2
    flat = inner.reshape(len(looks), -1).astype(np.float32) - GREY
    own = (flat**2).sum(1)
    found: NDArray[np.float32] = np.full((len(looks), len(others)), np.inf, np.float32)
    for down in range(3):
        for right in range(3):
            moved = others[:, :, down : down + side, right : right + side]
            theirs = moved.reshape(len(others), -1).astype(np.float32) - GREY
            squares = (theirs**2).sum(1)
            for begin in range(0, len(looks), BLOCK):
                part = slice(begin, begin + BLOCK)
                each = own[part, None] + squares[None] - 2 * (flat[part] @ theirs.T)
                np.minimum(found[part], each, out=found[part])
    return np.sqrt(np.maximum(found, 0) / size)


class KnownLooks:
    """The looks of a pool whose labels are known, by answers or because they look like one that was answered.

    Args:
        pool: the pictures.
        heads: number of classifiers.
    """

    def __init__(self, pool: Pool, heads: int) -> None:
        self._pool = pool
        self._heads = heads
        self._answered: dict[int, Labels] = {}
        self._rooms: dict[tuple[str, int, bytes], Labels] = {}

    def answer(self, number: int, labels: Labels) -> None:
        """Take in the labels (heads, places) of a picture."""
        pooled = self._pool.pictures[number]
        for place, look in enumerate(pooled.looks):
            if look != NO_LOOK:
                self._answered.setdefault(int(look), labels[:, place])
            else:
                self._rooms.setdefault(self._room(pooled, place), labels[:, place])

    def nearest(self) -> NDArray[np.float32]:
        """(looks,): the distance of each from the nearest answered one."""
        if not self._answered:
            return np.full(len(self._pool.looks), np.inf, np.float32)
        found: NDArray[np.float32] = self._pool.distances[:, list(self._answered)].min(1)
        return found

    def labels(self, alike: float, margin: float) -> Labels:
        """What all looks must be labelled, as far as that follows: (looks, heads), ``NO_LABEL`` where it does not.

        Args:
            alike: the largest distance at which two looks are taken for the same.
            margin: looks that are labelled otherwise must be so many times farther away.
        """
        found: Labels = np.full((len(self._pool.looks), self._heads), NO_LABEL, np.int8)
        if not self._answered:
            return found
        own = list(self._answered)
        values = np.array([self._answered[look] for look in own])
        away = self._pool.distances[:, own]
        closest = away.argmin(1)
        least = away[np.arange(len(away)), closest]
        for kind in np.unique(values, axis=0):
            same = (values == kind).all(1)
            mine = same[closest] & (least <= alike)
            others = away[:, ~same].min(1) if (~same).any() else np.full(len(away), np.inf)
            found[mine & (others >= margin * least)] = kind
        found[own] = values
        return found

    def follows(self, number: int, looks: Labels) -> Labels:
        """The labels of a picture (heads, places) that follow from those of the looks (looks, heads)."""
        pooled = self._pool.pictures[number]
        found: Labels = np.full((self._heads, len(pooled.looks)), NO_LABEL, np.int8)
        for place, look in enumerate(pooled.looks):
            if look != NO_LOOK:
                found[:, place] = looks[look]
            else:
                known = self._rooms.get(self._room(pooled, place))
                if known is not None:
                    found[:, place] = known
        return found

    def _room(self, pooled: PooledPicture, place: int) -> tuple[str, int, bytes]:
        """What tells a place with several cells from others: nothing but the same place with the same pixels is alike."""
        columns, side = pooled.index.scene.columns, pooled.pixels.shape[1] // pooled.index.scene.rows
        parts = []
        for cell in pooled.index.cells[place]:
            row, column = (side * part for part in divmod(cell, columns))
            parts.append(pooled.pixels[:, row : row + side, column : column + side].tobytes())
        return pooled.picture.problem, place, b"".join(parts)
