"""Pictures of any origin, whose scene a person describes at the labelling page."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np

from aam_vision.agents.perception import Frame, Scene, VisualVocabulary
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.board import resample_scene
from aam_vision.envs import registry
from aam_vision.envs.own import imported, is_reference
from aam_vision.support.commandline import Progress
from aam_vision.support.errors import UnusableInput
from aam_vision.support.pictures import encode
from aam_vision.training.boards import place_looks
from aam_vision.training.described import (
    PROBLEM,
    Description,
    check_types,
    described,
    looks,
    place_types,
    read_description,
)
from aam_vision.training.folder import read_image
from aam_vision.training.labelling.desk import Stale
from aam_vision.training.labelling.pool import Walked
from aam_vision.training.labelling.server import BUSY
from aam_vision.training.labelling.session import at_page, keep, opened
from aam_vision.training.labelling.settings import PAGE, Session

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
    sizes: list[str] = []
    for path in files:
        frame = read_image(path)
        sizes.append(f"{frame.shape[1]}x{frame.shape[0]}")
        if sizes[-1] != sizes[0]:
            raise UnusableInput(
                f"{path.name} has {sizes[-1]} pixels, {files[0].name} {sizes[0]}; give pictures of one size",
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
    return sha256(b"".join(sha256(frame.tobytes()).digest() for frame in frames)).hexdigest()


class Describer:
    """Has a person describe the scene of pictures.

    Attributes:
        description: the description, once it is there.
    """

    def __init__(self, visual: VisualVocabulary, frame: Frame, number: int) -> None:
        self._visual, self._frame, self._number = visual, frame, number
        self.description: Future[Description] = Future()

    def view(self) -> dict[str, Any]:
        """All that the page shows."""
        (height, width), vanish = self._frame.shape[:2], self._visual.may_vanish
        if self.description.done():
            return dict(BUSY)
        return {
            "kind": "describe",
            "told": f"The first of {self._number} pictures",
            "question": 0,
            "width": width,
            "height": height,
            "looks": [{"name": look, "vanishes": vanish.get(look, False)} for look in looks(self._visual)],
            "types": list(place_types(self._visual)),
        }

    def picture(self, serial: int) -> bytes:
        """The picture, as PNG."""
        if serial != 0:
            raise Stale("another picture is shown")
        return encode(self._frame)

    def act(self, what: str, facts: dict[str, Any]) -> str:
        """Take in the description; see ``server.Shown``."""
        if self.description.done() or facts.pop("question", None) != 0:
            raise Stale("the scene is described already")
        if what != "describe":
            raise ValueError(what)
        found = described(facts, self._visual)
        with suppress(InvalidStateError):  # two pages may describe it at once: the first one counts
            self.description.set_result(found)
        return "The scene is described."


def label_pictures(
    named: tuple[str, VisualVocabulary], images: Path, folder: Path, session: Session, progress: Progress
) -> dict[str, Any]:
    """Have a person describe and label pictures of any origin; see ``label_walks``.

    Raises:
        UnusableInput: the pictures or the vocabulary cannot be used, or the folder holds something else.
    """
    if session.labels != PAGE:
        raise UnusableInput(
            f"no simulator knows what these pictures show: use --labels {PAGE}", "images", images
        )
    name, visual = named
    frames = pictures_of(images)
    keep(folder, session.settings(env=name, pictures=digest_of_all(frames)))
    with opened(session, folder, progress) as front:
        description = read_description(folder, visual)
        if description is None:
            front.shown = describer = Describer(visual, frames[0], len(frames))
            description = describer.description.result()
            description.write(folder)
        scene = description.scene(visual)
        kept = chosen(frames, scene, np.random.default_rng([session.seed, 82]))
        if len(kept) < len(frames):
            progress.stage(
                f"{name}: {len(kept)} of {len(frames)} pictures, drawn at random, have all that fits in memory"
            )
        pictures = [Walked(PROBLEM, scene, frame, None) for frame in kept]
        return at_page(DescribedPictures(name, visual, scene), pictures, folder, session, progress, front)
