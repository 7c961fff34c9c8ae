"""The summary of a run: figures for programs, and a few lines for a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from aam_vision.agents.image import unlike
from aam_vision.interrogation.controls.result import ControlsResult
from aam_vision.interrogation.evidence.transcript import attempted
from aam_vision.interrogation.examination.findings import Diagnosis, Exam
from aam_vision.interrogation.task.repeated_looks import LookingAgent
from aam_vision.interrogation.task.result import Result, differences, figures, lifted_predicates
from aam_vision.interrogation.task.verdict import FAILED, NOT_STRIPS
from aam_vision.model.strips import Model
from aam_vision.report import evaluation
from aam_vision.report.abilities import abilities, executed_actions
from aam_vision.run.arguments import Arguments
from aam_vision.run.labelling_note import labelled
from aam_vision.run.targets import Target
from aam_vision.support.commandline import AGENT_FAILED, NOT_EXPLAINED
from aam_vision.support.wording import counted

TIMES = frozenset({"wall_s", "cpu_s", "interrogation_s", "planner_s", "perception_s"})
"""The figures that differ between equal runs: the seconds that they took."""
Images = Callable[[], Mapping[Hashable, str]]

EVALUATION_STATES = 200
"""States of the held-out problems on which functional equivalence is checked."""


def summary(
    arguments: Arguments,
    target: Target,
    result: Result,
    times: dict[str, float | None],
    prior: Model | None = None,
    images: Images = dict,
) -> dict[str, Any]:
    """The contents of ``result.json``; figures that need a ground truth are None where there is none.

    ``differences`` are those to the model learned earlier. ``images`` gives the names of the images that were kept, by the handles of the
    situations; it is called only where images are named.
    """
    return {
        "env": target.name,
        "seed": arguments.seed,
        "access": arguments.access or target.agent.access.value,
        **named(arguments, "policy", "planner", "repeated_arguments"),
        **labelled(arguments.classifiers),
        **interrogation_figures(result, images),
        "unlike": [one._asdict() for one in unlike(target.agent)],
        **times,
        "differences": None
        if prior is None
        else [
            {
                "action": found.action,
                "location": found.location.value,
                "atom": found.atom,
                "before": found.before.value,
                "now": found.now.value,
                "text": str(found),
            }
            for found in differences(prior, result.model, repeated=result.hypotheses.repeated)
        ],
        **_comparison(target, result, arguments.seed),
    }


def look_figures(looking: LookingAgent | None) -> dict[str, Any]:
    """What is told of the looks at every situation, where each was looked at until it was certain."""
    return {
        "looks": 0 if looking is None else looking.looks,
        "situations": None if looking is None else looking.situations,
        "misread": None if looking is None else round(looking.misread, 6),
        "reading_error": None if looking is None else round(looking.error, 9),
    }


def look_lines(told: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The same for a person, from ``result.json``; none where situations were looked at once."""
    if told["misread"] is None:
        return []
    text = (
        f"{told['looks']} beside the first ones at {counted(told['situations'], 'situation')}; one look shows "
        f"{100 * told['misread']:.1f}% of the atoms wrongly; if looks err independently of each other, that any is read wrongly has "
        f"a probability of at most {told['reading_error']:.2g}"
    )
    return [("looks", text)]


def figures_of_controls(arguments: Arguments, result: ControlsResult, images: Images) -> dict[str, Any]:
    """The figures of the interrogation of discovered operators, for ``result.json`` of a run that knew only controls."""
    inner = result.interrogation
    unknown = dict.fromkeys(
        ("accuracy", "exact", "equivalent", "interrogation_s", "planner_s", "differences")
    )
    none: dict[str, Any] = {"undetermined": [], "curve": []} | dict.fromkeys(
        ("predicates", "actions", "failed_steps", "walk_steps", "resets", "lower_bound"), 0
    )
    figures = none if inner is None else interrogation_figures(inner, images)
    curve = [] if inner is None else [[point.queries, point.steps, None] for point in inner.curve]
    return {
        **unknown,
        **labelled(arguments.classifiers),
        **figures,
        **named(arguments, "policy", "planner"),
        "curve": curve,
    }


