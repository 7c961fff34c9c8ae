"""Pairs of values that were met one by one are new until they are met together.

What could refute a case is tried; where nothing could, nothing is.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.bare import random_control
from aam_vision.interrogation.controls.checking import Checker, ValuePairs
from aam_vision.interrogation.controls.exploring import found
from aam_vision.interrogation.controls.giving import Giving
from aam_vision.interrogation.controls.reach import Reach
from aam_vision.interrogation.controls.rules import Refuted, Rules
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.strips import ActionHeader, Atom, Objects, Predicate, State, Types, Vocabulary

from . import worlds

FLAGS = ("p", "q", "r")
VOCABULARY = Vocabulary("flags", tuple(Predicate(name, ()) for name in FLAGS), Types({}))
OBJECTS = Objects({}, VOCABULARY.types)
INDEX = AtomIndex(VOCABULARY, ActionHeader("press", (), ()))

values = st.fixed_dictionaries({name: st.sampled_from([True, False, None]) for name in FLAGS})
MOST = 30
"""Ways that are followed, at most."""

WALK = 12
"""Controls at random that are given first."""


def state(of: dict[str, bool | None]) -> State:
    true = frozenset(Atom(name, ()) for name, value in of.items() if value)
    return State(true, OBJECTS, frozenset(Atom(name, ()) for name, value in of.items() if value is None))


def pairs(of: dict[str, bool | None]) -> set[frozenset[tuple[str, bool]]]:
    known = [(name, value) for name, value in of.items() if value is not None]
    return {frozenset(pair) for pair in combinations(known, 2)}


@given(st.lists(values, max_size=6), values)
def test_a_pair_is_new_if_each_of_its_values_was_met_and_they_never_were_together(
    tried: list[dict[str, bool | None]], here: dict[str, bool | None]
) -> None:
    met = ValuePairs(INDEX)
    for one in tried:
        met.add(state(one), ())
    single = {(name, value) for one in tried for name, value in one.items() if value is not None}
    together = {pair for one in tried for pair in pairs(one)}
    expected = {pair for pair in pairs(here) if pair <= single} - together
    assert met.new(met.values(state(here), ())) == bool(expected)
    more = any((name, value) not in single for name, value in here.items() if value is not None)
    assert met.add(state(here), ()) == more
    assert not met.new(met.values(state(here), ()))


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


def test_a_case_is_tried_where_something_is_missing_that_all_its_examples_had(tmp_path: Path) -> None:
    giving = Giving(worlds.WORLDS["rooms"].agent(tmp_path))
    (start,) = giving.initial()
    worlds.follow(giving, start, "go b", "go e", "go f")
    rules = Rules(found(giving), giving)
    assert not rules.by_name["go"].operator.derivations, "all rooms were lit: nothing calls for a room"
    with pytest.raises(Refuted):
        refuted(giving, rules)
    latest = giving.given[-1].transition
    assert latest.control.objects[0] in ("c", "d"), "a cell of the dark room"
    assert not latest.change


def test_a_case_that_was_seen_with_things_of_one_type_is_tried_with_another(tmp_path: Path) -> None:
    world = worlds.World(worlds.LOADS, ["take(?x)=take", "drop()=drop"], worlds.loads)
    giving = Giving(world.agent(tmp_path))
    (start,) = giving.initial()
    worlds.follow(giving, start, "take gold", "drop")
    rules = Rules(found(giving), giving)
    assert rules.by_name["drop"].operator.header.types == ("key",)
    with pytest.raises(Refuted):
        refuted(giving, rules)
    assert str(giving.given[-1].transition.control) == "drop()"
    (dropping,) = found(giving).of("drop")
    assert dropping.header.types == ("thing",)


def test_a_case_that_requires_that_nothing_is_free_is_tried_with_a_free_hand(tmp_path: Path) -> None:
    giving = Giving(worlds.WORLDS["door"].agent(tmp_path, worlds.one_key))
    (start,) = giving.initial()
    worlds.follow(giving, start, "take gold", "toggle")
    before = found(giving)
    assert not any(one.derivations for one in before.of("toggle")), "nothing calls for the key yet"
    assert ["toggle()"] in refuted(giving, Rules(before, giving))
    (unlocking,) = [one for one in found(giving).of("toggle") if one.derivations]
    assert unlocking.header.types == ("key",)


def test_a_case_that_may_need_one_of_two_facts_is_tried_without_both(tmp_path: Path) -> None:
    controls = ["light(?t)=by-mains,by-battery", "darken(?t)=darken", "plug()=plug", "unplug()=unplug"]
    giving = Giving(worlds.World(worlds.TORCHES, controls, worlds.torches).agent(tmp_path))
    (start,) = giving.initial()
    worlds.follow(giving, start, "light one", "darken one", "plug", "light two", "darken two", "unplug")
    before = found(giving)
    assert len(before.of("light")) == 1, "nothing calls for power, nor for a charge"
    with pytest.raises(Refuted):
        refuted(giving, Rules(before, giving))
    latest = giving.given[-1].transition
    assert str(latest.control) == "light(two)"
    assert Atom("dead", ()) in latest.before.true
    assert not latest.change
    assert len(found(giving).of("light")) == 2


@pytest.mark.parametrize("name", ["door", "wet", "hall"])
def test_nothing_that_is_tried_refutes_what_all_evidence_shows(name: str, tmp_path: Path) -> None:
    first, giving, again = (Giving(worlds.WORLDS[name].agent(tmp_path)) for _ in range(3))
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
