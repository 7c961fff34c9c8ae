"""The states that models are compared in: reachable ones, and more than the initial ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.model.strips import (
    Model,
)
from aam_vision.report import evaluation
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough

from .models import CORRIDOR, GO, standing


@pytest.mark.parametrize(
    ("starts", "count", "wanted"), [([0], 5, range(6)), ([0, 5], 5, [0, 1, 2, 5, 6, 7]), ([6], 5, [6, 7, 8])]
)
def test_walks_share_the_states_to_sample_and_end_where_nothing_can_be_done(
    starts: list[int], count: int, wanted: list[int]
) -> None:
    model = Model(CORRIDOR, (GO,))
    initial = [standing(start) for start in starts]
    states = evaluation.sample_states(model, initial, count, np.random.default_rng(0))
    assert set(states) == {standing(place) for place in wanted}
    assert len(states) == len(wanted)


def test_no_problems_give_no_states() -> None:
    assert evaluation.sample_states(Model(CORRIDOR, (GO,)), [], 5, np.random.default_rng(0)) == []


@thorough(40)
@given(domains.domains(), st.integers(0, 10**6))
def test_evaluation_looks_beyond_the_initial_states(domain: Domain, seed: int) -> None:
    """Every initial state in which something can be done is followed by one of its successors."""
    states = evaluation.sample_states(domain.model, domain.problems, 30, np.random.default_rng(seed))
    assert len(states) == len(set(states)) <= 30 + len(domain.problems)
    for state in domain.problems:
        after = [
            domains.successor(domain.model, state, action)
            for action in domains.applicable(domain.model, state)
        ]
        assert not after or set(after) & set(states)


@thorough(40)
@given(domains.domains(), st.integers(0, 10**6))
def test_sampled_states_are_reachable(domain: Domain, seed: int) -> None:
    reachable = domains.reachable(domain.model, domain.problems, limit=500)
    assume(reachable is not None)
    states = evaluation.sample_states(domain.model, domain.problems, 30, np.random.default_rng(seed))
    assert set(states) <= set(reachable or ())
    assert set(domain.problems) <= set(states)
