"""Whatever an agent is like: nothing wrong is concluded, and every interrogation ends."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Stop
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import Interrupted, interrogate
from aam_vision.model.query import Query, Response
from aam_vision.report import evaluation
from aam_vision.support.errors import AgentFailed
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, assert_learned_soundly, assert_sound, read_mode, run
from tests.profiles import promised, thorough


@promised(60)
@given(domains.domains(), st.integers(0, 3))
def test_a_random_domain_is_learned_soundly(domain: Domain, seed: int) -> None:
    result = run(domain, seed=seed)
    assert_learned_soundly(result, domain.model)
    assert result.proven is (result.why == "no query could tell any more")


@promised(60)
@given(domains.domains())
def test_a_complete_model_is_equivalent_wherever_the_agent_can_get(domain: Domain) -> None:
    states = domains.reachable(domain.model, domain.problems, limit=400)
    assume(states is not None)
    assert states is not None
    result = run(domain)
    if not result.proven:
        return
    assert evaluation.equivalent(result.model, domain.model, states)
    if not result.undetermined:
        for pal in result.hypotheses.pal_tuples():
            schema = result.model.schema(pal.action)
            assert schema.mode(pal.atom, pal.location) is read_mode(domain.model, pal)


@thorough(20)
@given(domains.domains())
def test_the_same_seed_asks_the_same_questions(domain: Domain) -> None:
    def transcript() -> list[str]:
        lines: list[str] = []

        def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
            plan = move.plan if isinstance(move, Ask) else getattr(move, "steps", "")
            lines.append(f"{type(move).__name__} {plan} {agent.counts}")

        run(domain, seed=5, watch=watch)
        return lines

    assert transcript() == transcript()


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
