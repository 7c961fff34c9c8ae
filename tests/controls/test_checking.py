"""What could refute a case is tried; where nothing could, nothing is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from aam_vision.agents.bare import random_control
from aam_vision.controls.checking import Checker
from aam_vision.controls.exploring import found
from aam_vision.controls.giving import Giving
from aam_vision.controls.reach import Reach
from aam_vision.controls.rules import Refuted, Rules
from aam_vision.strips import Atom, Model, State

from . import worlds

DOOR = ["toggle()=unlock,swing", "shut()=shut", "lock()=lock", "take(?k)=take", "put()=put"]
MOST = 30
"""Ways that are followed, at most."""

WALK = 12
"""Controls at random that are given first."""


def door(folder: Path) -> Giving:
    """A door that was locked and unlocked with the fitting key, the other one having been held before a closed door only."""
    known = worlds.model(worlds.DOOR, folder)
    giving = Giving(worlds.agent(worlds.DOOR, DOOR, [worlds.door(known)], folder))
    (start,) = giving.initial()
    worlds.follow(giving, start, "toggle", "shut", "take gold", "toggle", "shut", "lock", "toggle", "put")
    worlds.follow(giving, start, "take gold", "lock", "put", "toggle", "take gold")
    worlds.follow(giving, start, "take tin", "lock", "put")
    return giving


def refuted(giving: Giving, rules: Rules) -> list[list[str]]:
    """The ways that the checker proposes, until one of them refutes the operators or there is none."""
    checker, ways = Checker(Reach(giving)), list[list[str]]()
    while (way := checker.way(rules)) is not None:
        assert len(ways) < MOST
        ways.append([str(control) for control in way.controls])
        here = way.start
        for control in way.controls:
            transition, here = giving.give(here, control)
            rules.owner(transition)
    return ways


def test_a_case_is_tried_with_the_key_that_it_was_never_seen_with(tmp_path: Path) -> None:
    giving = door(tmp_path)
    rules = Rules(found(giving), giving)
    (start,) = giving.initial()
    locked = worlds.follow(giving, start, "take gold", "lock", "put").state
    holding = locked.true - {Atom("lying", ("tin",)), Atom("free", ())} | {Atom("held", ("tin",))}
    with pytest.raises(Refuted):
        refuted(giving, rules)
    latest = giving.given[-1].transition
    assert latest.control.name == "toggle"
    assert latest.before.true == holding
    assert not latest.change


def test_a_case_that_was_seen_with_things_of_one_type_is_tried_with_another(tmp_path: Path) -> None:
    known = worlds.model(worlds.LOADS, tmp_path)
    giving = Giving(
        worlds.agent(worlds.LOADS, ["take(?x)=take", "drop()=drop"], [worlds.loads(known)], tmp_path)
    )
    (start,) = giving.initial()
    worlds.follow(giving, start, "take gold", "drop")
    rules = Rules(found(giving), giving)
    assert rules.by_name["drop"].operator.header.types == ("key",)
    with pytest.raises(Refuted):
        refuted(giving, rules)
    assert str(giving.given[-1].transition.control) == "drop()"
    (dropping,) = found(giving).of("drop")
    assert dropping.header.types == ("thing",)


@pytest.mark.parametrize(
    ("text", "controls", "start"),
    [
        (worlds.DOOR, DOOR, worlds.door),
        (worlds.WET, ["step(?b)=walk,splash", "dry()=dry"], worlds.wet),
        (worlds.HALL, ["step(?b)=walk", "lift()=lift"], worlds.hall),
    ],
    ids=["door", "wet", "hall"],
)
def test_nothing_that_is_tried_refutes_what_all_evidence_shows(
    text: str, controls: list[str], start: Callable[[Model], State], tmp_path: Path
) -> None:
    problem = start(worlds.model(text, tmp_path))
    first, giving, again = (Giving(worlds.agent(text, controls, [problem], tmp_path)) for _ in range(3))
    worlds.give_everywhere(first, first.initial()[0], *[control.name for control in first.controls])
    discovery = found(first)
    for one in (giving, again):
        rng, here = np.random.default_rng(1), one.initial()[0]
        for _ in range(WALK):
            control = random_control(one.controls, here.state, rng)
            assert control is not None
            _, here = one.give(here, control)
    ways = refuted(giving, Rules(discovery, giving))
    assert ways, "something can be tried that the walk did not"
    assert ways == refuted(again, Rules(discovery, again)), "the same is tried again"
    assert Checker(Reach(first)).way(Rules(discovery, first)) is None, "all was tried"
