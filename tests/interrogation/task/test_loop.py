"""Whatever an agent is like: nothing wrong is concluded, and every interrogation ends."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Stop
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import Interrupted, interrogate
from aam_vision.model.query import Query, Response
from aam_vision.support.errors import AgentFailed
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, assert_sound, run
from tests.profiles import thorough


@thorough(25)
@given(domains.domains(), st.integers(0, 12), st.integers(0, 60))
def test_a_budget_is_never_overdrawn_and_what_was_learned_by_then_is_right(
    domain: Domain, queries: int, steps: int
) -> None:
    result = run(domain, budget=Budget(queries, steps))
    assert result.counts.queries <= queries
    assert result.counts.steps <= steps
    assert_sound(result.hypotheses, domain.model)
    assert [point.queries for point in result.curve] == sorted(point.queries for point in result.curve)


@thorough(25)
@given(domains.domains())
def test_every_move_is_shown_and_the_last_one_is_a_stop(domain: Domain) -> None:
    moves: list[Move] = []
    asked = set()

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        moves.append(move)
        if isinstance(move, Ask):
            assert move.start.situation is not None
            asked.add((move.start.situation.handle, move.plan))
        assert agent.counts.queries == len(asked)

    result = run(domain, watch=watch)
    assert [isinstance(move, Stop) for move in moves] == [False] * (len(moves) - 1) + [True]
    assert len(result.curve) == sum(isinstance(move, Ask) for move in moves)


class _Failing(SymbolicAgent):
    """Breaks down at its n-th question."""

    def __init__(self, domain: Domain, left: int) -> None:
        super().__init__(domain.model, domain.problems)
        self._left = left

    def ask(self, query: Query) -> Response:
        if self._left == 0:
            raise AgentFailed("the wire was cut")
        self._left -= 1
        return super().ask(query)


@thorough(25)
@given(domains.domains(), st.integers(0, 3))
def test_what_was_learned_before_the_agent_failed_is_kept(domain: Domain, left: int) -> None:
    agent, failure = _Failing(domain, left), None
    try:
        result = interrogate(agent, EconomicalPolicy(), np.random.default_rng(0), budget=AMPLE)
    except Interrupted as interrupted:
        failure, result = interrupted, interrupted.result
    assert_sound(result.hypotheses, domain.model)
    if failure is not None:
        assert str(failure) == "the wire was cut"
        assert not result.proven
        assert len(result.curve) == left
