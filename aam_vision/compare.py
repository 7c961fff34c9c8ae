"""``python -m aam_vision.compare A.pddl B.pddl``: where two models differ, and a question that tells them apart."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from aam_vision.commandline import run_command
from aam_vision.wording import counted

MAX_STATES = 100_000
"""Default number of states that are searched for a difference."""


def compare_models(
    first: Annotated[Path, typer.Argument(help="A PDDL domain.", metavar="A.pddl")],
    second: Annotated[Path, typer.Argument(help="Another one of the same actions.", metavar="B.pddl")],
    problem: Annotated[
        list[Path] | None,
        typer.Option(help="A PDDL problem in which to look for a plan that tells them apart (repeatable)."),
    ] = None,
    max_states: Annotated[int, typer.Option(min=1, help="States to look at for that, in all.")] = MAX_STATES,
) -> None:
    """Print the palm tuples in which two models differ, and a shortest plan on which they disagree.

    Examples:
        python -m aam_vision.compare runs/a/model.pddl runs/b/model.pddl
        python -m aam_vision.compare runs/a/model.pddl D.pddl --problem P.pddl
    """
    from aam_vision.errors import UnusableInput
    from aam_vision.evaluation import shortest_disagreement
    from aam_vision.pddl import read_domain, read_problem
    from aam_vision.report.differences import differences
    from aam_vision.report.recorded import shape

    one, other = read_domain(first), read_domain(second)
    if shape(one) != shape(other):
        raise UnusableInput(
            f"{first} and {second}: have other actions, parameters' types or predicates; give models of one agent"
        )
    found = differences(one, other)
    if not found:
        print("no difference: every palm tuple is the same")
    else:
        print(f"{len(found)} palm tuples differ ({first.name} and {second.name}):")
    for difference in found:
        print(f"  {difference}")
    for path in problem or ():
        told = shortest_disagreement(one, other, read_problem(one, path).initial, max_states)
        if told.plan is None:
            ended = (
                "none"
                if told.exhausted
                else f"none within {counted(told.states, 'state')}; more with --max-states"
            )
            print(f"{path.name}: a plan on which they disagree: {ended}")
            continue
        print(f"{path.name}: they disagree on this plan ({counted(len(told.plan), 'step')}):")
        for step in told.plan:
            print(f"  ({' '.join([step.name, *step.objects])})")
        print(f"  {first.name}: {told.outcomes[0]}")
        print(f"  {second.name}: {told.outcomes[1]}")


if __name__ == "__main__":
    sys.exit(run_command(compare_models))
