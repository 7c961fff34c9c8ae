"""The data set of a domain: the states that classifiers learn from, drawn and labelled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.image_domain import ImageDomain, Pictures
from aam_vision.errors import UnusableInput
from aam_vision.perception import VisualVocabulary
from aam_vision.training.boards import Example, examples
from aam_vision.training.labels import check_legal


def lessons(
    domain: ImageDomain,
    rng: np.random.Generator,
    side: int = CELL_PIXELS,
    *,
    fewer: int = 1,
    workers: int = 1,
) -> list[Example]:
    """Labelled boards to learn from, in random order.

    Args:
        domain: the environment.
        rng: the source of all chance.
        side: of a cell, in pixels of the boards.
        fewer: divides the number of boards, to try things out.
        workers: processes that share the drawing, which takes most of the time and no chance: the boards are
            the same for any number.

    Raises:
        UnusableInput: code of the user's raises, or a label of theirs describes no legal board.
    """
    wanted = []
    for number, pictures in enumerate(domain.lessons(rng, fewer), start=1):
        check(domain, pictures, number)
        wanted.append(pictures)
    data = _drawn(domain.visual, wanted, side, workers)
    return [data[number] for number in rng.permutation(len(data))]


def check(domain: ImageDomain, pictures: Pictures, number: int) -> None:
    """Labels from a user's code must describe legal boards, which perfect classifiers could read.

    Raises:
        UnusableInput: one does not; ``number`` says which.
    """
    if not pictures.checked:
        index = SceneIndex(domain.visual, pictures.scene)
        for state in pictures.states:
            try:
                check_legal(domain.visual, index, state)
            except UnusableInput as error:
                raise UnusableInput(f"environment {domain.name}, labelled image {number}: {error}") from error


def _drawn(visual: VisualVocabulary, wanted: Sequence[Pictures], side: int, workers: int) -> list[Example]:
    """The boards of all states, in order; those of one shape in one process, which sets up drawing it once."""
    if workers == 1:
        return [board for pictures in wanted for board in _boards(visual, pictures, side)]
    from joblib import Parallel, delayed

    shapes: dict[tuple[int, int], list[int]] = {}
    for number, pictures in enumerate(wanted):
        shapes.setdefault((pictures.scene.rows, pictures.scene.columns), []).append(number)
    jobs = sorted(shapes.values(), key=len, reverse=True)
    drawn = Parallel(n_jobs=workers)(
        delayed(_boards_of_all)(visual, [wanted[number] for number in job], side) for job in jobs
    )
    boards = {
        number: own
        for job, found in zip(jobs, drawn, strict=True)
        for number, own in zip(job, found, strict=True)
    }
    return [board for number in range(len(wanted)) for board in boards[number]]


def _boards_of_all(visual: VisualVocabulary, wanted: Sequence[Pictures], side: int) -> list[list[Example]]:
    return [_boards(visual, pictures, side) for pictures in wanted]


def _boards(visual: VisualVocabulary, pictures: Pictures, side: int) -> list[Example]:
    """The labelled boards of some states of a scene."""
    pairs = ((state, pictures.draw(state)) for state in pictures.states)
    return list(examples(visual, pictures.scene, pairs, side))
