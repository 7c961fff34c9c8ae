"""From a diagnosis to a model with memory: the smallest fact that explains all histories is looked for, and examined.

Facts that explain all that was seen are told apart by histories made for it. With the simplest the agent is interrogated as one with a
predicate more, all earlier answers taken in; that ends with the examination, whose predictions are made for fresh histories. What
contradicts the fact then rules it out, and the next one is tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np

from aam_vision.agents.counting import CountingAgent, Counts
from aam_vision.interrogation.chance.going_on import FAMILIES as OTHERWISE
from aam_vision.interrogation.chance.going_on import can_go_on
from aam_vision.interrogation.evidence.anomalies import contradicted_query
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Entry, Move, Policy, Stop
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.examination.findings import Family
from aam_vision.interrogation.memory.experiments import VersionSpace
from aam_vision.interrogation.memory.facts import InventedCounter, InventedFact, number_of, told
from aam_vision.interrogation.memory.histories import RecordingAgent, two_ways
from aam_vision.interrogation.memory.refused import refused_everywhere
from aam_vision.interrogation.memory.remembering import RememberingAgent, with_fact
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import DOUBTED, Interrupted, interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verdict import BUDGET
from aam_vision.model.query import Agent
from aam_vision.support.resources import ResourcesSpent
from aam_vision.support.wording import counted, listed

FAMILIES: Final = (Family.HIDDEN, *OTHERWISE)
"""What memory may explain; something misread or changing it does not."""
REFUSED_MAY_COUNT: Final = "whether refused steps count, too, no question can tell, as each ends with one"
"""Why nothing that counts all steps is proven where every question begins anew."""
ROUNDS = 8
"""Facts with which the agent is interrogated, at most."""


@dataclass(frozen=True)
class Remembered:
    """What was learned of an agent that remembers something."""

    fact: InventedFact
    result: Result
    """In a vocabulary with the fact's predicate."""

    def doubted(self, why: str) -> Remembered:
        """The same, not proven."""
        return replace(self, result=doubted(self.result, why))


def doubted(result: Result, why: str) -> Result:
    """A result, not proven."""
    return replace(result, proven=False, why=f"{result.why}; but {why}")


def can_remember(result: Result) -> bool:
    """Whether memory may explain what was diagnosed, and histories can be made."""
    return can_go_on(result, FAMILIES)


