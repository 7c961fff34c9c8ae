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
    rest = _others(pool, labelled)
    return rest[int(rng.integers(len(rest)))] if rest else None


def most_telling(
    pool: Pool, known: KnownLooks, labelled: Sequence[int], doubted: NDArray[np.bool_]
) -> int | None:
    """The picture whose label says most; None if all are labelled.

    By turns it is the one after whose label all looks together are nearest to labelled ones, and one with the strangest look of
    all. Every look counts once, however often it is seen, so that what is rare is not drowned by floors and walls.

    Args:
        pool: all pictures.
        known: what was answered.
        labelled: numbers of the pictures that are labelled.
        doubted: (looks,), whether the classifiers are unsure of a look.
    """
    weight = np.where(doubted, DOUBTED, 1.0)
    near = np.minimum(known.nearest(), STRANGE) ** 2
    candidates = _others(pool, labelled)
    if len(labelled) % 2:
        strangest = int((weight * near).argmax())
        candidates = [one for one in candidates if strangest in pool.pictures[one].looks] or candidates
    gains = []
    for number in candidates:
        own = np.unique(pool.pictures[number].looks)
        own = own[own != NO_LOOK]
        after = pool.distances[:, own].min(1, initial=STRANGE) ** 2
        # a doubted look tells something when it is labelled, however near it is to another one
        gains.append((weight * np.maximum(near - after, 0)).sum() + doubted[own].sum())
    return candidates[int(np.argmax(gains))] if candidates else None


def _others(pool: Pool, labelled: Sequence[int]) -> list[int]:
    """The numbers of the pictures that are not labelled."""
    done = set(labelled)
    return [number for number in range(len(pool.pictures)) if number not in done]
