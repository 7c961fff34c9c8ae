"""Links: what their success is assumed to tell is what it tells."""

from __future__ import annotations

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.beliefs.candidates import NaturalBeliefs
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.queries import segments
from aam_vision.interrogation.queries.segments import (
    GROUP_RISK,
    SegmentFinder,
    SituationTables,
    Standpoint,
    success,
)
from aam_vision.model.query import Query, Situation
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import agent_of, walked
from tests.profiles import thorough


def _standpoint(domain: Domain, seed: int, steps: int = 24) -> tuple[Evidence, NaturalBeliefs, Standpoint]:
    evidence = walked(domain, seed, steps)
    beliefs = NaturalBeliefs(evidence.hypotheses, evidence.nodes)
    return evidence, beliefs, Standpoint(evidence, evidence.hypotheses, evidence.nodes)


@thorough(50)
@given(domains.domains(), st.integers(0, 10**6))
def test_an_assumed_success_tells_what_a_real_one_would(domain: Domain, seed: int) -> None:
    evidence, beliefs, standpoint = _standpoint(domain, seed)
    finder = SegmentFinder(beliefs)
    refutation, proof = finder.refutation(standpoint), finder.proof(standpoint)
    assert refutation is None or (refutation.violated and refutation.success >= GROUP_RISK)
    assert proof is None or proof.violated.size() == 1
    for segment in filter(None, (refutation, proof)):
        name = segment.steps[-1].name
        really, version = evidence.hypotheses[name], evidence.hypotheses[name].version
        assert segment.success == success(beliefs, name, really, segment.violated)
        assumed = standpoint.after(segment)
        assert really.version == version, "an assumption changes nothing that is known"
        thought = assumed.hypotheses[name]
        assert not segment.violated.within(thought.candidates)
        assert segment.start.situation is not None
        query = Query(segment.start.situation, segment.steps)
        response = agent_of(domain).ask(query)
        if response.executed == len(segment.steps):
            evidence.take_in(Asked(query, response))
            assert (really.candidates, really.proven) == (thought.candidates, thought.proven)
            here = assumed.nodes[0].state
            assert here.true <= response.final.state.true <= here.true | here.unknown
            break


@thorough(30)
@given(domains.domains(max_problems=1), st.integers(0, 10**6))
def test_what_was_scanned_in_vain_is_found_once_a_new_situation_allows_it(domain: Domain, seed: int) -> None:
    """The finder remembers fruitless scans; it must find as much as one that remembers nothing."""
    evidence, beliefs, _ = _standpoint(domain, seed, steps=6)
    remembering, state = SegmentFinder(beliefs), domain.problems[0]
    for _ in range(4):
        standpoint = Standpoint(evidence, evidence.hypotheses, evidence.nodes)
        found, fresh = remembering.proof(standpoint), SegmentFinder(beliefs).proof(standpoint)
        assert (found is None) == (fresh is None)
        options = domains.applicable(domain.model, state)
        if not options:
            break
        query = Query(Situation(state, state), (options[0],))
        evidence.take_in(Asked(query, agent_of(domain).ask(query)))
        state = domains.successor(domain.model, state, options[0])


# Tables of situations tell what a look at each situation tells.


@thorough(60)
@given(domains.domains(constants=True), st.integers(0, 10**6), st.integers(0, 2**40), st.integers(0, 6))
def test_patterns_are_the_values_in_each_situation(domain: Domain, seed: int, mask: int, begin: int) -> None:
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
    _, beliefs, standpoint = _standpoint(domain, seed)
    found = []
    for few in (1, 10**6):
        with mock.patch.object(segments, "FEW", few):
            finder = SegmentFinder(beliefs)
            found.append((finder.refutation(standpoint), finder.proof(standpoint)))
    assert found[0] == found[1]