def interrogation_figures(result: Result, images: Images) -> dict[str, Any]:
    """The figures of an interrogation itself; ``images`` as for ``summary``."""
    return {
        **named(result, "status", "why", "missing", "proven"),
        "predicates": lifted_predicates(result.model, repeated=result.hypotheses.repeated),
        "actions": len(result.model.actions),
        "pal_tuples": result.hypotheses.size,
        **asdict(result.counts),
        "exam_steps": result.exam.steps,
        "exam_wrong": result.exam.wrong,
        "exam_further": result.exam.further,
        "exam_bound": round(result.exam.bound, 4),
        "diagnosis": diagnosis_figures(result.diagnosis, images),
        **{name: told or None for name, told in named(result, "invented", "changed", "seen").items()},
        "lower_bound": result.lower_bound,
        "not_excluded": not_excluded(result),
        "undetermined": [
            {
                **named(u, "action", "location"),
                "group": list(u.group),
                **named(u, "known", "kind"),
                "settle": u.settle or None,
            }
            for u in result.undetermined
        ],
        **_reliability(result),
    }


def named(found: object, *names: str) -> dict[str, Any]:
    """So many of its attributes, as figures."""
    return {name: getattr(found, name) for name in names}


def first_figures(arguments: Arguments, target: Target, result: object) -> dict[str, Any]:
    """What ``result.json`` begins with, of a run that knew only controls, or learned how often."""
    found = {"env": target.name, "seed": arguments.seed, "access": target.agent.access.value}
    return {**found, **named(result, "status", "why", "missing")}


def diagnosis_figures(found: Diagnosis | None, images: Images) -> dict[str, Any] | None:
    """Which part of the assumption is false, and the situations that show it, for ``result.json``."""
    if found is None:
        return None
    names = images()
    return {
        "family": found.family.value,
        **named(found, "culprit", "why"),
        "otherwise": found.otherwise or None,
        "further": found.further or None,
        **named(found, "literal", "seen", "tried", "pixels_differ", "steps"),
        "examples": [
            {
                "step": str(one.step),
                "outcome": one.outcome,
                "image": names.get(one.situation.handle),
                "image_after": None if one.after is None else names.get(one.after.handle),
            }
            for one in found.examples
        ],
    }


def _reliability(result: Result) -> dict[str, Any]:
    """How reliable answers and palm tuples are; None where each answer was taken at its word. ``doubt``: why nothing is certain."""
    rates, doubt = result.rates, {"doubt": result.doubt or None}
    if rates is None:
        return {**doubt, "confidence": None, "noise": None, "palm_tuples": None}
    parameters = {header.name: header.parameters for header in result.model.headers}
    return {
        **doubt,
        "confidence": result.confidence,
        "noise": {
            "false_positives": {n: round(m.false_positive, 4) for n, m in rates.misreadings.items()},
            "false_negatives": {n: round(m.false_negative, 4) for n, m in rates.misreadings.items()},
            "refusals": None if rates.surely and result.diagnosis is None else round(rates.refusals, 4),
            "executions": round(rates.executions, 4),
        },
        "palm_tuples": [
            {
                "action": pal.action,
                "location": pal.location.value,
                "atom": pal.atom.text(parameters[pal.action]),
                "mode": mode.value,
                "confidence": round(probability, 6),
            }
            for pal, (mode, probability) in result.confidences.items()
        ],
    }


def _comparison(target: Target, result: Result, seed: int) -> dict[str, Any]:
    """The comparison with the ground truth, made after the interrogation; accuracy is that of STRIPS models."""
    truth, repeated = None if target.truth is None else target.truth(), result.hypotheses.repeated

    def accuracy(model: Model) -> float | None:
        if truth is None or not truth.strips:
            return None
        return evaluation.accuracy(model, truth, repeated=repeated)

    exact = equivalent = None
    if truth is not None:
        rng = np.random.default_rng(seed)
        states = evaluation.sample_states(truth, target.held_out(), EVALUATION_STATES, rng)
        exact = evaluation.exact(result.model, truth)
        if states:
            equivalent = evaluation.equivalent(result.model, truth, states, repeated=repeated)
    curve = [(point.queries, point.steps, accuracy(point.model)) for point in result.curve]
    return {
        "accuracy": accuracy(result.model),
        "exact": exact,
        "equivalent": equivalent,
        "curve": [[*spent, share if share is None else round(share, 4)] for *spent, share in curve],
    }


