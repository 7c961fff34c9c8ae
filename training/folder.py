"""The user's own labelled images, a second source of boards to learn from.

A folder holds ``images/*.png`` and ``labels.jsonl`` with one line per image::

    {"image": "0001.png", "problem": "train/0", "true": ["at(player-01, pos-2-3)", "clear(pos-2-4)"]}

``problem`` is one of the environment's problems (``seed/N`` for one of the user's own), or ``pictures``, which it is where there is none: described in
``scene.json``, or without cells, a thing of each look. It gives the board and the names of places and things. ``true`` holds all atoms of perceived predicates that are true in the image; every other one is
taken to be false, except what the image hides. Lines that say less about their image have ``yes``, ``no`` or ``skipped`` instead:
``training.labels``. A line ``{"image": "0001.png", "withdrawn": true}`` takes the labels of that image
back that stand above it, as the labelling page writes it when an answer is undone. Everything is read and checked before anything is learned, each line by itself
(``labels.check_legal``) and all of them together (``check_images``). Pictures without cells are labelled in the same way, and may have ``outlines`` of things besides: ``pictures``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import numpy as np
import torch

from aam_vision.agents.encoding import loads
from aam_vision.agents.perception import NO_LABEL, Frame, Mask, Scene, VisualVocabulary
from aam_vision.classifiers.architecture import CELL_PIXELS, CROP_PIXELS
from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.labelled import Labels
from aam_vision.model.strips import Atom, State
from aam_vision.support.errors import UnusableInput
from aam_vision.support.files import read_limited
from aam_vision.support.pictures import NoPicture, read_picture
from aam_vision.training.boards import Example, examples, place_looks
from aam_vision.training.described import PROBLEM, pictured_scene
from aam_vision.training.labels import Said, check_legal, check_possible, labels_of, read_outline, without

LABELS: Final = "labels.jsonl"
"""Name of the file in a folder of labelled images."""
MOST_BYTES: Final = 100_000_000
"""Of ``labels.jsonl``; larger ones are not read."""


class Labellable(Protocol):
    """What has to be known of pictures that are labelled; environments know it."""

    @property
    def name(self) -> str:
        """Of the weights."""

    @property
    def visual(self) -> VisualVocabulary:
        """The predicates."""

    def scene_of(self, problem: str) -> Scene:
        """The scene of a problem by its name; UnusableInput if it has none."""


@dataclass(frozen=True)
class Line:
    """One line of a label file.

    Attributes:
        line: its number.
        image: name of its image.
        problem: name of the problem.
        scene: of the problem.
        frame: the image.
        atoms: those that it says are true.
        said: what it says, if that is not everything.
        masks: which pixels show each thing of which it gives the outline.
    """

    line: int
    image: str
    problem: str
    scene: Scene
    frame: Frame
    atoms: frozenset[Atom] = frozenset()
    said: Said | None = None
    masks: Mapping[str, Mask] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """What it says."""
        return State(self.atoms, self.scene.objects)


@dataclass(frozen=True, kw_only=True)
class Labelling(Line):
    """One line of a label file about a board, with the board to learn from."""

    index: SceneIndex
    example: Example

    @property
    def side(self) -> int:
        """Of a cell of the example's board, in pixels."""
        return int(self.example.pixels.shape[1]) // self.index.scene.rows


T = TypeVar("T", bound=Line)


def labelled_images(domain: Labellable, folder: Path, side: int = CELL_PIXELS) -> list[Example]:
    """The boards of a folder, in the order of its lines, with cells of ``side`` pixels; each image once.

    Raises:
        UnusableInput: see ``read_labels``; or all images are skipped.
    """
    found: dict[tuple[str, str], Example] = {}
    for one in read_labels(domain, folder, side):
        if one.said is not None and not (one.said.yes or one.said.no):
            continue
        former = found.get((one.image, one.problem))
        if former is None or one.said is None:
            found[one.image, one.problem] = one.example
        else:  # labels do not contradict each other: that was checked
            found[one.image, one.problem] = replace(former, labels=former.labels.maximum(one.example.labels))
    if not found:
        raise UnusableInput(f"{folder / LABELS} labels no image: all are skipped")
    return list(found.values())


def read_labels(
    domain: Labellable, folder: Path, side: int = CELL_PIXELS, *, none_is_fine: bool = False
) -> list[Labelling]:
    """The labelled boards of a folder, in the order of its lines, with cells of ``side`` pixels.

    Raises:
        UnusableInput: a file is missing, damaged or no RGB image in PNG, or a label names what there is
            not, describes no legal board, or contradicts another one; the message names the lines.
    """
    indices: dict[str, SceneIndex] = {}

    def made(line: Line) -> Labelling:
        if line.problem not in indices:
            indices[line.problem] = SceneIndex(domain.visual, line.scene)
        return labelling(domain, indices[line.problem], line, side)

    found, heads = read_lines(domain, folder, made, none_is_fine=none_is_fine), domain.visual.cell_heads()
    with located(str(folder / LABELS)):
        check_together(heads, found)
        check_single(heads, found)
    return found


