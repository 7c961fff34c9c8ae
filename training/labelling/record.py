"""The labels of pictures as they are given: every one is on disk before the next is asked for, and so is every withdrawal.

See ``LineFile``.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from io import FileIO
from pathlib import Path

import numpy as np

from aam_vision.agents.encoding import Malformed, loads
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.commandline import write_atomically
from aam_vision.errors import UnusableInput
from aam_vision.files import read_limited
from aam_vision.perception import Frame
from aam_vision.pictures import encode
from aam_vision.strips import State
from aam_vision.training.folder import (
    LABELS,
    MOST_BYTES,
    Labellable,
    Labelling,
    Named,
    check_together,
    labelling,
    partly_labelled,
    perceived_atoms,
    read_labels,
)
from aam_vision.training.labelling.pool import AskedAtom, Pool, Walked
from aam_vision.training.labels import NO_LABEL
from aam_vision.training.single_answers import BETWEEN, Said, check_possible, labels_of

Digest = bytes
"""Of a picture and its problem."""


def digest_of(problem: str, frame: Frame) -> Digest:
    """What tells pictures apart."""
    return sha256(repr((problem, frame.shape)).encode() + frame.tobytes()).digest()


class LabelRecord:
    """The labels of a folder, to read and to go on with.

    Args:
        domain: knows the vocabulary and the scenes.
        folder: with ``labels.jsonl`` and ``images``, or without.

    Raises:
        UnusableInput: the labels in it are not sound, or it cannot be written.
    """

    def __init__(self, domain: Labellable, folder: Path) -> None:
        self._domain, self._file = domain, LineFile(folder)
        self._names: dict[Digest, str] = {}
        self._active: dict[Digest, Labelling] = {}
        try:
            known = read_labels(domain, folder, CELL_PIXELS, none_is_fine=True) if self._file.lines else []
            if any(one.said is not None and not one.said.whole_skipped for one in known):
                raise UnusableInput(
                    f"{folder}: holds single answers; go on with --ask atoms, or give another --out"
                )
        except UnusableInput:
            self.close()
            raise
        for one in known:
            digest = digest_of(one.problem, one.frame)
            self._names[digest], self._active[digest] = one.image, one

    def __len__(self) -> int:
        return sum(one.said is None for one in self._active.values())

    def known(self, picture: Walked) -> State | None:
        """What a picture was labelled; None if it is not."""
        one = self._active.get(digest_of(picture.problem, picture.frame))
        return None if one is None or one.said is not None else State(one.atoms, one.index.scene.objects)

    def skipped(self, picture: Walked) -> bool:
        """Whether nobody could tell what a picture shows."""
        one = self._active.get(digest_of(picture.problem, picture.frame))
        return one is not None and one.said is not None

    def check(self, picture: Walked, index: SceneIndex, state: State) -> Labelling:
        """A label as it would be read from the file, compared with all others.

        Raises:
            UnusableInput: ``train --images`` would refuse it.
        """
        digest = digest_of(picture.problem, picture.frame)
        named = Named(self._file.lines + 1, self._name(digest), picture.problem)
        one = labelling(self._domain, index, state.true, picture.frame, named, CELL_PIXELS)
        check_together(self._domain.visual.cell_heads(), [*self._active.values(), one])
        return one

    def add(self, picture: Walked, index: SceneIndex, state: State) -> None:
        """Write a label; it is on disk when this returns.

        Raises:
            UnusableInput: it is wrong, or cannot be written.
        """
        one = self.check(picture, index, state)
        true = perceived_atoms(self._domain, picture.scene, state)
        self._keep(one, {"image": one.image, "problem": picture.problem, "true": true})

    def skip(self, picture: Walked, index: SceneIndex) -> None:
        """Note that nobody can tell what a picture shows; it is on disk when this returns.

        Raises:
            UnusableInput: that cannot be written.
        """
        said = Said(whole_skipped=True)
        digest = digest_of(picture.problem, picture.frame)
        named = Named(self._file.lines + 1, self._name(digest), picture.problem)
        one = partly_labelled(self._domain, index, said, picture.frame, named, CELL_PIXELS)
        self._keep(one, {"image": one.image, "problem": picture.problem, **said.facts()})

    def withdraw(self) -> tuple[str, Frame, State | None] | None:
        """Take back the last label; its problem, picture and atoms (None if it was skipped), or None if there is none."""
        if not self._active:
            return None
        digest, one = list(self._active.items())[-1]
        self._file.write({"image": one.image, "withdrawn": True})
        del self._active[digest]
        return (
            one.problem,
            one.frame,
            None if one.said is not None else State(one.atoms, one.index.scene.objects),
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _name(self, digest: Digest) -> str:
        """The name of a picture's file: the one it has, or the next free one."""
        known = self._names.get(digest)
        if known is not None:
            return known
        return self._file.free_name(len(self._names) + 1)

    def _keep(self, one: Labelling, facts: dict[str, object]) -> None:
        digest = digest_of(one.problem, one.frame)
        if digest not in self._names:
            self._file.picture(one.image, one.frame)
        self._file.write(facts)
        self._names[digest], self._active[digest] = one.image, one


