"""The interrogation itself: ask the policy, ask the agent, learn, until there is nothing left to ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aam_vision.interrogation.evidence import Evidence
from aam_vision.interrogation.hypotheses import Hypotheses
from aam_vision.interrogation.moves import Ask, Move, Policy, Stop, Walk
from aam_vision.query import Agent, Query, Situation


@dataclass(frozen=True)
class Budget:
    """How much may be asked; None is no limit."""

    queries: int | None = None
    steps: int | None = None


def interrogate(
    agent: Agent,
    policy: Policy,
    rng: np.random.Generator,
    *,
    watch: Callable[[Move, Evidence], None] = lambda move, evidence: None,
) -> tuple[Evidence, Stop]:
    """Interrogate an agent until the policy stops."""
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers))
    for situation in agent.initial():
        evidence.situation(situation)
    while True:
        move = policy.next(evidence, rng)
        if isinstance(move, Ask):
            query = Query(_situation(move.start.situation), move.plan)
            evidence.answer(query, agent.ask(query))
        elif isinstance(move, Walk):
            evidence.walk(agent.walk(_situation(move.start.situation), move.steps, rng))
        watch(move, evidence)
        if isinstance(move, Stop):
            return evidence, move


def _situation(situation: Situation | None) -> Situation:
    assert situation is not None, "a policy may only start from situations that were seen"
    return situation
