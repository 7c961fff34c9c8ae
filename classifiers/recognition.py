"""What looks like something labelled is recognised, and all else refused: for classifiers that learned from few labels.

A network that learned from few labels is sure of things that it never saw. So every place is also compared with labelled
places. The *look* of a cell is its pixels, in several sizes, because things are drawn in other sizes on boards of other
shapes. A place is recognised if it is nearer to a labelled one than things of that label are to each other on different
boards, and farther from all that are labelled otherwise; or if it is one cell with a thing over something else, both of which
were labelled (``overlaid``). About any other place nothing is said, and nothing where the network surely says otherwise in
anything of a cell that is not the same as a labelled one: a thing that is alike in one way was taken for another. What the
network makes of labelled pixels is no second opinion, but what it has not learned.

Classifiers that passed their test on pictures of a user's own read all they should, but know no doubt: they still say something
of what they never saw, of a hand, of an intruder, in the light of another lamp. What a program draws has few looks, so all of
those that were learned from are kept. A place is *familiar* if each of its cells is as near to one of them as equal things are
to each other on different boards. The classifiers are believed about it if they say what was right of such a look; of any other
place nothing is said.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.legality import Probabilities
from aam_vision.classifiers.looks import (
    IDENTICAL,
    Answers,
    LabelledLooks,
    Looks,
    distances_in_sizes,
    in_sizes,
    inner,
    shifted,
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

Found = TypeVar("Found")


class Comparison(ABC, Generic[Found]):
    """Compares places with labelled ones of which the same classifiers are asked, each place once."""

    def __init__(self) -> None:
        self._memory: dict[tuple[bytes, bytes], Found] = {}

    def compare(self, places: Sequence[Looks], asked: NDArray[np.bool_]) -> list[Found]:
        """What is found of every place.

        Args:
            places: the looks of each one's cells.
            asked: (heads, places), which classifiers are asked of it.
        """
        pixels = [self.pixels(cells).tobytes() for cells in places]
        keys = [(column.tobytes(), own) for column, own in zip(asked.T, pixels, strict=True)]
        memory = self._memory
        found = {key: memory[key] for key in keys if key in memory}
        new = {key: cells for key, cells in zip(keys, places, strict=True) if key not in found}
        for kind in dict.fromkeys(kind for kind, _ in new):
            mine = [key for key in new if key[0] == kind]
            found.update(zip(mine, self.of_kind(kind, [new[key] for key in mine]), strict=True))
        if len(memory) > REMEMBERED:  # a new one, not the old one emptied: another thread may be reading that
            memory = self._memory = {}
        memory.update(found)
        return [found[key] for key in keys]

    def pixels(self, cells: Looks) -> Looks:
        """Those that places of equal findings have in common."""
        return cells

    @abstractmethod
    def of_kind(self, kind: bytes, places: Sequence[Looks]) -> Sequence[Found]:
        """What is found of places; ``kind`` is the classifiers that are asked of them, as in ``LabelledLooks.by_kind``."""

    def doubted(
        self,
        probabilities: Probabilities,
        places: Sequence[Looks],
        asked: NDArray[np.bool_],
        sure: tuple[Probabilities, Probabilities],
    ) -> Probabilities:
        """The probabilities (heads, places) of a network, one half where nothing can be said.

        Args:
            probabilities: of the network.
            places: the looks of each one's cells.
            asked: (heads, places).
            sure: (heads, 1) each, below and above which the network is sure.
        """
        doubted, (low, high) = probabilities.copy(), sure
        self.doubt(doubted, self.compare(places, asked), low[:, 0], high[:, 0])
        return doubted

    @abstractmethod
    def doubt(
        self, said: Probabilities, found: Sequence[Found], low: Probabilities, high: Probabilities
    ) -> None:
        """Take back what cannot be said of places (heads, places); ``low`` and ``high`` are (heads,)."""


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


class Recognition(Comparison[Recognised | None]):
    """Tells the labels of places that look like labelled ones."""

    def __init__(self, known: LabelledLooks) -> None:
        super().__init__()
        self._groups = {asked: _Group(known, mine) for asked, mine in known.by_kind().items()}
        self._overlays = Overlays(known)

    def labels(self, places: Sequence[Looks], asked: NDArray[np.bool_]) -> list[Answers | None]:
        """Per place the labels, (heads,), of those that look the same; None where there are none. See ``compare``."""
        return [None if found is None else found.labels for found in self.compare(places, asked)]

    def of_kind(self, kind: bytes, places: Sequence[Looks]) -> Sequence[Recognised | None]:
        found: list[Recognised | None] = [None] * len(places)
        if group := self._groups.get(kind):
            found = group.recognise(places)
        single = [number for number, one in enumerate(found) if one is None and len(places[number]) == 1]
        if single:  # each may be one thing over another
            cells = np.concatenate([places[number] for number in single])
            explained = self._overlays.explain(cells, np.frombuffer(kind, bool))
            for number, over in zip(single, explained, strict=True):
                if over is not None:
                    hidden = tuple(np.flatnonzero(over.open).tolist())
                    found[number] = Recognised(over.labels, over.identical, hidden)
        return found

    def doubt(
        self, said: Probabilities, found: Sequence[Recognised | None], low: Probabilities, high: Probabilities
    ) -> None:
        for place, like in enumerate(found):
            if like is None:
                said[:, place] = 0.5
                continue
            own, labels = said[:, place], like.labels
            against = ((labels == 1) & (own < low)) | ((labels == 0) & (own > high))
            if against.any() and not like.identical:  # it is no such place, and nothing of it is sure
                said[:, place] = 0.5
            else:
                said[labels >= 0, place] = labels[labels >= 0]
                said[list(like.hidden), place] = 0.5


def unlike(probabilities: NDArray[np.float32], asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which places look unlike everything labelled, (places,): of which ``doubted`` leaves nothing; ``asked`` is (heads, places)."""
    nothing: NDArray[np.bool_] = ((probabilities == 0.5) | ~asked).all(0)
    return nothing & asked.any(0)


