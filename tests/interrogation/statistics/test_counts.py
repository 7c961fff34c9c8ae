"""Sums over atoms are what counting the atoms one by one gives."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import UnreliableAgent, distinct_atoms
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.statistics.counts import ActionCounts, FrameCounts, Trial
from aam_vision.model.query import Query, Situation
from aam_vision.model.strips import GroundAction
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough


@thorough(60)
@given(domains.domains(constants=True), st.integers(0, 3))
def test_frame_atoms_are_counted_as_if_one_by_one(domain: Domain, seed: int) -> None:
    rng = np.random.default_rng(seed)
    agent = UnreliableAgent(SymbolicAgent(domain.model, domain.problems), 0.3, 0.0, rng)
    state, schema = domain.problems[0], domain.model.actions[0]
    rows = domains.all_bindings(schema.header, state.objects)
    assume(rows)
    action = GroundAction(schema.header.name, rows[int(rng.integers(len(rows)))])
    response = agent.ask(Query(Situation(state, state), (action,)))
    tally = FrameCounts(domain.model.vocabulary)
    seen = response.final.state
    tally.add(Trial(state, action, response.executed > 0, seen))
    names = {*action.objects, *domain.model.vocabulary.constants}
    for predicate in domain.model.vocabulary.predicates:
        expected = np.zeros((2, 2), dtype=np.int64)
        for atom in distinct_atoms(domain.model.vocabulary, state.objects):
            if atom.predicate == predicate.name and not (
                response.executed and names.issuperset(atom.objects)
            ):
                expected[int(atom in state.true), int(atom in seen.true)] += 1
        assert (tally.counts[predicate.name] == expected).all()


@thorough(40)
@given(domains.domains(constants=True), st.integers(0, 3))
def test_a_situation_counts_once_however_often_it_is_looked_at(domain: Domain, seed: int) -> None:
    rng = np.random.default_rng(seed)
    agent = UnreliableAgent(SymbolicAgent(domain.model, domain.problems), 0.3, 0.0, rng)
    state, schema = domain.problems[0], domain.model.actions[0]
    rows = domains.all_bindings(schema.header, state.objects)
    assume(rows)
    action = GroundAction(schema.header.name, rows[int(rng.integers(len(rows)))])
    counts = ActionCounts(AtomIndex(domain.model.vocabulary, schema.header))
    frame = FrameCounts(domain.model.vocabulary)
    found = []
    for _ in range(5):
        response = agent.ask(Query(Situation(state, state), (action,)))
        trial = Trial(state, action, response.executed > 0, response.final.state)
        counts.add(trial)
        frame.add(trial)
        found.append((counts.seen.sum(), sum(table.sum() for table in frame.counts.values())))
    assert len(set(found)) == 1
    if counts.seen.size and counts.executed.any():
        assert counts.seen.sum() == len(counts.seen)
        assert not counts.is_new(state, action.objects)
