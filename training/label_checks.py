"""Labels of several images, compared with each other: what one of them forgot, another one tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from aam_vision.classifiers.architecture import CROP_PIXELS
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.errors import UnusableInput
from aam_vision.perception import Frame, Perceived, VisualVocabulary
from aam_vision.strips import Atom
from aam_vision.training.boards import Example
from aam_vision.training.labels import NO_LABEL
from aam_vision.training.looks import place_looks
from aam_vision.training.single_answers import Said, check_possible


@dataclass(frozen=True)
class Labelling:
    """One line of a label file, read.

    Args:
        line: its number.
        image: the name of the image.
        problem: the name of its problem.
        atoms: the atoms that it says are true.
        frame: the image.
        index: the scene of the problem.
        example: the board to learn from.
        said: what it says, if that is not everything.
    """

    line: int
    image: str
    problem: str
    atoms: frozenset[Atom]
    frame: Frame
    index: SceneIndex
    example: Example
    said: Said | None = None

    @property
    def side(self) -> int:
        """Of a cell of the example's board, in pixels."""
        return int(self.example.pixels.shape[1]) // self.index.scene.rows


def check_together(heads: Sequence[str], labellings: Sequence[Labelling]) -> None:
    """Refuse labels that cannot all be right.

    Raises:
        UnusableInput: images of one problem differ in size, one image has two labels, or two places that
            look the same to the pixel are labelled differently; the message names both lines.
    """
    check_images(labellings)
    _check_looks(heads, labellings)


class LabelledImage(Protocol):
    """One line of a label file, as far as images are compared; see ``Labelling``."""

    @property
    def line(self) -> int: ...

    @property
    def image(self) -> str: ...

    @property
    def problem(self) -> str: ...

    @property
    def atoms(self) -> frozenset[Atom]: ...

    @property
    def frame(self) -> Frame: ...

    @property
    def said(self) -> Said | None: ...


def check_images(labellings: Sequence[LabelledImage]) -> None:
    """Refuse labels of images that cannot all be right.

    Raises:
        UnusableInput: images of one problem differ in size, or one image has two labels.
    """
    _check_sizes(labellings)
    _check_same(labellings)


def _check_sizes(labellings: Sequence[LabelledImage]) -> None:
    first: dict[str, LabelledImage] = {}
    for one in labellings:
        other = first.setdefault(one.problem, one)
        if one.frame.shape != other.frame.shape:
            raise UnusableInput(
                f"line {one.line}: {one.image} has {_size(one)} pixels, and {other.image} (line {other.line}) of the "
                f"same problem {one.problem} {_size(other)}: give pictures of one size"
            )


def _size(one: LabelledImage) -> str:
    height, width = one.frame.shape[:2]
    return f"{width}x{height}"


def _check_same(labellings: Sequence[LabelledImage]) -> None:
    first: dict[bytes, LabelledImage] = {}
    for one in labellings:
        other = first.setdefault(repr(one.frame.shape).encode() + one.frame.tobytes(), one)
        both = f"line {one.line} ({one.image}) contradicts line {other.line} ({other.image}), which is the same picture"
        if one.problem != other.problem:
            raise UnusableInput(
                f"{both}: the problem is {one.problem} here, {other.problem} there; correct one of them"
            )
        if one.said is None and other.said is None and one.atoms != other.atoms:
            atom = min(one.atoms ^ other.atoms)
            here, there = ("true", "false") if atom in one.atoms else ("false", "true")
            raise UnusableInput(
                f"{both}: {atom.predicate}({', '.join(atom.objects)}) is {here} here, {there} there; correct one of them"
            )


@dataclass(frozen=True)
class _Place:
    """A place of a labelled image."""

    labelling: Labelling
    name: str


def _check_looks(heads: Sequence[str], labellings: Sequence[Labelling]) -> None:
    """No classifier can give two answers about the same pixels: a forgotten atom shows by its look."""
    first: dict[tuple[bytes, str], tuple[_Place, int]] = {}
    for one in labellings:
        side = one.side
        border = 0 if side == CROP_PIXELS else side // 4
        looks = place_looks(one.example.pixels.numpy(), side, one.index.cells, border)
        for row, head in enumerate(heads):
            for look, name, value in zip(
                looks, one.index.places, one.example.labels[row].tolist(), strict=True
            ):
                if value == NO_LABEL:
                    continue
                other, known = first.setdefault((look, head), (_Place(one, name), value))
                if known != value:
                    raise UnusableInput(_contradiction(head, _Place(one, name), value, other))


def _contradiction(head: str, one: _Place, value: int, other: _Place) -> str:
    yes, no = (one, other) if value else (other, one)
    return (
        f"line {yes.labelling.line} ({yes.labelling.image}) says {head} at {yes.name}, line {no.labelling.line} "
        f"({no.labelling.image}) does not at {no.name}, and the two look the same to the pixel: an atom is forgotten "
        f"or wrong, or something hides it"
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
        try:
            check_possible(heads, own[0].index, labels)
        except UnusableInput as error:
            lines = ", ".join(str(one.line) for one in own)
            raise UnusableInput(f"lines {lines} ({image}): {error}") from None


def check_places(vocabulary: VisualVocabulary, atoms: frozenset[Atom]) -> None:
    """A thing is in one place at most.

    Raises:
        UnusableInput: one is in two; both atoms are named.
    """
    where = {
        entry.predicate.name
        for entry in vocabulary.entries
        if isinstance(entry, Perceived) and len(entry.predicate.types) > 1
    }
    known: dict[str, Atom] = {}
    for atom in sorted(atoms):
        if atom.predicate in where and (other := known.setdefault(atom.objects[0], atom)) != atom:
            raise UnusableInput(f"{other} and {atom} contradict each other: a thing is in one place")
