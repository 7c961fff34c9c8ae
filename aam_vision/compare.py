"""``python -m aam_vision.compare A B``: where two models differ, and a question that tells them apart.

A and B are PDDL domains, or folders of runs; of runs with ``--chance``, the trials of both are compared, of runs that knew only
controls, the cases of these. With ``--gate`` A is the version that was, B the one that is to replace it; these may also be two policies,
``MODULE:NAME`` each, which then pursue the same objectives from the same starts.

Exit codes: 0, or with ``--gate`` 5 if B has lost something that A can do, and 6 if that is not sure.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aam_vision.run.checks import is_chance_run
from aam_vision.support.commandline import check_file, run_command, write_named
from aam_vision.support.errors import UnusableInput

if TYPE_CHECKING:
    from aam_vision.report.differences import Cases, Models
    from aam_vision.report.versions import Losses, Versions

MAX_STATES = 100_000
"""Default number of states that are searched for a difference."""


def compare_models(
    first: Annotated[
        Path,
        typer.Argument(
            help="A PDDL domain, the folder of a run, or with --gate a policy: MODULE:NAME.", metavar="A"
        ),
    ],
    second: Annotated[Path, typer.Argument(help="Another one of the same actions.", metavar="B")],
    problem: Annotated[
        list[Path] | None,
        typer.Option(help="A PDDL problem in which to look for a plan that tells them apart (repeatable)."),
    ] = None,
    max_states: Annotated[int, typer.Option(min=1, help="States to look at for that, in all.")] = MAX_STATES,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate",
            help="Tell what B has lost that A can do: exit code 5 if anything, 6 if that is not sure, else 0.",
        ),
    ] = False,
    margin: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Of policies, or two runs with --chance: by how much less often, at most, is no loss; default 0.05. With --gate.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the same as JSON (docs/reference/files.md has its fields).")
    ] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            help="Write a page with an example of what is lost side by side: FILE.html. Of policies, with --gate.",
            metavar="FILE",
        ),
    ] = None,
) -> int:
    """Print the lines in which two models differ, and a shortest plan on which they disagree.

    Of two runs with --controls or --bare: the cases of controls that only one of them found, or that begin elsewhere.
    Of two runs with --chance: per action the preconditions and probabilities that differ, by how much, and whether that can be chance.

    Examples:
        python -m aam_vision.compare runs/a/model.pddl runs/b/model.pddl
        python -m aam_vision.compare runs/a/model.pddl D.pddl --problem P.pddl
        python -m aam_vision.compare runs/version-1 runs/version-2 --json
        python -m aam_vision.compare runs/old runs/new --gate --margin 0.1
        python -m aam_vision.compare arms:old arms:new --gate --page gate.html
    """
    from aam_vision.envs.own import is_reference
    from aam_vision.report.differences import Models

    if margin is not None and not gate:
        raise UnusableInput("goes with --gate only", "margin", margin)
    if is_reference(str(first)) and is_reference(str(second)):
        if not gate:
            raise UnusableInput("of two policies only --gate tells anything: add it")
        if problem or max_states != MAX_STATES:
            raise UnusableInput("pursuits of policies are compared: leave out --problem and --max-states")
        return _policies(str(first), str(second), margin, page, as_json=as_json)
    if page is not None:
        raise UnusableInput("is of two policies, with --gate", "page", page)
    compared = _compared(first, second, problem or [], max_states)
    found = _lost(compared, first, second, margin) if gate else compared
    if as_json:
        print(json.dumps({"a": str(first), "b": str(second), **found.json()}, indent=2))
        return _code(found)
    if not isinstance(found, Models):
        print(f"A: {first}\nB: {second}")
    for line in found.lines():
        print(line)
    return _code(found)


def _policies(first: str, second: str, margin: float | None, page: Path | None, *, as_json: bool) -> int:
    """What the second of two policies has lost."""
    from aam_vision.envs.matched import MARGIN, gate
    from aam_vision.envs.own import imported
    from aam_vision.envs.policies import Told

    policies: list[Told] = []
    for name in (first, second):
        found = imported(name)
        if not isinstance(found, Told):
            raise UnusableInput(
                f"{name}: is no PolicyAgent (but {type(found).__name__}), nor a ToldAgent; name one of the module"
            )
        policies.append(found)
    if page is not None:
        check_file(page, "--page", ".html")
    compared = gate(*policies, margin=MARGIN if margin is None else margin)
    told = {"a": first, "b": second, **compared.json()}
    print(
        json.dumps(told, indent=2)
        if as_json
        else "".join(f"{name}\n" for name in _named((first, second), compared.checkpoints)) + str(compared)
    )
    if page is not None:
        from aam_vision.report.page import side_by_side

        write_named(page, "--page", side_by_side(told, compared.films(*policies)))
    return compared.code


def _named(names: tuple[str, str], checkpoints: tuple[Mapping[str, str], ...]) -> Iterator[str]:
    """Which two are compared, with the files that say which versions they are."""
    for letter, name, version in zip("AB", names, checkpoints, strict=True):
        files = "; ".join(f"{file}, SHA-256 {sha}" for file, sha in version.items())
        yield f"{letter}: {name}{f' ({files})' if files else ''}"


def _code(found: object) -> int:
    from aam_vision.report.versions import CODES, Losses

    return CODES[found.verdict] if isinstance(found, Losses) else 0


def _lost(found: Models | Cases | Versions, first: Path, second: Path, margin: float | None) -> Losses:
    """What the second has lost that the first can do."""
    from aam_vision.report.differences import Models
    from aam_vision.report.versions import MARGIN, Versions, of_models, of_versions

    if isinstance(found, Versions):
        return of_versions(found, MARGIN if margin is None else margin)
    if not isinstance(found, Models):
        raise UnusableInput(
            f"{first} and {second}: knew only controls, of which --gate tells nothing yet: leave it out"
        )
    if margin is not None:
        raise UnusableInput("is of two runs with --chance", "margin", margin)
    folders = [
        path if path.is_dir() else path.parent if path.name == "model.pddl" else None
        for path in (first, second)
    ]
    return of_models(found.models, folders)


def _compared(
    first: Path, second: Path, problems: Sequence[Path], max_states: int
) -> Models | Cases | Versions:
    """The comparison that fits what is given."""
    from aam_vision.report.differences import Models, compared

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
