"""Nobody starts where the access does not allow, and what reaches the agent is counted, whatever the order of questions and walks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent, Counts
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.model.query import Access, Agent, Query, Situation
from aam_vision.model.strips import GroundAction
from aam_vision.support.errors import AamError, AccessViolation
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough


def _exchanged(agent: Agent, start: Situation, plan: tuple[GroundAction, ...] | None, seed: int) -> Any:
    if plan is None:
        return agent.walk(start, 3, np.random.default_rng(seed))
    return agent.ask(Query(start, plan))


@thorough(120)
@given(domains.domains(), st.sampled_from(Access), st.data())
def test_exactly_what_the_access_allows_is_asked_and_counted(
    domain: Domain, access: Access, data: st.DataObject
) -> None:
    """Every attempted step, every distinct question, every start elsewhere than where the agent stood."""
    plain = SymbolicAgent(domain.model, domain.problems, access)
    counting = CountingAgent(SymbolicAgent(domain.model, domain.problems, access))
    agent = EnforcingAgent(counting)
    assert (agent.vocabulary, agent.headers, agent.access) == (plain.vocabulary, plain.headers, access)
    initial = list(agent.initial())
    assert initial == list(plain.initial())
    actions = domains.instances(agent.headers, domain.problems[0].objects)
    assume(actions)
    everywhere = list(domains.reachable(domain.model, domain.problems, limit=30) or domain.problems)
    first = {situation.state for situation in initial}
    visited, at = {*first}, None
    expected, asked = Counts(), set()
    for number in range(data.draw(st.integers(1, 8))):
        state = data.draw(st.sampled_from(everywhere if at is None else [*everywhere, at, at]))
        start = Situation(state, state)
        plan = data.draw(st.none() | st.lists(st.sampled_from(actions), max_size=3).map(tuple))
        allowed = {
            Access.TRAJECTORY: plan is not None and state in (first if at is None else {at}),
            Access.RESET: state in first or state == at,
            Access.SNAPSHOT: state in visited,
            Access.SETTABLE: True,
        }[access]
        if not allowed:
            with pytest.raises(AccessViolation, match=f"{access.value} access"):
                _exchanged(agent, start, plan, number)
            assert counting.counts == expected
            continue
        answer, other = (_exchanged(one, start, plan, number) for one in (agent, plain))
        assert answer == other
        expected.resets += at is not None and at != state
        if plan is None:
            expected.steps += len(answer)
            expected.walk_steps += len(answer)
            visited |= {step.after.state for step in answer}
            at = answer[-1].after.state if answer else state
        else:
            asked.add((state, plan))
            expected.queries = len(asked)
            expected.steps += min(len(plan), answer.executed + 1)
            expected.failed_steps += answer.executed < len(plan)
            at = answer.final.state
        visited |= {state, at}
        assert counting.counts == expected


@thorough(10)
@given(domains.domains())
def test_a_trajectory_begins_once(domain: Domain) -> None:
    agent = EnforcingAgent(SymbolicAgent(domain.model, domain.problems, Access.TRAJECTORY))
    assert list(agent.initial()) == list(agent.initial())
    agent.ask(Query(agent.initial()[0], ()))
    with pytest.raises(AamError, match="second time"):
        agent.initial()
