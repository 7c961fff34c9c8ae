"""Labels for free: pictures that nobody labelled, with what follows from those that somebody did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from aam_vision.training.boards import Example
from aam_vision.training.labelling.mosaics import Mosaics
from aam_vision.training.labelling.pool import Pool
from aam_vision.training.labels import NO_LABEL, Labels

FREE: Final = 60
"""Pictures with labels for free that are learned from, and mosaics: more of them take longer to be learned."""


def free_examples(
    pool: Pool,
    answers: Mapping[int, Labels],
    follow: tuple[Labels, Sequence[Labels]],
    rng: np.random.Generator,
) -> tuple[list[Example], tuple[int, int]]:
    """Pictures that were not answered about, with the labels that follow, as many mosaics, and the answered ones again.

    Args:
        pool: all pictures.
        answers: the labels of those that were answered about, by number.
        follow: the labels of all looks and of all pictures, as far as they follow; see ``KnownLooks.follow``.
        rng: the source of all chance.

    Returns:
        The examples; how many pictures without an answer are among them, and how many labels these have.
    """
    looks, pictures = follow
    drawn = _with_rare_answers(answers, pictures, rng)
    mosaics = Mosaics(pool, looks)
    found = [
        *[pool.pictures[one].example(pictures[one]) for one in drawn],
        *[mosaics.example(one, pictures[one], rng) for one in drawn],
        *[
            pool.pictures[one].example(labels)
            for one, labels in answers.items()
            for _ in range(len(drawn) // len(answers))
        ],
    ]
    return found, (len(drawn), int(sum((pictures[one] != NO_LABEL).sum() for one in drawn)))


def _with_rare_answers(
    answers: Mapping[int, Labels], pictures: Sequence[Labels], rng: np.random.Generator
) -> list[int]:
    """Up to ``FREE`` pictures without answers, drawn by what follows about them: those with rare answers more often."""
    rest = np.array([one for one in range(len(pictures)) if one not in answers], np.intp)
    if not len(rest):
        return []
    yes = np.array([(pictures[one] == 1).any(1) for one in rest], float).reshape(len(rest), -1)
    worth = (yes / np.maximum(yes.sum(0), 1)).sum(1)
    useful = np.flatnonzero(worth > 0)
    if not len(useful):
        return []
    drawn = rng.choice(useful, min(FREE, len(useful)), replace=False, p=worth[useful] / worth[useful].sum())
    return [int(rest[one]) for one in drawn]
