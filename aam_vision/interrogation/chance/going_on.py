"""From a diagnosis to a model: an agent that is random, or does what a condition says, is learned with outcomes and cases.

An interrogation that takes the agent for a deterministic STRIPS agent ends with a diagnosis where it is none. What it was seen to
do until then is evidence all the same, so nothing of it is asked again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from aam_vision.agents.counting import Counts
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.interrogation.chance.interrogating import Watch, interrogate
from aam_vision.interrogation.chance.refusals import with_refusals
from aam_vision.interrogation.chance.result import ChanceResult, Options
from aam_vision.interrogation.chance.retelling import observed
from aam_vision.interrogation.evidence.transcript import Course, Transcript
from aam_vision.interrogation.examination.findings import Family
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verdict import BUDGET
from aam_vision.model.query import Agent, Situation

FAMILIES: Final = (Family.RANDOM, Family.CONDITIONAL, Family.UNKNOWN)
"""What a model with outcomes and cases may explain; something hidden, misread or changing it does not."""

VISIBLE: Final = (Family.CONDITIONAL, Family.UNKNOWN, Family.HIDDEN)
"""What may depend on what is seen; where no situation can be had again, this looks as if it were hidden."""


def can_go_on(result: Result, families: Collection[Family] = FAMILIES, *, anywhere: bool = False) -> bool:
    """Whether a richer model may explain what was diagnosed, and what it needs is there.

    It begins in initial situations of which everything is known, needs a way back to them, names no object twice, and takes for
    granted that images are read rightly.

    Args:
        result: of an interrogation.
        families: of diagnoses that it may explain; default those that outcomes and cases may.
        anywhere: whether it needs no way back.
    """
    found, transcript = result.diagnosis, result.transcript
    return (
        result.not_strips
        and found is not None
        and found.family in families
        and not (found.otherwise or result.untested)
        and (transcript.access.restarts or anywhere)
        and not transcript.repeated
        and not any(situation.state.unknown for situation in transcript.initial)
    )


class Begun(AgentDecorator):
    """An agent that has shown where it begins."""

    def __init__(self, agent: Agent, initial: Sequence[Situation]) -> None:
        super().__init__(agent)
        self._initial = initial

    def initial(self) -> Sequence[Situation]:
        return self._initial


def go_on(
    agent: Agent,
    seen: Transcript,
    spent: Counts,
    rng: np.random.Generator,
    options: Options | None = None,
    watch: Watch | None = None,
) -> ChanceResult:
    """Learn outcomes and cases from what was seen and from further steps.

    If no such model explains the answers either (``contradicted``), ``why`` says more about it than the diagnosis did: that
    something has changed, comes in cycles, or depends on what no instruction names. It ends there: nobody asked how often.

    Args:
        agent: that was interrogated.
        seen: what it was asked, and answered.
        spent: what that cost.
        rng: for the agent's own walks.
        options: precision, and the budget of both together.
        watch: told after every step.
    """
    options = options or Options()
    budget = Budget(options.max_queries, options.max_steps)
    rest = budget.rest(spent)
    left = replace(options, max_steps=rest.steps, max_queries=rest.queries, tries_on=False)
    begun = Begun(agent, seen.beginnings)
    known = observed(with_refusals(seen, options.refusals), course := Course())
    found = interrogate(begun, rng, left, watch, known, course)
    found = replace(found, options=options, counts=spent + found.counts)
    why = budget.spent(found.counts, steps=1, queries=1) if found.status == BUDGET else ""
    return replace(found, why=why or found.why)
