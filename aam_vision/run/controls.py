"""A run that knows only the controls of an agent: ``python -m aam_vision.run --controls`` or ``--bare``."""

from __future__ import annotations

import json
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from aam_vision.agents.image import image_test, unlike
from aam_vision.agents.journal import OPERATORS, Journal
from aam_vision.agents.journalled import JournalledAgent
from aam_vision.interrogation.controls.chance import told as told_of_chance
from aam_vision.interrogation.controls.conditional import Split, conditional_text
from aam_vision.interrogation.controls.interrogating import Options, interrogate
from aam_vision.interrogation.controls.mapping import CONDITIONAL, carriers, read_carriers
from aam_vision.interrogation.controls.misreading import Misread
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.controls.prior import Prior
from aam_vision.interrogation.controls.result import ControlsResult
from aam_vision.interrogation.controls.result import figures as result_figures
from aam_vision.interrogation.task.repeated_looks import LookingAgent
from aam_vision.interrogation.task.result import check_prior
from aam_vision.interrogation.task.verdict import FAILED
from aam_vision.model.pddl import domain_text, read_domain
from aam_vision.model.query import Agent
from aam_vision.model.strips import ActionHeader, GroundAction, LiftedAtom, State
from aam_vision.planning.planner import Planner, cpu_seconds
from aam_vision.report.abilities import ControlNames, abilities
from aam_vision.report.album import FOLDER as FRAMES
from aam_vision.report.album import drawn
from aam_vision.report.differences import Cases, cases, matched
from aam_vision.report.recorded import images
from aam_vision.run.arguments import Arguments
from aam_vision.run.folder import keep_transcript, save
from aam_vision.run.labelling_note import told_unlike, untested, with_other_cause
from aam_vision.run.summary import (
    Ended,
    accusation,
    diagnosis_figures,
    exit_code,
    figures_of_controls,
    first_figures,
    look_figures,
    look_lines,
    under,
)
from aam_vision.run.targets import Target
from aam_vision.support.commandline import Progress, write_atomically
from aam_vision.support.errors import AamWarning
from aam_vision.support.resources import ENDING_SECONDS, MEGABYTES, Resources, ResourcesSpent
from aam_vision.support.wording import some

SHOWN = 4
"""Atoms of a doubtful image that are named."""
AT_WORK = "still giving controls, or working out what explains what they did"
WORST = 3
"""Kinds of change that are predicted worst, which the summary names."""
NATIVE_STEPS = 1000
"""Held-out steps on which the learned model is compared with the environment."""


