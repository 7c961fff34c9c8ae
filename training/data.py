"""Where the boards come from: legal states of the layouts for training and of random ones, drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    domain: BoardDomain,
    rng: np.random.Generator,
    side: int = CELL_PIXELS,
    *,
    fewer: int = 1,
    workers: int = 1,
) -> list[Example]:
    """Labelled boards to learn from; no layout outside of ``domain.trained_on`` is touched.

    Args:
        domain: the environment.
        rng: the source of all chance.
        side: of a cell, in pixels of the boards.
        fewer: divides the number of boards, to try things out.
        workers: processes that share the drawing, which takes most of the time and no chance: the boards are
            the same for any number.
    """
    wanted = [
        (layout, list(distinct_states(layout, max(1, STATES_PER_LAYOUT // fewer), rng)))
        for layout in training_layouts(domain.name)
    ]
    for layout in islice(synthetic_layouts(domain.name, domain.shapes, rng), SYNTHETIC // fewer):
        wanted.append((layout, list(distinct_states(layout, STATES_PER_BOARD, rng))))
    data = _drawn(domain, wanted, side, workers)
    return [data[number] for number in rng.permutation(len(data))]


def distinct_states(layout: Layout, number: int, rng: np.random.Generator) -> Iterator[State]:
    """Up to ``number`` distinct legal states of a layout."""
    seen: set[State] = set()
    for state in islice(legal_states(layout, rng), TRIES * number):
        if state not in seen:
            seen.add(state)
            yield state
            if len(seen) == number:
                return


def pictures(
    domain: BoardDomain, layout: Layout, number: int, rng: np.random.Generator
) -> Iterator[tuple[State, Frame]]:
    """Up to ``number`` distinct legal states of a layout, each with its image."""
    picture = Picture(domain, layout)
    for state in distinct_states(layout, number, rng):
        yield state, picture.frame(state.true)


def _drawn(
    domain: BoardDomain, wanted: Sequence[tuple[Layout, Sequence[State]]], side: int, workers: int
) -> list[Example]:
    """The boards of all states, in order; those of one shape in one process, which sets up drawing it once."""
    if workers == 1:
        return [board for layout, states in wanted for board in _boards(domain, layout, states, side)]
    from joblib import Parallel, delayed

    shapes: dict[tuple[int, int], list[int]] = {}
    for number, (layout, _) in enumerate(wanted):
        scene = domain.scene(layout)
        shapes.setdefault((scene.rows, scene.columns), []).append(number)
    jobs = sorted(shapes.values(), key=len, reverse=True)
    drawn = Parallel(n_jobs=workers)(
        delayed(_boards_of_all)(domain, [wanted[number] for number in job], side) for job in jobs
    )
    boards = {
        number: own
        for job, found in zip(jobs, drawn, strict=True)
        for number, own in zip(job, found, strict=True)
    }
    return [board for number in range(len(wanted)) for board in boards[number]]


def _boards_of_all(
    domain: BoardDomain, wanted: Sequence[tuple[Layout, Sequence[State]]], side: int
) -> list[list[Example]]:
    return [_boards(domain, layout, states, side) for layout, states in wanted]


def _boards(domain: BoardDomain, layout: Layout, states: Sequence[State], side: int) -> list[Example]:
    """The labelled boards of some states of a layout."""
    picture = Picture(domain, layout)
    pairs = ((state, picture.frame(state.true)) for state in states)
    return list(examples(domain.visual, domain.scene(layout), pairs, side))
