"""The files of a run: ``model.pddl``, ``result.json``, ``report.html``, and the images that the agent showed.

What writes the report is imported when there is something to report: until then, a run has begun to show something.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from aam_vision.agents.image import known_of
from aam_vision.model.query import traced
from aam_vision.report.album import Album
from aam_vision.run.checks import RESULTS
from aam_vision.support.commandline import write_atomically
from aam_vision.support.pictures import encode

if TYPE_CHECKING:
    from aam_vision.agents.journal import Journal
    from aam_vision.agents.perception import Frame
    from aam_vision.run.targets import Target

SET_UP = "set-up.png"
"""The picture that a person is shown who sets a problem up again."""


def clear(folder: Path) -> None:
    """Remove the images, the results and the operators of an earlier run: beside the journal of a new one they would be wrong."""
    from aam_vision.run.operators import clear_operators

    Album(folder).clear()
    clear_operators(folder)
    for name in (*RESULTS, SET_UP):
        (folder / name).unlink(missing_ok=True)


def keep_images(target: Target, folder: Path) -> None:
    """Keep the images that the agent shows, for the report."""
    for have_kept in filter(None, (target.keep_images, target.keep_clips)):
        have_kept(Album(folder).keep)
    if target.set_up is not None:
        target.set_up.show = partial(_show, folder / SET_UP)


def _show(path: Path, frame: Frame) -> str:
    write_atomically(path, encode(frame))
    return str(path)


def note_origins(target: Target, journal: Journal, assessed: Mapping[str, str]) -> None:
    """Note what a killed run has to tell, too: where predicates, traces and things in images come from, and which version it is about.

    A program that was mended since goes on; then both versions are noted.
    """
    version = {**known_of(target.agent)["checkpoint"], **assessed}
    noted = journal.about("checkpoint")
    before = noted if isinstance(noted, dict) else {}
    changed = {name: sha for name, sha in before.items() if version.get(name, sha) != sha}
    journal.note(
        "checkpoint", {**before, **version, **{f"{name}, at first": changed[name] for name in changed}}
    )
    journal.note("sources", target.sources)
    journal.note("scenes", target.scenes())
    journal.note("lines", getattr(traced(target.agent), "lines", ()))


def save(
    folder: Path,
    journal: Journal,
    model: str,
    told: Mapping[str, object],
    lines: Iterable[tuple[str, str]],
    truth: str | None,
) -> None:
    """Write the files of a run, and print what was learned.

    Args:
        folder: of the run.
        journal: of the run.
        model: what was learned, as PDDL.
        told: the contents of ``result.json``.
        lines: the summary for a person.
        truth: the ground truth as PDDL, if the report is to compare with it.
    """
    from aam_vision.interrogation.task.result import aligned
    from aam_vision.report.account import account_of
    from aam_vision.report.page import page
    from aam_vision.report.recorded import read_journal

    version = journal.about("checkpoint") or {}
    told = {**told, "checkpoint": version or None}
    write_atomically(folder / "model.pddl", model)
    write_atomically(folder / "result.json", json.dumps(told, indent=2) + "\n")
    print(model)
    versions = [("version", f"{name}, SHA-256 {sha}") for name, sha in version.items()]
    print(aligned([*lines, *versions, ("saved in", str(folder))]))
    if truth is not None:
        write_atomically(folder / "truth.pddl", truth)
    else:
        (folder / "truth.pddl").unlink(missing_ok=True)
    write_atomically(folder / "report.html", page(account_of(read_journal(folder, journal))))
