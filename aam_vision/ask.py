"""``python -m aam_vision.ask MODEL.pddl``: the outcome of a plan by a learned model, and where it is not certain."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aam_vision.run.checks import is_chance_run
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted

if TYPE_CHECKING:
    from aam_vision.model.strips import Model, State

ENDINGS = 6
"""States in which a plan may end that are told, at most."""


def ask_model(
    model: Annotated[
        Path,
        typer.Argument(
            help="The PDDL domain, or the folder of a run; a result.json beside it says what is not determined."
        ),
    ],
    plan: Annotated[Path, typer.Option(help="A file with a step a line, such as (move a b).")],
    problem: Annotated[
        str | None,
        typer.Option(
            help="Where the plan starts: the initial state of a PDDL problem, or of a problem of the run as it was "
            "seen there, by its number from 0; default 0."
        ),
    ] = None,
) -> None:
    """Say step by step what a learned model predicts of a plan.

    Of a run with --chance: how probable it is that each step is carried out, and how it may end, with limits.

    Examples:
        python -m aam_vision.ask model.pddl --problem P.pddl --plan plan.txt
        python -m aam_vision.ask runs/first --plan plan.txt
        python -m aam_vision.ask runs/first --problem 2 --plan plan.txt
    """
    from aam_vision.interrogation.controls.conditional import Split, conditional, in_cases
    from aam_vision.interrogation.controls.mapping import CONDITIONAL, read_carriers
    from aam_vision.model.pddl import read_domain
    from aam_vision.report.ending import refuse_remembering
    from aam_vision.report.prediction import predict, read_doubts
    from aam_vision.report.written import read_plan_file

    if model.is_dir():
        if is_chance_run(model):
            _forecast(model, plan, problem)
            return
        run, model = model, model / "model.pddl"
        if not model.is_file():
            raise UnusableInput(f"{run}: holds no model; give the folder of a finished run, or a PDDL domain")
    refuse_remembering(model.with_name("result.json"))
    learned = read_domain(model)
    initial = _initial(learned, model.parent, problem)
    # the actions with conditional effects that a plan may name, too: of a run that knew only controls
    of_controls = model.with_name(CONDITIONAL).is_file()
    split = conditional(learned, read_carriers(model.parent, learned)) if of_controls else Split((), {})
    steps = read_plan_file(plan, split.added_to(learned), initial.objects)
    doubts = read_doubts(model.with_name("result.json"), learned)
    done, sure = 0, True
    cases = in_cases(learned, split, initial, steps)
    predicted = predict(learned, doubts, initial, [case for case in cases if case is not None])
    for number, (step, case) in enumerate(zip(steps, cases, strict=True), 1):
        if case is None:
            print(f"{number}. {step}: done; none of its conditions holds: nothing changes")
            done += 1
            continue
        told = next(predicted, None)
        if told is None:  # an earlier step cannot be done
            break
        named = step if case == step else f"{step}, here {case}"
        done += told.done
        sure = sure and not told.doubts
        certainty = ", but that is not certain" if told.doubts else ""
        if told.done:
            print(f"{number}. {named}: done{certainty}; {', '.join(told.changes) or 'nothing changes'}")
        else:
            print(f"{number}. {named}: cannot be done{certainty}: {'; '.join(told.reasons)}")
        for doubt in told.doubts:
            print(f"   {doubt}")
    print(
        f"{done} of {counted(len(steps), 'step')} {'is' if len(steps) == 1 else 'are'} done"
        + ("" if sure else ", as far as the model is determined")
    )


def _forecast(run: Path, plan: Path, problem: str | None) -> None:
    """Print what may come of a plan, and how probable that is, by a run with ``--chance``."""
    from aam_vision.report.chance import often
    from aam_vision.report.chance_account import ChanceAccount
    from aam_vision.report.prediction import Forecast, changes
    from aam_vision.report.recorded import read_run
    from aam_vision.report.written import read_plan_file

    account = ChanceAccount(read_run(run))
    initial = _initial(account.model, run, problem)
    steps = read_plan_file(plan, account.model, initial.objects)
    told = Forecast(account, initial, steps)
    for number, step in enumerate(steps, 1):
        print(f"{number}. {step}: carried out {often(*told.done(number))}")
        for reason in told.reasons(number):
            print(f"   not where {reason}")
    print(
        "The limits hold together with 95%: in each step, whatever the intervals leave possible is assumed."
    )
    if told.endings:
        print("In the end:")
    for end in told.endings[:ENDINGS]:
        print(f"  {often(*end.chance)}: {', '.join(changes(initial, end.state)) or 'nothing has changed'}")
    if len(told.endings) > ENDINGS:
        print(f"  and {counted(len(told.endings) - ENDINGS, 'state')} less often")


def _initial(learned: Model, folder: Path, problem: str | None) -> State:
    """The state in which the plan starts: of a PDDL file, or of the problem of this number in the folder's run."""
    from aam_vision.agents.journal import NAME
    from aam_vision.model.pddl import read_problem
    from aam_vision.model.strips import ActionSchema, Model
    from aam_vision.report.recorded import read_run, shape

    number = problem or "0"
    if not number.isdecimal() or Path(number).exists():
        return read_problem(learned, Path(number)).initial
    if not (folder / NAME).is_file():
        raise UnusableInput(
            f"give --problem P.pddl: {folder} holds no run whose initial states could be taken"
        )
    transcript = read_run(folder).transcript
    if len(number) > 9 or int(number) >= len(transcript.initial):
        raise UnusableInput(
            f"the run has problems 0 to {len(transcript.initial) - 1}", "problem", number[:40]
        )
    run = Model(transcript.vocabulary, tuple(ActionSchema(header) for header in transcript.headers))
    if shape(run) != shape(learned):
        raise UnusableInput(
            f"{folder}: its transcript is about other actions or predicates than the model; give --problem P.pddl"
        )
    return transcript.initial[int(number)].state


if __name__ == "__main__":
    sys.exit(run_command(ask_model))
