"""Sums over atoms are what counting the atoms one by one gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import UnreliableAgent, distinct_atoms
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.statistics.counts import (
    ActionCounts,
    FrameCounts,
    Misreading,
    Trial,
    misreadings,
)
from aam_vision.interrogation.task.repeated_looks import SequentialTest, estimate
from aam_vision.model.query import Query, Situation
from aam_vision.model.strips import GroundAction, Objects, Predicate, State, Types, Vocabulary
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough


@thorough(60)
@given(domains.domains(constants=True), st.integers(0, 3))
def test_frame_atoms_are_counted_one_by_one_and_a_situation_once(domain: Domain, seed: int) -> None:
    rng, vocabulary = np.random.default_rng(seed), domain.model.vocabulary
    agent = UnreliableAgent(SymbolicAgent(domain.model, domain.problems), 0.3, 0.0, rng)
    state, schema = domain.problems[0], domain.model.actions[0]
    rows = domains.all_bindings(schema.header, state.objects)
    assume(rows)
    action = GroundAction(schema.header.name, rows[int(rng.integers(len(rows)))])
    counts, frame, found = ActionCounts(AtomIndex(vocabulary, schema.header)), FrameCounts(vocabulary), []
    for look in range(5):
        response = agent.ask(Query(Situation(state, state), (action,)))
        seen = response.final.state
        trial = Trial(state, action, response.executed > 0, seen)
        counts.add(trial)
        frame.add(trial)
        found.append((counts.seen.sum(), sum(table.sum() for table in frame.counts.values())))
        names = {*action.objects, *vocabulary.constants}
        for predicate in vocabulary.predicates if not look else ():
            expected = np.zeros((2, 2), dtype=np.int64)
            for atom in distinct_atoms(vocabulary, state.objects):
                touched = response.executed and names.issuperset(atom.objects)
                if atom.predicate == predicate.name and not touched:
                    expected[int(atom in state.true), int(atom in seen.true)] += 1
            assert (frame.counts[predicate.name] == expected).all()
    assert len(set(found)) == 1
    if counts.seen.size and counts.executed.any():
        assert counts.seen.sum() == len(counts.seen)
        assert not counts.is_new(state, action.objects)


# Looks at one situation: what is certain is right, and the rates of error are found from looks alone.


VOCABULARY = Vocabulary("blocks", (Predicate("clear", ("object",)), Predicate("on", ("object", "object"))))
OBJECTS = Objects({f"b{number}": "object" for number in range(5)}, Types())
ATOMS = distinct_atoms(VOCABULARY, OBJECTS)
SIZES = {"clear": 5, "on": 20}
TRUTH = State(frozenset(ATOMS[::4]), OBJECTS)


def _seen(rng: np.random.Generator, rate: float) -> State:
    flipped = {atom for atom in ATOMS if rng.random() < rate}
    return State(TRUTH.true ^ flipped, OBJECTS)


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2])
def test_what_is_certain_is_right_and_becomes_so(rate: float) -> None:
    rng, rates = np.random.default_rng(0), {name: Misreading(rate or 0.01, rate or 0.01) for name in SIZES}
    for _ in range(50):
        sightings = SequentialTest(OBJECTS, SIZES)
        while not (reading := sightings.read(rates, 12.0)).certain:
            assert sightings.looks < 100
            sightings.add(_seen(rng, rate))
        assert reading.state == TRUTH


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.25])
def test_the_rates_are_found_from_looks_at_a_situation_that_nobody_knows(rate: float) -> None:
    rng, sightings = np.random.default_rng(1), SequentialTest(OBJECTS, SIZES)
    for _ in range(40):
        sightings.add(_seen(rng, rate))
    rates = misreadings({name: np.zeros((2, 2), dtype=np.int64) for name in SIZES})
    for _ in range(10):
        rates = misreadings(estimate([sightings], rates))
    assert rates["on"].false_positive == pytest.approx(rate, abs=0.04)
    assert sightings.read(rates, 12.0).state == TRUTH


def test_what_was_never_seen_is_unknown_and_not_false() -> None:
    hidden = ATOMS[3]
    sightings = SequentialTest(OBJECTS, SIZES)
    for _ in range(20):
        sightings.add(State(TRUTH.true - {hidden}, OBJECTS, frozenset({hidden})))
    reading = sightings.read({name: Misreading(0.01, 0.01) for name in SIZES}, 12.0)
    assert reading.certain
    assert reading.state.unknown == {hidden}
    counts = sightings.confusion(reading.state)
    assert sum(int(own.sum()) for own in counts.values()) == 20 * (len(ATOMS) - 1)
