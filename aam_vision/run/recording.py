"""``--record FILE.gif``: the queries of a run as a video, written when the run ends, however it ends."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from aam_vision.support.commandline import write_atomically
from aam_vision.support.errors import UnusableInput

if TYPE_CHECKING:
    from aam_vision.agents.journal import Journal
    from aam_vision.run.targets import Target


def check_images(path: Path, target: Target) -> None:
    """Find out before the run whether there is something to record. Raises UnusableInput: the agent shows no images."""
    if target.keep_clips is not None:
        raise UnusableInput(f"--record {path}: a policy's clips are in its report; leave it out")
    if target.keep_images is None:
        raise UnusableInput(f"--record {path}: {target.name} shows no images; use an image environment")


@contextmanager
def recording(path: Path | None, folder: Path, journal: Journal) -> Iterator[None]:
    """Write the video of all queries that the journal holds in the end, also if the run fails; none without a path.

    If the video cannot be written, a line says so; the run does not fail.
    """
    try:
        yield
    finally:
        if path is not None:
            print(f"{path}: {_write(path, folder, journal)}", file=sys.stderr)


def _write(path: Path, folder: Path, journal: Journal) -> str:
    """Write the video; return a description of it, or why there is none."""
    from aam_vision.report.recorded import read_journal
    from aam_vision.report.video import video

    try:
        found = video(read_journal(folder, journal))
        if found is None:
            return "not written, as no query with an image was asked"
        write_atomically(path, found.gif)
    except (UnusableInput, OSError) as error:
        return f"not written ({error})"
    return found.about