class ControlsRun:
    """A run of an agent of which only the controls are known. Raises UnusableInput, AgentFailed: it or an option cannot be used; it does not start."""

    def __init__(self, arguments: Arguments, planner: Planner, target: Target) -> None:
        self._arguments = arguments
        self._planner = planner
        self.target = target
        self._prior = _prior(arguments, target)

    def go(self, folder: Path, journal: Journal, began: float) -> Ended:
        """Interrogate, and save and print what was learned. Raises AgentFailed: before there was anything to learn."""
        arguments, target = self._arguments, self.target
        agent: Agent = JournalledAgent(target.agent, journal, target.generators, target.crew)
        looking = LookingAgent(agent, arguments.confidence, whole=False) if arguments.confirm else None
        progress = Progress()
        options = Options(
            arguments.max_steps,
            arguments.max_queries,
            arguments.exam,
            (lambda text: None) if arguments.quiet else progress.stage,
            Resources(arguments.max_seconds, MEGABYTES),
            target.copies,
            self._prior,
        )
        with progress.never_silent(AT_WORK, quiet=arguments.quiet):
            result = interrogate(looking or agent, arguments.seed, options, self._planner)
        told = self._save(folder, journal, result, looking, perf_counter() - began)
        status = told["status"]
        return Ended(status, status != FAILED, _why(told, folder), exit_code(status))

    def _differences(self, result: ControlsResult) -> Cases | None:
        """Which cases only the earlier run has, or only this one, or begin elsewhere now; None without an earlier run."""
        prior, model = self._prior, result.model
        if prior is None:
            return None
        now = cases(model, carriers(result.mapping, model) if model.headers else {})
        return matched(cases(prior.model, prior.carriers), now)

    def _save(
        self,
        folder: Path,
        journal: Journal,
        result: ControlsResult,
        looking: LookingAgent | None,
        wall_s: float,
    ) -> dict[str, Any]:
        """Write the files of the run, print the model and the summary, and return the contents of ``result.json``."""
        arguments, target, differences = self._arguments, self.target, self._differences(result)
        test = image_test(target.agent)
        result = replace(result, untested=untested(arguments.classifiers, test))
        if result.interrogation is not None and result.operators:
            keep_transcript(folder / OPERATORS, result.interrogation.transcript)
        unfamiliar = unlike(target.agent)
        told: dict[str, Any] = {
            "diagnosis": None,
            "misread": [],
            "unlike": [one._asdict() for one in unfamiliar],
            **figures_of_controls(arguments, result, partial(images, journal)),
            **look_figures(looking),
            "differences": None if differences is None else differences.json(),
            **figures(arguments, target, result, wall_s),
        }
        if strange := told_unlike(unfamiliar, target.problems, target.name):
            warnings.warn(strange, AamWarning, stacklevel=2)
        if result.diagnosis is not None:
            diagnosis = with_other_cause(result.diagnosis, arguments.classifiers, test, strange)
            told["diagnosis"] = diagnosis_figures(diagnosis, partial(images, journal))
        if result.misread is not None:
            told["misread"] = _misread(folder, target, result.misread, images(journal))
            told["why"] = told["missing"] = _told_misread(result.misread, told["misread"], arguments, folder)
        if result.conditional.actions:
            write_atomically(folder / CONDITIONAL, conditional_text(result.model, result.conditional))
        write_atomically(folder / "controls.json", json.dumps(result.mapping, indent=2) + "\n")
        carried = {operator.header.name: operator.control for operator in result.operators}
        names = ControlNames(tuple(control.name for control in result.controls), carried, result.idle)
        can = abilities(result.model, carried, complete=result.proven, controls=names)
        summary = [*under("agent", can.parts), *result_figures(result)]
        if differences is not None:
            summary += under("differences", differences.texts("before", "now"))
        summary += [*look_lines(told), *lines(told)]
        # no truth: its operators are others
        save(folder, journal, domain_text(result.model), told, summary, truth=None)
        return told


def _prior(arguments: Arguments, target: Target) -> Prior | None:
    """What an earlier run found out, if that is given: its folder, or the model in it."""
    path = arguments.prior_model
    if path is None:
        return None
    model = read_domain(path)
    check_prior(model, target.agent.vocabulary, model.headers, arguments.prior)
    return Prior(model, read_carriers(path.parent, model, target.agent.headers))


def _why(told: dict[str, Any], folder: Path) -> str:
    """Why a result is worth less, in one line, with the images of the situations that show it; empty if it is not."""
    diagnosis = told["diagnosis"]
    if diagnosis is None or told["misread"]:
        return str(told["why"])
    names = [one["image"] for one in diagnosis["examples"]]
    shown = " and ".join(f"{folder}/frames/{name}.png" for name in names)
    if diagnosis["otherwise"] or not names or None in names:
        return accusation(diagnosis["why"], diagnosis["otherwise"])
    return f"{diagnosis['why']} (compare {shown})"


def _misread(
    folder: Path, target: Target, found: Misread, images: Mapping[Hashable, str]
) -> list[dict[str, Any]]:
    """The doubtful images for ``result.json``; each is drawn with what was read of it."""
    told, scenes = [], target.scenes()
    for number, (situation, atoms, explains) in enumerate(found.images, 1):
        name = images.get(situation.handle)
        if name is None:
            continue
        path, objects = f"misread-{number}.png", situation.state.objects
        boxes = max(scenes, key=lambda one: sum(place in objects for place in one), default={})
        write_atomically(folder / path, drawn(folder / FRAMES / f"{name}.png", boxes, situation.state, atoms))
        told.append(
            {"image": name, "drawn": path, "atoms": [str(atom) for atom in atoms], "explains": explains}
        )
    return told


