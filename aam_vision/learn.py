"""``python -m aam_vision.learn TRACES``: the model of an agent of which traces are left, and nothing can be asked."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from aam_vision.run.arguments import Arguments
from aam_vision.run.checks import TRACES
from aam_vision.run.command import new_folder, run_in
from aam_vision.support.commandline import run_command, told_warnings


def learn_from_traces(
    traces: Annotated[list[Path], typer.Argument(help="Files of states and actions, as AMLGym writes them.")],
    domain: Annotated[
        Path, typer.Option(help="A PDDL domain; only the predicates and actions that it declares count.")
    ],
    out: Annotated[Path | None, typer.Option(help="Folder for results; default runs/DOMAIN-TIME.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the run that the folder for results holds.")
    ] = False,
) -> int:
    """Learn the model of an agent from traces of what it did, and say what they leave open.

    Examples:
        python -m aam_vision.learn traces/* --domain D.pddl
        python -m aam_vision.learn 0_traj 1_traj --domain D.pddl --out runs/passive
    """
    from aam_vision.interrogation.task.traced import TracedAgent, read_traces
    from aam_vision.run.targets import Target
    from aam_vision.run.targets.symbolic import tell_left_out

    began = perf_counter()
    with told_warnings():
        transcript = read_traces(domain, traces)
        tell_left_out(domain, transcript.vocabulary)
    agent, names = TracedAgent(transcript), tuple(trace.name for trace in traces)
    target = Target(transcript.vocabulary.name, names, agent, truth=None, held_out=list)
    arguments = Arguments(
        domain=domain,
        problem=[*map(str, traces)],
        access=TRACES,
        repeated_arguments=transcript.repeated,
        force=force,
        quiet=True,
    )
    return run_in(out or new_folder(domain.stem), arguments, began, target=target)


if __name__ == "__main__":
    sys.exit(run_command(learn_from_traces))
