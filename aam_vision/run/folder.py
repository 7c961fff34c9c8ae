"""The files of a run: ``model.pddl``, ``result.json``, ``report.html``, images, operators, and ``--record FILE.gif``.

What writes the report is imported when there is something to report: until then, a run has begun to show something.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aam_vision.agents.image import known_of
from aam_vision.agents.journal import AS_READ, NAME, OPERATORS, Journal
from aam_vision.agents.journalled import JournalledAgent
from aam_vision.interrogation.evidence.moves import Asked, Entry
from aam_vision.model.query import Query, Response, traced
from aam_vision.report.album import Album
from aam_vision.run.checks import RESULTS
from aam_vision.support.commandline import write_atomically
from aam_vision.support.errors import UnusableInput
from aam_vision.support.pictures import encode

if TYPE_CHECKING:
    from aam_vision.agents.perception import Frame
    from aam_vision.interrogation.evidence.transcript import Transcript
    from aam_vision.run.targets import Target

SET_UP = "set-up.png"
"""The picture that a person is shown who sets a problem up again."""


def clear(folder: Path) -> None:
    """Remove the images, the results and the further journals of an earlier run: beside the journal of a new one they would be wrong."""
    Album(folder).clear()
    for name in (OPERATORS, AS_READ):
        _clear_journal(folder / name)
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
    """Note what a killed run has to tell, too: where predicates, traces and things in images come from, and its version, or both if it was mended."""
    version = {**known_of(target.agent)["checkpoint"], **assessed}
    noted = journal.about("checkpoint")
    before = noted if isinstance(noted, dict) else {}
    changed = {f"{k}, at first": sha for k, sha in before.items() if version.get(k, sha) != sha}
    journal.note("checkpoint", {**before, **version, **changed})
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
    """Write the files of a run, and print what was learned; ``truth`` as PDDL, if the report is to compare with it."""
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


# ``transcript.sqlite`` has what was asked and answered. What that says of the operators of a run that knew only controls, or of an agent
# of which looks err, is kept in a journal of its own, so that the model's proofs can be shown.


def _clear_journal(place: Path) -> None:
    """Remove the further journal of an earlier run in this folder."""
    if place.is_symlink():  # it would lead out of the run's folder
        place.unlink()
    for path in place.glob(f"{NAME}*"):
        path.unlink()


def keep_transcript(place: Path, transcript: Transcript) -> None:
    """Write a transcript as a further journal of a run, in a folder of its own. Raises UnusableInput: it cannot be written."""
    from aam_vision.interrogation.task.traced import TracedAgent

    _clear_journal(place)
    place.mkdir(exist_ok=True)
    told = transcript.of([*_told(transcript.entries)])
    with Journal.create(place, {"repeated_arguments": transcript.repeated}, {}, force=True) as journal:
        agent = JournalledAgent(TracedAgent(told), journal)
        agent.initial()
        for entry in told.entries:
            if isinstance(entry, Asked):
                agent.ask(entry.query)
            else:
                agent.walk(entry.steps[0].before, len(entry.steps), np.random.default_rng(0))


def _told(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The entries without the steps of which it could not be told whether they were carried out."""
    for entry in entries:
        if isinstance(entry, Asked) and entry.response.told is not None:
            query, response = entry.query, entry.response
            if response.told:
                told = Response(min(response.executed, response.told), response.final)
                yield Asked(Query(query.initial, query.plan[: response.told]), told)
        elif isinstance(entry, Asked) or entry.steps:
            yield entry


def check_images(path: Path, target: Target) -> None:
    """Find out before the run whether there is something to record. Raises UnusableInput: the agent shows no images."""
    if target.keep_clips is not None:
        raise UnusableInput(f"--record {path}: a policy's clips are in its report; leave it out")
    if target.keep_images is None:
        raise UnusableInput(f"--record {path}: {target.name} shows no images; use an image environment")


@contextmanager
def recording(path: Path | None, folder: Path, journal: Journal) -> Iterator[None]:
    """Write the video of all queries that the journal holds in the end, also if the run fails; if it cannot be written, a line says so."""
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
