"""Pairs of atoms were never together exactly if each was true, but never both under one choice of arguments."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.beliefs.unexecuted_actions import (
    COOCCURRENCE_SITUATIONS,
    POSTERIOR_SAMPLES,
    CoOccurrence,
    sample,
)
from aam_vision.interrogation.hypotheses.literals import Literals
from tests import domains
from tests.domains import Domain, all_bindings
from tests.interrogation.runs import walked
from tests.profiles import thorough


@thorough(50)
@given(domains.domains(), st.integers(0, 10**6))
def test_the_pairs_are_those_that_brute_force_finds(domain: Domain, seed: int) -> None:
    evidence = walked(domain, seed)
    nodes = evidence.visited[:COOCCURRENCE_SITUATIONS]
    for action in evidence.hypotheses.actions.values():
        index = action.index
        seen: set[tuple[int, int]] = set()
        for node in nodes:
            for objects in all_bindings(index.header, node.state.objects):
                held, _ = index.values(node.state, objects)
                true = [number for number in range(len(index.atoms)) if held >> number & 1]
                seen |= {(a, b) for a in true for b in true}
        pairs, growing = CoOccurrence().never_together(index, nodes), CoOccurrence()
        for count in range(1, len(nodes) + 1):  # situations may come one by one
            one_by_one = growing.never_together(index, nodes[:count])
        assert (one_by_one == pairs).all()
        for a in range(len(index.atoms)):
            for b in range(len(index.atoms)):
                assert pairs[a, b] == ((a, a) in seen and (b, b) in seen and (a, b) not in seen)


# Samples of an action's precondition satisfy its refusals, and follow what else is known.


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
