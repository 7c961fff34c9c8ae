"""The answers about pictures as they are given: every one is on disk before the next is asked for, and so is every withdrawal."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from aam_vision.agents.encoding import Malformed, loads
from aam_vision.agents.perception import NO_LABEL, Frame
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.camera.plan import SceneAtoms, plan_of
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.classifiers.store import describe
from aam_vision.envs.labelled import Labelled
from aam_vision.model.strips import State
from aam_vision.support.commandline import write_atomically
from aam_vision.support.errors import UnusableInput
from aam_vision.support.files import read_limited
from aam_vision.support.pictures import encode
from aam_vision.training.folder import (
    LABELS,
    MOST_BYTES,
    Labellable,
    Labelling,
    Line,
    check_images,
    check_together,
    labelling,
    perceived_atoms,
    read_labels,
)
from aam_vision.training.labelling.pool import AskedAtom, LabelQuestion, Walked
from aam_vision.training.labelling.rounds import Answer
from aam_vision.training.labels import BETWEEN, Said, check_possible, labels_of, outline_facts
from aam_vision.training.pictures import check_scene, labelled, read_pictures

Key = tuple[bytes, str, str]
"""What tells a picture and its problem from others, a classifier and a place; both are empty where all of the picture is asked."""


class LabelRecord:
    """The answers of a folder, to read and to go on with; all are about whole pictures, or all about single atoms.

    Raises:
        UnusableInput: the answers in it are not sound, or are of the other kind, or it cannot be written.
    """

    def __init__(
        self, domain: Labellable, folder: Path, pictures: Sequence[Walked], *, atoms: bool = False
    ) -> None:
        self._domain, self._pictures, self._file = domain, pictures, LineFile(folder)
        self._heads = domain.visual.cell_heads()
        self._digests = [_digest(one.problem, one.frame) for one in pictures]
        self._numbers = {digest: number for number, digest in enumerate(self._digests)}
        self._indices: dict[str, SceneIndex] = {}
        self._names: dict[bytes, str] = {}
        self._answers: dict[Key, Answer | None] = {}
        self._whole: dict[bytes, Line] = {}
        try:
            reads = read_pictures if domain.visual.cellless else read_labels
            for line in reads(domain, folder, none_is_fine=True) if self._file.lines else ():
                self._read(line, folder, atoms)
        except UnusableInput:
            self.close()
            raise

    def __len__(self) -> int:
        """The number of answers, without what was skipped."""
        return sum(value is not None for value in self._answers.values())

    def __contains__(self, question: LabelQuestion) -> bool:
        return self._key(question) in self._answers

    def __getitem__(self, question: LabelQuestion) -> Answer | None:
        """The answer to a question; None if it was skipped."""
        return self._answers[self._key(question)]

    def answers(self) -> list[tuple[LabelQuestion, Answer]]:
        """All answers about pictures of the pool, without what was skipped, in their order."""
        found = ((self._question(key), value) for key, value in self._answers.items())
        return [(asked, value) for asked, value in found if asked is not None and value is not None]

    def add(self, question: LabelQuestion, answer: Answer | None) -> None:
        """Write an answer, or None that it was skipped; it is on disk when this returns.

        Raises:
            UnusableInput: it is wrong, other answers exclude it, or it cannot be written.
        """
        digest = self._key(question)[0]
        picture = self._pictures[question.number]
        image = self._names.get(digest) or self._file.free_name(len(self._names) + 1)
        line = Line(self._file.lines + 1, image, picture.problem, picture.scene, picture.frame)
        if isinstance(answer, State | Labelled):
            line = replace(line, atoms=answer.true)
        elif not isinstance(question, AskedAtom):
            line = replace(line, said=Said(whole_skipped=True))
        whole = self._checked(question, answer, line)
        if digest not in self._names:
            self._file.picture(image, picture.frame)
        facts = _facts(self._domain, picture, [(question, answer)])
        self._file.write({"image": image, "problem": picture.problem, **facts})
        self._names[digest], self._answers[self._key(question)] = image, answer
        if whole is not None:
            self._whole[digest] = whole

    def _checked(self, question: LabelQuestion, answer: Answer | None, line: Line) -> Line | None:
        """A new line, where it is about a whole picture; UnusableInput if it is wrong, or other answers exclude it."""
        digest, head, place = self._key(question)
        if self._domain.visual.cellless:
            if answer is not None:
                atoms = SceneAtoms(self._domain.visual, plan_of(describe(self._domain.visual)), line.scene)
                check_scene(atoms, line.state)
                check_images([*self._whole.values(), line])
            return line
        if line.problem not in self._indices:
            self._indices[line.problem] = SceneIndex(self._domain.visual, line.scene)
        index = self._indices[line.problem]
        if isinstance(question, AskedAtom):
            told = {own[1:]: value for own, value in self._answers.items() if own[0] == digest}
            told[head, place] = answer
            yes, no = (tuple(one for one, said in told.items() if said is value) for value in (True, False))
            labels = labels_of(Said(yes, no), self._heads, index)
            if np.any(labels != NO_LABEL):
                check_possible(self._heads, index, labels)
            return None
        one = labelling(self._domain, index, line, CELL_PIXELS)
        if answer is not None:
            others = [other for other in self._whole.values() if isinstance(other, Labelling)]
            check_together(self._heads, [*others, one])
        return one

    def withdraw(self) -> tuple[LabelQuestion | None, Answer | None] | None:
        """Take back the last answer; the question (None if it is of another walk) and the answer, or None if there is none."""
        if not self._answers:
            return None
        digest, head, place = key = next(reversed(self._answers))
        what = [BETWEEN.join((head, place))] if head else True
        self._file.write({"image": self._names[digest], "withdrawn": what})
        self._whole.pop(digest, None)
        return self._question(key), self._answers.pop(key)

    def close(self) -> None:
        """Let others write to the folder."""
        self._file.close()

    def _read(self, one: Line, folder: Path, atoms: bool) -> None:
        """Take in a line of the file."""
        digest, whole = _digest(one.problem, one.frame), one.said is None or one.said.whole_skipped
        if whole and atoms:
            raise UnusableInput(
                f"{folder}: holds labels of whole pictures; go on with --ask pictures, or give another --out"
            )
        if not whole and not atoms:
            raise UnusableInput(
                f"{folder}: holds single answers; go on with --ask atoms, or give another --out"
            )
        self._names[digest] = one.image
        if one.said is None or whole:
            answer = labelled(one) if self._domain.visual.cellless else one.state
            self._answers[digest, "", ""] = answer if one.said is None else None
            self._whole[digest] = one
            return
        for value, said in ((True, one.said.yes), (False, one.said.no), (None, one.said.skipped)):
            self._answers.update({(digest, head, place): value for head, place in said})

    def _key(self, question: LabelQuestion) -> Key:
        digest = self._digests[question.number]
        if not isinstance(question, AskedAtom):
            return digest, "", ""
        return digest, self._heads[question.head], _places(self._pictures[question.number])[question.place]

    def _question(self, key: Key) -> LabelQuestion | None:
        digest, head, place = key
        number = self._numbers.get(digest)
        if number is None or not head:
            return None if number is None else LabelQuestion(number)
        return AskedAtom(number, _places(self._pictures[number]).index(place), self._heads.index(head))


def write_answers(
    domain: Labellable,
    pictures: Sequence[Walked],
    told: Sequence[tuple[LabelQuestion, Answer | None]],
    folder: Path,
) -> None:
    """Write pictures and answers about them, one line per picture, at once; all are complete on disk, or none.

    Raises:
        UnusableInput: nothing can be written there.
    """
    lines: list[str] = []
    try:
        (folder / "images").mkdir(parents=True, exist_ok=True)
        for number in dict.fromkeys(asked.number for asked, _ in told):
            picture, name = pictures[number], f"{len(lines) + 1:04d}.png"
            write_atomically(folder / "images" / name, encode(picture.frame))
            facts = _facts(domain, picture, [one for one in told if one[0].number == number])
            lines.append(json.dumps({"image": name, "problem": picture.problem, **facts}) + "\n")
        write_atomically(folder / LABELS, "".join(lines))
    except OSError as error:
        raise UnusableInput(f"cannot write labels to {folder}: {error.strerror or error}") from None


def _facts(
    domain: Labellable, picture: Walked, told: Sequence[tuple[LabelQuestion, Answer | None]]
) -> dict[str, object]:
    """What a line says of a picture: all that is true, or single answers."""
    answer = told[0][1]
    if isinstance(answer, State | Labelled):
        state = State(answer.true, picture.scene.objects)
        masks = answer.masks if isinstance(answer, Labelled) else {}
        outlines = {thing: outline_facts(mask) for thing, mask in masks.items() if mask.any()}
        true = {"true": perceived_atoms(domain, picture.scene, state)}
        return {**true, "outlines": outlines} if outlines else {**true}
    heads, places = domain.visual.cell_heads(), _places(picture)
    atoms = [(asked, value) for asked, value in told if isinstance(asked, AskedAtom)]
    yes, no, skipped = (
        tuple((heads[asked.head], places[asked.place]) for asked, value in atoms if value is wanted)
        for wanted in (True, False, None)
    )
    return Said(yes, no, skipped, whole_skipped=not (yes or no or skipped)).facts()


def _places(picture: Walked) -> list[str]:
    """Those that have cells, in the order of their numbers."""
    return [place for place, cells in picture.scene.cells.items() if cells]


def _digest(problem: str, frame: Frame) -> bytes:
    """What tells pictures apart."""
    return sha256(repr((problem, frame.shape)).encode() + frame.tobytes()).digest()


# A file of labels that only grows: every line is on disk before the next is asked for.
#
# What was being written when the program was killed is cut off when it is opened again. Nobody else writes to it meanwhile.


class LineFile:
    """``labels.jsonl`` and ``images/`` of a folder, to be written to.

    Raises:
        UnusableInput: it cannot be written, or another command writes to it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with self._told():
            (folder / "images").mkdir(parents=True, exist_ok=True)
            self._open = (folder / LABELS).open("ab", buffering=0)
            with suppress(ImportError):  # Windows has no such locks
                import fcntl

                try:
                    fcntl.flock(self._open, fcntl.LOCK_EX | fcntl.LOCK_NB)  # as long as it is open
                except BlockingIOError:
                    self._open.close()
                    raise UnusableInput(
                        f"{folder}: another command is labelling there; end it, or give another --out"
                    ) from None
            self.lines = _mended(folder / LABELS)

    def picture(self, name: str, frame: Frame) -> None:
        """Write a picture; it is on disk when this returns.

        Raises:
            UnusableInput: it cannot be written.
        """
        path = self._folder / "images" / name
        with self._told():
            write_atomically(path, encode(frame))
            for one in (path, path.parent):
                descriptor = os.open(one, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    def free_name(self, number: int) -> str:
        """The name of the next picture, from a number on; no picture has it."""
        while (self._folder / "images" / f"{number:04d}.png").exists():
            number += 1
        return f"{number:04d}.png"

    def write(self, facts: dict[str, object]) -> None:
        """Write a line; it is on disk when this returns.

        Raises:
            UnusableInput: it cannot be written.
        """
        with self._told():
            before = self._open.seek(0, os.SEEK_END)
            try:
                self._open.write(json.dumps(facts).encode() + b"\n")
                os.fsync(self._open.fileno())
            except OSError:  # a full disk: half a line would spoil the next one
                self._open.truncate(before)
                raise
        self.lines += 1

    def close(self) -> None:
        """Let others write to it."""
        self._open.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say that something could not be written."""
        try:
            yield
        except OSError as error:
            raise UnusableInput(f"cannot write labels to {self._folder}: {error.strerror or error}") from None


def _mended(file: Path) -> int:
    """The number of lines of a file, after what was being written at the end was cut off; it need not be there."""
    try:
        content = read_limited(file, MOST_BYTES)
    except FileNotFoundError:
        return 0
    whole, _, rest = content.rpartition(b"\n")
    if rest:
        try:
            loads(rest)
        except Malformed:
            with file.open("r+b") as opened:
                opened.truncate(len(content) - len(rest))
        else:  # a line of the user's own, without its end
            with file.open("ab") as opened:
                opened.write(b"\n")
                whole = content
    return whole.count(b"\n") + 1 if whole else 0
