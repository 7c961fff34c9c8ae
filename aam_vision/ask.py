"""``python -m aam_vision.ask MODEL.pddl``: the outcome of a plan by a learned model, and where it is not certain."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from aam_vision.commandline import run_command
from aam_vision.wording import counted


def ask_model(
    model: Annotated[
        Path, typer.Argument(help="The PDDL domain; a result.json beside it says what is not determined.")
    ],
    problem: Annotated[
        Path, typer.Option(help="A PDDL problem: its initial state is where the plan starts.")
    ],
    plan: Annotated[Path, typer.Option(help="A file with a step a line, such as (move a b).")],
) -> None:
    """Say step by step what a learned model predicts of a plan.

    Examples:
        python -m aam_vision.ask model.pddl --problem P.pddl --plan plan.txt
    """
    from aam_vision.pddl import read_domain, read_problem
    from aam_vision.report.plans import read_plan_file
    from aam_vision.report.prediction import predict, read_doubts

    learned = read_domain(model)
    initial = read_problem(learned, problem).initial
    steps = read_plan_file(plan, learned, initial.objects)
    doubts = read_doubts(model.with_name("result.json"), learned)
    done, sure = 0, True
    for number, told in enumerate(predict(learned, doubts, initial, steps), 1):
        done += told.done
        sure = sure and not told.doubts
        certainty = ", but that is not certain" if told.doubts else ""
        if told.done:
            print(f"{number}. {told.action}: done{certainty}; {', '.join(told.changes) or 'nothing changes'}")
        else:
            print(f"{number}. {told.action}: cannot be done{certainty}: {'; '.join(told.reasons)}")
        for doubt in told.doubts:
            print(f"   {doubt}")
    print(
        f"{done} of {counted(len(steps), 'step')} {'is' if len(steps) == 1 else 'are'} done"
        + ("" if sure else ", as far as the model is determined")
    )


if __name__ == "__main__":
    sys.exit(run_command(ask_model))
