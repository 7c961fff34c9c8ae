"""From a diagnosis to a model with memory: the smallest fact that explains all histories is looked for, and examined.

Facts that explain all that was seen are told apart by histories made for it. With the simplest the agent is interrogated as one with a
predicate more, all earlier answers taken in; that ends with the examination, whose predictions are made for fresh histories. What
contradicts the fact then rules it out, and the next one is tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from aam_vision.interrogation.chance.going_on import FAMILIES as OTHERWISE
from aam_vision.interrogation.chance.going_on import can_go_on
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.examination.findings import Family
from aam_vision.interrogation.memory.diagnosed import Diagnosed, Further
from aam_vision.interrogation.memory.experiments import VersionSpace
from aam_vision.interrogation.memory.facts import InventedCounter, InventedFact, number_of, told
from aam_vision.interrogation.memory.histories import RecordingAgent, two_ways
from aam_vision.interrogation.memory.refused import refused_everywhere
from aam_vision.interrogation.memory.remembering import RememberingAgent, with_fact
from aam_vision.interrogation.task.result import Result
from aam_vision.support.resources import ResourcesSpent
from aam_vision.support.wording import listed

FAMILIES: Final = (Family.HIDDEN, *OTHERWISE)
"""What memory may explain; something misread or changing it does not."""
REFUSED_MAY_COUNT: Final = "whether refused steps count, too, no question can tell, as each ends with one"
"""Why nothing that counts all steps is proven where every question begins anew."""
ROUNDS = 8
"""Facts with which the agent is interrogated, at most."""


def doubted(result: Result, why: str) -> Result:
    """A result, not proven."""
    return replace(result, proven=False, why=f"{result.why}; but {why}")


def can_remember(result: Result) -> bool:
    """Whether memory may explain what was diagnosed, and histories can be made."""
    return can_go_on(result, FAMILIES)


def remember(diagnosed: Diagnosed, names: Mapping[str, str] = MappingProxyType({})) -> Further:
    """Learn a model with an invented fact from what was seen and from further steps; or why none was found, in a line.

    Args:
        diagnosed: the agent (``can_remember``).
        names: for what is invented, in the stead of its usual name.

    Raises:
        AgentFailed: the agent cannot answer any more.
    """
    recorded, budget = diagnosed.recorded, diagnosed.budget
    facts = VersionSpace(recorded, diagnosed.rng)
    found: Result | None = None
    explaining: InventedFact | None = None
    fact: InventedFact | None = None
    for _ in range(ROUNDS):
        try:
            with budget.resources.interrupting():
                left = facts.tell_apart(budget, diagnosed.steps)
        except ResourcesSpent as error:
            return Further(None, str(error))
        if not left:
            what = (
                "no fact that is set and unset by steps explains all histories, and no number that they count"
            )
            return Further(None, what)
        if found is not None and left[0].fact == explaining:
            if facts.open:
                found = doubted(found, "other facts explain it as well, and no more may be asked")
            elif isinstance(explaining, InventedCounter) and explaining.every and recorded.access.constructs:
                found = doubted(found, REFUSED_MAY_COUNT)
            return Further(found, fact=fact)
        if facts.open:
            return Further(None, "several facts explain all histories, and no more may be asked")
        if never := refused_everywhere(recorded.transcript):  # any fact explains what never happens
            return Further(None, f"no history that was made executes {listed(never)}")
        explaining = left[0].fact
        fact = _in_model(explaining, recorded, names)
        found = _with_fact(diagnosed, fact, _shown(recorded, facts))
        if found is None:
            facts.rule_out(explaining)
        elif not found.proven:
            return Further(found, fact=fact)
    why = f"{ROUNDS} facts that explained what was seen before were ruled out one after the other"
    return Further(None, why)


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


def _with_fact(diagnosed: Diagnosed, fact: InventedFact, shown: Transcript) -> Result | None:
    """The result with a fact; None if the agent contradicts it."""
    what = "number" if isinstance(fact, InventedCounter) else "fact"
    how = f"deterministic with one invented {what}, {fact.predicate.name}"
    agent, known = RememberingAgent(diagnosed.recorded, fact), with_fact(shown, fact).entries
    found = diagnosed.as_deterministic(agent, how, known=known)
    if isinstance(found, str):
        return None
    alike = two_ways(diagnosed.recorded.histories.attempts)
    invented = told(fact, found.model) + (f" In situations that look alike {alike}." if alike else "")
    return replace(found, invented=invented)
