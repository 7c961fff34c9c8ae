"""Counts are what reached the agent: every attempted step, every distinct question."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent, Counts
from aam_vision.model.query import Query
from aam_vision.model.strips import GroundAction
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import agent_of
from tests.profiles import thorough


@thorough(60)
@given(domains.domains(), st.data())
def test_the_counts_are_the_sums_of_the_answers(domain: Domain, data: st.DataObject) -> None:
    plain, agent = agent_of(domain), CountingAgent(agent_of(domain))
    assert (agent.vocabulary, agent.headers, agent.access) == (plain.vocabulary, plain.headers, plain.access)
    situations = list(agent.initial())
    assert situations == list(plain.initial())
    actions = [
        GroundAction(header.name, row)
        for header in agent.headers
        for row in domains.all_bindings(header, domain.problems[0].objects)[:8]
    ]
    assume(actions)
    expected, at, asked = Counts(), None, set()
    for number in range(data.draw(st.integers(0, 8))):
        start = data.draw(st.sampled_from(situations))
        walks = bool(domains.applicable(domain.model, start.state)) and data.draw(st.booleans())
        expected.resets += at is not None and at != start.handle
        if not walks:
            plan = tuple(data.draw(st.lists(st.sampled_from(actions), max_size=3)))
            response = agent.ask(Query(start, plan))
            assert response == plain.ask(Query(start, plan))
            asked.add((start.handle, plan))
            expected.steps += min(len(plan), response.executed + 1)
            expected.failed_steps += response.executed < len(plan)
            at = response.final.handle
            situations.append(response.final)
        else:
            walked = agent.walk(start, 3, np.random.default_rng(number))
            assert walked == plain.walk(start, 3, np.random.default_rng(number))
            expected.steps += len(walked)
            expected.walk_steps += len(walked)
            at = walked[-1].after.handle
        expected.queries = len(asked)
        assert agent.counts == expected
