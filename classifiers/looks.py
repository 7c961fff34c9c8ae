"""Labelled looks: what was labelled when classifiers learned from few labels, and refusal of all that looks otherwise.

A network that learned from few labels is sure of things that it never saw. So every place is also compared with labelled
places. The *look* of a cell is its pixels, in several sizes, because things are drawn in other sizes on boards of other
shapes. A place is recognised if it is nearer to a labelled one than things of that label are to each other on different
boards, and farther from all that are labelled otherwise. About any other place nothing is said, and nothing where the
network surely says otherwise in anything of a cell that is not the same as a labelled one: a thing that is alike in one way was
taken for another. What the network makes of labelled pixels is no second opinion, but what it has not learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.reading import SceneIndex
from aam_vision.classifiers.resampling import resized

Looks = NDArray[np.uint8]
"""(n, 3, side + 2, side + 2): the pixels of cells with one pixel around them, because cells begin at fractions of a pixel."""

Answers = NDArray[np.int8]
"""(n, heads): 1, 0, or -1 where there is none."""

CUT: Final = (0, 2, 4)
"""Pixels of a look's side that are cut off before it is enlarged again; more sizes take more time."""

ADDED: Final = (1, 2)
"""Pixels that are added on each side before a look is made smaller."""

SIZES: Final = len(CUT) + len(ADDED)

MARGIN: Final = 1.3
"""Places that are labelled otherwise must be so many times farther away: a larger one refuses more."""

ALIKE: Final = 2.0
"""What is nearer than this looks the same, whatever its labels are: a larger one refuses more."""

WIDER: Final = 2.0
"""How much farther than usual a place may be away where others are much farther: a larger one says more about what was never
labelled."""

BLOCK: Final = 256
"""Looks that are compared with all others at a time: more of them cost memory, fewer cost time."""

EDGE: Final = 2
"""Pixels on each side of a cell that do not count: what is beside a cell blends into them."""

IDENTICAL: Final = 1.0
"""What is nearer than this to a labelled look has its label, whatever the network says: a larger one believes looks more."""

GREY: Final = 128
"""Subtracted from all pixels, so that sums of squares are smaller and lose less to rounding."""

REMEMBERED: Final = 20_000
"""Places whose labels are kept, so that they are compared once: more of them cost memory."""


def distances(looks: Looks, others: Looks) -> NDArray[np.float32]:
    """The distance of every look from every other one: (n, m).

    It is the root of the mean squared difference of their pixels without the edges, the least of all shifts by one pixel.
    """
    first, side = 1 + EDGE, looks.shape[2] - 2 - 2 * EDGE
    inner = looks[:, :, first : first + side, first : first + side]
    size = inner[0].size if len(inner) else 1
    flat = inner.reshape(len(looks), -1).astype(np.float32) - GREY
    own = (flat**2).sum(1)
    found: NDArray[np.float32] = np.full((len(looks), len(others)), np.inf, np.float32)
    for down in range(-1, 2):
        for right in range(-1, 2):
            top, left = first + down, first + right
            moved = others[:, :, top : top + side, left : left + side]
            theirs = moved.reshape(len(others), -1).astype(np.float32) - GREY
            squares = (theirs**2).sum(1)
            for begin in range(0, len(looks), BLOCK):
                part = slice(begin, begin + BLOCK)
                each = own[part, None] + squares[None] - 2 * (flat[part] @ theirs.T)
                np.minimum(found[part], each, out=found[part])
    return np.sqrt(np.maximum(found, 0) / size)


def in_sizes(looks: Looks) -> Looks:
    """Looks in ``SIZES`` sizes, all of one size first: (SIZES * n, 3, side + 2, side + 2)."""
    return np.concatenate(
        [*[_enlarged(looks, cut) for cut in CUT], *[_reduced(looks, added) for added in ADDED]]
    )


def distances_in_sizes(looks: Looks, sized: Looks) -> NDArray[np.float32]:
    """The distance of every look from the nearest size of every other one: (n, m); ``sized`` comes from ``in_sizes``."""
    found: NDArray[np.float32] = distances(looks, sized).reshape(len(looks), SIZES, -1).min(1)
    return found


