"""The figures of a run that learns how often: what ``result.json`` has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aam_vision.arguments import Arguments
    from aam_vision.chance.interrogating import ChanceResult
    from aam_vision.chance.knowledge import ActionKnowledge
    from aam_vision.chance.looking import LookingAgent
    from aam_vision.targets.chance import ChanceTarget

CONFIDENCE = 0.95
"""Of all intervals of an action together."""
COMPARED = ("variational_distance", "exact", "equivalent", "wrong_certain", "intervals", "intervals_right")
"""Figures that need a ground truth."""
TRANSITIONS = 1000
"""Transitions of the truth on which the learned model is compared with it."""
STATES = 200
"""States among them in which the structure is compared."""


def figures(
    arguments: Arguments,
    known: ChanceTarget,
    result: ChanceResult,
    looking: LookingAgent | None,
    wall_s: float,
) -> dict[str, Any]:
    """The contents of ``result.json``; the comparison with the truth is made here, after the interrogation.

    ``looking``: what every situation was looked at with until it was certain, if it was.
    """
    from aam_vision.planning.planner import cpu_seconds

    cpu_s = cpu_seconds()
    counts = result.counts
    return {
        "env": known.target.name,
        "seed": arguments.seed,
        "access": known.target.agent.access.value,
        "status": result.status,
        "why": _why(arguments, known, result),
        "missing": result.missing,
        "within": arguments.within,
        "confidence": CONFIDENCE,
        "actions": len(result.actions),
        "queries": counts.queries,
        "steps": counts.steps,
        "failed_steps": counts.failed_steps,
        "walk_steps": counts.walk_steps,
        "resets": counts.resets,
        "looks": 0 if looking is None else looking.looks,
        "situations": None if looking is None else looking.situations,
        "misread": None if looking is None else round(looking.misread, 6),
        "reading_error": None if looking is None else round(looking.error, 9),
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
        **_comparison(known, result, arguments.seed),
        "wall_s": round(wall_s, 3),
        "cpu_s": round(cpu_s, 3),
    }


def _why(arguments: Arguments, known: ChanceTarget, result: ChanceResult) -> str:
    """Why the run ended; where no model explains the answers, also whether noise may be the reason."""
    from aam_vision.interrogation.task.verdict import NOT_STRIPS

    if result.status != NOT_STRIPS:
        return result.why
    if arguments.confirm:
        return (
            f"{result.why}; every look showed the same, so that is no noise which differs from look to look"
        )
    if not (arguments.flip_rate or arguments.agent or known.target.keep_images):
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


def _comparison(known: ChanceTarget, result: ChanceResult, seed: int) -> dict[str, Any]:
    """The figures that need a ground truth."""
    import numpy as np

    from aam_vision import chance_evaluation as evaluation

    if known.truth is None:
        return dict.fromkeys(COMPARED)
    truth = known.truth()
    held_out = evaluation.sample_transitions(
        truth, known.target.held_out(), TRANSITIONS, np.random.default_rng([seed, 2])
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
