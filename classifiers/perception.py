"""Images in, symbolic states out: the ``Perception`` of boards.

An image goes through one small network (all classifiers at once); ``reading`` turns the probabilities
into a state. What the image does not show, or shows too faintly, is unknown in the state: a classifier
in its middle band, an answer covered by a thing, a look found more or less often than there are things
of it, look-alikes that cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Frame, Percept, Scene, VisualVocabulary
from aam_vision.classifiers.architecture import Weights
from aam_vision.classifiers.backends import Running, probabilities_of
from aam_vision.classifiers.backends import backend as make_backend
from aam_vision.classifiers.board import check_scale, resample_boards
from aam_vision.classifiers.legality import Probabilities
from aam_vision.classifiers.looks import LabelledLooks, cells_of
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.classifiers.recognition import Familiarity, Recognition, unlike
from aam_vision.classifiers.store import Card, alone, image_test, read, read_looks, untaught
from aam_vision.classifiers.tracking import Places
from aam_vision.support.recent import PerObject, Recent, digest_of

BATCH = 16
"""Images that go through the network together: more do not fit the processor's caches."""

SCENES = 256
"""Scenes that are kept worked out."""


class BoardPerception:
    """Reads boards of one vocabulary with one set of weights; see ``aam_vision.agents.perception.Perception``.

    Args:
        vocabulary: what the user says about images.
        weights: of a network trained for this vocabulary, or for one of which it is a part.
        card: its temperatures and thresholds.
        looks: labelled ones that belong to the weights: what looks otherwise is unknown.
        remembered: images whose probabilities are kept, so that a situation seen again costs no network.
        backend: what runs the network, see ``backends``.
        threads: that share the batches of many images; a backend's own threads are best left at 1 then.

    Raises:
        UnusableInput: there is no such backend, or its packages are not installed.
    """

    def __init__(
        self,
        vocabulary: VisualVocabulary,
        weights: Weights,
        card: Card,
        *,
        looks: LabelledLooks | None = None,
        remembered: int = 4096,
        backend: str = "numpy",
        threads: int = 1,
    ) -> None:
        self.vocabulary = vocabulary
        self.card = card
        self.image_test = image_test(card)
        self._logits = make_backend(backend, weights)
        self._side = weights.cell_pixels
        self._threads = threads
        heads = vocabulary.cell_heads()
        every = slice(None)
        self._own = every if heads == weights.heads else [weights.heads.index(head) for head in heads]
        self._temperatures = np.array([card.temperatures[head] for head in heads], np.float32)[:, None]
        thresholds = np.array([card.thresholds[head] for head in heads], dtype=np.float32)
        self._untaught = [number for number, head in enumerate(heads) if untaught(card, head)]
        thresholds[self._untaught] = -1, 2  # no answer is below or above
        self._low, self._high = thresholds[:, :1], thresholds[:, 1:]  # (heads, 1)
        rows = [weights.heads.index(head) for head in heads]
        compared = Familiarity if alone(card) else Recognition
        self._recognition = None if looks is None else compared(looks.of_heads(rows))
        self._remembered = remembered
        self._memory: Recent[tuple[SceneIndex, bytes], Probabilities] = Recent(remembered)
        self._indexed: PerObject[Scene, SceneIndex] = PerObject(self._worked_out, SCENES)

    @classmethod
    def load(
        cls,
        vocabulary: VisualVocabulary,
        name: str,
        folder: Path | None = None,
        *,
        threads: int = 1,
        noisy: bool = False,
        **how: Unpack[Running],
    ) -> BoardPerception:
        """With the weights called ``name`` in ``folder``, or the shipped ones.

        ``noisy``: noise is put on the images, which makes everything look unlike what was learned from; looks are then left out
        where the weights are of use without them.

        Raises:
            UnusableInput: there are none, or they cannot be used for this vocabulary, or with this backend.
        """
        weights, card = read(vocabulary, name, folder, part=True)
        looks = None if noisy and alone(card) else read_looks(card, folder)
        return cls(vocabulary, weights, card, looks=looks, threads=threads, **how)

    @property
    def thresholds(self) -> tuple[Probabilities, Probabilities]:
        """Below which an answer is no, and above which it is yes: (heads, 1) each, as ``Legality.settle`` takes them."""
        return self._low, self._high

    def look(self, frame: Frame, scene: Scene) -> Percept:
        """Read the first image of a problem; names come from ``scene.anchors``."""
        return self.read(self._recall(frame, scene), scene, None)

    def follow(self, before: Percept, frame: Frame, scene: Scene) -> Percept:
        """Read the next image after ``before``; identity is followed from there."""
        return self.read(self._recall(frame, scene), scene, before.places)

    def knows(self, frame: Frame, scene: Scene) -> bool:
        """Whether some classifier says yes about a place of a picture, or all of them surely no."""
        probabilities = self._recall(frame, scene)
        return bool((probabilities > self._high).any() or (probabilities < self._low).all())

    def read_many(self, frames: Sequence[Frame], scene: Scene) -> list[Percept]:
        """Read images of one scene and size that have nothing to do with each other, in batches."""
        return [self.read(one, scene, None) for batch in self._batches(frames, scene) for one in batch]

    def probabilities(self, frames: Sequence[Frame], scene: Scene) -> NDArray[np.float32]:
        """The classifiers' answers: (images, heads, places with cells), heads as in ``cell_heads``.

        Raises:
            UnusableInput: a frame is not an RGB image of a board of this size.
        """
        batches = list(self._batches(frames, scene))
        empty = np.zeros((0, len(self._temperatures), len(self._indexed(scene).places)), np.float32)
        return np.concatenate([empty, *batches])

    def _batches(self, frames: Sequence[Frame], scene: Scene) -> Iterator[NDArray[np.float32]]:
        """The probabilities of batch after batch, worked out ahead by as many threads as there are."""
        index = self._indexed(scene)

        def of(start: int) -> NDArray[np.float32]:
            batch = frames[start : start + BATCH]
            boards = resample_boards(batch, scene, self._side)
            cells = self._logits(boards)[:, self._own]
            logits = cells.reshape(*cells.shape[:2], -1) @ index.pooling / self._temperatures
            logits[:, self._untaught] = 0
            found = probabilities_of(logits)
            if self._recognition is None:
                return found
            compared = []
            # one half where a place does not look like labelled ones
            for one, board in zip(found, boards, strict=True):
                places = cells_of(board, index.cells, self._side)
                compared.append(self._recognition.doubted(one, places, index.legality.asked, self.thresholds))
            return np.stack(compared)

        starts = range(0, len(frames), BATCH)
        if self._threads == 1 or len(starts) < 2:
            yield from map(of, starts)
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                yield from pool.map(of, starts)

    def read(self, probabilities: Probabilities, scene: Scene, before: Places | None) -> Percept:
        """The state that the probabilities (heads, places with cells) of one image amount to; see ``probabilities``.

        ``before``: the places of the things just before; None for ``scene.anchors``.
        """
        index = self._indexed(scene)
        sure, doubtful = index.legality.settle(probabilities, self._low, self._high)
        percept = index.read(sure, doubtful, before)
        if self._recognition is None:
            return percept
        strange = unlike(probabilities, index.legality.asked) & doubtful.any(0)
        return replace(percept, unlike=tuple(index.places[place] for place in np.flatnonzero(strange)))

    def _recall(self, frame: Frame, scene: Scene) -> Probabilities:
        """The probabilities of one image, from memory if it was seen before in this scene."""
        if learned := self.card.figures.get("cell_pixels"):
            check_scale(frame, scene, learned, self.card.name)
        if not self._remembered:
            return np.asarray(self.probabilities([frame], scene)[0])
        key = (self._indexed(scene), digest_of(frame))
        return self._memory.of(key, lambda: self.probabilities([frame], scene)[0])

    def _worked_out(self, scene: Scene) -> SceneIndex:
        """The scene, worked out once; equal scenes are one scene."""
        known = (index for index in self._indexed if index.scene == scene)
        return next(known, None) or SceneIndex(self.vocabulary, scene)
