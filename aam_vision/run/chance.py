"""A run that learns how often: ``python -m aam_vision.run --chance``."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from aam_vision.run.ended import Ended
from aam_vision.support.commandline import AGENT_FAILED, NOT_EXPLAINED, Progress, write_atomically
from aam_vision.support.wording import counted

if TYPE_CHECKING:
    from aam_vision.agents.journal import Journal
    from aam_vision.interrogation.chance.interrogating import ChanceResult
    from aam_vision.interrogation.chance.knowledge import ActionKnowledge
    from aam_vision.interrogation.chance.prior import Prior
    from aam_vision.interrogation.task.repeated_looks import LookingAgent
    from aam_vision.model.query import Agent
    from aam_vision.planning.planner import Planner
    from aam_vision.run.arguments import Arguments
    from aam_vision.run.targets.target import Target

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
    """A run of an agent whose steps may have several outcomes.

    Raises:
        UnusableInput: the agent or an option cannot be used.
    """

    def __init__(self, arguments: Arguments, planner: Planner) -> None:
        from aam_vision.run.targets import of

        self._arguments = arguments
        self.target = of(arguments)
        self._prior = _prior(arguments, self.target)

    def go(self, folder: Path, journal: Journal, began: float) -> Ended:
        """Interrogate, and save and print what was learned.

        Raises:
            AgentFailed: before there was anything to learn.
        """
        import numpy as np

        from aam_vision.agents.journalled import JournalledAgent
        from aam_vision.interrogation.chance.interrogating import Options, interrogate, most_steps
        from aam_vision.interrogation.task.repeated_looks import LookingAgent
        from aam_vision.interrogation.task.verdict import FAILED, NOT_STRIPS
        from aam_vision.support.resources import MEGABYTES, Resources

        arguments = self._arguments
        agent: Agent = JournalledAgent(self.target.agent, journal, self.target.generators)
        looking = LookingAgent(agent, arguments.confidence) if arguments.confirm else None
        usual, limit = most_steps(arguments.within), arguments.max_steps
        watch = _progress(arguments, self.target, usual)
        resources = Resources(arguments.max_seconds, MEGABYTES)
        most = usual if limit is None else limit
        options = Options(
            arguments.within, 1 - CONFIDENCE, most, self._prior, resources, arguments.max_queries
        )
        result = interrogate(looking or agent, np.random.default_rng(arguments.seed), options, watch)
        told = _save(folder, arguments, self.target, result, looking, journal, perf_counter() - began)
        codes = {FAILED: AGENT_FAILED, NOT_STRIPS: NOT_EXPLAINED}
        code = codes.get(result.status, 0)
        return Ended(told["status"], result.status != FAILED, told["why"] if code else "", code)


def _progress(arguments: Arguments, target: Target, usual: int) -> Any:
    """Tells how many steps are taken at most if nothing else was said, and now and then how many were taken."""
    if arguments.quiet:
        return None
    progress = Progress()
    limit = arguments.max_steps
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
    target: Target,
    result: ChanceResult,
    looking: LookingAgent | None,
    journal: Journal,
    wall_s: float,
) -> dict[str, Any]:
    """Write the files of the run, print the model and the summary, and return the contents of ``result.json``."""
    from aam_vision.interrogation.task.result import aligned
    from aam_vision.model.pddl import domain_text
    from aam_vision.report.chance import sentence
    from aam_vision.report.chance_account import ChanceAccount
    from aam_vision.report.chance_page import page
    from aam_vision.report.recorded import read_journal

    told = figures(arguments, target, result, looking, wall_s)
    model = domain_text(result.model)
    write_atomically(folder / "model.pddl", model)
    if target.truth is not None:
        write_atomically(folder / "truth.pddl", domain_text(target.truth()))
    write_atomically(folder / "result.json", json.dumps(told, indent=2) + "\n")
    print(model)
    sentences = [
        ("" if number else "agent", sentence(action)) for number, action in enumerate(result.actions)
    ]
    print(aligned([*sentences, *lines(told, folder)]))
    write_atomically(folder / "report.html", page(ChanceAccount(read_journal(folder, journal))))
    return told


def _prior(arguments: Arguments, target: Target) -> Prior | None:
    """What was learned earlier, if that is given.

    Raises:
        UnusableInput: it cannot be used; the agent has been closed.
    """
    if arguments.prior is None:
        return None
    from aam_vision.report.chance_changes import earlier
    from aam_vision.support.errors import UnusableInput

    try:
        return earlier(arguments.prior, target.agent, None if arguments.agent else arguments.seed)
    except UnusableInput:
        target.close()
        raise


def lines(told: dict[str, Any], folder: Path) -> list[tuple[str, str]]:
    """The summary for a person."""
    from aam_vision.report.chance import ASSUMED, ASSUMED_OF_LOOKS
    from aam_vision.run.summary import look_lines

    return [
        ("status", f"{told['status']}: {told['why']}"),
        ("assumed", ASSUMED if told["misread"] is None else ASSUMED_OF_LOOKS),
        ("sure", _sure(told)),
        *look_lines(told),
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


# The figures: what ``result.json`` has.


def figures(
    arguments: Arguments,
    target: Target,
    result: ChanceResult,
    looking: LookingAgent | None,
    wall_s: float,
) -> dict[str, Any]:
    """The contents of ``result.json``; the comparison with the truth is made here, after the interrogation.

    ``looking``: what every situation was looked at with until it was certain, if it was.
    """
    from aam_vision.planning.planner import cpu_seconds
    from aam_vision.run.summary import look_figures

    cpu_s = cpu_seconds()
    counts = result.counts
    return {
        "env": target.name,
        "seed": arguments.seed,
        "access": target.agent.access.value,
        "status": result.status,
        "why": _why(arguments, target, result),
        "missing": result.missing,
        "within": arguments.within,
        "confidence": CONFIDENCE,
        "actions": len(result.actions),
        "queries": counts.queries,
        "steps": counts.steps,
        "failed_steps": counts.failed_steps,
        "walk_steps": counts.walk_steps,
        "resets": counts.resets,
        **look_figures(looking),
        "outcomes": {action.index.header.name: _outcomes(action) for action in result.actions},
        "outcomes_certain": {action.index.header.name: action.certain for action in result.actions},
        "not_excluded": {
            action.index.header.name: round(action.unseen, 4) if action.explanation.sure else None
            for action in result.actions
        },
        "unread": {one.index.header.name: one.unread for one in result.actions},
        "never_executed": [one.index.header.name for one in result.actions if not one.executed],
        "not_tried": {one.index.header.name: list(one.index.coinciding_constants) for one in result.actions},
        "undetermined": [
            {"action": one.index.header.name, "location": "pre", "group": group}
            for one in result.actions
            if (group := one.index.text(one.precondition.undecided))
        ],
        "conditional": [_conditions(one) for one in result.actions if one.dependence.atoms],
        **_since(result),
        **_comparison(target, result, arguments.seed),
        "wall_s": round(wall_s, 3),
        "cpu_s": round(cpu_s, 3),
    }


def _why(arguments: Arguments, target: Target, result: ChanceResult) -> str:
    """Why the run ended; where no model explains the answers, also whether noise may be the reason."""
    from aam_vision.interrogation.task.verdict import NOT_STRIPS

    if result.status != NOT_STRIPS:
        return result.why
    if arguments.confirm:
        return (
            f"{result.why}; every look showed the same, so that is no noise which differs from look to look"
        )
    if not (arguments.flip_rate or arguments.agent or target.keep_images):
        return result.why
    return (
        f"{result.why}; noise and chance cannot be told apart by one look: if states may be seen wrongly, "
        "let each be looked at again with --confirm, under snapshot or reset access"
    )


def _since(result: ChanceResult) -> dict[str, Any]:
    """What is different from what was learned earlier, and what is as before; None where nothing was."""
    from aam_vision.report.chance_changes import changes

    prior = result.options.prior
    return {"differences": None, "as_before": None} if prior is None else changes(prior, result.actions)


def _outcomes(action: ActionKnowledge) -> list[dict[str, Any]]:
    """The outcomes of an action, likeliest first; those of one with conditional effects case by case."""
    from aam_vision.interrogation.hypotheses.literals import Literals

    found: list[dict[str, Any]] = []
    for case in action.cases:
        own = [
            {
                **({"condition": action.index.text(case.condition)} if len(action.cases) > 1 else {}),
                "effects": action.index.text(Literals(one.adds, one.deletes)),
                "probability": round(often.probability, 6),
                "interval": [round(often.low, 6), round(often.high, 6)],
                "trials": often.trials,
                "hits": often.hits,
            }
            for one, often in zip(case.outcomes, case.frequencies, strict=True)
        ]
        found += sorted(own, key=lambda one: -one["probability"])
    return found


def _conditions(action: ActionKnowledge) -> dict[str, Any]:
    """On which atoms the outcomes of an action depend, and how sure that is."""
    from aam_vision.interrogation.hypotheses.literals import Literals

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
                "not_excluded": round(case.unseen, 4) if case.explanation.sure else None,
            }
            for case in action.cases
        ],
    }


def _comparison(target: Target, result: ChanceResult, seed: int) -> dict[str, Any]:
    """The figures that need a ground truth."""
    import numpy as np

    from aam_vision.report import chance_evaluation as evaluation

    if target.truth is None:
        return dict.fromkeys(COMPARED)
    truth = target.truth()
    held_out = evaluation.sample_transitions(
        truth, target.held_out(), TRANSITIONS, np.random.default_rng([seed, 2])
    )
    states = list(dict.fromkeys(step.before for step in held_out))[:STATES]
    checks = [evaluation.check(one, truth.schema(one.index.header.name)) for one in result.actions]
    return {
        "variational_distance": round(evaluation.variational_distance(result.model, truth, held_out), 6),
        "exact": evaluation.exact(result.model, truth),
        "equivalent": evaluation.same_structure(result.model, truth, states),
        "wrong_certain": sum(len(one.wrong) for one in checks),
        "intervals": sum(len(one.intervals) for one in checks),
        "intervals_right": sum(sum(one.intervals) for one in checks),
    }
