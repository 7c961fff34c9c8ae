"""Looks at one situation: what is certain is right, and the rates of error are found from looks alone."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.agents.unreliable import distinct_atoms
from aam_vision.interrogation.statistics.counts import Misreading, misreadings
from aam_vision.interrogation.task.repeated_looks import SequentialTest, estimate
from aam_vision.model.strips import Objects, Predicate, State, Types, Vocabulary

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
