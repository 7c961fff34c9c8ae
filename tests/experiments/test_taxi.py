"""Gymnasium's Taxi as an own environment: the intended model is its own, and what is seen says what is true."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.worlds.taxi import VOCABULARY, cell, intended, scene, true_state
from aam_vision.model.strips import Atom, State
from aam_vision.training.assessment import expected
from aam_vision.training.labels import check_legal

pytest.importorskip("pygame")

from experiments.taxi import PICTURES, environment, make, predictions, states


def test_the_intended_model_is_that_of_a_driver_with_fuel() -> None:
    assert all(predictions(intended(), None, np.random.default_rng(0)))
    assert not all(predictions(intended(), 5, np.random.default_rng(0)))


def test_every_state_can_be_told_from_what_is_seen() -> None:
    index = SceneIndex(VOCABULARY, scene(None))
    for state in states():
        (here,) = (atom.objects[1] for atom in state.true if atom.predicate == "at")
        seen = [Atom("seen", atom.objects) for atom in state.true if atom.predicate == "waiting"]
        shown = State(state.true | {atom for atom in seen if atom.objects != (here,)}, state.objects)
        check_legal(VOCABULARY, index, shown)
        read = expected(VOCABULARY, index, shown).state
        assert (read.true, read.unknown) == (state.true, frozenset())


def test_the_pictures_to_train_on_are_few_and_none_is_evaluated_on() -> None:
    described, rng = environment(), np.random.default_rng(1)
    taught = {one.draw(one.states[0]).tobytes() for one in described.lessons(rng)}
    unseen = {one.frame.tobytes() for one in islice(described.unseen(rng), PICTURES)}
    assert len(taught) == PICTURES
    assert not taught & unseen


@pytest.mark.parametrize("fuel", [None, 3])
def test_the_tank_is_refilled_by_a_reset_and_by_going_back(fuel: int | None) -> None:
    simulator: Any = environment(fuel).simulator(("seed", 0))
    here, driven = simulator.snapshot(), 0
    for _ in range(2):
        simulator.restore(here)
        driven = sum(simulator.instruct("move", objects) for objects in _round_trip() * 3)
        assert driven == (6 if fuel is None else fuel)
    simulator.start()
    assert simulator.instruct("move", _round_trip()[0])


def _round_trip() -> list[tuple[str, ...]]:
    """One step north or south and back, from where the taxi starts."""
    env = make()
    env.reset(seed=0)
    taxi: Any = env.unwrapped
    row, column, _, _ = taxi.decode(taxi.s)
    there = ("cab", cell((row, column)), cell((row - 1 if row else 1, column)), "north" if row else "south")
    assert Atom("at", there[:2]) in true_state(taxi).true
    return [there, ("cab", there[2], there[1], "south" if row else "north")]
