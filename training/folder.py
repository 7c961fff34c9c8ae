"""The user's own labelled images, a second source of boards to learn from.

A folder holds ``images/*.png`` and ``labels.jsonl`` with one line per image::

    {"image": "0001.png", "problem": "train/0", "true": ["at(player-01, pos-2-3)", "clear(pos-2-4)"]}

``problem`` is one of the environment's problems (``seed/N`` for one of the user's own): it gives the board and the names of places and
things. ``true`` holds all atoms of perceived predicates that are true in the image; every other one is
taken to be false, except what the image hides. Everything is read and checked before anything is learned, each line by itself
(``labels.check_legal``) and all of them together (``label_checks``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from aam_vision.agents.encoding import loads
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.errors import UnusableInput
from aam_vision.files import read_limited
from aam_vision.perception import Frame, Perceived, Scene
from aam_vision.pictures import NoPicture, read_picture
from aam_vision.strips import Atom, State
from aam_vision.training.boards import Example, examples
from aam_vision.training.label_checks import Labelling, check_together
from aam_vision.training.labels import check_legal

MOST_BYTES: Final = 100_000_000
"""Of ``labels.jsonl``; larger ones are not read."""

_ATOM = re.compile(r"([\w-]+)\(([\w\s,-]*)\)")


def labelled_images(domain: ImageDomain, folder: Path, side: int = CELL_PIXELS) -> list[Example]:
    """The boards of a folder, in the order of its lines, with cells of ``side`` pixels.

    Raises:
        UnusableInput: see ``read_labels``.
    """
    return [labelling.example for labelling in read_labels(domain, folder, side)]


def read_labels(domain: ImageDomain, folder: Path, side: int = CELL_PIXELS) -> list[Labelling]:
    """The labelled boards of a folder, in the order of its lines, with cells of ``side`` pixels.

    Raises:
        UnusableInput: a file is missing, damaged or no RGB image in PNG, or a label names what there is
            not, describes no legal board, or contradicts another one; the message names the lines.
    """
    file = folder / "labels.jsonl"
    try:
        lines = read_limited(file, MOST_BYTES).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableInput(f"cannot read {file} ({error}): write one line of JSON per image") from None
    found: list[Labelling] = []
    indices: dict[str, SceneIndex] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                found.append(_labelling(domain, folder, (number, line), indices, side))
            except UnusableInput as error:
                raise UnusableInput(f"{file} line {number}: {error}") from None
    if not found:
        raise UnusableInput(f"{file} labels no image: write one line per image")
    try:
        check_together(domain.visual.cell_heads(), found)
    except UnusableInput as error:
        raise UnusableInput(f"{file}: {error}") from None
    return found


def _labelling(
    domain: ImageDomain, folder: Path, numbered: tuple[int, str], indices: dict[str, SceneIndex], side: int
) -> Labelling:
    number, line = numbered
    try:
        facts = loads(line)
        image, problem, true = (
            str(facts["image"]),
            str(facts["problem"]),
            [str(text) for text in facts["true"]],
        )
    except (ValueError, TypeError, KeyError) as error:
        raise UnusableInput(
            f'{type(error).__name__} {error}: write {{"image": ..., "problem": ..., "true": [...]}}'
        ) from None
    if problem not in indices:
        indices[problem] = SceneIndex(domain.visual, domain.scene_of(problem))
    index = indices[problem]
    atoms = frozenset(_atom(domain, index.scene, text) for text in true)
    _check_places(domain, atoms)
    check_legal(domain.visual, index, State(atoms, index.scene.objects))
    if Path(image).name != image:
        raise UnusableInput(f"image {image!r}: give the name of a file in {folder / 'images'}")
    frame = read_image(folder / "images" / image)
    state = State(atoms, index.scene.objects)
    (example,) = examples(domain.visual, index.scene, [(state, frame)], side)
    return Labelling(number, image, problem, atoms, frame, index, example)


def _check_places(domain: ImageDomain, atoms: frozenset[Atom]) -> None:
    """A thing is in one place at most.

    Raises:
        UnusableInput: one is in two; both atoms are named.
    """
    known: dict[str, Atom] = {}
    where = _where(domain)
    for atom in sorted(atoms):
        if atom.predicate in where:
            other = known.setdefault(atom.objects[0], atom)
            if other != atom:
                raise UnusableInput(
                    f"{_text(other)} and {_text(atom)} contradict each other: a thing is in one place"
                )


def _where(domain: ImageDomain) -> frozenset[str]:
    """The predicates that say where things are."""
    return frozenset(
        entry.predicate.name
        for entry in domain.visual.entries
        if isinstance(entry, Perceived) and len(entry.predicate.types) > 1
    )


def _text(atom: Atom) -> str:
    return f"{atom.predicate}({', '.join(atom.objects)})"


def _atom(domain: ImageDomain, scene: Scene, text: str) -> Atom:
    entries = {e.predicate.name: e for e in domain.visual.entries if isinstance(e, Perceived)}
    match = _ATOM.fullmatch(text.strip())
    if match is None:
        raise UnusableInput(f"{text!r} is no atom: write predicate(object, object)")
    name, objects = match[1], tuple(part.strip() for part in match[2].split(",") if part.strip())
    if name not in entries:
        raise UnusableInput(f"no perceived predicate {name!r}: use one of {', '.join(entries)}")
    kinds = entries[name].predicate.types
    if len(objects) != len(kinds):
        raise UnusableInput(f"{text}: {name} takes {len(kinds)} objects, not {len(objects)}")
    known = scene.objects_of(entries[name])
    for item, kind in zip(objects, kinds, strict=True):
        if item not in known.of_type(kind):
            raise UnusableInput(f"{text}: the problem has no {kind} {item!r}")
    return Atom(name, objects)


def perceived_atoms(domain: ImageDomain, scene: Scene, state: State) -> Sequence[str]:
    """The atoms of a state that a line of ``labels.jsonl`` lists, in order."""
    names = {e.predicate.name for e in domain.visual.entries if isinstance(e, Perceived)}
    return [
        _text(atom) for atom in sorted(domain.visual.sighted(scene, state.true)) if atom.predicate in names
    ]


def read_image(file: Path) -> Frame:
    """An RGB image from a PNG file: uint8, (height, width, 3).

    Raises:
        UnusableInput: there is none, it is damaged, too large, or of another format or mode.
    """
    try:
        return read_picture(file)
    except FileNotFoundError:
        raise UnusableInput(f"no image {file}: put it there, or remove its line") from None
    except OSError as error:
        raise UnusableInput(f"cannot read image {file} ({error.strerror or error}): save it again") from None
    except NoPicture as error:
        raise UnusableInput(f"image {file} is of no use here: {error}") from None
