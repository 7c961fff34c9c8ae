"""Learning from what was seen already: of a recorded interrogation with chance, or of an agent that proved not to be as assumed.

The answers of a recorded interrogation say the same of each action as was learned when they were given. And an interrogation that takes
the agent for a deterministic STRIPS agent ends with a diagnosis where it is none. What the agent was seen to do until then is evidence all
the same: one that is random, or does what a condition says, is learned with outcomes and cases, and nothing is asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Final, NamedTuple

import numpy as np

from aam_vision.agents.counting import Counts
from aam_vision.interrogation.chance.interrogating import ChanceResult, Options, Watch, interrogate
from aam_vision.interrogation.chance.intervals import Precision
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.evidence.transcript import AttemptedStep, Transcript, attempted
from aam_vision.interrogation.examination.findings import Family
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Agent
from aam_vision.support.errors import InconsistentAgent

FAMILIES: Final = (Family.RANDOM, Family.CONDITIONAL, Family.UNKNOWN)
"""What a model with outcomes and cases may explain; something hidden, misread or changing it does not."""


class Retold(NamedTuple):
    """The knowledge of every action, and the steps that it rests on."""

    actions: tuple[ActionKnowledge, ...]
    steps: tuple[AttemptedStep, ...]
    """Those that count; of walks in single steps."""
    contradiction: str | None
    """Why the answers after these are left out; None if there are none."""


def retold(transcript: Transcript, precision: Precision) -> Retold:
    """Learn from the answers of a transcript once more."""
    return learned(transcript, observed(transcript), precision)


def observed(transcript: Transcript) -> Iterator[AttemptedStep]:
    """The steps of a transcript before and after which the agent was seen, whatever came of them; of walks in single steps.

    Of a plan of several steps only a refusal of the first counts: whether another step's outcome is seen depends on what it is.
    """
    single = transcript.in_single_steps()
    return (step for step in attempted(single) if len(single.entries[step.entry].actions) == 1)


def learned(transcript: Transcript, steps: Iterable[AttemptedStep], precision: Precision) -> Retold:
    """Learn from some steps of a transcript, up to the first that contradicts those before."""
    actions = {
        header.name: ActionKnowledge(AtomIndex(transcript.vocabulary, header), precision)
        for header in transcript.headers
    }
    counted: list[AttemptedStep] = []
    for step in steps:
        try:
            if actions[step.action.name].was_seen(step):
                counted.append(step)
        except InconsistentAgent as error:
            return Retold(tuple(actions.values()), tuple(counted), str(error))
    for action in actions.values():
        action.reconsider()
    return Retold(tuple(actions.values()), tuple(counted), None)


def can_go_on(result: Result) -> bool:
    """Whether a model with outcomes and cases may explain what was diagnosed, and what it needs is there.

    It begins in initial situations of which everything is known, needs a way back to them, names no object twice, and takes for
    granted that images are read rightly.
    """
    found, transcript = result.diagnosis, result.transcript
    return (
        result.not_strips
        and found is not None
        and found.family in FAMILIES
        and not (found.otherwise or result.untested)
        and transcript.access.restarts
        and not transcript.repeated
        and not any(situation.state.unknown for situation in transcript.initial)
    )


def go_on(
    agent: Agent,
    result: Result,
    rng: np.random.Generator,
    options: Options | None = None,
    watch: Watch | None = None,
) -> ChanceResult | None:
    """Learn outcomes and cases from what was seen and from further steps; None if no such model explains the answers.

    ``options``: precision, and the budget of both together.

    Raises:
        AgentFailed: the agent does not show where it begins any more.
    """
    options, spent = options or Options(), result.counts
    left = replace(
        options,
        max_steps=None if options.max_steps is None else max(0, options.max_steps - spent.steps),
        max_queries=None if options.max_queries is None else max(0, options.max_queries - spent.queries),
    )
    found = interrogate(agent, rng, left, watch, observed(result.transcript))
    if found.contradicted:
        return None
    both = {one.name: getattr(spent, one.name) + getattr(found.counts, one.name) for one in fields(Counts)}
    return replace(found, options=options, counts=Counts(**both))
