"""What a picture probably shows, so that a person has little to correct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.legality import Truth
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.training.labelling.draft import Guess
from aam_vision.training.labelling.pool import NO_LOOK, Pool
from aam_vision.training.labels import Labels

ALIKE: Final = 4.0
"""Largest distance of looks that are taken for the same while a person watches: a larger one fills in more, and more wrongly."""


class Guesser:
    """Guesses what the pictures of a pool show.

    Args:
        pool: the pictures.
        heads: number of classifiers.
    """

    def __init__(self, pool: Pool, heads: int) -> None:
        self._pool, self._heads = pool, heads
        self.perception: BoardPerception | None = None
        """Classifiers that were trained on the answers so far, if there are any."""

    def guess(self, number: int, answered: Mapping[int, Labels]) -> Guess:
        """What a picture probably shows: what places that look the same were labelled, else what the classifiers say.

        Args:
            number: of the picture in the pool.
            answered: the labels (heads, places) of pictures by their numbers.
        """
        pooled = self._pool.pictures[number]
        yes: Truth = np.zeros((self._heads, len(pooled.looks)), bool)
        unsure: NDArray[np.bool_] = np.ones(len(pooled.looks), bool)
        if self.perception is not None:
            picture = pooled.picture
            (probabilities,) = self.perception.probabilities([picture.frame], picture.scene)
            sure, doubtful = pooled.index.legality.settle(probabilities, *self.perception.thresholds)
            yes, unsure = np.where(doubtful, probabilities > 0.5, sure), np.asarray(doubtful.any(0))
        columns: dict[int, Labels] = {}
        for other, labels in answered.items():
            looks = self._pool.pictures[other].looks
            columns.update(
                {int(look): labels[:, place] for place, look in enumerate(looks) if look != NO_LOOK}
            )
        for place, look in enumerate(pooled.looks):
            if look == NO_LOOK:
                self._as_before(number, place, answered, yes, unsure)
            elif columns:
                known = list(columns)
                nearest = int(self._pool.distances[look, known].argmin())
                near = self._pool.distances[look, known[nearest]] <= ALIKE
                if near or (unsure[place] and self.perception is None):
                    yes[:, place] = columns[known[nearest]] == 1
                    unsure[place] = not near
        return Guess(yes, unsure)

    def alike(self, number: int) -> Truth:
        """(places, places): which places of a picture look the same."""
        looks = self._pool.pictures[number].looks
        found: Truth = self._pool.distances[np.ix_(looks, looks)] <= ALIKE
        found &= (looks != NO_LOOK)[:, None] & (looks != NO_LOOK)[None]
        return found

    def _as_before(
        self, number: int, place: int, answered: Mapping[int, Labels], yes: Truth, unsure: Truth
    ) -> None:
        """Fill in what a place with several cells showed last in the same problem, in place."""
        if self.perception is not None and not unsure[place]:
            return
        problem = self._pool.pictures[number].picture.problem
        same = [other for other in answered if self._pool.pictures[other].picture.problem == problem]
        if same:
            yes[:, place] = answered[same[-1]][:, place] == 1
