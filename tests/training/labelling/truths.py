"""Pools of pictures of walks, and what a simulator says of them."""

from __future__ import annotations

from functools import cache

import numpy as np

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.envs.labelled import label
from aam_vision.envs.registry import board_domain
from aam_vision.training.labelling.pool import Pool, walk
from aam_vision.training.labelling.session import SimulatorLabels


@cache
def walked(name, steps, *numbers, seed=0):
    """A board domain, a pool of pictures of some of the problems it is walked in, and the labels of every picture."""
    domain = board_domain(name)
    problems = [domain.walked[number] for number in numbers]
    pool = Pool(domain.visual, walk(domain, problems, np.random.default_rng(seed), steps), CELL_PIXELS)
    return domain, pool, truth_of(domain, pool)


def truth_of(domain, pool):
    """The labels of every picture of a pool."""
    states = map(SimulatorLabels(domain, pool.walked).label, pool.walked)
    return [
        label(domain.visual, one.picture.scene, one.index.places, state)
        for one, state in zip(pool.pictures, states, strict=True)
    ]