def read_lines(
    domain: Labellable, folder: Path, made: Callable[[Line], T], *, none_is_fine: bool = False
) -> list[T]:
    """What is made of each labelled image of a folder, in the order of its lines.

    Raises:
        UnusableInput: a file is missing, damaged or no RGB image in PNG; a label names what there is not; or ``made`` refuses
            a line. The message names the line.
    """
    file = folder / LABELS
    try:
        lines = read_limited(file, MOST_BYTES).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableInput(f"cannot read {file} ({error}): write one line of JSON per image") from None
    entries: list[tuple[int, dict[str, Any]]] = []
    found: list[T] = []
    scenes: dict[str, Scene] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            with located(f"{file} line {number}"):
                try:
                    facts = loads(line)
                    if not isinstance(facts, dict):
                        raise TypeError("no object")
                except (ValueError, TypeError) as error:
                    raise _no_label(error) from None
                if facts.get("withdrawn") is True or isinstance(facts.get("withdrawn"), list):
                    entries = without(entries, facts)
                else:
                    entries.append((number, facts))
    for numbered in entries:
        with located(f"{file} line {numbered[0]}"):
            found.append(made(_line(domain, folder, numbered, scenes)))
    if not found and not none_is_fine:
        raise UnusableInput(f"{file} labels no image: write one line per image")
    return found


@contextmanager
def located(where: str) -> Iterator[None]:
    """Say where something is wrong: begin the message of an ``UnusableInput`` with that."""
    try:
        yield
    except UnusableInput as error:
        raise UnusableInput(f"{where}: {error}") from None


def _no_label(error: Exception) -> UnusableInput:
    return UnusableInput(
        f'{type(error).__name__} {error}: write {{"image": ..., "problem": ..., "true": [...]}}'
    )


def _line(
    domain: Labellable, folder: Path, numbered: tuple[int, dict[str, Any]], scenes: dict[str, Scene]
) -> Line:
    number, facts = numbered
    said = Said.of(facts)
    try:
        image, problem = str(facts["image"]), str(facts.get("problem", PROBLEM))
        true = [str(text) for text in facts["true"]] if said is None else []
    except (TypeError, KeyError) as error:
        raise _no_label(error) from None
    if problem not in scenes:  # one that was described over the pictures of the folder, or the environment's
        described = pictured_scene(folder, domain.visual) if problem == PROBLEM else None
        scenes[problem] = described or domain.scene_of(problem)
    scene = scenes[problem]
    atoms = frozenset(atom_of(domain.visual, scene, text) for text in true)
    if Path(image).name != image:
        raise UnusableInput(f"image {image!r}: give the name of a file in {folder / 'images'}")
    frame = read_image(folder / "images" / image)
    outlines, masks = facts.get("outlines", {}), {}
    if not isinstance(outlines, dict):
        raise UnusableInput('outlines: write {"THING": [[x1, y1, x2, y2, ...]], ...}')
    for thing, outline in outlines.items():
        with located(f"outline of {thing!r}"):
            if thing not in scene.looks:
                raise UnusableInput(f"no such thing: use one of {', '.join(scene.looks)}")
            masks[thing] = read_outline(outline, frame.shape[:2])
    return Line(number, image, problem, scene, frame, atoms, said, masks)


def labelling(domain: Labellable, index: SceneIndex, line: Line, side: int) -> Labelling:
    """What a line says about a board, checked by itself.

    Raises:
        UnusableInput: it puts a thing in two places, or describes no legal board; or single answers name what there is not, or
            say both yes and no.
    """
    labels = None
    if line.said is None:
        where = {entry.predicate.name for entry in domain.visual.perceived if len(entry.predicate.types) > 1}
        known: dict[str, Atom] = {}
        for atom in sorted(line.atoms):
            if atom.predicate in where and (other := known.setdefault(atom.objects[0], atom)) != atom:
                raise UnusableInput(f"{other} and {atom} contradict each other: a thing is in one place")
        check_legal(domain.visual, index, line.state)
    else:
        labels = torch.from_numpy(labels_of(line.said, domain.visual.cell_heads(), index))
    (example,) = examples(domain.visual, index.scene, [(line.state, line.frame)], side)
    example = example if labels is None else replace(example, labels=labels)
    return Labelling(**vars(line), index=index, example=example)


def perceived_atoms(domain: Labellable, scene: Scene, state: State) -> Sequence[str]:
    """The atoms of a state that a line of ``labels.jsonl`` lists, in order."""
    names = {entry.predicate.name for entry in domain.visual.perceived}
    sighted = sorted(domain.visual.sighted(scene, state.true))
    return [str(atom) for atom in sighted if atom.predicate in names]


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


# Atoms as label files have them: ``at(player-01, pos-2-3)``.


_ATOM = re.compile(r"([\w-]+)\(([\w\s,-]*)\)")


def atom_of(visual: VisualVocabulary, scene: Scene, text: str) -> Atom:
    """The atom of a perceived predicate that is written in a line; UnusableInput if it is no atom, or names what there is not."""
    entries = {entry.predicate.name: entry for entry in visual.perceived}
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


# Labels of several images, compared with each other: what one of them forgot, another one tells.


