"""A policy is a function of the evidence and the generator: one made afresh in the middle of a run goes on just the same."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.evidence.moves import Move, Policy
from aam_vision.interrogation.policies.decorators import Confirming, Exhaustive
from aam_vision.interrogation.policies.economical import Walker
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.policies.settable import ReassessmentPolicy
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.model.query import Access
from aam_vision.planning.pyperplan import PyperplanPlanner
from experiments.random_domains import CASES
from experiments.random_strips import Domain, random_domain
from tests import domains
from tests.interrogation.hiding import HidingAgent
from tests.interrogation.runs import updated
from tests.profiles import thorough

BUDGET = Budget(queries=60, steps=600)


@dataclass
class ComparedPolicy:
    """The moves of a policy; every few exchanges, a fresh one must make the same move from copies of all it is given."""

    afresh: Callable[[], Policy]
    every: int = 4

    def __post_init__(self) -> None:
        self._policy = self.afresh()

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's move."""
        if len(evidence.exchanges) % self.every:
            return self._policy.next(evidence, rng)
        seen, drawn = deepcopy((evidence, rng))
        move, expected = self._policy.next(evidence, rng), self.afresh().next(seen, drawn)
        assert _numbered(move) == _numbered(expected), f"after {len(evidence.exchanges)} exchanges"
        assert rng.bit_generator.state == drawn.bit_generator.state
        return move


def _numbered(move: Move) -> dict[str, object]:
    """The parts of a move, with the numbers and states of its nodes in place of them."""
    return {
        name: (part.number, part.state) if isinstance(part, Node) else part
        for name, part in vars(move).items()
    }


def _afresh(access: Access, policy: str = "economical") -> Callable[[], Policy]:
    return lambda: Confirming(policy_for(access, policy, PyperplanPlanner()), access)


@pytest.mark.parametrize(("access", "policy"), CASES)
@thorough(12)
@given(st.integers(0, 10_000))
def test_a_fresh_policy_makes_the_same_move(access: str, policy: str, seed: int) -> None:
    domain, allowed = random_domain(seed), Access(access)
    agent = SymbolicAgent(domain.model, domain.problems, allowed)
    compared = ComparedPolicy(_afresh(allowed, policy), every=1 + seed % 5)
    interrogate(agent, compared, np.random.default_rng(seed), budget=BUDGET)


@thorough(40)
@given(
    st.sampled_from([Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY]),
    domains.domains(),
    st.sampled_from([0.1, 0.4]),
    st.integers(0, 3),
)
def test_so_it_does_where_something_is_hidden(
    access: Access, domain: Domain, share: float, seed: int
) -> None:
    policy = ComparedPolicy(_afresh(access))
    interrogate(HidingAgent(domain, access, share), policy, np.random.default_rng(seed), budget=BUDGET)


@thorough(25)
@given(st.integers(0, 10_000))
def test_so_it_does_where_an_earlier_model_is_verified(seed: int) -> None:
    domain = random_domain(seed)
    prior = updated(domain.model, seed)

    def afresh() -> Policy:
        return Exhaustive(ReassessmentPolicy(prior, Walker(limit=8)), Access.SETTABLE)

    agent = SymbolicAgent(domain.model, domain.problems)
    interrogate(agent, ComparedPolicy(afresh, every=1), np.random.default_rng(seed), budget=BUDGET)
