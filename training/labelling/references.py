"""The labelled looks that are saved with weights: made of labelled pictures, with how far what is alike may be apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import NO_LABEL
from aam_vision.classifiers.looks import (
    EDGE,
    LabelledLooks,
    Looks,
    cells_of,
    distances,
    distances_in_sizes,
    in_sizes,
)
from aam_vision.envs.labelled import Labels
from aam_vision.training.boards import Example
from aam_vision.training.labelling.pool import Pool

SLACK: Final = 1.2
"""Boards that were not labelled may differ so many times more than labelled ones do from each other: a larger one refuses less."""

LEAST: Final = 3.0
"""No limit is smaller: a larger one refuses less where all boards are drawn alike."""

USUAL: Final = 0.75
"""What was labelled on boards of too few shapes gets the limit below which this share of the others lie: a larger one refuses less."""

ENOUGH: Final = 3
"""Shapes of boards that tell how much equal things differ: more of them are less likely to be drawn alike, and need more labels."""

SAME: Final = 1.0
"""Places with equal labels that are nearer to each other than this are kept once: a larger one keeps fewer, and refuses more."""

MOST_LEARNED: Final = 500
"""Different places of boards that were learned from: more of them take longer to be compared, and are hardly drawn by a program."""


@dataclass(frozen=True)
class _Place:
    """A labelled place: the looks of its cells, which classifiers are asked, what was answered, and the shape of the board."""

    cells: Looks
    asked: NDArray[np.bool_]
    labels: NDArray[np.int8]
    shape: str


def labelled_looks(pool: Pool, answers: Mapping[int, Labels]) -> LabelledLooks:
    """What answers say about looks."""
    found = []
    for number, labels in answers.items():
        one = pool.pictures[number]
        asked, scene = one.index.legality.asked, one.picture.scene
        shape = f"{scene.rows}x{scene.columns} in {one.picture.frame.shape}"
        for place in np.flatnonzero((labels != NO_LABEL).any(0)).tolist():
            found.append(_Place(pool.cells_at(number, place), asked[:, place], labels[:, place], shape))
    return _looks_of(found)


def learned_looks(data: Iterable[Example]) -> LabelledLooks | None:
    """What boards that were learned from say about looks; None if these are too many: what was drawn by a program has few."""
    found: dict[tuple[str, bytes, bytes, bytes], _Place] = {}
    for board in data:
        assert board.asked is not None, "drawn for this training"
        pixels, labels, pooling = board.pixels.numpy(), board.labels.numpy(), board.pooling.numpy()
        side = round((pixels[0].size / len(pooling)) ** 0.5)
        every = cells_of(pixels, map(np.flatnonzero, pooling.T), side)
        for place in np.flatnonzero((labels != NO_LABEL).any(0)).tolist():
            one = _Place(every[place], board.asked[:, place], labels[:, place], str(pixels.shape))
            inner = one.cells[..., EDGE:-EDGE, EDGE:-EDGE]  # all that comparisons see of it in its own size
            key = one.shape, one.asked.tobytes(), one.labels.tobytes(), inner.tobytes()
            found.setdefault(key, one)
        if len(found) > MOST_LEARNED:
            return None
    return _looks_of(found.values())


def _looks_of(labelled: Iterable[_Place]) -> LabelledLooks:
    """What labelled places say about looks."""
    groups: dict[tuple[bytes, bytes], dict[tuple[str, bytes], _Place]] = {}
    for found in labelled:
        own = groups.setdefault((found.asked.tobytes(), found.labels.tobytes()), {})
        own.setdefault((found.shape, found.cells.tobytes()), found)
    single = {kind for kind, places in groups.items() if all(len(one.cells) == 1 for one in places.values())}
    apart = {kind: _apart([*places.values()]) for kind, places in groups.items() if kind in single}
    known = [most for most, _ in apart.values() if most]
    usual = float(np.quantile(known, USUAL, method="higher")) if known else 0.0
    kept, limits = [], []
    for kind, places in groups.items():
        different = _different([*places.values()])
        # cells that are in no other board's rooms would make the most too large, and two shapes may be drawn alike
        most, shapes = apart.get(kind, (0.0, 0))
        kept += different
        limits += [max(LEAST, SLACK * (most if shapes >= ENOUGH else max(most, usual)))] * len(different)
    return _near_enough(kept, np.array(limits, np.float32))


def _near_enough(places: Sequence[_Place], limits: NDArray[np.float32]) -> LabelledLooks:
    """Places with their limits, none of one cell with a limit beyond half the way to one that is labelled otherwise.

    One look stands for all that are nearly the same.
    """
    every, own = np.unique(np.concatenate([place.cells for place in places]), axis=0, return_inverse=True)
    near = distances(every, every) < SAME
    stands = np.full(len(every), -1, np.intp)
    for look in range(len(every)):
        if stands[look] < 0:
            stands[near[look] & (stands < 0)] = look
            stands[look] = look
    used, numbers = np.unique(stands, return_inverse=True)
    looks, cells = every[used], numbers[own.reshape(-1)].astype(np.int32)
    sizes = [len(place.cells) for place in places]
    asked, labels = np.array([place.asked for place in places]), np.array([place.labels for place in places])
    away, first = distances_in_sizes(looks, in_sizes(looks)), np.cumsum([0, *sizes[:-1]])
    single = np.array(sizes) == 1
    for place in np.flatnonzero(single):
        others = single & (asked == asked[place]).all(1) & (labels != labels[place]).any(1)
        half = away[cells[first[place]], cells[first[others]]].min(initial=np.inf) / 2
        limits[place] = min(limits[place], max(LEAST, half))
    number = np.repeat(np.arange(len(places), dtype=np.int32), sizes)
    return LabelledLooks(looks, cells, number, asked, labels, limits)


def _apart(places: Sequence[_Place]) -> tuple[float, int]:
    """How far cells of places with equal labels are from those on boards of other shapes, and the number of shapes.

    Boards of one shape are drawn alike: what differs there is another thing. It is the most of all cells of the distance to the
    nearest one of the median shape: every board lacks some looks. 0 if there is one shape only.
    """
    cells = np.concatenate([place.cells for place in places])
    shapes = np.repeat([place.shape for place in places], [len(place.cells) for place in places])
    names = dict.fromkeys(shapes.tolist())
    if len(names) < 2:
        return 0.0, 1
    unique: dict[str, Looks] = {name: np.unique(cells[shapes == name], axis=0) for name in names}
    sized = {name: in_sizes(looks) for name, looks in unique.items()}
    most = 0.0
    for name, looks in unique.items():
        near = [distances_in_sizes(looks, sized[other]).min(1) for other in names if other != name]
        most = max(most, float(np.sort(near, axis=0)[(len(near) - 1) // 2].max()))
    return most, len(names)


def _different(places: Sequence[_Place]) -> list[_Place]:
    """Places with equal labels, without those that are nearly the same."""
    cells = np.concatenate([place.cells for place in places])
    looks, own = np.unique(cells, axis=0, return_inverse=True)
    own, ends = own.reshape(-1), np.cumsum([len(place.cells) for place in places])
    away = distances_in_sizes(looks, in_sizes(looks))
    rows = np.split(own, ends[:-1])
    kept: list[int] = []
    for number, mine in enumerate(rows):
        near = (away[np.ix_(mine, rows[other])] for other in kept)
        if not any(max(part.min(1).max(), part.min(0).max()) < SAME for part in near):
            kept.append(number)
    return [places[number] for number in kept]
