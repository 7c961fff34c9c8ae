"""``python -m aam_vision.run``: interrogate an agent and print its STRIPS model.

Only light modules are imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from aam_vision.run import targets
from aam_vision.run.arguments import Arguments
from aam_vision.run.checks import check, check_unused, given_about_labels, is_chance_run, recorded_arguments
from aam_vision.support.commandline import (
    AGENT_FAILED,
    INTERRUPTED,
    Progress,
    check_file,
    check_writable,
    told_if_slow,
    told_warnings,
)
from aam_vision.support.errors import AgentFailed, UnusableInput
from aam_vision.support.threads import one_thread

if TYPE_CHECKING:
    from aam_vision.agents.journal import Journal
    from aam_vision.run.chance import ChanceRun
    from aam_vision.run.controls import ControlsRun
    from aam_vision.run.targets import Target
    from aam_vision.run.told import ToldRun

FIRST_LINE = 0.1
"""Seconds of loading after which a line says so."""
LABELS = "labels"
"""The folder, in that of the run, of labels and of the classifiers that learned from them (--label)."""


def interrogate_agent(arguments: Arguments) -> int:
    """Interrogate an agent and print its STRIPS model.

    Examples:
        python -m aam_vision.run --env sokoban --seed 0 --out runs/first
        python -m aam_vision.run --env sokoban --seed 1 --out runs/first --force
        python -m aam_vision.run --domain D.pddl --problem P1.pddl --problem P2.pddl
        python -m aam_vision.run --env doors --max-queries 5 --image-noise 0.1
        python -m aam_vision.run --env sokoban --label --out runs/mine
        python -m aam_vision.run --env sokoban --label --ask atoms --answers 60
        python -m aam_vision.run --env sokoban --controls
        python -m aam_vision.run --domain D.pddl --problem P.pddl --bare "go(?d)=move"
        python -m aam_vision.run --domain D.pddl --problem P.pddl --chance
        python -m aam_vision.run --agent "./my-agent --fast" --access reset
        python -m aam_vision.run --resume runs/first
    """
    began = perf_counter()
    if arguments.record is not None:
        check_file(arguments.record, "--record", ".gif")
    if arguments.resume is not None:
        return _resume(arguments, arguments.resume, began)
    known = None if arguments.controls or arguments.bare else arguments.prior
    if known is not None and is_chance_run(known):
        arguments = replace(arguments, chance=True)
    check(arguments)
    folder = arguments.out or new_folder(_name(arguments))
    return run_in(folder, with_labels(arguments, folder) if arguments.label else arguments, began)


def _name(arguments: Arguments) -> str:
    """What is interrogated, as far as the options tell."""
    if arguments.env is not None:
        return arguments.env.replace(":", "-")  # it names a folder, too
    return arguments.domain.stem if arguments.domain else "agent"


def new_folder(name: str) -> Path:
    """A folder in ``runs`` that is not there yet, with a number where several runs begin in the same second."""
    wanted = f"{name}-{datetime.now():%Y%m%d-%H%M%S}"
    endings = chain([""], (f"-{number}" for number in count(2)))
    folders = (Path("runs") / f"{wanted}{ending}" for ending in endings)
    return next(folder for folder in folders if not folder.exists())


def with_labels(arguments: Arguments, folder: Path) -> Arguments:
    """The options of a run whose classifiers learn from labels that are asked for here, and kept in its folder."""
    from aam_vision.envs.registry import image_domain
    from aam_vision.training.labelling.session import label_walks
    from aam_vision.training.labelling.settings import Session

    given = {name: getattr(arguments, name) for name in ("labels", "ask", "pictures", "answers", "seed")}
    session = Session(**given, out=folder)
    session.check()
    check_writable(folder)
    check_unused(folder, force=arguments.force)
    labels = folder / LABELS
    check_writable(labels)
    assert arguments.env is not None, "checked before"
    label_walks(image_domain(arguments.env), labels, session, Progress())
    return replace(arguments, classifiers=labels)


def _resume(arguments: Arguments, folder: Path, began: float) -> int:
    """Go on with the run in a folder, under the options that its journal has kept."""
    from aam_vision.agents.journal import Journal

    if (
        arguments.out is not None
        or arguments.force
        or arguments.label
        or given_about_labels(arguments)
        or arguments != Arguments(agent=arguments.agent, env=arguments.env).resumed(arguments)
    ):
        raise UnusableInput("the run has its options already; give no other ones", "resume", folder)
    with Journal.open(folder) as journal:
        kept = recorded_arguments(journal, folder, arguments)
        return run_in(folder, kept, began, journal)


@told_warnings()
def run_in(
    folder: Path,
    arguments: Arguments,
    began: float,
    resumed: Journal | None = None,
    target: Target | None = None,
) -> int:
    """Interrogate, from the beginning or from where the journal ends, a ``target`` or what the options name; save and print what was learned.

    A run that was cut short makes the same moves again and gets the recorded answers.
    """
    from aam_vision.planning.engines import planner_named

    planner = planner_named(arguments.planner)
    with ExitStack() as stack:
        if not folder.exists():
            stack.callback(_remove_if_empty, folder)  # where what is asked for is refused
        check_writable(folder)
        if resumed is None:
            check_unused(folder, force=arguments.force)
        with told_if_slow(f"Loading {_name(arguments)}", quiet=arguments.quiet, seconds=FIRST_LINE):
            kind = _kind(arguments)
            target = stack.enter_context(closing(target or targets.of(arguments)))
        run = kind(arguments, planner, target)
        from aam_vision.agents.journal import Journal
        from aam_vision.run.folder import check_images, clear, keep_images, note_origins, recording

        if arguments.record is not None:
            check_images(arguments.record, target)
        journal = stack.enter_context(
            resumed or Journal.create(folder, arguments.json(), arguments.inputs(), force=arguments.force)
        )
        stack.enter_context(recording(arguments.record, folder, journal))
        if resumed is None:
            clear(folder)
        keep_images(target, folder)
        note_origins(target, journal, arguments.assessed())
        try:
            with one_thread():
                ended = run.go(folder, journal, began)
        except KeyboardInterrupt:
            print(f"interrupted; go on with --resume {folder}", file=sys.stderr)
            return INTERRUPTED
        except AgentFailed as error:  # before there was anything to learn
            print(f"error: {error}; go on with --resume {folder}", file=sys.stderr)
            return AGENT_FAILED
        if ended.final:
            journal.note("finished", ended.status)
        if ended.code:
            print(f"error: {ended.why}; what was learned is saved in {folder}", file=sys.stderr)
        elif ended.why:
            print(f"warning: {ended.why}", file=sys.stderr)
    return ended.code


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _kind(arguments: Arguments) -> type[ToldRun | ControlsRun | ChanceRun]:
    """The kind of run that the options ask for."""
    if arguments.controls or arguments.bare:
        from aam_vision.run.controls import ControlsRun

        return ControlsRun
    if arguments.chance:
        from aam_vision.run.chance import ChanceRun

        return ChanceRun
    from aam_vision.run.told import ToldRun

    return ToldRun