# A file of labels that only grows: every line is on disk before the next is asked for.
#
# What was being written when the program was killed is cut off when it is opened again. Nobody else writes to it meanwhile.


class LineFile:
    """``labels.jsonl`` and ``images/`` of a folder, to be written to.

    Args:
        folder: with both, or without.

    Attributes:
        lines: number of lines in it.

    Raises:
        UnusableInput: it cannot be written, or another command writes to it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        file = folder / LABELS
        try:
            (folder / "images").mkdir(parents=True, exist_ok=True)
            self._open = file.open("ab", buffering=0)
            _lock(self._open, folder)
            self.lines = _mended(file)
        except OSError as error:
            raise self._unwritten(error) from None

    def picture(self, name: str, frame: Frame) -> None:
        """Write a picture; it is on disk when this returns.

        Raises:
            UnusableInput: it cannot be written.
        """
        path = self._folder / "images" / name
        try:
            write_atomically(path, encode(frame))
            _sync(path)
            _sync(path.parent)
        except OSError as error:
            raise self._unwritten(error) from None

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
        try:
            before = self._open.seek(0, os.SEEK_END)
            try:
                self._open.write(json.dumps(facts).encode() + b"\n")
                os.fsync(self._open.fileno())
            except OSError:  # a full disk: half a line would spoil the next one
                self._open.truncate(before)
                raise
        except OSError as error:
            raise self._unwritten(error) from None
        self.lines += 1

    def close(self) -> None:
        """Let others write to it."""
        self._open.close()

    def _unwritten(self, error: OSError) -> UnusableInput:
        return UnusableInput(f"cannot write labels to {self._folder}: {error.strerror or error}")


def _lock(file: FileIO, folder: Path) -> None:
    """Keep others from writing to a file as long as it is open, where the system can.

    Raises:
        UnusableInput: somebody else does.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise UnusableInput(
            f"{folder}: another command is labelling there; end it, or give another --out"
        ) from None


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


