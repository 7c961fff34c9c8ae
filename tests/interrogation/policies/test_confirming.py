"""Asking again for what rests on too few refusals, once the policy has stopped."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import REFUSALS, Evidence, supported
from aam_vision.interrogation.evidence.moves import Aim, Ask, Move, Stop
from aam_vision.interrogation.evidence.transcript import initial_evidence
from aam_vision.interrogation.policies.decorators import CONFIRM, MAX_ATTEMPTS, Confirming, confirmed
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.task.loop import DOUBTED, interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Access
from aam_vision.planning.pyperplan import PyperplanPlanner
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE
from tests.profiles import thorough


def _run(domain: Domain, access: Access) -> tuple[Result, list[Move]]:
    moves: list[Move] = []

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        moves.append(move)

    policy = Confirming(policy_for(access, "economical", PyperplanPlanner()), access)
    agent = SymbolicAgent(domain.model, domain.problems, access)
    rng = np.random.default_rng(0)
    return interrogate(agent, policy, rng, budget=AMPLE, scrutiny=DOUBTED, watch=watch), moves


@thorough(25)
@given(domains.domains(), st.sampled_from([Access.SETTABLE, Access.SNAPSHOT, Access.RESET]))
def test_wherever_one_can_go_back_to_everything_is_confirmed(domain: Domain, access: Access) -> None:
    result, _ = _run(domain, access)
    assert not result.unconfirmed
    evidence = initial_evidence(result.transcript)
    for entry in result.transcript.entries:
        evidence.take_in(entry)
    for claim, refusals in supported(evidence).items():
        assert len(refusals) >= REFUSALS
        action = evidence.hypotheses[claim.action]
        for refusal in refusals:
            held, dim = action.index.values(refusal.at.state, refusal.action.objects)
            assert action.violated(held, dim).within(claim.literals)


@thorough(25)
@given(domains.domains(), st.sampled_from(Access))
def test_nothing_is_confirmed_before_the_policy_stops_and_nothing_too_often(
    domain: Domain, access: Access
) -> None:
    agent = SymbolicAgent(domain.model, domain.problems, access)
    alone = policy_for(access, "economical", PyperplanPlanner())
    plain = interrogate(agent, alone, np.random.default_rng(0), budget=AMPLE)
    result, moves = _run(domain, access)
    own = len(plain.transcript.entries)
    assert result.transcript.entries[:own] == plain.transcript.entries, "the policy's own moves come first"
    *confirming, last = moves[own:]
    assert isinstance(last, Stop)
    attempts = Counter[Aim]()
    for move in confirming:
        assert isinstance(move, Ask)
        assert move.stopped == Stop(plain.proven, plain.why)
        attempts.update(move.aims)
    assert {aim.purpose for aim in attempts} <= {CONFIRM}
    assert max(attempts.values(), default=0) <= MAX_ATTEMPTS


@given(domains.domains(), st.booleans())
@thorough(10)
def test_an_agent_that_refuses_surely_is_not_asked_again(domain: Domain, surely: bool) -> None:
    policy, planner = policy_for(Access.SNAPSHOT, "economical", PyperplanPlanner()), PyperplanPlanner()
    agent = SymbolicAgent(domain.model, domain.problems, Access.SNAPSHOT, refuses_surely=surely)
    assert (confirmed(policy, agent, planner) is policy) is surely
