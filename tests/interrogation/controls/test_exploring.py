"""What may be learned by giving controls, and where: what a situation points out, where operators lead, and what could refute a case."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.bare import random_control
from aam_vision.agents.perception import ImageTest
from aam_vision.interrogation.controls.checking import Checker, ValuePairs
from aam_vision.interrogation.controls.coverage import Coverage
from aam_vision.interrogation.controls.exploring import found
from aam_vision.interrogation.controls.giving import Giving, ground
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.controls.reach import Reach, Standpoint, Standpoints, Way
from aam_vision.interrogation.controls.rules import Refuted, Rules
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    GroundAction,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from aam_vision.planning.joins import StateIndex

from . import worlds

TOGGLE = GroundAction("toggle", ())
NOTHING = GroundAction("", ())
HALL, DOOR = worlds.WORLDS["hall"], worlds.WORLDS["door"]


def of(standpoints: Standpoints, state: State, control: GroundAction) -> Standpoint:
    return standpoints.of(state, control, StateIndex(state))


def renamed(state: State, names: dict[str, str], types: Types) -> State:
    """The state with other names of the same objects."""
    objects = Objects({names[name]: kind for name, kind in state.objects.items()}, types)
    true = frozenset(Atom(one.predicate, tuple(names[name] for name in one.objects)) for one in state.true)
    return State(true, objects)


@pytest.mark.parametrize("seed", range(3))
def test_names_do_not_matter(tmp_path: Path, seed: int) -> None:
    agent = DOOR.agent(tmp_path)
    seen = worlds.reachable(agent)
    standpoints = Standpoints(agent.vocabulary, [one.before for one in seen])
    for one in seen:
        names = list(one.before.objects)
        places = np.random.default_rng(seed).permutation(len(names))
        others = {name: f"{names[int(place)]}-again" for name, place in zip(names, places, strict=True)}
        given = GroundAction(one.control.name, tuple(others[name] for name in one.control.objects))
        first = of(standpoints, one.before, one.control)
        second = of(standpoints, renamed(one.before, others, agent.vocabulary.types), given)
        assert first.facts == second.facts
        assert {(others[name], role) for name, role in first.objects} == second.objects


def test_what_is_elsewhere_does_not_matter_and_what_is_here_does(tmp_path: Path) -> None:
    known = worlds.model(worlds.HALL, tmp_path)
    states = [worlds.hall(known, cells=cells) for cells in ("abcdefg", "bcdefga", "defgabc")]
    standpoints = Standpoints(known.vocabulary, [*states, worlds.hall(known, cells="stuv", chest="")])
    start, next_to_it, chest = (of(standpoints, state, GroundAction("lift", ())) for state in states)
    assert start.facts == next_to_it.facts, "both are cells with nothing in them"
    assert start.objects != next_to_it.objects
    assert {name for name, _ in start.objects} == {"a"}, "neither of two equal neighbours is pointed out"
    assert {name for name, _ in chest.objects} == {"d", "box"}, "the only thing in this cell is pointed out"
    assert chest.facts > start.facts


def test_only_facts_that_are_always_alone_point_out(tmp_path: Path) -> None:
    known = worlds.model(worlds.DOOR, tmp_path)
    start = worlds.door(known)
    kinds = dict(start.objects)
    holding = [worlds.state(known, kinds, "closed", f"held {key}", "fits gold") for key in kinds]
    standpoints = Standpoints(known.vocabulary, [start, *holding])
    assert standpoints.pointing == (("fits",), ("held",))
    gold, tin = (of(standpoints, state, TOGGLE) for state in holding)
    assert gold.facts != tin.facts, "the fitting key is held, or another one"


def other_hall(known: Model) -> State:
    """Another ring, in which the agent starts elsewhere."""
    return worlds.hall(known, cells="stuvw", chest="v")


def keys(known: Model, *names: str, fits: str) -> State:
    """A closed door, and other keys, of which one fits."""
    lying = [f"lying {name}" for name in names]
    return worlds.state(known, dict.fromkeys(names, "key"), "closed", f"fits {fits}", *lying, "free")


def third_key(known: Model) -> State:
    return keys(known, "iron", "brass", "zinc", fits="iron")


def taught(world: worlds.World, other: Callable[[Model], State], folder: Path) -> tuple[Giving, Rules, Reach]:
    """What is reached where everything was seen of one problem, and only the beginning of the other."""
    giving = Giving(world.agent(folder, world.start, other))
    here, _ = giving.initial()
    worlds.give_everywhere(giving, here, *[control.name for control in giving.controls])
    rules, reach = Rules(found(giving), giving), Reach(giving)
    reach.bring_up_to_date(rules)
    return giving, rules, reach


@pytest.mark.parametrize(("world", "other"), [(HALL, other_hall), (DOOR, third_key)], ids=["hall", "door"])
def test_every_kind_of_situation_is_expected_once_where_its_way_leads(
    world: worlds.World, other: Callable[[Model], State], tmp_path: Path
) -> None:
    giving, _, reach = taught(world, other, tmp_path)
    nodes = list(reach.nodes())
    assert len({node.state for node in nodes}) == len(nodes)
    states = {one.before for one in worlds.reachable(world.agent(tmp_path, world.start, other))}
    assert {node.state for node in nodes} <= states
    kinds = {reach.standpoint(reach.place(state), NOTHING) for state in states}
    assert {reach.standpoint(reach.place(node.state), NOTHING) for node in nodes} == kinds
    assert any(len(node.way) > 2 for node in nodes), "some are far from what was seen"
    for node in nodes:
        here = node.start
        for control in node.way:
            _, here = giving.give(here, control)
        assert here.state == node.state


def test_a_problem_is_looked_at_even_where_another_one_points_out_the_same(tmp_path: Path) -> None:
    """Of its keys the one that fits has the name of the one in the other problem."""
    _, _, reach = taught(DOOR, lambda known: keys(known, "iron", "gold", "zinc", fits="gold"), tmp_path)
    assert any(node.way and "iron" in node.state.objects for node in reach.nodes())


def test_a_control_leads_where_it_led_and_not_where_it_was_expected_to_lead(tmp_path: Path) -> None:
    def veiled(state: State) -> State:
        """Whether the door is open cannot be seen from behind the zinc key."""
        door = {Atom("open", ()), Atom("closed", ())}
        hidden = door if Atom("held", ("zinc",)) in state.true else set[Atom]()
        return State(state.true - hidden, state.objects, frozenset(hidden))

    clear = DOOR.agent(tmp_path, DOOR.start, third_key)
    giving = Giving(worlds.Read(clear, ImageTest(400, 400), veiled))
    here, other = giving.initial()
    worlds.give_everywhere(giving, here, *[control.name for control in giving.controls])
    rules, reach, take = Rules(found(giving), giving), Reach(giving), GroundAction("take", ("zinc",))
    reach.bring_up_to_date(rules)
    expected = {node.way: node.state for node in reach.nodes() if node.start == other}
    assert not expected[take,].unknown
    _, after = giving.give(other, take)
    reach.bring_up_to_date(rules)
    assert after.state.unknown
    assert (take,) not in {node.way for node in reach.nodes() if node.start == other}, "it was seen"


CELLS = "abcdefg"


def hall(folder: Path, *controls: str, chest: str = "d") -> Giving:
    """A hall of which the first three cells were seen, and one without a chest of which only the first was."""
    known = worlds.model(worlds.HALL, folder)
    problems = [worlds.hall(known, cells=CELLS, chest=chest), worlds.hall(known, cells="stuvwxy", chest="")]
    giving = Giving(worlds.agent(worlds.HALL, ["step(?b)=walk", *controls], problems, folder))
    start, _ = giving.initial()
    worlds.follow(giving, start, "step b", "step c", "step b", "step a")
    return giving


def followed(giving: Giving) -> list[Way]:
    """All ways that are found for controls that never did anything, each followed at once."""
    rules, coverage, ways = Rules(found(giving), giving), Coverage(Reach(giving)), list[Way]()
    while (way := coverage.way_for_dead(rules)) is not None:
        ways.append(way)
        for transition in worlds.gone(giving, way):
            rules.owner(transition)
    return ways


@pytest.mark.parametrize(("chest", "steps"), [("c", 0), ("d", 1), ("e", 2), ("f", 2), ("g", 1)])
def test_the_shortest_way_to_anything_new_is_found(tmp_path: Path, chest: str, steps: int) -> None:
    giving = hall(tmp_path, "lift()=lift", chest=chest)
    start, _ = giving.initial()
    worlds.follow(giving, start, "lift")
    way = Coverage(Reach(giving)).way_for_dead(Rules(found(giving), giving))
    assert len(way.controls) == steps + 1
    *_, transition = worlds.gone(giving, way)
    assert transition.before.rows["at"] == [(chest,)]
    assert transition.change, "it was dead before"
    assert not giving.dead


def test_no_situation_points_out_a_fact_that_a_dead_control_was_not_tried_with(tmp_path: Path) -> None:
    giving = hall(tmp_path, "curse()=dispel", chest="e")
    ways = followed(giving)
    assert len(ways) < len(CELLS), "not everywhere: most cells are alike"
    assert [one.name for one in giving.dead] == ["curse"]
    reach = Reach(giving)
    reach.bring_up_to_date(Rules(found(giving), giving))

    def pointed_out(one: Transition) -> frozenset[object]:
        return frozenset(reach.standpoint(reach.place(one.before), one.control).facts)

    tried = frozenset().union(*map(pointed_out, giving.transitions["curse"]))
    states, controls = [one.state for one in giving.initial()], ["step(?b)=walk", "curse()=dispel"]
    for one in worlds.reachable(worlds.agent(worlds.HALL, controls, states, tmp_path)):
        assert one.control.name != "curse" or pointed_out(one) <= tried


def test_nothing_is_sought_where_all_was_given_and_the_same_evidence_leads_alike(tmp_path: Path) -> None:
    giving = hall(tmp_path, "curse()=dispel")
    for start in giving.initial():
        worlds.give_everywhere(giving, start, "step", "curse")
    coverage, rules = Coverage(Reach(giving)), Rules(found(giving), giving)
    assert all(giving.given_in(state) >= set(ground(giving.dead, state)) for state in giving.situations)
    assert coverage.way_for_dead(rules) is None
    assert coverage.way(rules) is None
    assert coverage.untried(rules, 5) == ()
    one, other = (followed(hall(tmp_path, "curse()=dispel")) for _ in range(2))
    assert [way.controls for way in one] == [way.controls for way in other]


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
def test_a_pair_is_new_if_its_values_were_met_apart(
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
        for transition in worlds.gone(giving, way):
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
            _, here = one.give(here, control)
    ways = refuted(giving, Rules(discovery, giving))
    assert ways, "something can be tried that the walk did not"
    assert ways == refuted(again, Rules(discovery, again)), "the same is tried again"
    assert Checker(Reach(first)).way(Rules(discovery, first)) is None, "all was tried"


LAMP = """(define (domain lamp) (:requirements :strips :negative-preconditions)
  (:predicates (mains) (charged) (lit))
  (:action by-mains :parameters () :precondition (and (mains) (not (lit))) :effect (lit))
  (:action by-battery :parameters () :precondition (and (charged) (not (lit))) :effect (lit)))"""


def test_a_condition_about_no_object_is_not_widened_to_where_nothing_happened(tmp_path: Path) -> None:
    starts = [
        lambda known, facts=facts: worlds.state(known, {}, *facts) for facts in (["mains"], [], ["charged"])
    ]
    giving = Giving(worlds.World(LAMP, ["light()=by-mains,by-battery"], starts[0]).agent(tmp_path, *starts))
    mains, dark, charged = giving.initial()
    for start in (mains, dark):
        worlds.follow(giving, start, "light")
    rules = Rules(found(giving), giving)
    transition, _ = giving.give(charged, GroundAction("light", ()))
    with pytest.raises(Refuted, match="requires different things"):
        rules.owner(transition)
