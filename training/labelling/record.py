"""The labels of pictures as they are given: every one is on disk before the next is asked for, and so is every withdrawal.

``labels.jsonl`` only grows. What was being written when the program was killed is cut off when it is opened again.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from io import FileIO
from pathlib import Path

from aam_vision.agents.encoding import Malformed, loads
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.commandline import write_atomically
from aam_vision.errors import UnusableInput
from aam_vision.files import read_limited
from aam_vision.perception import Frame
from aam_vision.pictures import encode
from aam_vision.strips import State
from aam_vision.training.folder import MOST_BYTES, Labellable, Named, labelling, perceived_atoms, read_labels
from aam_vision.training.label_checks import Labelling, check_together
from aam_vision.training.labelling.walks import Walked

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
        self._domain, self._folder, self._file = domain, folder, folder / "labels.jsonl"
        self._names: dict[Digest, str] = {}
        self._active: dict[Digest, Labelling] = {}
        try:
            (folder / "images").mkdir(parents=True, exist_ok=True)
            self._open = self._file.open("ab", buffering=0)
            _lock(self._open, folder)
            self._lines = _mended(self._file)
        except OSError as error:
            raise UnusableInput(f"cannot write labels to {folder}: {error.strerror or error}") from None
        try:
            known = read_labels(domain, folder, CELL_PIXELS, none_is_fine=True) if self._lines else []
        except UnusableInput:
            self.close()
            raise
        for one in known:
            digest = digest_of(one.problem, one.frame)
            self._names[digest], self._active[digest] = one.image, one

    def __len__(self) -> int:
        return len(self._active)

    def known(self, picture: Walked) -> State | None:
        """What a picture was labelled; None if it is not."""
        one = self._active.get(digest_of(picture.problem, picture.frame))
        return None if one is None else State(one.atoms, one.index.scene.objects)

    def check(self, picture: Walked, index: SceneIndex, state: State) -> Labelling:
        """A label as it would be read from the file, compared with all others.

        Raises:
            UnusableInput: ``train --images`` would refuse it.
        """
        digest = digest_of(picture.problem, picture.frame)
        named = Named(self._lines + 1, self._name(digest), picture.problem)
        one = labelling(self._domain, index, state.true, picture.frame, named, CELL_PIXELS)
        check_together(self._domain.visual.cell_heads(), [*self._active.values(), one])
        return one

    def add(self, picture: Walked, index: SceneIndex, state: State) -> None:
        """Write a label; it is on disk when this returns.

        Raises:
            UnusableInput: it is wrong, or cannot be written.
        """
        one = self.check(picture, index, state)
        digest = digest_of(picture.problem, picture.frame)
        path = self._folder / "images" / one.image
        true = perceived_atoms(self._domain, picture.scene, state)
        try:
            if digest not in self._names:
                write_atomically(path, encode(picture.frame))
                _sync(path)
                _sync(path.parent)
            self._write({"image": one.image, "problem": picture.problem, "true": true})
        except OSError as error:
            raise UnusableInput(f"cannot write labels to {self._folder}: {error.strerror or error}") from None
        self._names[digest], self._active[digest] = one.image, one

    def withdraw(self) -> tuple[str, Frame, State] | None:
        """Take back the last label; its problem, picture and atoms, or None if there is none."""
        if not self._active:
            return None
        digest, one = list(self._active.items())[-1]
        try:
            self._write({"image": one.image, "withdrawn": True})
        except OSError as error:
            raise UnusableInput(f"cannot write labels to {self._folder}: {error.strerror or error}") from None
        del self._active[digest]
        return one.problem, one.frame, State(one.atoms, one.index.scene.objects)

    def close(self) -> None:
        """Close the file."""
        self._open.close()

    def _name(self, digest: Digest) -> str:
        """The name of a picture's file: the one it has, or the next free one."""
        known = self._names.get(digest)
        if known is not None:
            return known
        number = len(self._names) + 1
        while (self._folder / "images" / f"{number:04d}.png").exists():
            number += 1
        return f"{number:04d}.png"

    def _write(self, facts: dict[str, object]) -> None:
        before = self._open.seek(0, os.SEEK_END)
        try:
            self._open.write(json.dumps(facts).encode() + b"\n")
            os.fsync(self._open.fileno())
        except OSError:  # a full disk: half a line would spoil the next one
            self._open.truncate(before)
            raise
        self._lines += 1


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
