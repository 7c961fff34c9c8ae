"""Intervals hold their promise however often one looks, and narrow as trials come in.

How often outcomes came: estimates are probabilities, and within what is said of them; what changes is found.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.chance.intervals import (
    Precision,
    concentration,
    evidence,
    frequencies,
    interval,
    simultaneous,
    unseen,
)
from tests.profiles import thorough

C = concentration(0.05)
PRECISION = Precision(0.05, 0.05, concentration(0.05))
COUNT = st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 3))
"""Hits, misses, and trials of which it is not known what came of them."""


@pytest.mark.parametrize("p", [0.03, 0.2, 0.5, 0.85])
def test_the_truth_is_seldom_ever_outside_though_one_looks_after_every_trial(p: float) -> None:
    rng = np.random.default_rng(1)
    bound = np.log(1 / 0.05)
    runs, left = 300, 0
    for _ in range(runs):
        hits = np.cumsum(rng.random(300) < p).tolist()
        left += any(evidence(p, hit, made, C) > bound for made, hit in enumerate(hits, 1))
    assert left / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize(("hits", "trials"), [(0, 1), (1, 1), (3, 10), (0, 40), (40, 40), (199, 400)])
def test_the_interval_is_where_the_evidence_is_below_the_bound(hits: int, trials: int) -> None:
    low, high = interval(hits, trials, 0.05, C)
    assert 0 <= low <= hits / trials <= high <= 1
    for p in np.linspace(0.001, 0.999, 400):
        inside = evidence(float(p), hits, trials, C) < np.log(20)
        assert inside == (low <= p <= high)


def test_no_trial_tells_nothing() -> None:
    assert interval(0, 0, 0.05, C) == (0.0, 1.0)
    assert unseen(0, 0.05) == pytest.approx(1)


def test_outcome_and_rest_mirror_each_other() -> None:
    low, high = interval(30, 100, 0.05, C)
    assert interval(70, 100, 0.05, C) == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_the_wanted_width_is_reached() -> None:
    low, high = interval(120, 600, 0.05, C)
    assert (high - low) / 2 < 0.05
    low, high = interval(500, 1000, 0.05, C)
    assert (high - low) / 2 < 0.05


@pytest.mark.parametrize("shares", [[0.7, 0.3], [0.5, 0.3, 0.15, 0.05], [0.9, 0.04, 0.03, 0.03]])
def test_all_outcomes_are_inside_together_at_all_times_whether_seen_or_not(shares: list[float]) -> None:
    rng = np.random.default_rng(3)
    runs, tosses, left = 300, 250, 0
    for _ in range(runs):
        drawn = rng.choice(len(shares), size=tosses, p=shares)
        left += any(
            evidence(p, int(hits), made, C) + np.log(p) > np.log(1 / 0.05)
            for number, p in enumerate(shares)
            for made, hits in enumerate(np.cumsum(drawn == number), 1)
        )
    assert left / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


@given(tosses=st.integers(1, 2000), share=st.floats(0, 1), within=st.sampled_from([0.02, 0.05, 0.1]))
@thorough(40)
def test_all_that_is_not_contradicted_is_one_interval(tosses: int, share: float, within: float) -> None:
    hits, c = round(share * tosses), concentration(within)
    low, high = simultaneous(hits, tosses, 0.05, c)
    alone = interval(hits, tosses, 0.05, c)
    assert low <= alone[0] + 1e-9
    assert alone[1] <= high + 1e-9
    for p in np.linspace(0.001, 0.999, 300):
        inside = evidence(float(p), hits, tosses, c) + np.log(p) < np.log(20)
        assert inside == (low <= p <= high)


def test_unseen_outcomes_are_seldom_likelier_than_is_said_at_any_time() -> None:
    rng = np.random.default_rng(2)
    shares = [0.5, 0.2, 0.1, 0.1, 0.05, 0.05]
    bounds = [unseen(made, 0.05) for made in range(1, 201)]
    assert bounds == sorted(bounds, reverse=True)
    runs, wrong = 400, 0
    for _ in range(runs):
        drawn = rng.choice(len(shares), size=200, p=shares)
        first = [int(np.argmax(drawn == one)) if (drawn == one).any() else 200 for one in range(len(shares))]
        wrong += any(
            share > bounds[made]
            for share, came in zip(shares, first, strict=True)
            for made in range(min(came, 200))
        )
    assert wrong / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


@given(st.lists(COUNT, min_size=1, max_size=5))
def test_estimates_add_up_to_one_and_lie_within_their_intervals(counts: list[tuple[int, int, int]]) -> None:
    hits, misses, unread = zip(*counts, strict=True)
    found = frequencies(hits, [a + b for a, b in zip(hits, misses, strict=True)], unread, PRECISION)
    assert sum(one.probability for one in found) == pytest.approx(1)
    for one in found:
        assert 0 <= one.low <= one.probability <= one.high <= 1 + 1e-9


def test_an_outcome_that_no_trial_tells_from_the_others_takes_what_they_leave() -> None:
    told, untold = frequencies([90, 0], [100, 0], [0, 0], PRECISION)
    assert told.probability == pytest.approx(0.9, abs=0.15)
    assert told.low <= told.probability <= told.high
    assert untold.probability <= untold.high < 0.25