def check_images(lines: Sequence[Line]) -> None:
    """Refuse labels of images that cannot all be right.

    Raises:
        UnusableInput: images of one problem differ in size, or one image has two labels; the message names both lines.
    """
    of_problem: dict[str, Line] = {}
    for one in lines:
        other = of_problem.setdefault(one.problem, one)
        if one.frame.shape != other.frame.shape:
            here, there = (f"{wide}x{high}" for high, wide, _ in (one.frame.shape, other.frame.shape))
            raise UnusableInput(
                f"line {one.line}: {one.image} has {here} pixels, and {other.image} (line {other.line}) of the "
                f"same problem {one.problem} {there}: give pictures of one size"
            )
    of_pixels: dict[bytes, Line] = {}
    for one in lines:
        other = of_pixels.setdefault(repr(one.frame.shape).encode() + one.frame.tobytes(), one)
        both = f"line {one.line} ({one.image}) contradicts line {other.line} ({other.image}), which is the same picture"
        if one.problem != other.problem:
            raise UnusableInput(
                f"{both}: the problem is {one.problem} here, {other.problem} there; correct one of them"
            )
        if one.said is None and other.said is None and one.atoms != other.atoms:
            atom = min(one.atoms ^ other.atoms)
            here, there = ("true", "false") if atom in one.atoms else ("false", "true")
            raise UnusableInput(f"{both}: {atom} is {here} here, {there} there; correct one of them")


def check_together(heads: Sequence[str], labellings: Sequence[Labelling]) -> None:
    """Refuse labels of boards that cannot all be right: a forgotten atom shows by its look.

    Raises:
        UnusableInput: see ``check_images``; or two places that look the same to the pixel are labelled differently, and no
            classifier can give two answers about them.
    """
    check_images(labellings)
    first: dict[tuple[bytes, str], tuple[Labelling, str, int]] = {}
    for one in labellings:
        border = 0 if one.side == CROP_PIXELS else one.side // 4
        looks = place_looks(one.example.pixels.numpy(), one.side, one.index.cells, border)
        for head, row in zip(heads, one.example.labels.tolist(), strict=True):
            for look, name, value in zip(looks, one.index.places, row, strict=True):
                if value == NO_LABEL:
                    continue
                here = one, name, value
                there = first.setdefault((look, head), here)
                if there[2] != value:
                    (yes, at, _), (no, elsewhere, _) = (here, there) if value else (there, here)
                    raise UnusableInput(
                        f"line {yes.line} ({yes.image}) says {head} at {at}, line {no.line} ({no.image}) does not at "
                        f"{elsewhere}, and the two look the same to the pixel: an atom is forgotten or wrong, or "
                        f"something hides it"
                    )


def check_single(heads: Sequence[str], labellings: Sequence[Labelling]) -> None:
    """Refuse single answers about one image that cannot all be right.

    Raises:
        UnusableInput: constraints exclude them; the lines are named.
    """
    images: dict[tuple[str, str], list[Labelling]] = {}
    for one in labellings:
        if one.said is not None:
            images.setdefault((one.problem, one.image), []).append(one)
    for (_, image), own in images.items():
        labels = np.max([one.example.labels.numpy() for one in own], axis=0)
        with located(f"lines {', '.join(str(one.line) for one in own)} ({image})"):
            check_possible(heads, own[0].index, labels)


# Labels of the user's own that the classifiers trained on them contradict: forgotten atoms, and wrong ones.


MOST: Final = 10
"""Lines that are told, the others are counted: more of them hide what was told before."""


class Told(NamedTuple):
    """What a line says, answer by answer: labels, (answers,), their classifiers, and what each is about."""

    one: Line
    labels: Labels
    heads: Sequence[str]
    about: Sequence[object]


def told(heads: Sequence[str], labelling: Labelling) -> Told:
    """What a line says about each place of its board; ``heads``: the classifiers, as ``VisualVocabulary.cell_heads``."""
    places, labels = labelling.index.places, labelling.example.labels.numpy().ravel()
    about = [f"{head} at {place}" for head in heads for place in places]
    return Told(labelling, labels, np.repeat(heads, len(places)).tolist(), about)


def doubts(perception: BoardPerception | CameraPerception, lines: Iterable[Told]) -> list[str]:
    """One line for every label of which a trained classifier is sure that it is wrong; ``MOST``, and how many more there are."""
    found = []
    for one, labels, heads, about in lines:
        low, high = np.array([perception.card.thresholds[head] for head in heads]).T
        probabilities = perception.probabilities([one.frame], one.scene)[0].ravel()
        wrong = ((labels == 0) & (probabilities > high)) | ((labels == 1) & (probabilities < low))
        for number in np.flatnonzero(wrong).tolist():
            said, seen = ("yes", "no") if labels[number] == 1 else ("no", "yes")
            found.append(
                f"line {one.line} of the labels ({one.image}) says {said} to {about[number]}, and the classifiers say "
                f"{seen}: an atom may be forgotten or wrong"
            )
    rest = len(found) - MOST
    more = [f"{rest} further labels are contradicted by the classifiers"] if rest > 0 else []
    return [*found[:MOST], *more]
