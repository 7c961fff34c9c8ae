"""Tables of situations tell what a look at each situation tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.beliefs.candidates import NaturalBeliefs
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.queries import segments
from aam_vision.interrogation.queries.segments import SegmentFinder, SituationTables, Standpoint
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import walked
from tests.profiles import thorough


@thorough(60)
@given(domains.domains(constants=True), st.integers(0, 10**6), st.integers(0, 2**40), st.integers(0, 6))
def test_patterns_are_the_values_seen_in_each_situation(
    domain: Domain, seed: int, mask: int, begin: int
) -> None:
    evidence = walked(domain, seed)
    tables = SituationTables()
    for count in (len(evidence.nodes) // 2, len(evidence.nodes)):  # the tables grow
        nodes = evidence.nodes[:count]
        for action in evidence.hypotheses.actions.values():
            candidates = action.candidates
            required = Literals(candidates.positive & mask, candidates.negative & mask >> 9)
            watched = candidates.positive | candidates.negative
            expected: dict[tuple[int, int], int] = {}
            for place, node in list(enumerate(nodes))[begin:]:
                for row in domains.all_bindings(action.index.header, node.state.objects):
                    held, unknown = action.index.values(node.state, row)
                    if required.positive & ~held or required.negative & (held | unknown):
                        continue
                    expected.setdefault((held & watched, unknown & watched), place)
            found = tables.patterns(nodes, action, required, watched, begin)
            assert {(held, unknown): first for held, unknown, first in found} == expected
            assert len(found) == len(expected)


@thorough(40)
@given(domains.domains(), st.integers(0, 10**6))
def test_segments_are_the_same_with_tables_and_without(domain: Domain, seed: int) -> None:
    evidence = walked(domain, seed)
    beliefs = NaturalBeliefs(evidence.hypotheses, evidence.nodes)
    standpoint = Standpoint(evidence, evidence.hypotheses, evidence.nodes)
    found = []
    for few in (1, 10**6):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(segments, "FEW", few)
            finder = SegmentFinder(beliefs)
            found.append((finder.refutation(standpoint), finder.proof(standpoint)))
    assert found[0] == found[1]