def remember(
    recorded: RecordingAgent,
    result: Result,
    rng: np.random.Generator,
    budget: Budget | None = None,
    exam: int | None = None,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Remembered | str:
    """Learn a model with an invented fact from what was seen and from further steps; or why none was found, in a line.

    Args:
        recorded: the agent that was interrogated, with all that was asked since.
        result: with a diagnosis (``can_remember``).
        rng: for the agent's own walks.
        budget: of both together.
        exam: steps of the examination; None for a quarter of all others.
        names: for what is invented, in the stead of its usual name.

    Raises:
        AgentFailed: the agent cannot answer any more.
    """
    budget, spent = budget or Budget(), result.counts
    facts = VersionSpace(recorded, rng)
    learned: Remembered | None = None
    explaining: InventedFact | None = None
    for _ in range(ROUNDS):
        try:
            with budget.resources.interrupting():
                left = facts.tell_apart(budget, spent.steps + spent.exam_steps + recorded.counts.steps)
        except ResourcesSpent as error:
            return str(error)
        if not left:
            return (
                "no fact that is set and unset by steps explains all histories, and no number that they count"
            )
        if learned is not None and left[0].fact == explaining:
            if facts.open:
                return learned.doubted("other facts explain it as well, and no more may be asked")
            if isinstance(explaining, InventedCounter) and explaining.every and recorded.access.constructs:
                return learned.doubted(REFUSED_MAY_COUNT)
            return learned
        if facts.open:
            return "several facts explain all histories, and no more may be asked"
        if never := refused_everywhere(recorded.transcript):  # any fact explains what never happens
            return f"no history that was made executes {listed(never)}"
        explaining = left[0].fact
        fact = _in_model(explaining, recorded, names)
        found = _with_fact(recorded, fact, _shown(recorded, facts), result, rng, budget, exam)
        if found is None:
            facts.rule_out(explaining)
        learned = None if found is None else Remembered(fact, found)
        if learned is not None and not learned.result.proven:
            return learned
    return f"{ROUNDS} facts that explained what was seen before were ruled out one after the other"


@dataclass(frozen=True)
class _Within:
    """A policy that stops once the agent itself was given so many steps more: histories that are made anew take steps, too."""

    policy: Policy
    made: Counts
    steps: int | None
    before: int
    """The steps that it was given before."""

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's move, as long as steps are left."""
        if self.steps is not None and self.made.steps - self.before >= self.steps:
            return Stop(False, f"the budget of {counted(self.steps, 'further step')} is spent", cut=BUDGET)
        return self.policy.next(evidence, rng)


def _in_model(fact: InventedFact, recorded: RecordingAgent, names: Mapping[str, str]) -> InventedFact:
    """The fact as a model has it."""
    name = fact.predicate.name
    fact = replace(fact, predicate=replace(fact.predicate, name=names.get(name, name)))
    if not isinstance(fact, InventedCounter):
        return fact
    counted_to = map(number_of, fact.along(recorded.histories.attempts, []))
    return fact.in_model(recorded.vocabulary, recorded.headers, counted_to)


def _shown(recorded: RecordingAgent, facts: VersionSpace) -> Transcript:
    """What an interrogation with a fact is told of all that was asked.

    Where any state can be set, questions that begin far from where their history does are dear: they make it anew.
    """
    asked = recorded.transcript
    if not recorded.access.constructs:
        return asked
    return asked.of([one for number, one in enumerate(asked.entries) if number not in facts.random])


def _with_fact(
    recorded: RecordingAgent,
    fact: InventedFact,
    shown: Transcript,
    result: Result,
    rng: np.random.Generator,
    budget: Budget,
    exam: int | None,
) -> Result | None:
    """The result with a fact; None if the agent contradicts it."""
    what = "number" if isinstance(fact, InventedCounter) else "fact"
    how = f"deterministic with one invented {what}, {fact.predicate.name}"
    agent, known = RememberingAgent(recorded, fact), with_fact(shown, fact).entries
    found = as_deterministic(recorded, agent, result, rng, budget, exam, how, known=known)
    if isinstance(found, str):
        return None
    alike = two_ways(recorded.histories.attempts)
    invented = told(fact, found.model) + (f" In situations that look alike {alike}." if alike else "")
    return replace(found, invented=invented)


def as_deterministic(
    recorded: RecordingAgent,
    agent: Agent,
    result: Result,
    rng: np.random.Generator,
    budget: Budget | None,
    exam: int | None,
    how: str,
    invented: str = "",
    *,
    known: Sequence[Entry] | None = None,
    repeated: bool = False,
) -> Result | str:
    """What is learned of a diagnosed agent that is seen in another way; or why no model fits it so, either, in a line.

    Args:
        recorded: the agent that was interrogated.
        agent: how it is to be seen.
        result: with a diagnosis.
        rng: for the agent's own walks.
        budget: of both together.
        exam: steps of the examination; None for a quarter of all others.
        how: it is seen, as "deterministic with lamp1 as a constant".
        invented: what the model has more, in sentences.
        known: what was asked before, as it is seen so; None if that is no different.
        repeated: whether a fact, or an instruction, may name one object twice.

    Raises:
        AgentFailed: the agent cannot answer any more.
    """
    known = recorded.transcript.entries if known is None else known
    found = interrogated(
        recorded, agent, rng, budget or Budget(), exam, result.counts, known, repeated=repeated
    )
    if isinstance(found, str):
        return found
    if doubt := found.doubt or contradicted_query(found.transcript, found.hypotheses):
        return doubt
    return replace(found, why=f"{how}: {found.why}", diagnosis=result.diagnosis, invented=invented)


def interrogated(
    recorded: RecordingAgent,
    agent: Agent,
    rng: np.random.Generator,
    budget: Budget,
    exam: int | None,
    spent: Counts,
    known: Sequence[Entry] = (),
    *,
    repeated: bool = False,
) -> Result | str:
    """Interrogate and examine a deterministic STRIPS agent within what is left of a budget; or how it contradicts that it is one.

    Args:
        recorded: the agent that all questions reach in the end.
        agent: how it is to be seen.
        rng: for its own walks.
        budget: of the whole run.
        exam: steps of the examination; None for a quarter of all others.
        spent: by the run before ``recorded`` was made.
        known: what was asked before, and counts.
        repeated: whether a fact, or an instruction, may name one object twice.

    Raises:
        AgentFailed: it cannot answer any more.
    """
    made, before = recorded.counts, replace(recorded.counts)
    agent = CountingAgent(agent)
    steps = spent.steps + spent.exam_steps + made.steps
    left = replace(
        budget,
        steps=None if budget.steps is None else max(0, budget.steps - steps),
        queries=None if budget.queries is None else max(0, budget.queries - spent.queries - made.queries),
    )
    policy = _Within(Interrogation(agent, exam=exam).moves(), made, left.steps, made.steps)
    try:
        found = interrogate(agent, policy, rng, budget=left, repeated=repeated, scrutiny=DOUBTED, known=known)
    except Interrupted as error:
        if error.contradicted:
            return str(error)
        raise
    steps = spent.steps + made.steps - agent.counts.exam_steps  # with those of histories made anew
    return replace(found, counts=replace(spent + before + agent.counts, steps=steps))
