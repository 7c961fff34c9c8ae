"""The places of many pictures, and which of them look alike.

A place of one cell has a *look* (``classifiers.looks``). Places of which other classifiers are asked (a room of one cell, and
the cell) have looks of their own, however alike they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from aam_vision.classifiers.board import resample_scene
from aam_vision.classifiers.looks import Looks, cells_of, distances
from aam_vision.classifiers.network import pooling_matrix
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.classifiers.recognition import Recognition
from aam_vision.perception import VisualVocabulary
from aam_vision.training.boards import Example
from aam_vision.training.labelling.walks import Walked
from aam_vision.training.labels import NO_LABEL, Labels

MOST: Final = 400
"""Pictures of a pool: more of them show rarer things, and take longer to be compared."""

ROUGH: Final = 4
"""Parts of a cell's side by which looks are compared roughly: more of them tell more apart."""

COARSE: Final = 24
"""Steps of their colours: larger ones tell less apart."""

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
        self._side = side
        self.pictures: list[PooledPicture] = []
        self.problems: list[str] = []
        """Per look, the problem in which it was seen first."""
        for picture in pictures:
            if picture.problem not in indices:
                indices[picture.problem] = SceneIndex(vocabulary, picture.scene)
            index = indices[picture.problem]
            pixels = resample_scene(picture.frame, picture.scene, side)
            looks = np.full(len(index.places), NO_LOOK, np.intp)
            for place, cells in enumerate(cells_of(pixels, index.cells, side)):
                if len(cells) == 1:
                    kind = index.legality.asked[:, place].tobytes()
                    looks[place] = numbers.setdefault((kind, cells.tobytes()), len(numbers))
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

    def cells(self, number: int, place: int) -> Looks:
        """The looks of the cells of a place of a picture."""
        one = self.pictures[number]
        return cells_of(one.pixels, [one.index.cells[place]], self._side)[0]


def rarest(pictures: Sequence[Walked], side: int, most: int = MOST) -> list[Walked]:
    """The pictures with the rarest looks, in their order; all, if there are no more than ``most``.

    Looks are compared roughly: what is seen in few pictures of a problem comes first.
    """
    if len(pictures) <= most:
        return list(pictures)
    shown: list[set[tuple[str, bytes]]] = []
    for picture in pictures:
        board = resample_scene(picture.frame, picture.scene, side)
        part = side // ROUGH
        rough = board.reshape(3, picture.scene.rows, ROUGH, part, picture.scene.columns, ROUGH, part)
        means = (rough.mean((3, 6)) // COARSE).astype(np.uint8).transpose(1, 3, 0, 2, 4)
        shown.append({(picture.problem, cell.tobytes()) for row in means for cell in row})
    seen = Counter(look for looks in shown for look in looks)
    worth = np.array([sum(1 / seen[look] for look in sorted(looks)) for looks in shown])
    return [pictures[number] for number in sorted(np.argsort(-worth, kind="stable")[:most].tolist())]


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
        self._several: dict[tuple[int, int], Labels] = {}
        self.answers: dict[int, Labels] = {}
        """The labels (heads, places) of answered pictures, by number."""

    def answer(self, number: int, labels: Labels) -> None:
        """Take in the labels (heads, places) of a picture."""
        self.answers[number] = labels
        for place, look in enumerate(self._pool.pictures[number].looks):
            if look != NO_LOOK:
                self._answered.setdefault(int(look), labels[:, place])

    def answer_place(self, number: int, place: int, labels: Labels) -> None:
        """Take in the labels (heads,) of one place of a picture."""
        look = int(self._pool.pictures[number].looks[place])
        if look == NO_LOOK:
            self._several[number, place] = labels
        else:
            self._answered[look] = labels

    def nearest(self) -> NDArray[np.float32]:
        """(looks,): the distance of each from the nearest answered one."""
        if not self._answered:
            return np.full(len(self._pool.looks), np.inf, np.float32)
        found: NDArray[np.float32] = self._pool.distances[:, list(self._answered)].min(1)
        return found

    def follow(self, recognition: Recognition) -> tuple[Labels, list[Labels]]:
        """What must be labelled how, as far as that follows from looks; ``NO_LABEL`` where it does not.

        Args:
            recognition: by the answers that were taken in.

        Returns:
            The labels of all looks, (looks, heads), and those of all pictures, (heads, places) each.
        """
        pool = self._pool
        looks: Labels = np.full((len(pool.looks), self._heads), NO_LABEL, np.int8)
        asked = np.array([np.frombuffer(kind, bool) for kind in pool.asked]).reshape(-1, self._heads)
        for look, found in enumerate(recognition.labels(list(pool.looks[:, None]), asked.T)):
            if found is not None:
                looks[look] = found
        for look, labels in self._answered.items():
            looks[look] = labels
        pictures = [self._follows(number, looks) for number in range(len(pool.pictures))]
        rooms = [
            (number, int(place))
            for number, one in enumerate(pool.pictures)
            for place in np.flatnonzero(one.looks == NO_LOOK)
            if number not in self.answers
        ]
        if rooms:
            cells = [pool.cells(number, place) for number, place in rooms]
            kinds = np.array(
                [pool.pictures[number].index.legality.asked[:, place] for number, place in rooms]
            )
            for (number, place), found in zip(rooms, recognition.labels(cells, kinds.T), strict=True):
                if found is not None:
                    pictures[number][:, place] = found
        for (number, place), labels in self._several.items():
            pictures[number][:, place] = labels
        return looks, pictures

    def _follows(self, number: int, looks: Labels) -> Labels:
        """The labels of a picture (heads, places): its answer, or what follows for places of one cell."""
        if number in self.answers:
            return self.answers[number]
        pooled = self._pool.pictures[number]
        single = pooled.looks != NO_LOOK
        found: Labels = np.full((self._heads, len(pooled.looks)), NO_LABEL, np.int8)
        found[:, single] = looks[pooled.looks[single]].T
        return found
