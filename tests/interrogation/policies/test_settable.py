"""The economical policy under settable access."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Walk
from aam_vision.interrogation.policies.settable import (
    MAX_CHAIN,
    SUCCESS,
    TEST,
    ReassessmentPolicy,
    SettablePolicy,
)
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access
from aam_vision.model.strips import Model, State
from aam_vision.report import evaluation
from tests import domains, small
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, read_mode, updated
from tests.profiles import thorough


def _interrogate(model: Model, problems: Sequence[State], seed: int) -> Result:
    agent = SymbolicAgent(model, problems, Access.SETTABLE)
    return interrogate(agent, SettablePolicy(), np.random.default_rng(seed), budget=AMPLE)


@pytest.mark.parametrize("name", packaged.DOMAINS)
def test_packaged_domains_are_learned_near_the_lower_bound(name: str) -> None:
    model, problems = domains.packaged(name, 3)
    result = _interrogate(model, problems, seed=0)
    assert result.proven
    assert evaluation.exact(result.model, model)
    assert result.counts.queries <= 1.25 * _preconditions(model) + 3
    assert result.counts.walk_steps <= 500


def _preconditions(model: Model) -> int:
    return sum(len(schema.positive | schema.negative) for schema in model.actions)


@thorough(60)
@given(st.sets(st.tuples(st.integers(0, 59), st.sampled_from("xy")), min_size=1, max_size=3))
def test_most_of_many_candidates_are_refuted_in_groups(required: set[tuple[int, str]]) -> None:
    """An action that walks never show, with 120 atoms: fewer queries than tests of nine literals would take."""
    needs = ", ".join(f"p{number} {name}" for number, name in sorted(required))
    model = small.model(f"act x y: {needs} -> done x", predicates=" ".join(f"p{n}/1" for n in range(60)))
    result = _interrogate(model, [small.state(" ".join("abcdefghijklmnopqrst"))], seed=0)
    assert result.proven
    assert evaluation.exact(result.model, model)
    assert result.counts.queries <= 6 + 3 * len(required)


@thorough(20)
@given(st.sets(st.integers(0, 8), min_size=1, max_size=3))
def test_an_action_that_several_atoms_forbid_is_shown_once_all_else_is_known(forbidding: set[int]) -> None:
    """No walk shows it; two actions require such atoms to be false, one of them alone."""
    nots = [f"not p{number} x" for number in sorted(forbidding)]
    model = small.model(
        f"act x: {', '.join(nots)} -> done x",
        f"other x: {nots[0]} -> p0 x",
        predicates=" ".join(f"p{number}/1" for number in range(9)),
    )
    every = ", ".join(f"p{number} {name}" for number in range(9) for name in "ab")
    result = _interrogate(model, [small.state("a b", every)], seed=0)
    assert result.proven
    assert evaluation.exact(result.model, model)


@thorough(40)
@given(domains.domains(), st.integers(0, 3))
def test_every_step_of_a_chain_tests_just_what_it_aims_at(domain: Domain, seed: int) -> None:
    """In the state as the model of the moment predicts it; walks come first, and no question comes up twice."""

    class Observed:
        policy = SettablePolicy()

        def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
            move = self.policy.next(evidence, rng)
            if isinstance(move, Walk):
                assert all(isinstance(exchange.move, Walk) for exchange in evidence.exchanges)
            if isinstance(move, Ask):
                assert len(move.plan) <= MAX_CHAIN + 1
                assert not evidence.was_asked(move.start, move.plan)
                for aim in move.aims:
                    state = evidence.predict_plan(move.start.state, move.plan[: aim.step])
                    action, step = evidence.hypotheses[aim.action], move.plan[aim.step]
                    violated = action.violated(*action.index.values(state, step.objects))
                    assert (aim.purpose, step.name, violated) == (TEST, aim.action, aim.literals)
            return move

    agent = SymbolicAgent(domain.model, domain.problems, Access.SETTABLE)
    interrogate(agent, Observed(), np.random.default_rng(seed), budget=AMPLE)


# A model learned earlier is verified: it says what is asked first, and nothing is believed because it was so
# before.


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
    model, problems = domains.packaged(name, 3)
    moves: list[Move] = []
    result = interrogate(
        SymbolicAgent(model, problems),
        ReassessmentPolicy(model),
        np.random.default_rng(0),
        budget=AMPLE,
        watch=lambda move, evidence, agent: moves.append(move),
    )
    assert result.proven
    assert evaluation.exact(result.model, model)
    assert _preconditions(model) <= result.counts.queries <= 1.1 * _preconditions(model) + 3
    asked = [move for move in moves if isinstance(move, Ask)]
    expected = [bool(ask.aims) and ask.aims[0].purpose == SUCCESS for ask in asked]
    assert expected == sorted(expected, reverse=True), "what should succeed is asked first"