def _told_misread(
    found: Misread, images: Sequence[Mapping[str, Any]], arguments: Arguments, folder: Path
) -> str:
    """That images are probably misread, which ones, and what to do about it, in a line."""
    here = "; ".join(
        f"{folder}/{FRAMES}/{one['image']}.png: {some([f'`{atom}`' for atom in one['atoms']], SHOWN)}"
        f" (as read: {one['drawn']})"
        for one in images
    )
    cure = f"train longer (python -m aam_vision.training.train --env {arguments.env} --steps N)"
    return (
        f"probably misread{' here: ' if here else ''}{here} ({found.why}); {cure}, or label "
        f"{'these images' if here else 'images'} (run --label)"
    )


def figures(arguments: Arguments, target: Target, result: ControlsResult, wall_s: float) -> dict[str, Any]:
    """The contents of ``result.json``; ``native_equivalent`` is measured here, after the interrogation."""
    inner = result.interrogation
    cpu_s = cpu_seconds()
    steps: Sequence[tuple[State, GroundAction, State]] = ()
    # where the environment failed, it may again; what is remembered no state of it tells
    if target.native_steps is not None and not result.failed and result.memory is None:
        steps = target.native_steps(NATIVE_STEPS, np.random.default_rng([arguments.seed, 3]))
    kinds: dict[str, list[int]] = {}
    try:
        with Resources(None if arguments.max_seconds is None else ENDING_SECONDS).interrupting():
            for step in steps:
                found = kinds.setdefault(Transition(*step).kind, [0, 0])
                found[0] += result.predictions.agrees(*step)
                found[1] += 1
    except ResourcesSpent:
        steps, kinds = (), {}
    right = sum(number for number, _ in kinds.values())
    within, beyond = result.certain
    return {
        **first_figures(arguments, target, result),
        "proven": result.proven,
        "controls": [str(control) for control in result.controls],
        "operators": [str(operator.header) for operator in result.operators],
        "constants": dict(result.discovery.vocabulary.constants),
        "invented": None if result.memory is None else result.memory.text,
        "chance": None
        if result.chance is None
        else {name: [one.json() for one in some] for name, some in result.chance.items()},
        "random": None if result.chance is None else told_of_chance(result.chance),
        "memory": None if result.memory is None else result.memory.json(),
        "unexplained": len(result.unexplained),
        "idle": list(result.idle),
        "two_ways": None if result.two_ways is None else str(result.two_ways[0].control),
        "guessed": list(result.guessed),
        "conditional": conditional_figures(result.conditional),
        "not_conditional": dict(result.conditional.apart),
        "native_equivalent": right / len(steps) if steps else None,
        "native_steps": len(steps),
        "native_kinds": dict(sorted(kinds.items())),
        "steps": result.steps,
        "idle_tried": {name: len(result.transitions[name]) for name in result.idle},
        "idle_covered": result.covered or result.exhausted,
        "untried": [
            {"control": one.control, "facts": list(one.facts), "steps": one.steps} for one in result.untried
        ],
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
        "perception_s": target.perception_s(),
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


def lines(told: dict[str, Any]) -> list[tuple[str, str]]:
    """What the summary for a person says of the run."""
    equal = told["native_equivalent"]
    worst = sorted((right / of, kind, of) for kind, (right, of) in told["native_kinds"].items() if right < of)
    less = "; ".join(f"{kind}: {100 * share:.0f}% of {of}" for share, kind, of in worst[:WORST])
    held_out = "nothing to compare with"
    if equal is not None:
        kinds = f"; of the kinds of change, {less}" if less else ""
        held_out = f"{100 * equal:.1f}% of {told['native_steps']} steps predicted exactly{kinds}"
    time = f"{told['cpu_s']:.1f} CPU s ({told['perception_s'] or 0:.1f} perception)"
    return [("held out", held_out), ("time", time)]
