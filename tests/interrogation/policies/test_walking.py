"""Walks: they start in situations that were seen, and end once they no longer pay."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.evidence.entries import Asked, Walked
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.walking import LEAST_PATIENCE, Walker, after_walking
from aam_vision.query import Query
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import agent_of
from tests.profiles import thorough


def _begun(domain: Domain) -> Evidence:
    agent = agent_of(domain)
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers))
    for situation in agent.initial():
        evidence.begin(situation)
    return evidence


def _walk(domain: Domain, evidence: Evidence, walker: Walker, rng: np.random.Generator) -> list[int]:
    """Walk until the walker has enough; the steps that it allowed each time."""
    agent, allowed = agent_of(domain), []
    while (walk := walker.next(evidence, rng)) is not None:
        assert walk.start in evidence.visited
        allowed.append(walk.steps)
        start = evidence.departure(walk.start)
        evidence.take_in(Walked(tuple(agent.walk(start, walk.steps, rng))), walk)
    return allowed


@thorough(40)
@given(domains.domains(), st.integers(0, 120), st.integers(1, 9), st.integers(0, 3))
def test_walks_end_at_the_limit_or_when_nothing_was_learnt_for_long(
    domain: Domain, limit: int, stride: int, seed: int
) -> None:
    evidence = _begun(domain)
    allowed = _walk(domain, evidence, Walker(limit=limit, stride=stride), np.random.default_rng(seed))
    assert sum(allowed) <= limit
    assert all(0 < steps <= stride for steps in allowed)
    told = [exchange.told for exchange in evidence.exchanges]
    last_news = max((number for number, news in enumerate(told, 1) if news), default=0)
    fruitless, patience = sum(allowed[last_news:]), max(LEAST_PATIENCE, evidence.hypotheses.size)
    assert fruitless < patience + stride
    assert sum(allowed) == limit or fruitless >= patience


@thorough(25)
@given(domains.domains(), st.integers(0, 3))
def test_walking_is_over_for_good_once_anything_was_asked(domain: Domain, seed: int) -> None:
    evidence, rng = _begun(domain), np.random.default_rng(seed)
    walker = Walker(limit=12)
    _walk(domain, evidence, walker, rng)
    assert after_walking(evidence) is evidence
    known = {name: action.candidates for name, action in evidence.hypotheses.actions.items()}
    visited = len(evidence.visited)
    for step in domains.applicable(domain.model, domain.problems[0])[:2]:
        query = Query(evidence.departure(evidence.nodes[0]), (step,))
        evidence.take_in(Asked(query, agent_of(domain).ask(query)), Ask(evidence.nodes[0], (step,), "test"))
        assert Walker().next(evidence, rng) is None
    then = after_walking(evidence)
    assert {name: action.candidates for name, action in then.hypotheses.actions.items()} == known
    assert len(then.visited) == visited
