"""Reading files that may be anybody's: regular files only, up to a limit."""

from __future__ import annotations

import errno
import os
import shlex
import stat
from hashlib import file_digest, sha256
from pathlib import Path

from aam_vision.support.errors import UnusableInput

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Open a pipe at once, whether or not anybody writes into it."""


def read_limited(path: Path, most: int) -> bytes:
    """The content of a file.

    Pipes and devices are not read, since they may never end; nor is a file that grows meanwhile.

    Raises:
        OSError: it cannot be read, is not a regular file, or is larger than ``most`` bytes; ``strerror`` says which.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except ValueError as error:  # a name with a null byte
        raise OSError(errno.EINVAL, str(error), str(path)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "no regular file", str(path))
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most} bytes", str(path))
    return content


def digest(path: Path) -> str:
    """The SHA-256 of a file; of a folder that of the names and digests of the files in it.

    Raises:
        OSError: it cannot be read, or is neither.
    """
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.is_file())
        told = "".join(f"{digest(one)} {one.relative_to(path).as_posix()}\n" for one in files)
        return sha256(told.encode()).hexdigest()
    if not path.is_file():
        raise OSError(errno.ENOENT, "no file or folder", str(path))
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def checkpoints(*paths: os.PathLike[str] | str | None) -> dict[str, str]:
    """By name the SHA-256 of files or folders, which says what version of an agent was assessed.

    Raises:
        UnusableInput: one of them cannot be read.
    """
    found = {}
    for path in paths:
        if path is None:
            continue
        try:
            found[str(path)] = digest(Path(path))
        except OSError as error:
            raise UnusableInput(f"cannot be read ({error.strerror or error})", "checkpoint", path) from None
    return found


def files_named(command: str) -> list[str]:
    """The files that a command names (``./lamps``, ``policy.py``, ``--weights=w.pt``); programs that are looked up are none."""
    try:
        words = [word.rpartition("=")[2] for word in shlex.split(command)]
    except ValueError:  # quotes that are not closed: whoever starts it says so
        return []
    return list(dict.fromkeys(filter(os.path.isfile, words)))  # not Path, which raises for a long word
