"""``python -m aam_vision.run``: interrogate an agent and print its STRIPS model.

Only light modules are imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from aam_vision import targets
from aam_vision.arguments import MAX_PROBLEM_SIZE, Arguments
from aam_vision.commandline import INTERRUPTED, check_writable, run_command, write_atomically
from aam_vision.errors import AccessViolation, UnusableInput
from aam_vision.recording import check_images, check_recording, recording

if TYPE_CHECKING:
    from collections.abc import Callable

    from aam_vision.agents.counting import CountingAgent
    from aam_vision.agents.journal import Journal
    from aam_vision.interrogation.evidence.graph import Evidence
    from aam_vision.interrogation.evidence.moves import Move, Policy
    from aam_vision.interrogation.statistics.assessment import Assessment
    from aam_vision.interrogation.task.loop import Interrupted
    from aam_vision.interrogation.task.result import Result
    from aam_vision.interrogation.task.trial_design import Proposal
    from aam_vision.planning.planner import Clock
    from aam_vision.strips import Model
    from aam_vision.targets import Target

AGENT_FAILED = 3
"""Exit code when the agent failed for good; what was learned is saved."""


class _Shown(NamedTuple):
    """What a person gets to see; it changes nothing of what is done."""

    quiet: bool
    images: bool
    record: Path | None


def interrogate_agent(
    env: Annotated[
        str | None,
        typer.Option(
            help="Environment of the agent: sokoban, doors, ..., one of a package of yours, or a PDDL domain; with "
            "--agent that whose concepts and classifiers read its images."
        ),
    ] = None,
    domain: Annotated[Path | None, typer.Option(help="A PDDL domain file: a symbolic agent.")] = None,
    agent: Annotated[
        str | None,
        typer.Option(help="A command: any program that speaks the protocol of docs/agent-protocol.md."),
    ] = None,
    agent_seconds: Annotated[float, typer.Option(help="Wall time that it may take for one answer.")] = 60.0,
    agent_memory: Annotated[int, typer.Option(min=1, help="Megabytes of memory that it may take.")] = 4096,
    problem: Annotated[
        list[str] | None,
        typer.Option(help="With --env the number of a problem, with --domain a PDDL file (repeatable)."),
    ] = None,
    problem_size: Annotated[int, typer.Option(min=1, help="Size of a packaged domain's problems.")] = 2,
    access: Annotated[
        str | None,
        typer.Option(
            help="What the agent allows: settable (symbolic agents only), snapshot, reset, or trajectory "
            "(one problem: the first, or the one named); default the most that it can."
        ),
    ] = None,
    policy: Annotated[str, typer.Option(help="How questions are chosen: economical or aia.")] = "economical",
    planner: Annotated[
        str,
        typer.Option(help="pyperplan, or an installed engine of unified-planning, such as fast-downward."),
    ] = "pyperplan",
    repeated_arguments: Annotated[
        bool,
        typer.Option(
            "--repeated-arguments",
            help="Also learn what happens when one object is named twice (symbolic agents only).",
        ),
    ] = False,
    classifiers: Annotated[
        Path | None, typer.Option(help="Folder of classifier weights; default the shipped ones.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
    max_queries: Annotated[int | None, typer.Option(min=0, help="Stop at so many queries.")] = None,
    max_steps: Annotated[
        int | None, typer.Option(min=0, help="Stop at so many steps, walks included.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for results; default runs/ENV-TIME.")] = None,
    image_noise: Annotated[
        float, typer.Option(help="Gaussian noise put on the agent's images: its sigma, 0 to 1.")
    ] = 0.0,
    flip_rate: Annotated[
        float, typer.Option(help="Share of the observed atoms that are flipped, each time anew, 0 to 1.")
    ] = 0.0,
    refusal_rate: Annotated[
        float, typer.Option(help="Share of the executable steps that the agent refuses, 0 to 1.")
    ] = 0.0,
    confidence: Annotated[
        float,
        typer.Option(help="Where answers prove unreliable: how probable the model has to be."),
    ] = 0.999,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Take no answer at its word, even if none proves unreliable.")
    ] = False,
    prior: Annotated[
        Path | None,
        typer.Option(help="A model learned earlier (PDDL): verify it, and say what is different now."),
    ] = None,
    backend: Annotated[str, typer.Option(help="What runs the classifiers: torch or onnx.")] = "torch",
    cache: Annotated[
        Path | None,
        typer.Option(help="File that keeps answers for other runs (deterministic symbolic agents only)."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Folder of a run that was ended: go on with it, with the options that it had."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")] = False,
    images: Annotated[
        bool, typer.Option(help="Show the agent's images while it runs, on a terminal that can.")
    ] = True,
    record: Annotated[
        Path | None, typer.Option(help="Write the images of all queries to this file, an animated GIF.")
    ] = None,
) -> int:
    """Interrogate an agent and print its STRIPS model.

    Examples:
        python -m aam_vision.run --env sokoban --seed 0 --out runs/first
        python -m aam_vision.run --domain D.pddl --problem P1.pddl --problem P2.pddl
        python -m aam_vision.run --env doors --max-queries 5 --image-noise 0.1
        python -m aam_vision.run --agent "./my-agent --fast" --access reset
        python -m aam_vision.run --resume runs/first
    """
    given = Arguments(
        env=env,
        agent=agent,
        agent_seconds=agent_seconds,
        agent_memory=agent_memory,
        domain=None if domain is None else str(domain),
        problem=problem or None,
        problem_size=problem_size,
        access=access,
        policy=policy,
        planner=planner,
        repeated_arguments=repeated_arguments,
        classifiers=None if classifiers is None else str(classifiers),
        seed=seed,
        max_queries=max_queries,
        max_steps=max_steps,
        image_noise=image_noise,
        flip_rate=flip_rate,
        refusal_rate=refusal_rate,
        confidence=confidence,
        confirm=confirm,
        prior=None if prior is None else str(prior),
        backend=backend,
    )
    shown = _Shown(quiet, images, record)
    if record is not None:
        check_recording(record)
    if resume is None:
        _check(given)
        name = env or (domain.stem if domain else "agent")
        folder = out or Path("runs") / f"{name}-{datetime.now():%Y%m%d-%H%M%S}"
        return _run(given, folder, None, cache, shown)
    if out is not None or given != Arguments(agent=agent):
        raise UnusableInput(f"--resume {resume}: the run has its options already; give no other ones")
    from aam_vision.agents.journal import Journal

    with Journal.open(resume) as journal:
        kept = Arguments.from_json(journal.about("arguments"), journal.path)
        if kept.agent != agent:  # a file must not be able to start a program
            raise UnusableInput(
                f"--resume {resume}: a run of {'--agent ' + repr(kept.agent) if kept.agent else 'no program'}; "
                f"{'give that' if kept.agent else 'leave out'} --agent, too"
            )
        _check(kept)
        if kept.inputs() != journal.about("inputs"):
            raise UnusableInput(f"--resume {resume}: the files of that run have changed; start a new run")
        return _run(kept, resume, journal, cache, shown)


def _check(arguments: Arguments) -> None:
    """Say at once what cannot be used, before anything heavy is loaded.

    Raises:
        UnusableInput: the options do not fit together, or name what is not there.
    """
    from aam_vision.interrogation.policies.registry import check_policy

    env, noise = arguments.env, arguments.image_noise
    check_policy(arguments.policy)
    given = [one for one in (env, arguments.domain, arguments.agent) if one is not None]
    if len(given) != 1 and given != [env, arguments.agent]:
        raise UnusableInput(
            "give either --env NAME, or --domain D.pddl with --problem P.pddl, or --agent COMMAND "
            "(with --env NAME if it shows images, for the concepts and classifiers that read them)"
        )
    for name, value in vars(arguments).items():
        if isinstance(value, int) and value >= 2**63:  # what a journal would not take back
            raise UnusableInput(f"--{name.replace('_', '-')}: give a number below 2^63")
    if not 1 <= arguments.problem_size <= MAX_PROBLEM_SIZE:
        raise UnusableInput(
            f"--problem-size {arguments.problem_size}: give a number from 1 to {MAX_PROBLEM_SIZE}"
        )
    if not 1 <= arguments.agent_memory < 2**40:
        raise UnusableInput(f"--agent-memory {arguments.agent_memory}: give a number of megabytes from 1")
    if not 0 < arguments.agent_seconds < 1e6:
        raise UnusableInput(f"--agent-seconds {arguments.agent_seconds:g}: give a number above 0")
    if env is not None and env not in targets.names():
        raise UnusableInput(f"--env {env}: unknown; use one of {', '.join(targets.names())}")
    if not 0 <= noise <= 1 or (noise and env is None):
        raise UnusableInput(
            f"--image-noise {noise:g}: a number from 0 to 1, for an image environment (--env) only"
        )
    for name, rate in (("flip", arguments.flip_rate), ("refusal", arguments.refusal_rate)):
        if not 0 <= rate <= 1:
            raise UnusableInput(f"--{name}-rate {rate:g}: give a number from 0 to 1")
    if not 0.5 <= arguments.confidence < 1:
        raise UnusableInput(f"--confidence {arguments.confidence:g}: give a number from 0.5 to below 1")


def _run(
    arguments: Arguments, folder: Path, resumed: Journal | None, cache: Path | None, shown: _Shown
) -> int:
    """Interrogate, from the beginning or from where the journal ends; save and print what was learned."""
    began = perf_counter()
    from aam_vision.interrogation.policies.confirming import confirmed
    from aam_vision.interrogation.policies.registry import policy_for
    from aam_vision.planning.engines import planner_named
    from aam_vision.planning.planner import Clock, TimedPlanner, cpu_seconds

    timed, clock = TimedPlanner(planner_named(arguments.planner)), Clock()
    check_writable(folder)
    target = targets.of(arguments)
    if shown.record is not None:
        check_images(shown.record, target)
    prior = _prior(arguments, target)
    access = target.agent.access
    policy = policy_for(access, arguments.policy, timed, prior)
    if cache is not None:
        target = targets.cached(target, cache)
    from aam_vision.agents.journal import Journal

    with (
        closing(target),
        resumed or Journal.create(folder, arguments.json(), arguments.inputs()) as journal,
        recording(shown.record, folder, journal),
    ):
        _keep_images(target, folder, anew=resumed is None)
        try:
            moves = confirmed(policy, target.agent, timed)
            afresh = partial(policy_for, access, "economical", timed)
            result, failure = _interrogate(arguments, target, moves, afresh, journal, shown, clock)
        except KeyboardInterrupt:
            print(f"interrupted; go on with --resume {folder}", file=sys.stderr)
            return INTERRUPTED
        from aam_vision.pddl import domain_text
        from aam_vision.summary import summary, text

        model = domain_text(result.model)
        times = {
            "wall_s": round(perf_counter() - began, 3),
            "cpu_s": round(cpu_seconds(), 3),
            "interrogation_s": round(clock.seconds, 3),
            "planner_s": round(timed.seconds, 3),
            "perception_s": target.perception_s(),
        }
        found = summary(arguments, target, result, times, prior)
        write_atomically(folder / "model.pddl", model)
        write_atomically(folder / "result.json", json.dumps(found, indent=2) + "\n")
        print(model)
        print(text(found, result, folder))
        _write_report(target, folder, journal)
        if failure is None or failure.contradicted:  # then the same answers would be the same again
            journal.note("finished", found["status"])
        if failure is not None:
            print(f"error: {failure}; what was learned is saved in {folder}", file=sys.stderr)
            return AGENT_FAILED
    return 0


def _keep_images(target: Target, folder: Path, *, anew: bool) -> None:
    """Have the images that the agent shows kept for the report."""
    from aam_vision.report.album import Album

    album = Album(folder)
    if anew:
        album.clear()
    if target.keep_images is not None:
        target.keep_images(album.keep)


def _write_report(target: Target, folder: Path, journal: Journal) -> None:
    """Write ``report.html``, and what it compares with, from what the folder holds."""
    from aam_vision.pddl import domain_text
    from aam_vision.report.page import page
    from aam_vision.report.recorded import read_journal
    from aam_vision.report.weighed import account_of

    journal.note("sources", target.sources)
    journal.note("scenes", target.scenes())
    if target.truth is not None:
        write_atomically(folder / "truth.pddl", domain_text(target.truth()))
    else:
        (folder / "truth.pddl").unlink(missing_ok=True)
    write_atomically(folder / "report.html", page(account_of(read_journal(folder, journal))))


def _prior(arguments: Arguments, target: Target) -> Model | None:
    """The model learned earlier, if there is one.

    Raises:
        UnusableInput: the file cannot be used, or is a model of another agent.
    """
    if arguments.prior is None:
        return None
    from aam_vision.interrogation.task.differences import check_prior
    from aam_vision.pddl import read_domain

    model = read_domain(Path(arguments.prior))
    check_prior(model, target.agent.vocabulary, target.agent.headers, arguments.prior)
    return model


def _interrogate(
    arguments: Arguments,
    target: Target,
    policy: Policy,
    afresh: Callable[[], Policy],
    journal: Journal,
    shown: _Shown,
    clock: Clock,
) -> tuple[Result, Interrupted | None]:
    """The interrogation by the clock, every exchange of it in the journal; and what ended it early, if anything."""
    import numpy as np

    from aam_vision.agents.journalled import JournalledAgent
    from aam_vision.display import Display, Sights
    from aam_vision.interrogation.task.budget import Budget
    from aam_vision.interrogation.task.loop import Interrupted
    from aam_vision.interrogation.task.robust import interrogate_robustly

    agent = JournalledAgent(target.agent, journal, target.generators)
    sights = Sights(journal.path.parent, agent.image) if shown.images and target.keep_images else None
    with Display(quiet=shown.quiet, sights=sights) as display:

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
                result = interrogate_robustly(
                    agent,
                    policy,
                    np.random.default_rng(seed),
                    afresh=afresh,
                    budget=Budget(arguments.max_queries, arguments.max_steps),
                    repeated=arguments.repeated_arguments,
                    confidence=arguments.confidence,
                    confirm=arguments.confirm,
                    record=agent,
                    watch=watch,
                    watch_trial=watch_trial,
                )
        except Interrupted as error:
            return error.result, error
        except AccessViolation as error:
            if agent.live:
                raise
            raise UnusableInput(f"{journal.path}: no transcript of such a run ({error})") from None
    return result, None


if __name__ == "__main__":
    sys.exit(run_command(interrogate_agent))
