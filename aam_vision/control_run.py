"""A run that knows only the controls of an agent: ``python -m aam_vision.run --controls`` or ``--bare``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from aam_vision.checks import check_unused
from aam_vision.commandline import Progress, check_writable, told_if_slow, write_atomically
from aam_vision.errors import AgentFailed
from aam_vision.labelling_note import with_other_cause
from aam_vision.wording import counted, listed

if TYPE_CHECKING:
    from aam_vision.agents.journal import Journal
    from aam_vision.arguments import Arguments
    from aam_vision.controls.conditional import Split
    from aam_vision.controls.result import ControlsResult
    from aam_vision.strips import ActionHeader, LiftedAtom
    from aam_vision.targets.controls import ControlTarget

AGENT_FAILED, CONTRADICTED = 3, 4
"""Exit codes, as of every run."""
NATIVE_STEPS = 1000
"""Held-out steps on which the learned model is compared with the environment."""


def run_controls(arguments: Arguments, folder: Path, name: str, resumed: Journal | None) -> int:
    """Interrogate an agent of which only the controls are known; save and print what was learned.

    A run that was cut short makes the same moves again and gets the recorded answers.

    Raises:
        UnusableInput: the agent or an option cannot be used, or the folder holds another run.
        AgentFailed: the agent can no longer answer.
    """
    began = perf_counter()
    from aam_vision.agents.journal import Journal
    from aam_vision.agents.journalled import JournalledAgent
    from aam_vision.control_folder import clear_operators
    from aam_vision.controls.interrogating import Options, interrogate
    from aam_vision.interrogation.task.verdict import NOT_STRIPS
    from aam_vision.planning.engines import planner_named
    from aam_vision.run_folder import clear, keep_images, note_origins
    from aam_vision.targets.controls import of

    planner = planner_named(arguments.planner)
    check_writable(folder)
    if resumed is None:
        check_unused(folder, force=arguments.force)
    with told_if_slow(f"Loading {name}", quiet=arguments.quiet, seconds=0.1):
        known = of(arguments)
    target = known.target
    with (
        closing(target),
        resumed
        or Journal.create(folder, arguments.json(), arguments.inputs(), force=arguments.force) as journal,
    ):
        if resumed is None:
            clear(folder)
            clear_operators(folder)
        keep_images(target, folder)
        note_origins(target, journal)
        agent = JournalledAgent(target.agent, journal, target.generators)
        progress = Progress()
        options = Options(
            arguments.max_steps,
            arguments.max_queries,
            arguments.exam,
            arguments.confirm,
            (lambda text: None) if arguments.quiet else progress.stage,
        )
        try:
            result = interrogate(agent, arguments.seed, options, planner)
        except AgentFailed as error:
            print(f"error: {error}; go on with --resume {folder}", file=sys.stderr)
            return AGENT_FAILED
        told = _save(folder, arguments, known, result, journal, perf_counter() - began)
        journal.note("finished", told["status"])
    if told["status"] == NOT_STRIPS:
        print(f"error: {_why(told, folder)}; what was learned is saved in {folder}", file=sys.stderr)
        return CONTRADICTED
    if why := _why(told, folder):
        print(f"warning: {why}", file=sys.stderr)
    return 0


def _why(told: dict[str, Any], folder: Path) -> str:
    """Why a result is worth less, in one line, with the images of the situations that show it; empty if it is not."""
    diagnosis = told["diagnosis"]
    if diagnosis is None:
        return str(told["why"])
    names = [one["image"] for one in diagnosis["examples"]]
    shown = " and ".join(f"{folder}/frames/{name}.png" for name in names)
    if diagnosis["otherwise"]:
        return f"{diagnosis['why']}; or pictures were misread (diagnosis in result.json)"
    return f"{diagnosis['why']}{'' if not names or None in names else f' (compare {shown})'}"


def _save(
    folder: Path,
    arguments: Arguments,
    known: ControlTarget,
    result: ControlsResult,
    journal: Journal,
    wall_s: float,
) -> dict[str, Any]:
    """Write the files of the run, print the model and the summary, and return the contents of ``result.json``."""
    from aam_vision.control_folder import keep_operators
    from aam_vision.controls.conditional_text import conditional_text
    from aam_vision.controls.mapping import CONDITIONAL
    from aam_vision.interrogation.task.result_text import aligned
    from aam_vision.pddl import domain_text
    from aam_vision.report.recorded import images
    from aam_vision.run_folder import write_report
    from aam_vision.summary import abilities_of_controls, diagnosis_figures, figures_of_controls

    if result.interrogation is not None and result.operators:
        keep_operators(folder, result.interrogation.transcript)
    model = domain_text(result.model)
    told: dict[str, Any] = {
        "diagnosis": None,
        **figures_of_controls(arguments, result, partial(images, journal)),
        **figures(arguments, known, result, wall_s),
    }
    if result.diagnosis is not None:
        diagnosis = with_other_cause(result.diagnosis, arguments.classifiers)
        told["diagnosis"] = diagnosis_figures(diagnosis, partial(images, journal))
    write_atomically(folder / "model.pddl", model)
    if result.conditional.actions:
        write_atomically(folder / CONDITIONAL, conditional_text(result.model, result.conditional))
    known_operators = {header.name for header in result.model.headers}  # none where nothing was interrogated
    mapping = [one for one in result.mapping if one["operator"] in known_operators]
    write_atomically(folder / "controls.json", json.dumps(mapping, indent=2) + "\n")
    write_atomically(folder / "result.json", json.dumps(told, indent=2) + "\n")
    print(model)
    can = abilities_of_controls(result)
    agent = [("" if number else "agent", part) for number, part in enumerate(can.parts)]
    print(aligned([*agent, *lines(told, folder)]))
    write_report(replace(known.target, truth=None), folder, journal)  # its operators are others
    return told


def figures(
    arguments: Arguments, known: ControlTarget, result: ControlsResult, wall_s: float
) -> dict[str, Any]:
    """The contents of ``result.json``; ``native_equivalent`` is measured here, after the interrogation."""
    import numpy as np

    from aam_vision.planning.planner import cpu_seconds

    inner = result.interrogation
    cpu_s = cpu_seconds()
    steps = known.native_steps(NATIVE_STEPS, np.random.default_rng([arguments.seed, 3]))
    right = sum(result.predictions.agrees(*step) for step in steps)
    within, beyond = result.certain
    return {
        "env": known.target.name,
        "seed": arguments.seed,
        "access": known.target.agent.access.value,
        "status": result.status,
        "why": result.why,
        "controls": [str(control) for control in result.controls],
        "operators": [str(operator.header) for operator in result.operators],
        "constants": dict(result.discovery.vocabulary.constants),
        "unexplained": len(result.unexplained),
        "idle": list(result.idle),
        "two_ways": None if result.two_ways is None else str(result.two_ways[0].control),
        "guessed": list(result.guessed),
        "conditional": conditional_figures(result.conditional),
        "not_conditional": dict(result.conditional.apart),
        "native_equivalent": right / len(steps) if steps else None,
        "native_steps": len(steps),
        "steps": result.steps,
        "idle_tried": {name: len(result.transitions[name]) for name in result.idle},
        "idle_covered": result.covered or result.exhausted,
        "watched_steps": result.watched,
        "in_a_row": result.in_a_row,
        "exam_steps": 0 if inner is None else inner.exam.steps,
        "queries": 0 if inner is None else inner.counts.queries,
        "discoveries": result.rounds,
        "pal_tuples": 0 if inner is None else inner.hypotheses.size,
        "case_bound": round(result.case_bound, 4),
        "certain_within": within,
        "certain_beyond": beyond,
        "wall_s": round(wall_s, 3),
        "cpu_s": round(cpu_s, 3),
        "perception_s": known.target.perception_s(),
    }


def conditional_figures(split: Split) -> list[dict[str, Any]]:
    """The actions with conditional effects that cases make, for ``result.json``."""

    def literals(true: Iterable[LiftedAtom], false: Iterable[LiftedAtom], header: ActionHeader) -> list[str]:
        names = header.parameters
        return sorted(atom.text(names) for atom in true) + sorted(f"not {atom.text(names)}" for atom in false)

    return [
        {
            "action": str(action.header),
            "control": action.control,
            "precondition": literals(action.positive, action.negative, action.header),
            "effects": literals(action.effects.add, action.effects.delete, action.header),
            "one_condition_required": action.one_required,
            "cases": [
                {
                    "operator": one.operator,
                    "condition": literals(one.positive, one.negative, action.header),
                    "effects": literals(one.effects.add, one.effects.delete, action.header),
                }
                for one in action.branches
            ],
            "overlapping": [list(pair) for pair in action.overlapping],
        }
        for action in split.actions
    ]


def lines(told: dict[str, Any], folder: Path) -> list[tuple[str, str]]:
    """The summary for a person."""
    equal = told["native_equivalent"]
    return [
        ("status", told["status"] + (f": {told['why']}" if told["why"] else "")),
        ("controls", ", ".join(told["controls"])),
        *(("" if number else "operators", text) for number, text in enumerate(told["operators"])),
        *_conditional(told),
        ("within", told["certain_within"]),
        ("beyond", told["certain_beyond"]),
        (
            "steps",
            f"{counted(told['steps'], 'control')} given; {counted(told['queries'], 'query')}, "
            f"{counted(told['discoveries'], 'discovery')}",
        ),
        (
            "held out",
            "nothing to compare with"
            if equal is None
            else f"{100 * equal:.1f}% of {told['native_steps']} steps predicted exactly",
        ),
        ("time", f"{told['cpu_s']:.1f} CPU s ({told['perception_s'] or 0:.1f} perception)"),
        ("saved in", str(folder)),
    ]


def _conditional(told: dict[str, Any]) -> list[tuple[str, str]]:
    """Which cases are one action with conditional effects, and which are not, and why."""
    found = [
        f"{listed([case['operator'] for case in one['cases']])} are one action in model-when.pddl: {one['action']}"
        for one in told["conditional"]
    ]
    found += [f"not all cases of {control}: {why}" for control, why in told["not_conditional"].items()]
    return [("" if number else "when", text) for number, text in enumerate(found)]
