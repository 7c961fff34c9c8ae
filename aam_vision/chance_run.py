"""A run that learns how often: ``python -m aam_vision.run --chance``."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from aam_vision.chance_figures import CONFIDENCE, figures
from aam_vision.checks import check_unused
from aam_vision.commandline import (
    AGENT_FAILED,
    NOT_EXPLAINED,
    Progress,
    check_writable,
    told_if_slow,
    write_atomically,
)
from aam_vision.errors import AgentFailed
from aam_vision.wording import counted

if TYPE_CHECKING:
    from aam_vision.agents.journal import Journal
    from aam_vision.arguments import Arguments
    from aam_vision.chance.interrogating import ChanceResult
    from aam_vision.chance.looking import LookingAgent
    from aam_vision.chance.prior import Prior
    from aam_vision.query import Agent
    from aam_vision.targets.chance import ChanceTarget

TOLD = 1000
"""Steps after which progress is told where there is no limit."""


def run_chance(arguments: Arguments, folder: Path, name: str, resumed: Journal | None) -> int:
    """Interrogate an agent whose steps may have several outcomes; save and print what was learned.

    A run that was cut short makes the same moves again and gets the recorded answers.

    Raises:
        UnusableInput: the agent or an option cannot be used, or the folder holds another run.
    """
    began = perf_counter()
    import numpy as np

    from aam_vision.agents.journal import Journal
    from aam_vision.agents.journalled import JournalledAgent
    from aam_vision.chance.interrogating import Options, interrogate, most_steps
    from aam_vision.chance.looking import LookingAgent
    from aam_vision.interrogation.task.verdict import FAILED, NOT_STRIPS
    from aam_vision.resources import MEGABYTES, Resources
    from aam_vision.run_folder import clear, keep_images, note_origins
    from aam_vision.targets.chance import of

    check_writable(folder)
    if resumed is None:
        check_unused(folder, force=arguments.force)
    with told_if_slow(f"Loading {name}", quiet=arguments.quiet, seconds=0.1):
        known = of(arguments)
        prior = _prior(arguments, known)
    with (
        closing(known.target),
        resumed
        or Journal.create(folder, arguments.json(), arguments.inputs(), force=arguments.force) as journal,
    ):
        if resumed is None:
            clear(folder)
        keep_images(known.target, folder)
        note_origins(known.target, journal)
        agent: Agent = JournalledAgent(known.target.agent, journal, known.target.generators)
        looking = LookingAgent(agent, arguments.confidence) if arguments.confirm else None
        usual, limit = most_steps(arguments.within), arguments.max_steps
        watch = _progress(arguments, known, usual)
        resources = Resources(arguments.max_seconds, MEGABYTES)
        options = Options(
            arguments.within, 1 - CONFIDENCE, usual if limit is None else limit, prior, resources
        )
        try:
            result = interrogate(looking or agent, np.random.default_rng(arguments.seed), options, watch)
        except AgentFailed as error:  # before there was anything to learn
            print(f"error: {error}; go on with --resume {folder}", file=sys.stderr)
            return AGENT_FAILED
        told = _save(folder, arguments, known, result, looking, journal, perf_counter() - began)
        if result.status != FAILED:
            journal.note("finished", told["status"])
    if result.status in (FAILED, NOT_STRIPS):
        print(f"error: {told['why']}; what was learned is saved in {folder}", file=sys.stderr)
        return AGENT_FAILED if result.status == FAILED else NOT_EXPLAINED
    return 0


def _progress(arguments: Arguments, known: ChanceTarget, usual: int) -> Any:
    """Tells how many steps are taken at most if nothing else was said, and now and then how many were taken."""
    if arguments.quiet:
        return None
    progress = Progress()
    target, limit = known.target, arguments.max_steps
    most = f"; at most {usual} steps (--max-steps)" if limit is None else ""
    progress.stage(
        f"Interrogating {target.name} (problems {', '.join(target.problems)}), seed {arguments.seed}{most}"
    )

    def watch(steps: int, model: object) -> None:
        if limit is not None:
            progress.step(min(steps, limit), limit, "steps")
        elif steps % TOLD == 0:
            progress.stage(f"  {steps} steps")

    return watch


def _save(
    folder: Path,
    arguments: Arguments,
    known: ChanceTarget,
    result: ChanceResult,
    looking: LookingAgent | None,
    journal: Journal,
    wall_s: float,
) -> dict[str, Any]:
    """Write the files of the run, print the model and the summary, and return the contents of ``result.json``."""
    from aam_vision.interrogation.task.result_text import aligned
    from aam_vision.pddl import chance_domain_text
    from aam_vision.report.chance import sentence
    from aam_vision.report.chance_account import ChanceAccount
    from aam_vision.report.chance_page import page
    from aam_vision.report.recorded import read_journal

    told = figures(arguments, known, result, looking, wall_s)
    model = chance_domain_text(result.model)
    write_atomically(folder / "model.pddl", model)
    if known.truth is not None:
        write_atomically(folder / "truth.pddl", chance_domain_text(known.truth()))
    write_atomically(folder / "result.json", json.dumps(told, indent=2) + "\n")
    print(model)
    sentences = [
        ("" if number else "agent", sentence(action)) for number, action in enumerate(result.actions)
    ]
    print(aligned([*sentences, *lines(told, folder)]))
    write_atomically(folder / "report.html", page(ChanceAccount(read_journal(folder, journal))))
    return told


def _prior(arguments: Arguments, known: ChanceTarget) -> Prior | None:
    """What was learned earlier, if that is given.

    Raises:
        UnusableInput: it cannot be used; the agent has been closed.
    """
    if arguments.prior is None:
        return None
    from aam_vision.errors import UnusableInput
    from aam_vision.report.chance_changes import earlier

    try:
        return earlier(arguments.prior, known.target.agent, None if arguments.agent else arguments.seed)
    except UnusableInput:
        known.target.close()
        raise


def lines(told: dict[str, Any], folder: Path) -> list[tuple[str, str]]:
    """The summary for a person."""
    from aam_vision.report.chance import ASSUMED, ASSUMED_OF_LOOKS

    return [
        ("status", f"{told['status']}: {told['why']}"),
        ("assumed", ASSUMED if told["misread"] is None else ASSUMED_OF_LOOKS),
        ("sure", _sure(told)),
        *_looks(told),
        *_open(told),
        *_not_tried(told),
        *_unread(told),
        *_changed(told),
        (
            "steps",
            f"{told['steps']} ({told['walk_steps']} walked, {told['failed_steps']} failed, {told['resets']} resets)",
        ),
        *_truth(told),
        ("time", f"{told['cpu_s']:.1f} CPU s"),
        ("saved in", str(folder)),
    ]


def _sure(told: dict[str, Any]) -> str:
    """How sure the intervals are."""
    from aam_vision.interrogation.task.verdict import NOT_STRIPS

    if told["status"] == NOT_STRIPS:
        return "nothing: no model with fixed outcomes explains the answers"
    halves = [
        (one["interval"][1] - one["interval"][0]) / 2
        for outcomes in told["outcomes"].values()
        for one in outcomes
    ]
    return (
        f"all intervals of an action hold together with {100 * told['confidence']:.0f}%, however long one looks; the widest "
        f"is ±{max(halves, default=1.0):.3f}"
    )


def _looks(told: dict[str, Any]) -> list[tuple[str, str]]:
    """How often situations were looked at, where they were looked at again."""
    if told["misread"] is None:
        return []
    text = (
        f"{told['looks']} beside the first ones at {counted(told['situations'], 'situation')}; one look shows "
        f"{100 * told['misread']:.1f}% of the atoms wrongly; that any is read wrongly has a probability of at most {told['reading_error']:.2g}"
    )
    return [("looks", text)]


def _unread(told: dict[str, Any]) -> list[tuple[str, str]]:
    """How many steps led where it could not be read what is true."""
    if not (lost := sum(told["unread"].values())):
        return []
    text = f"{counted(lost, 'executed step')} led to what could not be read; intervals and what is not excluded allow for any outcome of these"
    return [("unread", text)]


def _changed(told: dict[str, Any]) -> list[tuple[str, str]]:
    """What is different from what was learned earlier, where something was."""
    from aam_vision.report.chance_changes import lines as of_changes

    return [] if told["differences"] is None else of_changes(told)


def _truth(told: dict[str, Any]) -> list[tuple[str, str]]:
    """The comparison with the truth, where there is one."""
    if told["exact"] is None:
        return []
    return [
        (
            "truth",
            f"variational distance {told['variational_distance']:.3f}; {told['wrong_certain']} certain lines wrong; "
            f"{told['intervals_right']} of {told['intervals']} intervals right; structure "
            f"{'exact' if told['exact'] else 'equal where it was compared' if told['equivalent'] else 'not the same'}",
        )
    ]


def _not_tried(told: dict[str, Any]) -> list[tuple[str, str]]:
    """Of which steps nothing is claimed."""
    from aam_vision.report.chance import not_tried

    text = not_tried(told["not_tried"])
    return [("not tried", f"{text}; nothing is claimed of them")] if text else []


def _open(told: dict[str, Any]) -> list[tuple[str, str]]:
    """How many preconditions are left open, and what is printed for them."""
    count = sum(len(one["group"]) for one in told["undetermined"])
    if not count:
        return []
    text = f"{counted(count, 'literal')} of preconditions, which result.json lists; of these, the model has those that are positive"
    return [("undetermined", text)]
