"""Refusal that holds with few labels: what looks like nothing labelled is unknown, and so is what the look contradicts.

A network that learned from few labels is sure of things that it never saw. So every cell is also compared with the labelled
looks, in several sizes, because things are drawn in other sizes on boards of other shapes. How far the same things are from
each other on different boards is seen on those walked in; a cell that is farther from all labelled looks may show something
new, and nothing is said about it. Where the nearest labelled look says otherwise than the network, nothing is said either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.architecture import Weights
from aam_vision.classifiers.board import resample_boards
from aam_vision.classifiers.perception import BATCH, BoardPerception
from aam_vision.classifiers.resampling import resized
from aam_vision.classifiers.store import Card
from aam_vision.perception import Frame, Scene, VisualVocabulary
from aam_vision.training.labelling.pool import Pool, distances
from aam_vision.training.labels import NO_LABEL, Labels

SAME: Final = 3.0
"""Looks with equal labels that are nearer to each other than this are kept once: a larger one keeps fewer, and makes more strange."""

CUT: Final = (0, 2, 3, 4, 5)
"""Pixels of a look's side that are cut off before it is enlarged again; more sizes take more time."""

ADDED: Final = (1, 2)
"""Pixels that are added on each side before it is made smaller."""


SLACK: Final = 1.1
"""Unseen boards may differ so many times more than those walked in do from each other: a larger one refuses less."""


class LabelledLooks:
    """Looks with known labels, in several sizes.

    Args:
        pool: the pictures.
        labels: of its looks, (looks, heads), ``NO_LABEL`` throughout for those that are not known.

    Attributes:
        limit: the distance from which on a look is strange; infinite where one problem only is known.
    """

    def __init__(self, pool: Pool, labels: Labels) -> None:
        kept: list[int] = []
        for look in np.flatnonzero((labels != NO_LABEL).any(1)):
            alike = pool.distances[look, kept] < SAME
            if not (alike & (labels[kept] == labels[look]).all(1)).any():
                kept.append(int(look))
        own, looks = labels[kept], pool.looks[kept]
        sizes = [*[_enlarged(looks, cut) for cut in CUT], *[_reduced(looks, added) for added in ADDED]]
        self._looks = np.concatenate(sizes)
        self._labels = np.concatenate([own] * len(sizes))
        asked = [pool.asked[look] for look in kept]
        self._of = {kind: np.flatnonzero([one == kind for one in asked * len(sizes)]) for kind in set(asked)}
        self._memory: dict[tuple[bytes, bytes], Labels | None] = {}
        problems = np.array([pool.problems[look] for look in kept])
        away = distances(looks, self._looks)
        for number, kind in enumerate(asked):
            others = np.array([one == kind for one in asked]) & (problems != problems[number])
            others &= (own == own[number]).all(1)
            away[number, ~np.tile(others, len(sizes))] = np.inf
        nearest = away.min(1, initial=np.inf)
        self.limit = (
            SLACK * float(nearest[np.isfinite(nearest)].max()) if np.isfinite(nearest).any() else np.inf
        )

    def recognise(self, asked: Sequence[bytes], looks: NDArray[np.uint8]) -> list[Labels | None]:
        """Per look, the labels of the nearest known one that is asked the same; None if it is strange.

        Args:
            asked: per look, what tells which classifiers are asked of it, as in ``Pool.asked``.
            looks: (n, 3, side + 2, side + 2).
        """
        keys = [(kind, look.tobytes()) for kind, look in zip(asked, looks, strict=True)]
        for kind in sorted(set(asked)):
            new = {
                key: number for number, key in enumerate(keys) if key[0] == kind and key not in self._memory
            }
            among = self._of.get(kind)
            if among is None or not new:
                self._memory.update(dict.fromkeys(new))
                continue
            away = distances(looks[list(new.values())], self._looks[among])
            for key, least, nearest in zip(new, away.min(1), among[away.argmin(1)], strict=True):
                self._memory[key] = self._labels[nearest] if least < self.limit else None
        return [self._memory[key] for key in keys]


class CautiousPerception(BoardPerception):
    """Reads boards, and leaves open what is unlike all that was labelled.

    Args:
        vocabulary: what the user says about images.
        weights: of the network.
        card: its temperatures and thresholds.
        looks: what was labelled.
    """

    def __init__(
        self, vocabulary: VisualVocabulary, weights: Weights, card: Card, looks: LabelledLooks
    ) -> None:
        super().__init__(vocabulary, weights, card, remembered=0)
        self._labelled = looks

    def _batches(self, frames: Sequence[Frame], scene: Scene) -> Iterator[NDArray[np.float32]]:
        for number, found in enumerate(super()._batches(frames, scene)):
            yield self._doubted(frames[number * BATCH : (number + 1) * BATCH], scene, found)

    def _doubted(
        self, frames: Sequence[Frame], scene: Scene, found: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """The probabilities (images, heads, places), one half where nothing can be said."""
        index, side = self._indexed(scene).index, self._side
        single = [place for place, cells in enumerate(index.cells) if len(cells) == 1]
        asked = [index.legality.asked[:, place].tobytes() for place in single]
        doubted = found.copy()
        boards = resample_boards(frames, scene, side)
        padded = np.pad(boards, ((0, 0), (0, 0), (1, 1), (1, 1)), mode="edge")
        for image, board in enumerate(padded):
            looks = []
            for place in single:
                row, column = (side * part for part in divmod(index.cells[place][0], scene.columns))
                looks.append(board[:, row : row + side + 2, column : column + side + 2])
            known = self._labelled.recognise(asked, np.array(looks))
            for place, labels in zip(single, known, strict=True):
                if labels is None:
                    doubted[image, :, place] = 0.5
                else:
                    said = found[image, :, place] > 0.5
                    against = ((labels == 1) & ~said) | ((labels == 0) & said)
                    doubted[image, against, place] = 0.5
        return doubted


def _enlarged(looks: NDArray[np.uint8], cut: int) -> NDArray[np.uint8]:
    """The middle of looks in their size, without so many pixels of each side."""
    size = looks.shape[2]
    begin = cut // 2
    part = looks[:, :, begin : begin + size - cut, begin : begin + size - cut]
    return resized(np.ascontiguousarray(part.transpose(0, 2, 3, 1)), size, size)


def _reduced(looks: NDArray[np.uint8], added: int) -> NDArray[np.uint8]:
    """Looks with so many pixels more around them, in their size."""
    size = looks.shape[2]
    wider = np.pad(looks, ((0, 0), (0, 0), (added, added), (added, added)), mode="edge")
    return resized(np.ascontiguousarray(wider.transpose(0, 2, 3, 1)), size, size)
