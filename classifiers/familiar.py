"""Places that look unlike everything that was learned from: for classifiers that read all they should, but know no doubt.

Classifiers that passed their test still say something of what they never saw: of a hand, of an intruder, in the light of another
lamp. What a program draws has few looks, so all of those that were learned from are kept. A place is *familiar* if each of its
cells is as near to one of them as equal things are to each other on different boards. The classifiers are believed about it if they
say what was right of such a look; of any other place nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.looks import (
    Answers,
    LabelledLooks,
    Looks,
    distances_in_sizes,
    in_sizes,
    inner,
    shifted,
)
from aam_vision.classifiers.recognition import REMEMBERED


class Familiarity:
    """Tells which places look like labelled ones.

    Args:
        known: the labelled ones.
    """

    def __init__(self, known: LabelledLooks) -> None:
        self._kinds = {asked: _Kind(known, mine) for asked, mine in known.by_kind().items()}
        self._memory: dict[tuple[bytes, bytes], Answers] = {}

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
        (low, high), found = sure, probabilities.copy()
        labels = self._labels(places, asked)
        place = np.repeat(np.arange(len(places)), [len(rows) for rows in labels])
        every, said = np.concatenate([np.zeros((0, len(asked)), np.int8), *labels]), probabilities.T[place]
        against = ((every == 1) & (said < low.T)) | ((every == 0) & (said > high.T))
        agreed = np.bincount(place[~against.any(1)], minlength=len(places))
        found[:, agreed == 0] = 0.5
        return found

    def _labels(self, places: Sequence[Looks], asked: NDArray[np.bool_]) -> list[Answers]:
        """Per place the labels (n, heads) of all that looks the same."""
        columns = [column.tobytes() for column in asked.T]
        keys = [(column, inner(cells).tobytes()) for column, cells in zip(columns, places, strict=True)]
        memory = self._memory
        new = {key: cells for key, cells in zip(keys, places, strict=True) if key not in memory}
        if new and len(memory) > REMEMBERED:  # a new one: another thread may be reading the old one
            memory = self._memory = {}
            new = dict(zip(keys, places, strict=True))
        for kind in dict.fromkeys(kind for kind, _ in new):
            mine = {key: cells for key, cells in new.items() if key[0] == kind}
            known = self._kinds.get(kind)
            none = [np.zeros((0, len(asked)), np.int8)] * len(mine)
            memory.update(zip(mine, none if known is None else known.alike([*mine.values()]), strict=True))
        return [memory[key] for key in keys]


class _Kind:
    """Labelled places of which the same classifiers are asked.

    Args:
        known: all labelled places.
        mine: the numbers of those of the kind.
    """

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
