"""A run that learns how often: ``python -m aam_vision.run --chance``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from aam_vision.agents.journal import REFUSALS, Journal
from aam_vision.agents.journalled import JournalledAgent
from aam_vision.interrogation.chance.cases import CaseKnowledge
from aam_vision.interrogation.chance.interrogating import Watch
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.prior import Prior
from aam_vision.interrogation.chance.refusals import told_by_chance
from aam_vision.interrogation.chance.result import ChanceResult, Options, most_steps
from aam_vision.interrogation.going_on import with_outcomes
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.task.repeated_looks import LookingAgent
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.rounds import width
from aam_vision.interrogation.task.verdict import ASSUMED, FAILED, NOT_STRIPS
from aam_vision.model.pddl import domain_text
from aam_vision.model.query import Agent
from aam_vision.planning.planner import Planner, cpu_seconds
from aam_vision.report import chance_evaluation as evaluation
from aam_vision.report.chance import ASSUMED_OF_LOOKS, courses, not_tried, sentence
from aam_vision.report.evaluation import equivalent
from aam_vision.report.versions import changes, earlier
from aam_vision.report.versions import lines as changed
from aam_vision.run.arguments import Arguments
from aam_vision.run.folder import save
from aam_vision.run.summary import Ended, exit_code, first_figures, look_figures, look_lines, named, under
from aam_vision.run.targets.target import Target
from aam_vision.support.commandline import Progress
from aam_vision.support.resources import MEGABYTES, Resources
from aam_vision.support.wording import counted

CONFIDENCE = 0.95
"""Of all intervals of an action together."""
COMPARED = ("variational_distance", "exact", "equivalent", "wrong_certain", "intervals", "intervals_right")
"""Figures that need a ground truth."""
TRANSITIONS = 1000
"""Transitions of the truth on which the learned model is compared with it."""
STATES = 200
"""States among them in which the structure is compared."""
TOLD = 1000
"""Steps after which progress is told where there is no limit."""


class ChanceRun:
    """A run of an agent whose steps may have several outcomes. Raises UnusableInput: the agent or an option cannot be used."""

    def __init__(self, arguments: Arguments, planner: Planner, target: Target) -> None:
        self._arguments = arguments
        self.target = target
        earlier_run = arguments.prior
        seed = None if arguments.agent else arguments.seed  # from which the agent's chance is drawn
        self._prior = None if earlier_run is None else earlier(earlier_run, target.agent, seed)

    def go(self, folder: Path, journal: Journal, began: float) -> Ended:
        """Interrogate, and save and print what was learned. Raises AgentFailed: before there was anything to learn."""
        arguments, target = self._arguments, self.target

        def refused(names: Sequence[str]) -> None:
            journal.note(REFUSALS, list(names))

        agent: Agent = JournalledAgent(target.agent, journal, target.generators, target.crew)
        looking = LookingAgent(agent, arguments.confidence) if arguments.confirm else None
        refusals = () if self._prior is None else self._prior.refusals
        refused(refusals)
        options = options_of(arguments, Resources(arguments.max_seconds, MEGABYTES), self._prior)
        options = replace(options, at_a_time=width(target.copies), refusals=refusals)
        what = f"Interrogating {target.name} (problems {', '.join(target.problems)}), seed {arguments.seed}"
        rng, progress = np.random.default_rng(arguments.seed), Progress()
        watch = progress_of(arguments, options, what, progress)
        with progress.never_silent("still making trials", quiet=arguments.quiet):
            result = with_outcomes(looking or agent, rng, options, watch, refused)
        explained = told_by_chance(result.options.refusals)
        told = figures(arguments, target, result, looking, None, perf_counter() - began, explained)
        return finish(folder, journal, target, result, told)


def options_of(arguments: Arguments, resources: Resources, prior: Prior | None = None) -> Options:
    """How sure the figures are to be, and what they may cost."""
    most = most_steps(arguments.within) if arguments.max_steps is None else arguments.max_steps
    return Options(
        arguments.within, 1 - CONFIDENCE, most, prior, resources, arguments.max_queries, arguments.exam or 0
    )


def finish(
    folder: Path, journal: Journal, target: Target, result: ChanceResult, told: dict[str, Any]
) -> Ended:
    """Save and print what was learned; ``told``: the contents of ``result.json``."""
    agent_lines = under("agent", [sentence(action) for action in result.actions])
    truth = None if target.truth is None else domain_text(target.truth())
    save(folder, journal, domain_text(result.model), told, [*agent_lines, *lines(told)], truth)
    code = exit_code(result.status)
    return Ended(result.status, result.status != FAILED, told["why"] if code else "", code)


def progress_of(arguments: Arguments, options: Options, what: str, progress: Progress) -> Watch | None:
    """Tells what is done, how many steps are taken at most if nothing else was said, and now and then how many were taken."""
    if arguments.quiet:
        return None
    limit = arguments.max_steps
    progress.stage(f"{what}; at most {options.max_steps} steps (--max-steps)" if limit is None else what)

    def watch(steps: int, model: object) -> None:
        if limit is not None:
            progress.step(min(steps, limit), limit, "steps")
        elif steps % TOLD == 0:
            progress.stage(f"  {steps} steps")

    return watch


def lines(told: dict[str, Any]) -> list[tuple[str, str]]:
    """The summary for a person, from ``result.json``."""
    intervals = [one["interval"] for outcomes in told["outcomes"].values() for one in outcomes]
    widest = max(((high - low) / 2 for low, high in intervals), default=1.0)
    sure = (
        f"all intervals of an action hold together with {100 * told['confidence']:.0f}%, however long one looks; "
        f"the widest is ±{widest:.3f}"
    )
    if told["status"] == NOT_STRIPS:
        sure = "nothing: no model with fixed outcomes explains the answers"
    found = [("status", f"{told['status']}: {told['why']}")]
    if (further := told["went_on"]) is not None:
        noticed = f"{further['why']} (after {counted(further['steps'], 'step')})"
        found.append(("diagnosis", f"{noticed}; from there the run went on to learn outcomes"))
    if told["invented"]:
        found.append(("explained", told["invented"]))
    found += [
        ("assumed", ASSUMED if told["misread"] is None else ASSUMED_OF_LOOKS),
        *([("tried", told["courses"])] if told["courses"] else []),
        ("sure", sure),
        *look_lines(told),
    ]
    if count := sum(len(one["group"]) for one in told["undetermined"]):
        which = "which result.json lists; of these, the model has those that are positive"
        found.append(("undetermined", f"{counted(count, 'literal')} of preconditions, {which}"))
    if text := not_tried(told["not_tried"]):
        found.append(("not tried", f"{text}; nothing is claimed of them"))
    if lost := sum(told["unread"].values()):
        allow = "intervals and what is not excluded allow for any outcome of these"
        found.append(("unread", f"{counted(lost, 'executed step')} led to what could not be read; {allow}"))
    if told["exam_steps"]:
        found.append(("examined", f"{counted(told['exam_steps'], 'step')} at random told nothing new"))
    if told["differences"] is not None:
        found += changed(told)
    spent = f"{told['walk_steps']} walked, {told['failed_steps']} failed, {told['resets']} resets"
    found.append(("steps", f"{told['steps']} ({spent})"))
    if told["exact"] is not None:
        same = "equal where it was compared" if told["equivalent"] else "not the same"
        distance = f"variational distance {told['variational_distance']:.3f}"
        wrong = f"{told['wrong_certain']} certain lines wrong"
        right = f"{told['intervals_right']} of {told['intervals']} intervals right"
        structure = f"structure {'exact' if told['exact'] else same}"
        found.append(("truth", "; ".join([distance, wrong, right, structure])))
    return [*found, ("time", f"{told['cpu_s']:.1f} CPU s")]


# The figures: what ``result.json`` has.


def figures(
    arguments: Arguments,
    target: Target,
    result: ChanceResult,
    looking: LookingAgent | None,
    diagnosed: Result | None,
    wall_s: float,
    invented: str = "",
) -> dict[str, Any]:
    """The contents of ``result.json``; the comparison with the truth is made here, after the interrogation.

    ``looking``: with what every situation was looked at until it was certain; ``diagnosed``: the interrogation that was gone on from;
    ``invented``: what the vocabulary was extended by, in sentences.
    """
    cpu_s = cpu_seconds()
    prior = result.options.prior
    known = {one.index.header.name: one for one in result.actions}
    return {
        **first_figures(arguments, target, result),
        "why": _why(arguments, target, result),
        "within": arguments.within,
        "confidence": CONFIDENCE,
        "actions": len(result.actions),
        **named(result.counts, "queries", "steps", "failed_steps", "walk_steps", "resets"),
        "exam_steps": result.exam_steps,
        **look_figures(looking),
        "outcomes": {name: one.listed for name, one in known.items()},
        "outcomes_certain": {name: one.certain and not result.contradicted for name, one in known.items()},
        "not_excluded": {name: _not_excluded(one) for name, one in known.items()},
        "unread": {name: one.unread for name, one in known.items()},
        "never_executed": [name for name, one in known.items() if not one.executed],
        "side_effects": {  # changes of facts of which the instruction does not name the objects
            name: [
                {
                    "effect": effect.text(one.index.header.parameters),
                    "steps": steps,
                    "executed": one.executed,
                    "first": str(first),
                }
                for effect, (steps, first) in one.side_effects.items()
            ]
            for name, one in known.items()
        },
        "courses": courses(result.actions),
        "not_tried": {name: list(one.index.coinciding_constants) for name, one in known.items()},
        "undetermined": [
            {"action": name, "location": "pre", "group": group}
            for name, one in known.items()
            if (group := one.index.text(one.precondition.undecided))
        ],
        "conditional": [_conditions(one) for one in result.actions if one.dependence.atoms],
        "likely": {
            name: one.index.text(Literals(one.likely, 0)) for name, one in known.items() if one.likely
        },
        "went_on": None if diagnosed is None else _went_on(diagnosed),
        "invented": invented or None,
        **(dict.fromkeys(("differences", "as_before")) if prior is None else changes(prior, result.actions)),
        **_comparison(target, result, arguments.seed),
        "wall_s": round(wall_s, 3),
        "cpu_s": round(cpu_s, 3),
    }


def _went_on(diagnosed: Result) -> dict[str, Any]:
    """The diagnosis that was gone on from, and after how many steps it was made."""
    found, counts = diagnosed.diagnosis, diagnosed.counts
    assert found is not None, "else there was nothing to go on from"
    return {"family": found.family.value, "why": found.why, "steps": counts.steps + counts.exam_steps}


def _why(arguments: Arguments, target: Target, result: ChanceResult) -> str:
    """Why the run ended; where no model explains the answers, also whether noise may be the reason."""
    if result.status != NOT_STRIPS:
        return result.why
    if arguments.confirm:
        same = "every look showed the same, so that is no noise which differs from look to look"
        return f"{result.why}; {same}"
    if not (arguments.flip_rate or arguments.agent or target.keep_images):
        return result.why
    return (
        f"{result.why}; noise and chance cannot be told apart by one look: if states may be seen wrongly, "
        "let each be looked at again with --confirm, under snapshot or reset access"
    )


def _not_excluded(one: ActionKnowledge | CaseKnowledge) -> float | None:
    """The probability up to which a further outcome is not excluded; None where the outcomes are not certain."""
    return round(one.unseen, 4) if one.explanation.sure else None


def _conditions(action: ActionKnowledge) -> dict[str, Any]:
    """On which atoms the outcomes of an action depend, and how sure that is."""
    index, found = action.index, action.dependence

    def named(mask: int) -> list[str]:
        return index.text(Literals(mask, 0))

    return {
        "action": index.header.name,
        "depends_on": named(found.atoms),
        "certain": found.atoms == found.sure,
        "instead": [named(one) for one in found.others],
        "cases": [
            {
                "condition": index.text(case.condition),
                "executed": case.executed,
                "outcomes_certain": case.explanation.sure,
                "not_excluded": _not_excluded(case),
            }
            for case in action.cases
        ],
    }


def _comparison(target: Target, result: ChanceResult, seed: int) -> dict[str, Any]:
    """The figures that need a ground truth."""
    if target.truth is None:
        return dict.fromkeys(COMPARED)
    truth = target.truth()
    rng = np.random.default_rng([seed, 2])
    held_out = evaluation.sample_transitions(truth, target.held_out(), TRANSITIONS, rng)
    states = list(dict.fromkeys(step.before for step in held_out))[:STATES]
    # where no model explains the answers, nothing is called certain
    claims = () if result.contradicted else result.actions
    checks = [evaluation.check(one, truth.schema(one.index.header.name)) for one in claims]
    return {
        "variational_distance": round(evaluation.variational_distance(result.model, truth, held_out), 6),
        "exact": evaluation.exact(result.model, truth),
        "equivalent": equivalent(result.model, truth, states),
        "wrong_certain": sum(len(one.wrong) for one in checks),
        "intervals": sum(len(one.intervals) for one in checks),
        "intervals_right": sum(sum(one.intervals) for one in checks),
    }
