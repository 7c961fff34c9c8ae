"""The files of a run: ``model.pddl``, ``result.json``, ``report.html``, and the images that the agent showed.

What writes the report is imported when there is something to report: until then, a run has begun to show something.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from aam_vision.planning.planner import cpu_seconds
from aam_vision.report.album import Album
from aam_vision.run.checks import RESULTS
from aam_vision.support.commandline import write_atomically

if TYPE_CHECKING:
    from aam_vision.agents.journal import Journal
    from aam_vision.interrogation.task.result import Result
    from aam_vision.model.strips import Model
    from aam_vision.run.arguments import Arguments
    from aam_vision.run.targets import Target


class Times(NamedTuple):
    """When a run began (``perf_counter``), and the CPU seconds of its parts."""

    began: float
    interrogation: float
    planner: float
    perception: float | None

    def figures(self) -> dict[str, float | None]:
        """The times as ``result.json`` has them."""
        return {
            "wall_s": round(perf_counter() - self.began, 3),
            "cpu_s": round(cpu_seconds(), 3),
            "interrogation_s": round(self.interrogation, 3),
            "planner_s": round(self.planner, 3),
            "perception_s": self.perception,
        }


def clear(folder: Path) -> None:
    """Remove the images, the results and the operators of an earlier run: beside the journal of a new one they would be wrong."""
    from aam_vision.run.operators import clear_operators

    Album(folder).clear()
    clear_operators(folder)
    for name in RESULTS:
        (folder / name).unlink(missing_ok=True)


def keep_images(target: Target, folder: Path) -> None:
    """Keep the images that the agent shows, for the report."""
    if target.keep_images is not None:
        target.keep_images(Album(folder).keep)


def note_origins(target: Target, journal: Journal) -> None:
    """Note where the predicates come from and where things are in the images, so that a killed run can tell it, too."""
    journal.note("sources", target.sources)
    journal.note("scenes", target.scenes())


def save(
    folder: Path,
    arguments: Arguments,
    target: Target,
    result: Result,
    times: Times,
    prior: Model | None,
    journal: Journal,
) -> str:
    """Write and print what was learned; return its status."""
    from aam_vision.model.pddl import domain_text
    from aam_vision.report.recorded import images
    from aam_vision.run.summary import summary, text

    model = domain_text(result.model)
    found = summary(arguments, target, result, times.figures(), prior, partial(images, journal))
    write_atomically(folder / "model.pddl", model)
    write_atomically(folder / "result.json", json.dumps(found, indent=2) + "\n")
    print(model)
    print(text(found, result, folder))
    write_report(target, folder, journal)
    return str(found["status"])


def write_report(target: Target, folder: Path, journal: Journal) -> None:
    """Write ``report.html`` from the contents of the folder, and the true model that it compares with."""
    from aam_vision.model.pddl import domain_text
    from aam_vision.report.account import account_of
    from aam_vision.report.page import page
    from aam_vision.report.recorded import read_journal

    if target.truth is not None:
        write_atomically(folder / "truth.pddl", domain_text(target.truth()))
    else:
        (folder / "truth.pddl").unlink(missing_ok=True)
    write_atomically(folder / "report.html", page(account_of(read_journal(folder, journal))))
