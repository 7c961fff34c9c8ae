"""Whether pictures show what is told of them, at the cells where the scene says.

No perception can tell apart what is the same to the pixel. So pictures are compared with each other: where a place looks the
same whether something is said to be there or not, the picture does not show it - there.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.labels import Labels, label
from aam_vision.envs.rendered import check_size, size_text
from aam_vision.errors import AamWarning, UnusableInput
from aam_vision.perception import NO_LABEL, Frame, Scene, VisualVocabulary, cell_edges
from aam_vision.strips import Atom, State

UNSEEN: Final = 0.25
"""Share of the places with something that look as without it from which on the cells are taken to lie elsewhere, if it is
so for every classifier. A smaller one refuses environments in which one thing hides another."""


class Depiction:
    """Pictures of one environment, with what is told of them.

    Args:
        name: of the environment, for messages.
        visual: the vocabulary.
    """

    def __init__(self, name: str, visual: VisualVocabulary) -> None:
        self._name, self._visual, self._heads = name, visual, visual.cell_heads()
        self._places: dict[tuple[str, bytes], NDArray[np.int64]] = defaultdict(self._none)
        """(place, its pixels) -> (2, heads): how often it was without what a classifier finds, and with it."""
        self._pictures: dict[bytes, Labels] = {}
        self._told: set[frozenset[Atom]] = set()
        self._last: tuple[Frame, Scene, Labels] | None = None
        self._varying = np.zeros(len(self._heads), bool)
        """Classifiers whose answers change within a problem: others may be right in pictures that never change."""
        self._hidden: dict[str, str] = {}
        """Classifiers about which two answers were told of one and the same picture, each with a place."""

    def _none(self) -> NDArray[np.int64]:
        return np.zeros((2, len(self._heads)), np.int64)

    def saw(self, frame: Frame, scene: Scene, true: frozenset[Atom]) -> None:
        """Take note of a picture, and of the perceived atoms that are true in it.

        Raises:
            UnusableInput: a cell of the scene has no pixels.
        """
        whose = f"{self._name}: a picture has"
        edges = cell_edges(frame, scene, whose)
        seen = tuple(place for place, cells in scene.cells.items() if cells)
        labels: Labels = np.zeros((len(self._heads), 0), np.int8)  # of pictures without cells
        if seen:
            labels = label(self._visual, scene, seen, State(true, scene.objects))
        if self._last is not None and self._last[1] is scene:
            check_size(frame, self._last[0].shape, whose)
            self._varying |= (self._last[2] != labels).any(1)
        self._told.add(true)
        self._last = frame, scene, labels
        content = frame.tobytes() + repr((frame.shape, seen)).encode()
        before = self._pictures.setdefault(_digest(content), labels)
        if before is not labels and (before == labels).all():
            return
        differ = (before != labels) & (before != NO_LABEL) & (labels != NO_LABEL)
        for head, column in np.argwhere(differ).tolist():
            self._hidden.setdefault(self._heads[head], seen[column])
        answers = np.stack([labels == 0, labels == 1])
        for column, place in enumerate(seen):
            shown = [edges[cell] for cell in scene.cells[place] if cell in edges]
            look = b"".join(frame[top:bottom, left:right].tobytes() for top, bottom, left, right in shown)
            self._places[place, _digest(look)] += answers[..., column]

    def check(self) -> None:
        """Refuse pictures that do not show what is told of them.

        Raises:
            UnusableInput: nothing is drawn, pictures do not follow what happens, or cells lie elsewhere.
        """
        if self._last is None or len(self._told) < 2:
            return
        frame, scene, _ = self._last
        if len(self._pictures) == 1:
            colour = (frame == frame[0, 0]).all()
            raise UnusableInput(
                f"{self._name}: {len(self._told)} different situations have the same picture"
                f"{', of one colour' if colour else ''}; draw the whole board in its present state whenever render() is called"
            )
        without: dict[str, NDArray[np.int64]] = defaultdict(self._none)
        for (place, _), counts in self._places.items():
            without[place] += counts
        compared, alike = np.zeros((2, len(self._heads)), np.int64)
        for (place, _), (no, yes) in self._places.items():
            compared += yes * (without[place][0] > 0)
            alike += yes * (no > 0)
        known = (compared > 0) & (self._varying | ~self._varying.any())
        if known.any() and (alike[known] >= UNSEEN * compared[known]).all():
            worst = int(np.argmax(alike * known))
            raise UnusableInput(
                f"{self._name}: in pictures of {size_text(frame)}, cells of the board of {scene.columns}x{scene.rows} look the "
                f"same with and without {self._heads[worst]} ({alike[worst]} of {compared[worst]}); draw the whole board "
                "in its present state, fitted into the picture and centred, or say in the scene where its cells are (boxes)"
            )

    def warn(self) -> None:
        """Name what no picture can show.

        Warns:
            AamWarning: two answers were told of one and the same picture.
        """
        for head, place in self._hidden.items():
            line = (
                f"{self._name}: the same picture is said to be with and without {head} at {place}: no picture shows it; draw "
                "it, or leave the word out"
            )
            warnings.warn(line, AamWarning, stacklevel=2)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()