class _Group:
    """Labelled places of which the same classifiers are asked."""

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


class Familiarity(Comparison[Answers]):
    """Tells which places look like labelled ones; per place, the labels (n, heads) of all that looks the same."""

    def __init__(self, known: LabelledLooks) -> None:
        super().__init__()
        self._kinds = {asked: _Kind(known, mine) for asked, mine in known.by_kind().items()}

    def pixels(self, cells: Looks) -> Looks:
        return inner(cells)

    def of_kind(self, kind: bytes, places: Sequence[Looks]) -> Sequence[Answers]:
        known = self._kinds.get(kind)
        return [np.zeros((0, len(kind)), np.int8)] * len(places) if known is None else known.alike(places)

    def doubt(
        self, said: Probabilities, found: Sequence[Answers], low: Probabilities, high: Probabilities
    ) -> None:
        place = np.repeat(np.arange(len(found)), [len(rows) for rows in found])
        every, own = np.concatenate([np.zeros((0, len(said)), np.int8), *found]), said.T[place]
        against = ((every == 1) & (own < low)) | ((every == 0) & (own > high))
        agreed = np.bincount(place[~against.any(1)], minlength=len(found))
        said[:, agreed == 0] = 0.5


class _Kind:
    """Labelled places of which the same classifiers are asked."""

    def __init__(self, known: LabelledLooks, mine: NDArray[np.intp]) -> None:
        cells = np.flatnonzero(np.isin(known.places, mine))
        places = known.places[cells]
        looks, self._look = np.unique(known.cells[cells], return_inverse=True)
        self._known = [*shifted(in_sizes(known.looks[looks]))]
        self._limits = known.limits[places]
        self._labels, number = np.unique(known.labels[places], axis=0, return_inverse=True)
        self._has = np.eye(len(self._labels), dtype=np.float32)[number.reshape(-1)]  # (cells, labels)

    def alike(self, places: Sequence[Looks]) -> list[Answers]:
        """Per place the labels (n, heads) of which each of its cells looks like some cell."""
        away = distances_in_sizes(np.concatenate(places), self._known)[:, self._look]
        near = (away <= self._limits).astype(np.float32) @ self._has > 0
        begins = np.cumsum([0, *map(len, places)])[:-1]
        return [self._labels[some] for some in np.logical_and.reduceat(near, begins, axis=0)]
