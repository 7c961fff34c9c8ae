"""From a diagnosis to a model with memory: the smallest fact that explains all histories is looked for, and examined.

Facts that explain all that was seen are told apart by histories made for it. With the simplest the agent is interrogated as one with a
predicate more, all earlier answers taken in; that ends with the examination, whose predictions are made for fresh histories. What
contradicts the fact then rules it out, and the next one is tried.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np

from aam_vision.agents.counting import CountingAgent, Counts
from aam_vision.interrogation.chance.going_on import FAMILIES as OTHERWISE
from aam_vision.interrogation.evidence.anomalies import contradicted_query
from aam_vision.interrogation.examination.findings import Family
from aam_vision.interrogation.memory.experiments import VersionSpace
from aam_vision.interrogation.memory.facts import InventedFact
from aam_vision.interrogation.memory.histories import RecordingAgent
from aam_vision.interrogation.memory.remembering import RememberingAgent, with_fact
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import DOUBTED, Interrupted, interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Agent

FAMILIES: Final = (Family.HIDDEN, *OTHERWISE)
"""What memory may explain; something misread or changing it does not."""
ROUNDS = 12
"""Facts with which the agent is interrogated, at most."""


@dataclass(frozen=True)
class Remembered:
    """What was learned of an agent that remembers something."""

    fact: InventedFact
    result: Result
    """In a vocabulary with the fact's predicate."""


def can_remember(result: Result) -> bool:
    """Whether memory may explain what was diagnosed, and histories can be made."""
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


def remember(
    agent: Agent,
    result: Result,
    rng: np.random.Generator,
    budget: Budget | None = None,
    exam: int | None = None,
) -> Remembered | str:
    """Learn a model with an invented fact from what was seen and from further steps; or why none was found, in a line.

    Args:
        agent: that was interrogated.
        result: with a diagnosis (``can_remember``).
        rng: for the agent's own walks.
        budget: of both together.
        exam: steps of the examination; None for a quarter of all others.

    Raises:
        AgentFailed: the agent cannot answer any more.
    """
    budget, spent = budget or Budget(), result.counts
    counting = CountingAgent(agent)
    recorded = RecordingAgent(counting, result.transcript)
    facts = VersionSpace(recorded)
    learned: Remembered | None = None
    for _ in range(ROUNDS):
        left = facts.tell_apart(budget, spent.steps + spent.exam_steps + counting.counts.steps)
        if not left:
            return "no fact that is set and unset by steps explains all histories"
        if learned is not None and left[0].fact == learned.fact:
            return learned
        fact = left[0].fact
        found = _interrogated(recorded, fact, rng, budget, exam, spent, counting.counts)
        if found is None:
            facts.rule_out(fact)
        learned = None if found is None else Remembered(fact, replace(found, diagnosis=result.diagnosis))
        if learned is not None and not learned.result.proven:
            return learned
    return f"{ROUNDS} facts that explained what was seen before were ruled out one after the other"


def _interrogated(
    recorded: RecordingAgent,
    fact: InventedFact,
    rng: np.random.Generator,
    budget: Budget,
    exam: int | None,
    spent: Counts,
    made: Counts,
) -> Result | None:
    """The result with a fact; None if the agent contradicts it."""
    known = with_fact(recorded.transcript, fact)
    agent = CountingAgent(RememberingAgent(recorded, fact))
    steps = spent.steps + spent.exam_steps + made.steps
    left = replace(
        budget,
        steps=None if budget.steps is None else max(0, budget.steps - steps),
        queries=None if budget.queries is None else max(0, budget.queries - spent.queries - made.queries),
    )
    policy = Interrogation(agent, exam=exam).moves()
    try:
        found = interrogate(agent, policy, rng, budget=left, scrutiny=DOUBTED, known=known.entries)
    except Interrupted as error:
        if error.contradicted:
            return None
        raise
    if found.doubt or contradicted_query(found.transcript, found.hypotheses):
        return None
    both = {one.name: getattr(spent, one.name) + getattr(made, one.name) for one in fields(Counts)}
    both["steps"] -= agent.counts.exam_steps
    both["exam_steps"] = spent.exam_steps + agent.counts.exam_steps
    return replace(found, counts=Counts(**both))
