"""Samples of an action's precondition satisfy its refusals, and follow what else is known."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.beliefs.unexecuted_actions import POSTERIOR_SAMPLES, sample
from aam_vision.interrogation.hypotheses.literals import Literals
from tests.profiles import thorough

COUNT = 6
LITERALS = [Literals(1 << number, 0) for number in range(COUNT)]
FAIR = dict.fromkeys(LITERALS, 0.3)
NO_PAIRS = np.zeros((COUNT, COUNT), dtype=np.bool_)

masks = st.integers(1, 2**COUNT - 1).map(lambda mask: Literals(mask, 0))


def _draw(seed: int = 0, **changes: object) -> np.ndarray:
    given = {"clauses": [], "expected": [], "never_together": NO_PAIRS, "size": 0.0, **changes}
    return sample(FAIR, rng=np.random.default_rng(seed), **given)  # type: ignore[arg-type]


@thorough(50)
@given(st.lists(masks, max_size=5), st.lists(masks, max_size=3), st.integers(0, 1000))
def test_samples_satisfy_every_clause(clauses: list[Literals], expected: list[Literals], seed: int) -> None:
    drawn = _draw(seed, clauses=clauses, expected=expected)
    assert drawn.shape == (POSTERIOR_SAMPLES, COUNT)
    for clause in clauses:
        inside = [one.within(clause) for one in LITERALS]
        assert drawn[:, inside].any(axis=1).all()


def test_samples_follow_the_seed_the_refusals_the_pairs_what_is_expected_and_the_size() -> None:
    clauses = [Literals(0b11, 0), Literals(0b110, 0)]
    drawn = _draw(3, clauses=clauses)
    assert (drawn == _draw(3, clauses=clauses)).all()
    assert (drawn != _draw(4, clauses=clauses)).any()
    often = _draw(clauses=clauses).mean(axis=0)
    assert often[1] > max(often[0], often[2]) > often[3] < min(often[0], often[2])
    pairs = NO_PAIRS.copy()
    pairs[0, 1] = pairs[1, 0] = True
    free, bound = _draw(size=3.0), _draw(size=3.0, never_together=pairs)
    assert (bound[:, 0] & bound[:, 1]).mean() < (free[:, 0] & free[:, 1]).mean() / 3
    without, expected = (each[:, :2].any(axis=1).mean() for each in (_draw(), _draw(expected=clauses[:1])))
    assert without < expected < 1, "more often, but not always"
    less, more = (_draw(size=size).sum(axis=1).mean() for size in (0.0, 3.5))
    assert less < 2.2
    assert abs(more - 3.5) < 0.5
