"""Whatever is wrong with answers: nothing certain is wrong, and an agent that is right is asked nothing new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import UnreliableAgent
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verification import verify
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import (
    Model,
)
from aam_vision.report import evaluation
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, read_mode
from tests.profiles import crossed, thorough

from .doubting import doubting, hidden, policy


def _unreliable(
    domain: Domain, flips: float, refusals: float, seed: int = 0, access: Access = Access.SETTABLE
) -> UnreliableAgent:
    problems = domain.problems[:1] if access is Access.TRAJECTORY else domain.problems
    agent = hidden(SymbolicAgent(domain.model, problems, access))
    return UnreliableAgent(agent, flips, refusals, np.random.default_rng(seed))


def _assert_nothing_certain_is_wrong(result: Result, model: Model) -> None:
    for pal in result.hypotheses.pal_tuples():
        modes = result.hypotheses.modes(pal)
        assert len(modes) > 1 or modes[0] is read_mode(model, pal), pal


@thorough(40)
@given(domains.domains(), st.sampled_from([Access.SETTABLE, Access.SNAPSHOT, Access.RESET]))
def test_an_agent_that_is_right_is_asked_nothing_new(domain: Domain, access: Access) -> None:
    agent = SymbolicAgent(domain.model, domain.problems, access)
    plain = interrogate(agent, policy(access), np.random.default_rng(0), budget=AMPLE)
    result = doubting(agent)
    assert result.rates is None
    assert (result.counts.queries, result.counts.looks) == (plain.counts.queries, 0)
    assert result.curve == plain.curve
    assert (result.model, result.proven, result.why) == (plain.model, plain.proven, plain.why)
    assert not result.unconfirmed
    assert verify(result.transcript, result).holds


@thorough(12)
@given(domains.domains())
def test_on_a_trajectory_what_is_found_and_after_how_many_steps_is_as_ever(domain: Domain) -> None:
    """Refusals are confirmed at the end, as far as there is a way; what is not is said to be open."""
    agent = SymbolicAgent(domain.model, domain.problems[:1], Access.TRAJECTORY)
    plain = interrogate(agent, policy(Access.TRAJECTORY), np.random.default_rng(0), budget=AMPLE)
    result = doubting(agent)
    assert result.curve[: len(plain.curve)] == plain.curve
    assert result.proven <= (not result.unconfirmed)
    for claim in result.unconfirmed:
        texts = tuple(result.hypotheses[claim.action].index.text(claim.literals))
        assert any((one.action, one.group) == (claim.action, texts) for one in result.undetermined)
    assert verify(result.transcript, result).holds


@thorough(25)
@given(domains.domains(), st.sampled_from([(0.02, 0.0), (0.1, 0.0), (0.0, 0.05), (0.1, 0.03)]))
def test_nothing_certain_is_wrong_and_the_result_can_be_checked(
    domain: Domain, rates: tuple[float, float]
) -> None:
    result = doubting(_unreliable(domain, *rates), steps=600, confirm=True)
    _assert_nothing_certain_is_wrong(result, domain.model)
    assert result.proven is not bool(result.undetermined or result.doubt)
    assert verify(result.transcript, result).holds


@thorough(25)
@given(
    domains.domains(),
    st.sampled_from([Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY]),
    st.sampled_from([(0.02, 0.0), (0.1, 0.0), (0.2, 0.0), (0.0, 0.05), (0.1, 0.03)]),
)
def test_where_no_state_can_be_made_answers_are_asked_for_until_they_are_certain(
    domain: Domain, access: Access, rates: tuple[float, float]
) -> None:
    result = doubting(_unreliable(domain, *rates, access=access), steps=600, confirm=True)
    for pal, mode in result.certain.items():
        assert mode is read_mode(domain.model, pal), pal
    assert result.rates is not None
    assert verify(result.transcript, result).holds


@pytest.mark.parametrize(
    ("access", "rates"),
    crossed([Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY], [(0.01, 0.0), (0.2, 0.02), (0.0, 0.05)]),
)
def test_a_packaged_domain_is_learned_as_from_an_agent_that_is_right(
    access: Access, rates: tuple[float, float]
) -> None:
    """All that can be told under the access is, and not more."""
    rng = np.random.default_rng(1)
    domain = Domain(packaged.load("gripper"), (packaged.generate("gripper", 2, rng).initial,))
    plain = doubting(SymbolicAgent(domain.model, domain.problems, access))
    result = doubting(_unreliable(domain, *rates, access=access))
    assert evaluation.exact(result.model, domain.model)
    assert result.proven or access is Access.TRAJECTORY
    if result.proven and plain.proven:
        assert result.certain == plain.certain
    if result.rates is not None and rates[0] > 0.05:
        found = [m.false_positive for m in result.rates.misreadings.values()]
        assert abs(float(np.median(found)) - rates[0]) < 0.05


@pytest.mark.parametrize(
    ("name", "rates"),
    crossed(["gripper", "blocksworld", "miconic"], [(0.01, 0.0), (0.2, 0.0), (0.05, 0.05)]),
)
def test_packaged_domains_are_learned_exactly(name: str, rates: tuple[float, float]) -> None:
    rng = np.random.default_rng(1)
    problems = tuple(packaged.generate(name, 2, rng).initial for _ in range(2))
    model = packaged.load(name)
    result = doubting(_unreliable(Domain(model, problems), *rates))
    assert result.proven
    assert evaluation.exact(result.model, model)
    assert result.assessment is not None
    total = [m for rate in result.assessment.rates.misreadings.values() for m in (rate.false_positive,)]
    assert abs(float(np.median(total)) - rates[0]) < 0.05
    assert result.counts.steps < 300


def test_a_result_that_claims_too_much_is_found_out() -> None:
    problems = (packaged.generate("gripper", 2, np.random.default_rng(0)).initial,)
    domain = Domain(packaged.load("gripper"), problems)
    result = doubting(_unreliable(domain, 0.1, 0.0))
    assert verify(result.transcript, result).holds
    assert not verify(result.transcript.of(result.transcript.entries[:20]), result).holds
    action = result.model.actions[0]
    wrong = replace(action, add=frozenset(), delete=frozenset())
    forged = replace(result, model=Model(result.model.vocabulary, (wrong, *result.model.actions[1:])))
    assert "the model is not" in verify(result.transcript, forged).faults[0]


@pytest.mark.parametrize("access", Access)
@pytest.mark.parametrize("refused", [1, 2])
def test_a_wrong_refusal_is_found_by_asking_again(access: Access, refused: int) -> None:
    """It fits a STRIPS model, so nothing else would tell."""

    class Balking(SymbolicAgent):
        left = refused

        def ask(self, query: Query) -> Response:
            response = super().ask(query)
            if self.left and query.plan and response.executed:
                self.left -= 1
                return Response(0, query.initial)
            return response

    model = packaged.load("blocksworld")
    problems = [packaged.generate("blocksworld", 2, np.random.default_rng(0)).initial]
    result = doubting(hidden(Balking(model, problems, access)))
    for pal, mode in result.certain.items():
        assert mode is read_mode(model, pal), pal
    assert evaluation.exact(result.model, model)


def test_a_walk_that_comes_to_an_end_proves_nothing() -> None:
    """The agent may have been refused: no walk at all leaves everything open that no question has told."""

    class Balking(SymbolicAgent):
        def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
            return super().walk(start, int(rng.integers(2)), rng)

    model = packaged.load("gripper")
    problems = [packaged.generate("gripper", 2, np.random.default_rng(0)).initial]
    result = doubting(Balking(model, problems, Access.SETTABLE))
    assert result.proven
    assert evaluation.exact(result.model, model)


def test_no_budget_is_overdrawn_while_answers_are_asked_for_again() -> None:
    domain = Domain(
        packaged.load("gripper"), (packaged.generate("gripper", 2, np.random.default_rng(0)).initial,)
    )
    for access in (Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY):
        for steps in (0, 7, 20, 33):
            result = doubting(_unreliable(domain, 0.1, 0.1, access=access), steps=steps)
            assert result.counts.steps <= steps
            assert not result.proven
            for pal, mode in result.certain.items():
                assert mode is read_mode(domain.model, pal), pal
