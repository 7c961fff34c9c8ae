"""``python -m aam_vision.run``: interrogate an agent and print its STRIPS model.

Only light modules are imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from aam_vision import targets
from aam_vision.arguments import Arguments
from aam_vision.checks import check, check_unused, given_about_labels, recorded_arguments
from aam_vision.commandline import (
    AGENT_FAILED,
    INTERRUPTED,
    NOT_EXPLAINED,
    Progress,
    check_writable,
    run_command,
    told_if_slow,
    told_warnings,
)
from aam_vision.errors import AamWarning, AccessViolation, UnusableInput
from aam_vision.labelling_note import told_unlike, untested, with_other_cause
from aam_vision.recording import check_images, check_recording, recording

if TYPE_CHECKING:
    from aam_vision.agents.counting import CountingAgent
    from aam_vision.agents.journal import Journal
    from aam_vision.interrogation.evidence.graph import Evidence
    from aam_vision.interrogation.evidence.moves import Move
    from aam_vision.interrogation.statistics.assessment import Assessment
    from aam_vision.interrogation.task.assembly import Interrogation
    from aam_vision.interrogation.task.loop import Interrupted
    from aam_vision.interrogation.task.result import Result
    from aam_vision.interrogation.task.trial_design import Proposal
    from aam_vision.planning.planner import Clock, Planner
    from aam_vision.strips import Model
    from aam_vision.targets import Target

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
        check_recording(arguments.record)
    if arguments.resume is not None:
        return _resume(arguments, arguments.resume, began)
    check(arguments)
    folder = arguments.out or _new_folder(_name(arguments))
    return _run(_labelled(arguments, folder) if arguments.label else arguments, folder, None, began)


def _name(arguments: Arguments) -> str:
    """What is interrogated, as far as the options tell."""
    if arguments.env is not None:
        return arguments.env.replace(":", "-")  # it names a folder, too
    return arguments.domain.stem if arguments.domain else "agent"


def _new_folder(name: str) -> Path:
    """A folder in ``runs`` that is not there yet, with a number where several runs begin in the same second."""
    wanted = f"{name}-{datetime.now():%Y%m%d-%H%M%S}"
    endings = chain([""], (f"-{number}" for number in count(2)))
    folders = (Path("runs") / f"{wanted}{ending}" for ending in endings)
    return next(folder for folder in folders if not folder.exists())


def _labelled(arguments: Arguments, folder: Path) -> Arguments:
    """The options of a run whose classifiers learn from labels that are asked for here, and kept in its folder."""
    from aam_vision.envs.registry import image_domain
    from aam_vision.training.labelling.session import label_walks
    from aam_vision.training.labelling.settings import Session

    session = Session(
        labels=arguments.labels,
        ask=arguments.ask,
        pictures=arguments.pictures,
        answers=arguments.answers,
        seed=arguments.seed,
        out=folder,
    )
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
        return _run(kept, folder, journal, began)


@told_warnings()
def _run(arguments: Arguments, folder: Path, resumed: Journal | None, began: float) -> int:
    """Interrogate, from the beginning or from where the journal ends; save and print what was learned."""
    if arguments.controls or arguments.bare:
        from aam_vision.control_run import run_controls

        return run_controls(arguments, folder, _name(arguments), resumed)
    if arguments.chance:
        from aam_vision.chance_run import run_chance

        return run_chance(arguments, folder, _name(arguments), resumed)
    from aam_vision.planning.engines import planner_named
    from aam_vision.planning.planner import Clock, TimedPlanner

    planner, clock = TimedPlanner(planner_named(arguments.planner)), Clock()
    check_writable(folder)
    if resumed is None:
        check_unused(folder, force=arguments.force)
    if arguments.write_ppo is not None:
        check_writable(arguments.write_ppo, "--write-ppo")
    with told_if_slow(f"Loading {_name(arguments)}", quiet=arguments.quiet, seconds=FIRST_LINE):
        target = targets.of(arguments)
    if arguments.record is not None:
        check_images(arguments.record, target)
    interrogation = _interrogation(arguments, target, planner)
    if arguments.cache is not None:
        target = targets.cached(target, arguments.cache)
    from aam_vision.agents.image import image_test, unlike
    from aam_vision.agents.journal import Journal
    from aam_vision.run_folder import Times, clear, keep_images, note_origins, save

    with (
        closing(target),
        resumed
        or Journal.create(folder, arguments.json(), arguments.inputs(), force=arguments.force) as journal,
        recording(arguments.record, folder, journal),
    ):
        if resumed is None:
            clear(folder)
        keep_images(target, folder)
        note_origins(target, journal)
        try:
            result, failure = _interrogated(arguments, interrogation, target, journal, clock)
        except KeyboardInterrupt:
            print(f"interrupted; go on with --resume {folder}", file=sys.stderr)
            return INTERRUPTED
        if failure is not None and not journal.rows():  # before there was anything to learn
            print(f"error: {failure}; go on with --resume {folder}", file=sys.stderr)
            return AGENT_FAILED
        test, own = image_test(target.agent), arguments.classifiers
        if strange := told_unlike(unlike(target.agent), target.problems, target.name):
            warnings.warn(strange, AamWarning, stacklevel=2)
        result = replace(result, untested=untested(own, test))
        if result.diagnosis is not None:
            result = replace(result, diagnosis=with_other_cause(result.diagnosis, own, test, strange))
        times = Times(began, clock.seconds, planner.seconds, target.perception_s())
        status = save(folder, arguments, target, result, times, interrogation.prior, journal)
        if failure is None or failure.contradicted:  # then the same answers would be the same again
            journal.note("finished", status)
        if result.not_strips:
            print(f"error: {_accusation(result)}; what was learned is saved in {folder}", file=sys.stderr)
            return NOT_EXPLAINED
        if result.suspected:
            print(f"warning: {result.missing}; what was learned is saved in {folder}", file=sys.stderr)
            return 0
        if failure is not None:
            print(f"error: {failure}; what was learned is saved in {folder}", file=sys.stderr)
            return AGENT_FAILED
    return 0


def _accusation(result: Result) -> str:
    """What is wrong with the agent, in a line."""
    assert result.diagnosis is not None, "only then it is accused"
    found = result.diagnosis
    return (
        f"{found.why}; or pictures were misread (diagnosis in result.json)" if found.otherwise else found.why
    )


def _interrogation(arguments: Arguments, target: Target, planner: Planner) -> Interrogation:
    """How the options say that the agent is interrogated.

    Raises:
        UnusableInput: they do not fit the agent.
    """
    from aam_vision.interrogation.task.assembly import Interrogation
    from aam_vision.interrogation.task.budget import Budget
    from aam_vision.resources import MEGABYTES, Resources

    resources = Resources(arguments.max_seconds, MEGABYTES)
    return Interrogation(
        target.agent,
        policy=arguments.policy,
        planner=planner,
        prior=_prior(arguments, target),
        budget=Budget(arguments.max_queries, arguments.max_steps, resources),
        repeated=arguments.repeated_arguments,
        confidence=arguments.confidence,
        confirm=arguments.confirm,
        exam=arguments.exam,
        copies=target.copies,
        write_ppo=arguments.write_ppo,
    )


def _prior(arguments: Arguments, target: Target) -> Model | None:
    """The model learned earlier, if there is one.

    Raises:
        UnusableInput: the file cannot be used, or is a model of another agent.
    """
    if arguments.prior is None:
        return None
    from aam_vision.interrogation.task.result import check_prior
    from aam_vision.pddl import read_domain

    model = read_domain(arguments.prior)
    check_prior(model, target.agent.vocabulary, target.agent.headers, arguments.prior)
    return model


def _interrogated(
    arguments: Arguments, interrogation: Interrogation, target: Target, journal: Journal, clock: Clock
) -> tuple[Result, Interrupted | None]:
    """The result of the interrogation, with every exchange in the journal; and what ended it early, if anything."""
    import numpy as np

    from aam_vision.agents.decorator import AnnouncedAgent
    from aam_vision.agents.journalled import JournalledAgent
    from aam_vision.display import Display, Sights
    from aam_vision.interrogation.task.loop import Interrupted
    from aam_vision.interrogation.task.robust import Observer

    announced = AnnouncedAgent(target.agent, lambda text: display.announce(text))
    agent = JournalledAgent(announced, journal, target.generators, target.crew)
    interrogation = replace(interrogation, agent=agent)
    sights = Sights(journal.path.parent, agent.image) if arguments.images and target.keep_images else None
    with Display(quiet=arguments.quiet, sights=sights) as display:

        def watch(move: Move, evidence: Evidence, counting: CountingAgent) -> None:
            if agent.live:
                display.watch(move, evidence, counting)

        def watch_trial(proposal: Proposal, assessment: Assessment, counting: CountingAgent) -> None:
            if agent.live:
                display.watch_trial(proposal, assessment, counting)

        seed, problems = arguments.seed, ", ".join(target.problems)
        display.say(f"Interrogating {target.name} (problems {problems}), seed {seed}")
        if agent.recorded:
            display.say(f"Going on after {agent.recorded} recorded exchanges, which are not made again")
        try:
            with clock:
                result = interrogation.run(
                    np.random.default_rng(seed), record=agent, observer=Observer(watch, watch_trial)
                )
        except Interrupted as error:
            return error.result, error
        except AccessViolation as error:
            if agent.live:
                raise
            raise UnusableInput(f"{journal.path}: not a transcript of such a run ({error})") from None
    return result, None


if __name__ == "__main__":
    sys.exit(run_command(interrogate_agent))
