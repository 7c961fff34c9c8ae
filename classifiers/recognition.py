"""What looks like something labelled is recognised, and all else refused: for classifiers that learned from few labels.

A network that learned from few labels is sure of things that it never saw. So every place is also compared with labelled
places. The *look* of a cell is its pixels, in several sizes, because things are drawn in other sizes on boards of other
shapes. A place is recognised if it is nearer to a labelled one than things of that label are to each other on different
boards, and farther from all that are labelled otherwise; or if it is one cell with a thing over something else, both of which
were labelled (``overlaid``). About any other place nothing is said, and nothing where the network surely says otherwise in anything of a cell that is not the same as a labelled one: a thing that is alike in one way was
taken for another. What the network makes of labelled pixels is no second opinion, but what it has not learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.looks import (
    IDENTICAL,
    Answers,
    LabelledLooks,
    Looks,
    distances_in_sizes,
    in_sizes,
)
from aam_vision.classifiers.overlaid import Overlays

MARGIN: Final = 1.3
"""Places that are labelled otherwise must be so many times farther away: a larger one refuses more."""

ALIKE: Final = 2.0
"""What is nearer than this looks the same, whatever its labels are: a larger one refuses more."""

WIDER: Final = 2.0
"""How much farther than usual a place may be away where others are much farther: a larger one says more about what was never
labelled."""

REMEMBERED: Final = 20_000
"""Places whose labels are kept, so that they are compared once: more of them cost memory."""


@dataclass(frozen=True)
class Recognised:
    """What a place looks like.

    Args:
        labels: (heads,), of the labelled places that look the same.
        identical: whether it is one cell with the pixels of a labelled one, or of one thing over another.
        hidden: numbers of heads of which nothing can be said.
    """

    labels: Answers
    identical: bool = False
    hidden: tuple[int, ...] = ()


class Recognition:
    """Tells the labels of places that look like labelled ones.

    Args:
        known: the labelled ones.
    """

    def __init__(self, known: LabelledLooks) -> None:
        self._groups = {asked: _Group(known, mine) for asked, mine in known.by_kind().items()}
        self._overlays = Overlays(known)
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
            single = [key for key in mine if found[key] is None and len(new[key]) == 1]
            if single:
                cells = np.concatenate([new[key] for key in single])
                found.update(zip(single, self._overlaid(cells, np.frombuffer(kind, bool)), strict=True))
        if len(memory) > REMEMBERED:  # a new one, not the old one emptied: another thread may be reading that
            memory = self._memory = {}
        memory.update(found)
        return [found[key] for key in keys]

    def _overlaid(self, cells: Looks, asked: NDArray[np.bool_]) -> list[Recognised | None]:
        """What cells (n, ...) look like in which a thing is over something else; None of all others."""
        return [
            None
            if found is None
            else Recognised(found.labels, found.identical, tuple(np.flatnonzero(found.open).tolist()))
            for found in self._overlays.explain(cells, asked)
        ]

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
                found[list(like.hidden), place] = 0.5
        return found


def unlike(probabilities: NDArray[np.float32], asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which places look unlike everything labelled, (places,): those of which ``doubted`` leaves nothing.

    Args:
        probabilities: (heads, places), as ``doubted`` gives them.
        asked: (heads, places).
    """
    nothing: NDArray[np.bool_] = ((probabilities == 0.5) | ~asked).all(0)
    return nothing & asked.any(0)


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
        return Recognised(found[0]) if len(found) == 1 else None


def _is_same(least: float, others: float, limit: float) -> bool:
    """Whether something looks like what is nearest, by the distance from that, that from others, and the usual limit."""
    if others < max(MARGIN * least, ALIKE):
        return False
    return least <= limit * (min(WIDER, (others / least) ** 0.5) if least else 1)