def _sync(path: Path) -> None:
    """Have a file or a folder written to the disk, where the system can."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Single answers as they are given: every one is on disk before the next is asked for, and so is every withdrawal.


Key = tuple[Digest, str, str]
"""A picture, a classifier and a place."""


class AtomRecord:
    """The single answers of a folder, to read and to go on with.

    Args:
        domain: knows the vocabulary and the scenes.
        folder: with ``labels.jsonl`` and ``images``, or without.
        pool: the pictures that are asked about.

    Raises:
        UnusableInput: the answers in it are not sound, or it cannot be written.
    """

    def __init__(self, domain: Labellable, folder: Path, pool: Pool) -> None:
        self._heads, self._pool, self._file = domain.visual.cell_heads(), pool, LineFile(folder)
        self._digests = [digest_of(one.picture.problem, one.picture.frame) for one in pool.pictures]
        self._numbers = {digest: number for number, digest in enumerate(self._digests)}
        self._names: dict[Digest, str] = {}
        self._answers: dict[Key, bool | None] = {}
        try:
            for one in (
                read_labels(domain, folder, CELL_PIXELS, none_is_fine=True) if self._file.lines else []
            ):
                if one.said is None or one.said.whole_skipped:
                    raise UnusableInput(
                        f"{folder}: holds labels of whole pictures; go on with --ask pictures, or give another --out"
                    )
                digest = digest_of(one.problem, one.frame)
                self._names[digest] = one.image
                for value, said in ((True, one.said.yes), (False, one.said.no), (None, one.said.skipped)):
                    self._answers.update({(digest, head, place): value for head, place in said})
        except UnusableInput:
            self.close()
            raise

    def __len__(self) -> int:
        """The number of answers, without what was skipped."""
        return sum(value is not None for value in self._answers.values())

    def __contains__(self, atom: AskedAtom) -> bool:
        return self._key(atom) in self._answers

    def __getitem__(self, atom: AskedAtom) -> bool | None:
        """The answer about an atom; None if it was skipped."""
        return self._answers[self._key(atom)]

    def answers(self) -> list[tuple[AskedAtom, bool]]:
        """All answers about pictures of the pool, without what was skipped, in their order."""
        found = ((self._atom(key), value) for key, value in self._answers.items())
        return [(atom, value) for atom, value in found if atom is not None and value is not None]

    def add(self, atom: AskedAtom, value: bool | None) -> None:
        """Write an answer; it is on disk when this returns.

        Raises:
            UnusableInput: other answers about the picture exclude it, or it cannot be written.
        """
        digest, head, place = key = self._key(atom)
        one = self._pool.pictures[atom.number]
        self._check(atom, value)
        if digest not in self._names:
            name = self._file.free_name(len(self._names) + 1)
            self._file.picture(name, one.picture.frame)
            self._names[digest] = name
        kind = "skipped" if value is None else "yes" if value else "no"
        self._file.write(
            {
                "image": self._names[digest],
                "problem": one.picture.problem,
                kind: [BETWEEN.join((head, place))],
            }
        )
        self._answers[key] = value

    def withdraw(self) -> tuple[AskedAtom | None, bool | None] | None:
        """Take back the last answer; the atom (None if it is of another walk) and the answer, or None if there is none."""
        if not self._answers:
            return None
        key, value = list(self._answers.items())[-1]
        digest, head, place = key
        self._file.write({"image": self._names[digest], "withdrawn": [BETWEEN.join((head, place))]})
        del self._answers[key]
        return self._atom(key), value

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _check(self, atom: AskedAtom, value: bool | None) -> None:
        """Refuse what could not be read again."""
        index = self._pool.pictures[atom.number].index
        digest, head, place = self._key(atom)
        told = {(h, p): answer for (d, h, p), answer in self._answers.items() if d == digest}
        told[head, place] = value
        said = Said(
            tuple(one for one, answer in told.items() if answer is True),
            tuple(one for one, answer in told.items() if answer is False),
        )
        labels = labels_of(said, self._heads, index)
        if np.any(labels != NO_LABEL):
            check_possible(self._heads, index, labels)

    def _key(self, atom: AskedAtom) -> Key:
        one = self._pool.pictures[atom.number]
        return self._digests[atom.number], self._heads[atom.head], one.index.places[atom.place]

    def _atom(self, key: Key) -> AskedAtom | None:
        digest, head, place = key
        number = self._numbers.get(digest)
        if number is None:
            return None
        return AskedAtom(
            number, self._pool.pictures[number].index.places.index(place), self._heads.index(head)
        )
