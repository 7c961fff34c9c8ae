"""A file of labels that only grows: every line is on disk before the next is asked for.

What was being written when the program was killed is cut off when it is opened again. Nobody else writes to it meanwhile.
"""

from __future__ import annotations

import json
import os
from io import FileIO
from pathlib import Path

from aam_vision.agents.encoding import Malformed, loads
from aam_vision.commandline import write_atomically
from aam_vision.errors import UnusableInput
from aam_vision.files import read_limited
from aam_vision.perception import Frame
from aam_vision.pictures import encode
from aam_vision.training.folder import LABELS, MOST_BYTES


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
