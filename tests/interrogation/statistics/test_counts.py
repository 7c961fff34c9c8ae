"""Sums over atoms are what counting the atoms one by one gives."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import UnreliableAgent, distinct_atoms
from aam_vision.interrogation.statistics.counts import FrameCounts
from aam_vision.interrogation.statistics.trials import Trial
from aam_vision.query import Query, Situation
from aam_vision.strips import GroundAction
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