def under(name: str, texts: Iterable[str]) -> list[tuple[str, str]]:
    """Several texts under one name, for a person."""
    return [("" if number else name, text) for number, text in enumerate(texts)]


def lines(summary: dict[str, Any], result: Result) -> list[tuple[str, str]]:
    """The summary for a person."""
    changed, none = summary["differences"], ["none to the model learned earlier"]
    if summary["status"] == NOT_STRIPS:
        none = ["none in the lines of the model, which do not explain the agent"]
    can = abilities(result.model, executed_actions(result.transcript), complete=result.proven)
    return [
        *under("agent", can.parts),
        *figures(result),
        *([] if changed is None else under("differences", [one["text"] for one in changed] or none)),
        ("ground truth", _verdict(summary)),
        *([("chance", found)] if (found := sentence(result)) else []),
        (
            "time",
            f"{summary['cpu_s']:.1f} CPU s, {summary['interrogation_s']:.1f} of them interrogating "
            f"({summary['perception_s'] or 0:.1f} perception, {summary['planner_s']:.1f} planner)",
        ),
    ]


def _verdict(summary: dict[str, Any]) -> str:
    """How close the model is to the truth."""
    if summary["exact"] is None:
        return "not known: there is nothing to compare with"
    if summary["exact"]:
        verdict = "exact"
    elif summary["accuracy"] is None:
        verdict = "not exact: it has several outcomes or cases of a step"
    else:
        verdict = f"accuracy {summary['accuracy']:.3f}"
    if summary["accuracy"] == 1 and not summary["exact"]:
        verdict += ", but it lacks literals outside of P*"
    if summary["equivalent"] is None:
        return f"{verdict}; no held-out problems to compare on"
    return f"{verdict}, {'equivalent' if summary['equivalent'] else 'NOT equivalent'} on held-out problems"


# What chance of another outcome an interrogation did not exclude whose every answer fits an agent without chance.
#
# Of n steps of an action that all came out as the model says, an outcome that would have shown and has a probability above x is missed
# with a probability below (1 - x)^n. As nothing else ever came about, the steps were those that an agent without chance is asked for,
# so that n was fixed beforehand. With 95% x is at most 1 - .05^(1/n), about 3/n.


def not_excluded(result: Result) -> dict[str, float] | None:
    """By action, the probability up to which another outcome is not excluded, each with 95%, by the steps of which both situations were seen.

    None where answers are not taken at their word, or contradict a model without chance.
    """
    if result.rates is not None or result.doubt:
        return None
    return {name: round(Exam(made).bound, 4) for name, made in _made(result).items()}


def sentence(result: Result) -> str:
    """The same in words, about the action that was executed least; empty where nothing is to be said."""
    if not_excluded(result) is None:
        return ""
    made = {name: count for name, count in _made(result).items() if count}
    if not made:
        return ""
    name = min(made, key=lambda one: made[one])
    bound = 100 * Exam(made[name]).bound
    others = ", of each other action in no more" if len(made) > 1 else ""
    return (
        f"not seen: each action came out as the model says whenever it was executed. Not excluded, with 95%: another outcome of {name} "
        f"in up to {bound:.0f}% of its steps ({counted(made[name], 'execution')}){others}"
    )


def _made(result: Result) -> dict[str, int]:
    """By action, the executed steps of which both situations were seen."""
    seen = (
        step.action.name
        for step in attempted(result.transcript.in_single_steps())
        if step.executed and step.before is not None and step.after is not None
    )
    found = Counter(seen)
    return {schema.header.name: found[schema.header.name] for schema in result.model.actions}


class Ended(NamedTuple):
    """How a run ended."""

    status: str
    final: bool = True
    """Whether the same answers would end it again: a run of which this is not so may go on with ``--resume``."""
    why: str = ""
    """What is to be said of it on stderr, in a line: an error if there is an exit code, or else a warning; empty for nothing."""
    code: int = 0


def accusation(why: str, otherwise: str | None) -> str:
    """What is wrong with the agent, in a line; ``otherwise``: what else may be behind it, if anything."""
    return f"{why}; or pictures were misread (diagnosis in result.json)" if otherwise else why


def exit_code(status: str) -> int:
    """The exit code of a run that ended so."""
    return {FAILED: AGENT_FAILED, NOT_STRIPS: NOT_EXPLAINED}.get(status, 0)
