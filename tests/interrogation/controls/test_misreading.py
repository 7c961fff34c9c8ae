"""Is the agent rich, or is it misread? Classifiers that read one image wrongly must not make cases of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from aam_vision.agents.bare import BareSymbolicAgent, random_control
from aam_vision.agents.perception import ImageTest
from aam_vision.interrogation.controls.discovery import discover
from aam_vision.interrogation.controls.giving import Given, Giving, TwoWays
from aam_vision.interrogation.controls.interrogating import interrogate
from aam_vision.interrogation.controls.misreading import two_ways
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.examination.findings import Family
from aam_vision.interrogation.task.verdict import OPEN
from aam_vision.model.query import Situation
from aam_vision.model.strips import Atom, GroundAction, State

from . import worlds

GOING = "\n".join(
    f"""(:action go-{way} :parameters (?a - cell ?b - cell) :precondition (and (at ?a) (next ?a ?b {way}))
    :effect (and (at ?b) (not (at ?a))))"""
    for way in ("up", "down", "left", "right")
)
GARDEN = f"""(define (domain garden) (:requirements :strips :typing)
  (:types cell - object way - object)
  (:constants up down left right - way)
  (:predicates (at ?c - cell) (next ?a - cell ?b - cell ?w - way) (flower ?c - cell) (bare ?c - cell))
  {GOING}
  (:action pick :parameters (?a - cell) :precondition (and (at ?a) (flower ?a))
    :effect (and (bare ?a) (not (flower ?a)))))"""
CONTROLS = ["up()=go-up", "down()=go-down", "left()=go-left", "right()=go-right", "pick()=pick"]
SIDE = 3
PASSED, FAILED = ImageTest(400, 400), ImageTest(397, 400)


def garden(folder: Path) -> BareSymbolicAgent:
    """A garden of nine cells, with flowers at three."""
    cells = {(row, column): f"c{row}{column}" for row, column in product(range(SIDE), repeat=2)}
    ways = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
    paths = [
        f"next {name} {cells[row + down, column + across]} {way}"
        for (row, column), name in cells.items()
        for way, (down, across) in ways.items()
        if (row + down, column + across) in cells
    ]
    flowers = {"c02", "c11", "c20"}
    kinds = {**dict.fromkeys(cells.values(), "cell"), **dict.fromkeys(ways, "way")}
    facts = [f"{'flower' if name in flowers else 'bare'} {name}" for name in cells.values()]
    known = worlds.model(GARDEN, folder)
    return worlds.agent(GARDEN, CONTROLS, [worlds.state(known, kinds, "at c00", *facts, *paths)], folder)


def one_look(state: State) -> State:
    """At three of the cells the flower in the middle is overlooked."""
    flower, bare = Atom("flower", ("c11",)), Atom("bare", ("c11",))
    if flower in state.true and {Atom("at", (name,)) for name in ("c01", "c10", "c22")} & state.true:
        return replace(state, true=(state.true - {flower}) | {bare})
    return state


@pytest.mark.parametrize(
    ("test", "read", "most"),
    [(PASSED, one_look, 200), (FAILED, one_look, 200), (ImageTest(100, 400), lambda state: state, 100)],
)
def test_a_misread_image_is_named_sooner_if_classifiers_failed_their_test(
    tmp_path: Path, test: ImageTest, read: Callable[[State], State], most: int
) -> None:
    result = interrogate(worlds.Read(garden(tmp_path), test, read))
    assert result.misread.images
    assert result.status == OPEN
    assert result.diagnosis.family is Family.MISREAD
    atoms = {str(atom) for image in result.misread.images for atom in image.atoms}
    assert atoms & {"flower(c11)", "bare(c11)"} or read is not one_look
    assert result.steps < most
    assert f"{test.exact} of 400" in str(result.misread) or test is PASSED


def test_an_agent_that_is_read_rightly_is_not_suspected(tmp_path: Path) -> None:
    result = interrogate(worlds.Read(garden(tmp_path), FAILED))
    assert result.misread is None
    assert not result.unexplained
    assert {operator.control for operator in result.operators} == {"up", "down", "left", "right", "pick"}


def test_one_situation_that_goes_two_ways_is_doubted_where_classifiers_failed(tmp_path: Path) -> None:
    here = garden(tmp_path).initial()[0].state
    bare = State(here.true | {Atom("bare", ("c11",))}, here.objects)
    pick = GroundAction("pick", ())
    one, other = Transition(here, pick, here), Transition(here, pick, bare)
    latest = Given(Situation(1, here), other, Situation(2, bare))
    found = two_ways(TwoWays((one, other), latest), FAILED)
    doubted = (Atom("bare", ("c11",)),)
    assert [(image.situation.handle, image.atoms) for image in found.images] == [(2, doubted), (1, doubted)]
    assert "397 of 400" in str(found)
    assert found.diagnosis.culprit == "bare"


def test_discovery_gives_up_what_takes_too_much_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    giving = Giving(worlds.Read(garden(tmp_path), PASSED, one_look))
    here = giving.initial()[0]
    rng = np.random.default_rng(0)
    for _ in range(40):
        control = random_control(giving.controls, here.state, rng)
        _, here = giving.give(here, control)
    monkeypatch.setattr("aam_vision.interrogation.controls.cases.LEAST_WORK", 10)
    monkeypatch.setattr("aam_vision.interrogation.controls.cases.WORK_EACH", 0)
    found = discover(giving.agent.vocabulary, giving.controls, giving.transitions, giving.indices)
    assert found.spent
    assert found.unexplained
    explained = {id(one.transition) for examples in found.examples.values() for one in examples}
    changing = {id(one) for some in giving.transitions.values() for one in some if one.change}
    assert changing == explained | {id(one) for one in found.unexplained}