def cells_of(
    board: NDArray[np.uint8], index: SceneIndex, side: int, places: Sequence[int] | None = None
) -> list[Looks]:
    """The looks of places' cells.

    Args:
        board: (3, side * rows, side * columns).
        index: of its scene.
        side: of a cell, in pixels.
        places: numbers of places; None for all.
    """
    padded, found = np.pad(board, ((0, 0), (1, 1), (1, 1)), mode="edge"), []
    for place in range(len(index.cells)) if places is None else places:
        corners = [[side * part for part in divmod(cell, index.scene.columns)] for cell in index.cells[place]]
        found.append(np.stack([padded[:, y : y + side + 2, x : x + side + 2] for y, x in corners]))
    return found


@dataclass(frozen=True)
class Recognised:
    """What a place looks like.

    Args:
        labels: (heads,), of the labelled places that look the same.
        identical: whether it is one cell with the pixels of a labelled one.
    """

    labels: Answers
    identical: bool


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
        return LabelledLooks(
            self.looks, self.cells, self.places, self.asked[:, rows], self.labels[:, rows], self.limits
        )


class Recognition:
    """Tells the labels of places that look like labelled ones.

    Args:
        known: the labelled ones.
    """

    def __init__(self, known: LabelledLooks) -> None:
        self._groups = {
            asked.tobytes(): _Group(known, np.flatnonzero((known.asked == asked).all(1)))
            for asked in np.unique(known.asked, axis=0)
        }
        self._memory: dict[tuple[bytes, bytes], Recognised | None] = {}

    def labels(self, places: Sequence[Looks], asked: NDArray[np.bool_]) -> list[Answers | None]:
        """Per place the labels, (heads,), of those that look the same; None where there are none. See ``recognise``."""
        return [None if found is None else found.labels for found in self.recognise(places, asked)]

    def recognise(self, places: Sequence[Looks], asked: NDArray[np.bool_]) -> list[Recognised | None]:
        """What every place looks like; None if it looks like nothing that was labelled.

        Args:
            places: the looks of each one's cells.
            asked: (heads, places), which classifiers are asked of it.
        """
        keys = [(asked[:, number].tobytes(), cells.tobytes()) for number, cells in enumerate(places)]
        memory = self._memory
        found = {key: memory[key] for key in keys if key in memory}
        new = {key: cells for key, cells in zip(keys, places, strict=True) if key not in found}
        for kind in dict.fromkeys(kind for kind, _ in new):
            mine = [key for key in new if key[0] == kind]
            group = self._groups.get(kind)
            like = [None] * len(mine) if group is None else group.recognise([new[key] for key in mine])
            found.update(zip(mine, like, strict=True))
        if len(memory) > REMEMBERED:  # a new one, not the old one emptied: another thread may be reading that
            memory = self._memory = {}
        memory.update(found)
        return [found[key] for key in keys]

    def doubted(
        self,
        probabilities: NDArray[np.float32],
        places: Sequence[Looks],
        asked: NDArray[np.bool_],
        sure: tuple[NDArray[np.float32], NDArray[np.float32]],
    ) -> NDArray[np.float32]:
        """The probabilities (heads, places) of a network, one half where nothing can be said.

        Args:
            probabilities: of the network.
            places: the looks of each one's cells.
            asked: (heads, places).
            sure: (heads, 1) each, below and above which the network is sure.
        """
        found, (low, high) = probabilities.copy(), (edge[:, 0] for edge in sure)
        for place, like in enumerate(self.recognise(places, asked)):
            if like is None:
                found[:, place] = 0.5
                continue
            said, labels = probabilities[:, place], like.labels
            against = ((labels == 1) & (said < low)) | ((labels == 0) & (said > high))
            if against.any() and not like.identical:  # it is no such place, and nothing of it is sure
                found[:, place] = 0.5
            else:
                found[labels >= 0, place] = labels[labels >= 0]
        return found


