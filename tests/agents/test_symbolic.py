"""A symbolic agent answers as its model says, and never says what that is."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.model.query import Query
from aam_vision.model.strips import Model
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough


@thorough(60)
@given(domains.domains(constants=True), st.integers(0, 10**6))
def test_a_walk_follows_the_model_and_ends_only_in_a_dead_end(domain: Domain, seed: int) -> None:
    agent = SymbolicAgent(domain.model, domain.problems)
    start = agent.initial()[0]
    walked = agent.walk(start, 10, np.random.default_rng(seed))
    at = start
    for step in walked:
        assert step.before == at
        assert step.action in domains.applicable(domain.model, at.state)
        assert step.after.state == domains.successor(domain.model, at.state, step.action)
        at = step.after
    assert len(walked) == 10 or not domains.applicable(domain.model, at.state)
    assert agent.walk(start, 10, np.random.default_rng(seed)) == walked


@thorough(60)
@given(domains.domains(), st.data())
def test_an_answer_is_the_longest_executable_prefix_and_where_it_ends(
    domain: Domain, data: st.DataObject
) -> None:
    agent = SymbolicAgent(domain.model, domain.problems)
    start = agent.initial()[-1]
    actions = domains.instances(agent.headers, start.state.objects)
    assume(actions)
    plan = tuple(data.draw(st.lists(st.sampled_from(actions), max_size=4)))
    response = agent.ask(Query(start, plan))
    state = start.state
    for action in plan[: response.executed]:
        assert action in domains.applicable(domain.model, state)
        state = domains.successor(domain.model, state, action)
    assert response.final.state == state
    assert response.final.handle == agent.ask(Query(start, plan[: response.executed])).final.handle
    if response.executed < len(plan):
        assert plan[response.executed] not in domains.applicable(domain.model, state)


@thorough(5)
@given(domains.domains())
def test_the_model_is_not_a_public_attribute(domain: Domain) -> None:
    agent = SymbolicAgent(domain.model, domain.problems)
    public = [getattr(agent, name) for name in dir(agent) if not name.startswith("_")]
    assert not any(isinstance(value, Model) for value in public)
