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

from aam_vision.agents.perception import Entry, Frame, Given, Perceived, Reading, Scene, VisualVocabulary
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.board import resample_scene
from aam_vision.classifiers.camera.plan import plan_of
from aam_vision.classifiers.store import describe
from aam_vision.envs import registry
from aam_vision.model.pddl.reading import read_domain
from aam_vision.model.strips import ROOT_TYPE, Predicate, Types, Vocabulary
from aam_vision.support.commandline import Progress
from aam_vision.support.errors import UnusableInput
from aam_vision.support.pictures import encode
from aam_vision.support.wording import counted
from aam_vision.training.boards import place_looks
from aam_vision.training.described import (
    PROBLEM,
    Description,
    check_types,
    described,
    looks,
    pictured_scene,
    place_types,
)
from aam_vision.training.folder import read_image
from aam_vision.training.labelling.desk import Stale
from aam_vision.training.labelling.pool import Walked
from aam_vision.training.labelling.server import BUSY
from aam_vision.training.labelling.session import at_page, check_askable, keep, opened
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
        UnusableInput: there is none, or nothing of it is seen.
    """
    words = registry.words_of(env)
    name, visual = words.name, words.visual
    if visual.cellless:
        plan_of(describe(visual))
        return name, visual
    if not place_types(visual):
        raise UnusableInput(f"{env}: none of its predicates is seen")
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


class Describer:
    """Has a person describe the scene of pictures; ``description`` has it, once it is there."""

    def __init__(self, visual: VisualVocabulary, frame: Frame, number: int) -> None:
        self._visual, self._frame, self._number = visual, frame, number
        self.description: Future[Description] = Future()

    def view(self) -> dict[str, Any]:
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
        if serial != 0:
            raise Stale("another picture is shown")
        return encode(self._frame)

    def act(self, what: str, facts: dict[str, Any]) -> str:
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
    check_askable(name, visual, session)
    frames = pictures_of(images)
    progress.stage(f"{name}: {counted(len(frames), 'picture')}")
    digest = sha256(b"".join(sha256(frame.tobytes()).digest() for frame in frames)).hexdigest()
    keep(folder, session.settings(env=name, pictures=digest))
    with opened(session, folder, progress) as front:
        scene = pictured_scene(folder, visual)
        if scene is None:
            front.shown = describer = Describer(visual, frames[0], len(frames))
            description = describer.description.result()
            description.write(folder)
            scene = description.scene(visual)
        kept = frames
        if not visual.cellless:
            kept = chosen(frames, scene, np.random.default_rng([session.seed, 82]))
        if len(kept) < len(frames):
            progress.stage(
                f"{name}: {len(kept)} of {len(frames)} pictures, drawn at random, have all that fits in memory"
            )
        pictures = [Walked(PROBLEM, scene, frame, None) for frame in kept]
        return at_page(DescribedPictures(name, visual, scene), pictures, folder, session, progress, front)


# A vocabulary for pictures of any origin, from the predicates that a PDDL domain declares.
#
# PDDL does not say what is seen. So every predicate gets the reading that its types allow, once the type of the cells is known:
#
# - ``at(thing, cell)``: the thing is searched for on the cells. Things of one type look alike; a type without subtypes is a look.
# - ``clear(cell)``: asked of the cell.
# - ``lit(thing)``: asked of the cell where the thing is, if another predicate says where that is.
# - all others (``handempty()``, ``next-to(cell, cell)``) are not seen: they are left to be stated.
#
# Nothing is known of what excludes what, and things may vanish: a ``VisualVocabulary`` of one's own can say more.


def pddl_vocabulary(domain: Path, cell: str | None = None) -> VisualVocabulary:
    """The vocabulary of a domain file, as far as its predicates can be seen on cells.

    ``cell``: the type of the cells; None if it is the only one in which things can be.

    Raises:
        UnusableInput: the file cannot be read, no predicate can be seen, or it does not tell which type the cells have.
    """
    vocabulary = read_domain(domain).vocabulary
    kind, types = _cell_type(vocabulary, cell, domain), vocabulary.types
    where = _placing(vocabulary, kind)
    entries: list[Entry] = []
    heads = {one.name for one in vocabulary.predicates if one.arity == 1}
    for one in vocabulary.predicates:
        if one in where:
            named = {}
            every = dict.fromkeys((one.types[0], *types.parents))
            below = [each for each in every if types.is_a(each, one.types[0])]
            for look in below:
                if any(types.parents.get(other) == look for other in below):
                    continue  # its subtypes are looks
                named[look] = look if look not in heads else f"{one.name}-{look}"
                heads.add(named[look])
            entries.append(Perceived(one, Reading.WHERE, named, f"the {one.types[0]} is seen there"))
        elif one.arity == 1 and types.is_a(kind, one.types[0]):
            entries.append(Perceived(one, Reading.THERE, {"": one.name}, "seen at the cell"))
        elif one.arity == 1 and any(_meet(one.types[0], other.types[0], types) for other in where):
            entries.append(Perceived(one, Reading.ON, {"": one.name}, f"seen at the {one.types[0]}"))
        else:
            entries.append(Given(one, "not seen: to be stated"))
    seen = [one for one in entries if isinstance(one, Perceived)]
    if not seen:
        raise UnusableInput(
            f"no predicate can be seen on cells of type {kind}: declare one as (at ?x - thing ?c - {kind}), or (clear ?c - {kind})",
            "domain",
            domain,
        )
    looks = [look for one in seen if one.reading is Reading.WHERE for look in one.heads]
    return VisualVocabulary(vocabulary.name, tuple(entries), types, dict.fromkeys(looks, True))


def _cell_type(vocabulary: Vocabulary, cell: str | None, domain: Path) -> str:
    types = vocabulary.types
    known = sorted(
        {*types.parents, *(kind for one in vocabulary.predicates for kind in one.types)} - {ROOT_TYPE}
    )
    if cell is not None:
        if cell.lower() not in known:
            raise UnusableInput(
                f"no type {cell!r}: use one of {', '.join(known) or 'its types, once it has any'}",
                "cell",
                cell,
            )
        return cell.lower()
    if not known:
        raise UnusableInput(
            "declares no types, so that cells and things cannot be told apart; add (:types ...)",
            "domain",
            domain,
        )
    found = [kind for kind in known if _placing(vocabulary, kind)]
    if len(found) != 1:
        choice = ", ".join(found or known)
        raise UnusableInput(
            f"does not tell which type the cells have: say it with --cell, one of {choice}", "domain", domain
        )
    return found[0]


def _placing(vocabulary: Vocabulary, kind: str) -> list[Predicate]:
    """The predicates that say where things are on cells of a type."""
    return [
        one
        for one in vocabulary.predicates
        if one.arity == 2 and one.types[1] == kind and not _meet(one.types[0], kind, vocabulary.types)
    ]


def _meet(one: str, other: str, types: Types) -> bool:
    """Whether something may be of both types."""
    return types.is_a(one, other) or types.is_a(other, one)