class _Group:
    """Labelled places of which the same classifiers are asked.

    Args:
        known: all labelled places.
        mine: the numbers of those in the group.
    """

    def __init__(self, known: LabelledLooks, mine: NDArray[np.intp]) -> None:
        cells = np.flatnonzero(np.isin(known.places, mine))
        number = {place: own for own, place in enumerate(mine.tolist())}
        looks, self._look = np.unique(known.cells[cells], return_inverse=True)
        self._sized = in_sizes(known.looks[looks])
        self._place = np.array([number[place] for place in known.places[cells].tolist()], np.intp)
        self._labels, self._limits = known.labels[mine], known.limits[mine]
        self._single = len(cells) == len(mine)
        if not self._single:
            among = distances_in_sizes(known.looks[looks], self._sized)
            self._apart = among[np.ix_(self._look, self._look)]
            self._kinds = [
                (labels, (self._labels == labels).all(1)) for labels in np.unique(self._labels, axis=0)
            ]

    def recognise(self, places: Sequence[Looks]) -> list[Recognised | None]:
        """What places look like; None of those that are not recognised."""
        cells, own = np.unique(np.concatenate(places), axis=0, return_inverse=True)
        away, begin, found = distances_in_sizes(cells, self._sized), 0, []
        for place in places:
            rows = away[own.reshape(-1)[begin : begin + len(place)]][:, self._look]
            begin += len(place)
            if not self._single:
                found.append(self._of_cells(rows))
            else:  # places of one cell say nothing of what a larger one looks like
                found.append(self._of_cell(rows[0]) if len(place) == 1 else None)
        return found

    def _of_cell(self, away: NDArray[np.float32]) -> Recognised | None:
        """What a place of one cell looks like by its distances (cells,)."""
        nearest = int(away.argmin())
        labels = self._labels[self._place[nearest]]
        others = away[(self._labels[self._place] != labels).any(1)].min(initial=np.inf)
        same = _is_same(float(away[nearest]), float(others), float(self._limits[self._place[nearest]]))
        return Recognised(labels, bool(away[nearest] <= IDENTICAL)) if same else None

    def _of_cells(self, away: NDArray[np.float32]) -> Recognised | None:
        """What a place of several cells looks like, by their distances (its cells, known cells).

        All of its cells look like cells of places with these labels; and every place with others has a cell that looks like
        none of such places and none of this one, or this one has a cell that looks like none of the others.
        """
        found, nearest = [], away.min(0)
        for labels, same in self._kinds:
            mine = same[self._place]
            least = float(away[:, mine].min(1).max())
            telling = np.minimum(nearest, self._apart[:, mine].min(1))
            others = min(
                (
                    max(away[:, theirs[self._place]].min(1).max(), telling[self._place == place].max())
                    for _, theirs in self._kinds
                    if theirs is not same
                    for place in np.flatnonzero(theirs)
                ),
                default=np.inf,
            )
            if _is_same(least, float(others), float(self._limits[same].max())):
                found.append(labels)
        return Recognised(found[0], identical=False) if len(found) == 1 else None


def _is_same(least: float, others: float, limit: float) -> bool:
    """Whether something looks like what is nearest, by the distance from that, that from others, and the usual limit."""
    if others < max(MARGIN * least, ALIKE):
        return False
    return least <= limit * (min(WIDER, (others / least) ** 0.5) if least else 1)


def _enlarged(looks: Looks, cut: int) -> Looks:
    """The middle of looks in their size, without so many pixels of each side."""
    size = looks.shape[2]
    begin = cut // 2
    part = looks[:, :, begin : begin + size - cut, begin : begin + size - cut]
    return resized(np.ascontiguousarray(part.transpose(0, 2, 3, 1)), size, size)


def _reduced(looks: Looks, added: int) -> Looks:
    """Looks with so many pixels more around them, in their size."""
    size = looks.shape[2]
    wider = np.pad(looks, ((0, 0), (0, 0), (added, added), (added, added)), mode="edge")
    return resized(np.ascontiguousarray(wider.transpose(0, 2, 3, 1)), size, size)
