"""A model learned earlier is verified: it says what is asked first, and nothing is believed because it was so before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move
from aam_vision.interrogation.policies.settable import SUCCESS, ReassessmentPolicy
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.model import domains as packaged
from aam_vision.report import evaluation
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, read_mode, updated
from tests.profiles import thorough


@thorough(40)
@given(domains.domains(), st.integers(0, 100))
def test_the_model_is_the_agents_whatever_was_learned_earlier(domain: Domain, seed: int) -> None:
    prior = updated(domain.model, seed)
    policy = ReassessmentPolicy(prior)
    agent = SymbolicAgent(domain.model, domain.problems)
    result = interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE)
    for pal in result.hypotheses.pal_tuples():
        modes = result.hypotheses.modes(pal)
        assert len(modes) > 1 or modes[0] is read_mode(domain.model, pal)
    assert result.counts.walk_steps <= policy.walker.limit


@pytest.mark.parametrize("name", ["gripper", "blocksworld", "logistics", "termes"])
def test_an_unchanged_model_is_verified_near_the_lower_bound_after_a_short_walk(name: str) -> None:
    model, rng = packaged.load(name), np.random.default_rng(0)
    problems = [packaged.generate(name, 2, rng).initial for _ in range(3)]
    moves: list[Move] = []

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        moves.append(move)

    policy = ReassessmentPolicy(model)
    result = interrogate(SymbolicAgent(model, problems), policy, rng, budget=AMPLE, watch=watch)
    assert result.proven
    assert evaluation.exact(result.model, model)
    preconditions = sum(len(schema.positive | schema.negative) for schema in model.actions)
    assert preconditions <= result.counts.queries <= 1.1 * preconditions + 3
    asked = [move for move in moves if isinstance(move, Ask)]
    expected = [bool(ask.aims) and ask.aims[0].purpose == SUCCESS for ask in asked]
    assert expected == sorted(expected, reverse=True), "what should succeed is asked first"
