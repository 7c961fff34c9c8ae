"""``python -m aam_vision.compare A B``: where two models differ, and a question that tells them apart.

A and B are PDDL domains, or folders of runs; of runs with ``--chance``, the trials of both are compared, of runs that knew only
controls, the cases of these.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aam_vision.run.checks import is_chance_run
from aam_vision.support.commandline import run_command

if TYPE_CHECKING:
    from aam_vision.report.differences import Cases, Models
    from aam_vision.report.versions import Versions

MAX_STATES = 100_000
"""Default number of states that are searched for a difference."""


def compare_models(
    first: Annotated[Path, typer.Argument(help="A PDDL domain, or the folder of a run.", metavar="A")],
    second: Annotated[Path, typer.Argument(help="Another one of the same actions.", metavar="B")],
    problem: Annotated[
        list[Path] | None,
        typer.Option(help="A PDDL problem in which to look for a plan that tells them apart (repeatable)."),
    ] = None,
    max_states: Annotated[int, typer.Option(min=1, help="States to look at for that, in all.")] = MAX_STATES,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the same as JSON (docs/reference/files.md has its fields).")
    ] = False,
) -> None:
    """Print the lines in which two models differ, and a shortest plan on which they disagree.

    Of two runs with --controls or --bare: the cases of controls that only one of them found, or that begin elsewhere.
    Of two runs with --chance: per action the preconditions and probabilities that differ, by how much, and whether that can be chance.

    Examples:
        python -m aam_vision.compare runs/a/model.pddl runs/b/model.pddl
        python -m aam_vision.compare runs/a/model.pddl D.pddl --problem P.pddl
        python -m aam_vision.compare runs/version-1 runs/version-2 --json
    """
    from aam_vision.report.differences import Models

    found = _compared(first, second, problem or [], max_states)
    if as_json:
        print(json.dumps({"a": str(first), "b": str(second), **found.json()}, indent=2))
        return
    if not isinstance(found, Models):
        print(f"A: {first}\nB: {second}")
    for line in found.lines():
        print(line)


def _compared(
    first: Path, second: Path, problems: Sequence[Path], max_states: int
) -> Models | Cases | Versions:
    """The comparison that fits what is given.

    Raises:
        UnusableInput: they cannot be compared, or not so.
    """
    from aam_vision.report.differences import Models, compared
    from aam_vision.support.errors import UnusableInput

    searching = bool(problems) or max_states != MAX_STATES
    if all((path / "controls.json").is_file() for path in (first, second)):
        if searching:
            raise UnusableInput("cases of controls are compared: leave out --problem and --max-states")
        return compared(first, second)
    kinds = [is_chance_run(path) for path in (first, second)]
    if not any(kinds):
        one, other = (path / "model.pddl" if path.is_dir() else path for path in (first, second))
        return Models(one, other, problems, max_states)
    if not all(kinds):
        raise UnusableInput(
            f"{first} and {second}: only one is the folder of a run with --chance; give two such runs"
        )
    if searching:
        raise UnusableInput(
            "of two runs with --chance trials are compared: leave out --problem and --max-states"
        )
    from aam_vision.report.chance_account import ChanceAccount
    from aam_vision.report.recorded import read_run
    from aam_vision.report.versions import Versions

    return Versions(ChanceAccount(read_run(first)), ChanceAccount(read_run(second)))


if __name__ == "__main__":
    sys.exit(run_command(compare_models))
