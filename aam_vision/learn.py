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
    traces: Annotated[
        list[Path],
        typer.Argument(
            help="Files of states and actions, as AMLGym writes them; or folders of actions.txt and 0.png, 1.png..."
        ),
    ],
    domain: Annotated[
        Path | None,
        typer.Option(help="A PDDL domain; only the predicates and actions that it declares count."),
    ] = None,
    env: Annotated[
        str | None, typer.Option(help="Whose images the folders hold, in place of --domain.")
    ] = None,
    classifiers: Annotated[
        Path | None, typer.Option(help="With --env: the folder of the weights that read them.")
    ] = None,
    problem: Annotated[
        list[str] | None,
        typer.Option(help="With --env: what they begin with, one for all traces or one each."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for results; default runs/DOMAIN-TIME.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the run that the folder for results holds.")
    ] = False,
) -> int:
    """Learn the model of an agent from traces of what it did, and say what they leave open.

    Examples:
        python -m aam_vision.learn traces/* --domain D.pddl
        python -m aam_vision.learn 0_traj 1_traj --domain D.pddl --out runs/passive
        python -m aam_vision.learn traces/0 traces/1 --env blocks --problem train/2
    """
    from aam_vision.interrogation.task.traced import TracedAgent
    from aam_vision.run.api import transcript_from
    from aam_vision.run.targets import Target

    began = perf_counter()
    with told_warnings():
        transcript = transcript_from(traces, domain, env, classifiers, problem or ())
    agent, names = TracedAgent(transcript), tuple(trace.name for trace in traces)
    target = Target(transcript.vocabulary.name, names, agent, truth=None, held_out=list)
    arguments = Arguments(
        env=env,
        domain=domain,
        classifiers=classifiers,
        problem=[*map(str, traces)],
        access=TRACES,
        repeated_arguments=transcript.repeated,
        force=force,
        quiet=True,
    )
    return run_in(
        out or new_folder(domain.stem if domain is not None else transcript.vocabulary.name),
        arguments,
        began,
        target=target,
    )


if __name__ == "__main__":
    sys.exit(run_command(learn_from_traces))
