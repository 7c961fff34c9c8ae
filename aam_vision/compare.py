"""``python -m aam_vision.compare A B``: where two models differ, and a question that tells them apart.

A and B are PDDL domains, or folders of runs; of runs with ``--chance``, the trials of both are compared, of runs that knew only
controls, the cases of these.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aam_vision.run.checks import is_chance_run
from aam_vision.support.commandline import run_command
from aam_vision.support.wording import counted

if TYPE_CHECKING:
    from aam_vision.report.differences import Difference
    from aam_vision.report.evaluation import Disagreement

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
    from aam_vision.support.errors import UnusableInput

    kinds = [is_chance_run(path) for path in (first, second)]
    if all((path / "controls.json").is_file() for path in (first, second)):
        if problem or max_states != MAX_STATES:
            raise UnusableInput("cases of controls are compared: leave out --problem and --max-states")
        _compare_cases(first, second, as_json=as_json)
        return
    if not any(kinds):
        _compare_models(_model(first), _model(second), problem or [], max_states, as_json=as_json)
        return
    if not all(kinds):
        raise UnusableInput(
            f"{first} and {second}: only one is the folder of a run with --chance; give two such runs"
        )
    if problem or max_states != MAX_STATES:
        raise UnusableInput(
            "of two runs with --chance trials are compared: leave out --problem and --max-states"
        )
    _compare_runs(first, second, as_json=as_json)


def _model(path: Path) -> Path:
    """The PDDL domain itself, or that of a run's folder."""
    return path / "model.pddl" if path.is_dir() else path


def _compare_models(
    first: Path, second: Path, problems: Sequence[Path], max_states: int, *, as_json: bool
) -> None:
    """Print where two models differ, and on which plan they disagree in each problem."""
    from aam_vision.model.pddl import read_domain, read_problem
    from aam_vision.report.differences import differences
    from aam_vision.report.evaluation import shortest_disagreement
    from aam_vision.report.recorded import shape
    from aam_vision.support.errors import UnusableInput

    one, other = read_domain(first), read_domain(second)
    if shape(one) != shape(other):
        raise UnusableInput(
            f"{first} and {second}: have other actions, parameters' types or predicates; give models of one agent"
        )
    found = differences(one, other)
    searches = (
        (path, shortest_disagreement(one, other, read_problem(one, path).initial, max_states))
        for path in problems
    )
    if as_json:
        searched = {str(path): told for path, told in searches}
        print(json.dumps(_json_of_models(first, second, found, searched), indent=2))
        return
    if not found:
        print("no difference: every line of the model is the same")
    else:
        print(
            f"{counted(len(found), 'line')} of the model {'differs' if len(found) == 1 else 'differ'} ({first.name} and {second.name}):"
        )
    for difference in found:
        print(f"  {difference}")
    for path, told in searches:
        _print_disagreement(path.name, (first.name, second.name), told)


def _json_of_models(
    first: Path, second: Path, found: Sequence[Difference], searched: Mapping[str, Disagreement]
) -> dict[str, Any]:
    """Where two models differ.

    Args:
        first: the file of the one, which is ``a``.
        second: of the other, which is ``b``.
        found: the palm tuples that differ.
        searched: by problem, the search for a plan that tells the models apart.
    """
    return {
        "a": str(first),
        "b": str(second),
        "different": bool(found),
        "palm_tuples": [
            {
                "action": one.action,
                "location": one.location.value,
                "atom": one.text,
                "a": one.modes[0].name.lower(),
                "b": one.modes[1].name.lower(),
            }
            for one in found
        ],
        "plans": [
            {
                "problem": problem,
                "plan": None if told.plan is None else [[step.name, *step.objects] for step in told.plan],
                "a": None if told.plan is None else told.outcomes[0],
                "b": None if told.plan is None else told.outcomes[1],
                "states": told.states,
                "exhausted": told.exhausted,
            }
            for problem, told in searched.items()
        ],
    }


def _print_disagreement(problem: str, names: tuple[str, str], told: Disagreement) -> None:
    """Print the plan on which two models disagree, if one was found."""
    if told.plan is None:
        ended = (
            "none"
            if told.exhausted
            else f"none within {counted(told.states, 'state')}; more with --max-states"
        )
        print(f"{problem}: a plan on which they disagree: {ended}")
        return
    print(f"{problem}: they disagree on this plan ({counted(len(told.plan), 'step')}):")
    for step in told.plan:
        print(f"  ({' '.join([step.name, *step.objects])})")
    for name, outcome in zip(names, told.outcomes, strict=True):
        print(f"  {name}: {outcome}")


def _compare_cases(first: Path, second: Path, *, as_json: bool) -> None:
    """Print which cases of controls one of two runs lacks."""
    from aam_vision.report.chance_differences import compared
    from aam_vision.support.wording import lines

    found = compared(first, second)
    if as_json:
        print(json.dumps({"a": str(first), "b": str(second), **found.json()}, indent=2))
        return
    for text in (f"A: {first}", f"B: {second}", *found.lines()):
        print("\n".join(lines(text, indent=2)))


def _compare_runs(first: Path, second: Path, *, as_json: bool) -> None:
    """Print what differs between two runs with ``--chance``."""
    from aam_vision.report.chance_account import ChanceAccount
    from aam_vision.report.chance_differences import Versions, of_runs
    from aam_vision.report.recorded import read_run
    from aam_vision.support.wording import lines

    versions = Versions(ChanceAccount(read_run(first)), ChanceAccount(read_run(second)))
    if as_json:
        print(json.dumps(of_runs(first, second, versions), indent=2))
        return
    print(f"A: {first}")
    print(f"B: {second}")
    for text in (versions.matched, *versions.warnings):
        print("\n".join(lines(text, indent=2)))
    for action in versions.actions:
        print(f"\n{action.one.index.header.name}{': DIFFERENT' if action.different else ''}")
        for line in versions.lines(action):
            print(
                "\n".join(
                    [
                        f"{'!' if line.different else ' '} {text}" if not n else text
                        for n, text in enumerate(lines(line.text, indent=4))
                    ]
                )
            )
    print()
    for text in (versions.verdict, versions.method):
        print("\n".join(lines(text, indent=2)))


if __name__ == "__main__":
    sys.exit(run_command(compare_models))
