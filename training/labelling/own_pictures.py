"""Pictures of any origin, whose scene a person describes at the labelling page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Condition
from typing import Any, Final

import numpy as np

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.board import resample_scene
from aam_vision.envs import registry
from aam_vision.envs.references import imported, is_reference
from aam_vision.errors import UnusableInput
from aam_vision.perception import Frame, Scene, VisualVocabulary
from aam_vision.pictures import encode
from aam_vision.training.boards import place_looks
from aam_vision.training.described import PROBLEM, Description, check_types, described, looks, place_types
from aam_vision.training.folder import read_image
from aam_vision.training.labelling.waiting import Stale

MOST_PICTURES: Final = 2000
"""Of a folder: all of them are compared with each other."""
MOST_LOOKS: Final = 5000
"""Different cells of all pictures: each is compared with each, which takes memory and time by the square."""
MOST_PIXELS: Final = 1_000_000_000
"""Of all pictures together."""


@dataclass(frozen=True)
class DescribedPictures:
    """Pictures with their vocabulary and their one scene; ``Labellable``."""

    name: str
    visual: VisualVocabulary
    scene: Scene

    def scene_of(self, problem: str) -> Scene:
        """The scene; UnusableInput for any other problem."""
        if problem != PROBLEM:
            raise UnusableInput(
                f"problem {problem!r}: pictures of a folder belong to the problem {PROBLEM!r}"
            )
        return self.scene


def vocabulary_named(env: str) -> tuple[str, VisualVocabulary]:
    """Name and vocabulary of an environment, or of a ``VisualVocabulary`` that ``MODULE:NAME`` leads to.

    Raises:
        UnusableInput: there is none, or its pictures have no cells.
    """
    found = imported(env) if is_reference(env) else None
    if isinstance(found, VisualVocabulary):
        name, visual = found.name, found
    else:
        domain = registry.image_domain(env)
        name, visual = domain.name, domain.visual
    if visual.cellless or not place_types(visual):
        raise UnusableInput(
            f"{env}: its predicates are not read off cells, and only boards can be labelled here"
        )
    check_types(visual)
    return name, visual


def pictures_of(folder: Path) -> list[Frame]:
    """The PNG pictures of a folder, sorted by name, each once.

    Raises:
        UnusableInput: there is none, or too many; one cannot be read; or they differ in size.
    """
    if not folder.is_dir():
        raise UnusableInput("no such folder; name one with pictures (*.png)", "images", folder)
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".png")
    if not files:
        raise UnusableInput("holds no picture; put RGB images in it, as *.png", "images", folder)
    if len(files) > MOST_PICTURES:
        raise UnusableInput(
            f"holds {len(files)} pictures; at most {MOST_PICTURES} can be compared", "images", folder
        )
    found: dict[bytes, Frame] = {}
    first: Frame | None = None
    for path in files:
        frame = read_image(path)
        first = frame if first is None else first
        if frame.shape != first.shape:
            raise UnusableInput(
                f"{path.name} has {_size(frame)} pixels, {files[0].name} {_size(first)}; give pictures of one size",
                "images",
                folder,
            )
        if frame[..., 0].size * len(files) > MOST_PIXELS:
            raise UnusableInput("its pictures have more than a billion pixels together", "images", folder)
        found.setdefault(sha256(frame.tobytes()).digest(), frame)
    return list(found.values())


def chosen(frames: Sequence[Frame], scene: Scene, rng: np.random.Generator) -> list[Frame]:
    """As many pictures, drawn at random, as have ``MOST_LOOKS`` different cells together; all of them where they have fewer."""
    kept: list[int] = []
    seen: set[bytes] = set()
    cells = [(row * scene.columns + column,) for row, column in (cells[0] for cells in scene.cells.values())]
    for number in rng.permutation(len(frames)).tolist():
        board = resample_scene(frames[number], scene, CELL_PIXELS)
        seen.update(sha256(look).digest() for look in place_looks(board, CELL_PIXELS, cells, 1))
        if kept and len(seen) > MOST_LOOKS:
            break
        kept.append(number)
    return [frames[number] for number in sorted(kept)]


def digest_of_all(frames: Sequence[Frame]) -> str:
    """What tells a folder of pictures from another one."""
    digest = sha256()
    for frame in frames:
        digest.update(sha256(frame.tobytes()).digest())
    return digest.hexdigest()


class Describer:
    """Has a person describe the scene of pictures.

    Args:
        visual: their vocabulary.
        frame: one of them.
        number: of all of them.
    """

    def __init__(self, visual: VisualVocabulary, frame: Frame, number: int) -> None:
        self._visual, self._frame, self._number = visual, frame, number
        self._changed = Condition()
        self._found: Description | None = None

    def wait(self) -> Description:
        """The description, when it is there."""
        with self._changed:
            while self._found is None:
                self._changed.wait()
            return self._found

    def view(self) -> dict[str, Any]:
        """All that the page shows."""
        height, width = self._frame.shape[:2]
        if self._found is not None:
            return {"kind": "busy", "labelled": 0, "most": 0, "told": "Comparing the pictures ..."}
        return {
            "kind": "describe",
            "told": f"The first of {self._number} pictures",
            "question": 0,
            "width": width,
            "height": height,
            "looks": [
                {"name": look, "vanishes": self._visual.may_vanish.get(look, False)}
                for look in looks(self._visual)
            ],
            "types": list(place_types(self._visual)),
        }

    def picture(self, serial: int) -> bytes:
        """The picture, as PNG."""
        if serial != 0:
            raise Stale("another picture is shown")
        return encode(self._frame)

    def act(self, what: str, facts: dict[str, Any]) -> str:
        """Take in the description; see ``server.Shown``."""
        with self._changed:
            if self._found is not None or facts.pop("question", None) != 0:
                raise Stale("the scene is described already")
            if what != "describe":
                raise ValueError(what)
            self._found = described(facts, self._visual)
            self._changed.notify_all()
            return "The scene is described."


def _size(frame: Frame) -> str:
    return f"{frame.shape[1]}x{frame.shape[0]}"
