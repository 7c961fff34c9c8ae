"""Reading files that may be anybody's: regular files only, up to a limit."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

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
