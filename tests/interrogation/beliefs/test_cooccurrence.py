"""Pairs of atoms were never together exactly if each was true, but never both under one choice of arguments."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.beliefs.unexecuted_actions import COOCCURRENCE_SITUATIONS, CoOccurrence
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
        pairs = CoOccurrence().never_together(index, nodes)
        for a in range(len(index.atoms)):
            for b in range(len(index.atoms)):
                assert pairs[a, b] == ((a, a) in seen and (b, b) in seen and (a, b) not in seen)


@thorough(30)
@given(domains.domains(), st.integers(0, 10**6))
def test_situations_may_come_one_by_one(domain: Domain, seed: int) -> None:
    evidence = walked(domain, seed)
    nodes = evidence.visited[:COOCCURRENCE_SITUATIONS]
    for action in evidence.hypotheses.actions.values():
        growing = CoOccurrence()
        for count in range(1, len(nodes) + 1):
            pairs = growing.never_together(action.index, nodes[:count])
        assert (pairs == CoOccurrence().never_together(action.index, nodes)).all()
