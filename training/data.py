"""Where the boards come from: legal states of the layouts for training and of random ones, drawn."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from aam_vision.classifiers.networks import CELL_PIXELS
from aam_vision.envs.board import BoardDomain, Layout, Picture
from aam_vision.envs.sampling import legal_states, synthetic_layouts, training_layouts
from aam_vision.perception import Frame
from aam_vision.strips import State
from aam_vision.training.boards import Example, examples

STATES_PER_LAYOUT = 40
"""States of each of the domain's own layouts for training."""

SYNTHETIC = 160
"""Random boards."""

STATES_PER_BOARD = 2
"""States of each random board."""

TRIES = 20
"""Draws per wanted state before a layout is taken to have no more distinct states."""


def lessons(
    domain: BoardDomain, rng: np.random.Generator, side: int = CELL_PIXELS, *, fewer: int = 1
) -> list[Example]:
    """Labelled boards to learn from; no layout outside of ``domain.trained_on`` is touched.

    Args:
        domain: the environment.
        rng: the source of all chance.
        side: of a cell, in pixels of the boards.
        fewer: divides the number of boards, to try things out.
    """
    data: list[Example] = []
    for layout in training_layouts(domain.name):
        pairs = pictures(domain, layout, max(1, STATES_PER_LAYOUT // fewer), rng)
        data += examples(domain.visual, domain.scene(layout), pairs, side)
    for layout in islice(synthetic_layouts(domain.name, domain.shapes, rng), SYNTHETIC // fewer):
        pairs = pictures(domain, layout, STATES_PER_BOARD, rng)
        data += examples(domain.visual, domain.scene(layout), pairs, side)
    return [data[number] for number in rng.permutation(len(data))]


def pictures(
    domain: BoardDomain, layout: Layout, number: int, rng: np.random.Generator
) -> Iterator[tuple[State, Frame]]:
    """Up to ``number`` distinct legal states of a layout, each with its image."""
    picture = Picture(domain, layout)
    seen: set[State] = set()
    for state in islice(legal_states(layout, rng), TRIES * number):
        if state not in seen:
            seen.add(state)
            yield state, picture.frame(state.true)
            if len(seen) == number:
                return
