"""Which picture to label next: the one that says most about the looks of all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.training.labelling.pool import NO_LOOK, KnownLooks, Pool

RANDOM, ACTIVE = "random", "active"

STRANGE: Final = 30.0
"""Distance from which on a look is as strange as can be: a larger one has rare large things labelled before small marks."""

DOUBTED: Final = 4.0
"""Weight of a look that the classifiers do not read surely, or otherwise than its label: a larger one follows the classifiers
sooner, and what is merely new later."""


def at_random(pool: Pool, labelled: Sequence[int], rng: np.random.Generator) -> int | None:
    """Any picture that is not labelled yet; None if there is none."""
    rest = [number for number in range(len(pool.pictures)) if number not in set(labelled)]
    return rest[int(rng.integers(len(rest)))] if rest else None


def most_telling(
    pool: Pool, known: KnownLooks, labelled: Sequence[int], doubted: NDArray[np.bool_]
) -> int | None:
    """The picture after whose label all looks together are nearest to labelled ones; None if all are labelled.

    Every look counts once, however often it is seen, and the more the stranger it is: what is rare is not drowned by floors
    and walls.

    Args:
        pool: all pictures.
        known: what was answered.
        labelled: numbers of the pictures that are labelled.
        doubted: (looks,), whether the classifiers are unsure of a look.
    """
    weight = np.where(doubted, DOUBTED, 1.0)
    near = np.minimum(known.nearest(), STRANGE)
    done = set(labelled)
    gains = np.full(len(pool.pictures), -1.0)
    for number, pooled in enumerate(pool.pictures):
        own = np.unique(pooled.looks[pooled.looks != NO_LOOK])
        if number not in done:
            after = pool.distances[:, own].min(1, initial=STRANGE)
            own_doubts = doubted[own].sum()  # labelling a doubted look tells of it, however near it is to another
            gains[number] = (weight * np.maximum(near - after, 0)).sum() + own_doubts
    best = int(gains.argmax())
    return best if gains[best] >= 0 else None
