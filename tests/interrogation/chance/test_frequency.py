"""How often outcomes came: estimates are probabilities, and within what is said of them; what changes is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.chance.intervals import Precision, concentration, frequencies

PRECISION = Precision(0.05, 0.05, concentration(0.05))
COUNT = st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 3))
"""Hits, misses, and trials of which it is not known what came of them."""


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
