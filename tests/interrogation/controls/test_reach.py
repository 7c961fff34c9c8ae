"""What a situation points out does not depend on names, nor on what is elsewhere.

Where known operators lead: what is expected there comes about.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from aam_vision.agents.perception import ImageTest
from aam_vision.interrogation.controls.exploring import found
from aam_vision.interrogation.controls.giving import Giving
from aam_vision.interrogation.controls.reach import Node, Reach, Standpoint, Standpoints
from aam_vision.interrogation.controls.rules import Rules
from aam_vision.model.strips import Atom, GroundAction, Model, Objects, State, Types
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
    assert {name for name, _ in start.objects} == {"a"}, (
        "both neighbours are the same: neither is pointed out"
    )
    assert {name for name, _ in chest.objects} == {"d", "box"}, (
        "the only thing that is in this cell is pointed out"
    )
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


def third_key(known: Model) -> State:
    """Three other keys, of which one fits."""
    kinds = dict.fromkeys(("iron", "brass", "zinc"), "key")
    facts = ["closed", "fits iron", "lying iron", "lying brass", "lying zinc", "free"]
    return worlds.state(known, kinds, *facts)


def taught(
    world: worlds.World, other: Callable[[Model], State], folder: Path
) -> tuple[Giving, Rules, list[Node]]:
    """What is reached where everything was seen of one problem, and only the beginning of the other."""
    giving = Giving(world.agent(folder, world.start, other))
    here, _ = giving.initial()
    worlds.give_everywhere(giving, here, *[control.name for control in giving.controls])
    rules, reach = Rules(found(giving), giving), Reach(giving)
    reach.bring_up_to_date(rules)
    return giving, rules, list(reach.nodes())


CASES = pytest.mark.parametrize(
    ("world", "other"), [(HALL, other_hall), (DOOR, third_key)], ids=["hall", "door"]
)


@CASES
def test_the_agent_goes_where_a_way_is_expected_to_lead(
    world: worlds.World, other: Callable[[Model], State], tmp_path: Path
) -> None:
    giving, _, nodes = taught(world, other, tmp_path)
    assert any(len(node.way) > 2 for node in nodes), "some are far from what was seen"
    for node in nodes:
        here = node.start
        for control in node.way:
            _, here = giving.give(here, control)
        assert here.state == node.state


@CASES
def test_every_kind_of_situation_that_can_be_reached_is_expected_once(
    world: worlds.World, other: Callable[[Model], State], tmp_path: Path
) -> None:
    giving, rules, nodes = taught(world, other, tmp_path)
    assert len({node.state for node in nodes}) == len(nodes)
    states = {one.before for one in worlds.reachable(world.agent(tmp_path, world.start, other))}
    assert {node.state for node in nodes} <= states
    reach = Reach(giving)
    reach.bring_up_to_date(rules)
    kinds = {reach.standpoint(reach.place(state), NOTHING) for state in states}
    assert {reach.standpoint(reach.place(node.state), NOTHING) for node in nodes} == kinds


def same_key(known: Model) -> State:
    """Three keys, of which the one that fits has the name of the one in the other problem."""
    kinds = dict.fromkeys(("iron", "gold", "zinc"), "key")
    facts = ["closed", "fits gold", "lying iron", "lying gold", "lying zinc", "free"]
    return worlds.state(known, kinds, *facts)


def test_a_problem_is_looked_at_even_where_another_one_points_out_the_same(tmp_path: Path) -> None:
    _, _, nodes = taught(DOOR, same_key, tmp_path)
    assert any(node.way and "iron" in node.state.objects for node in nodes)


def test_a_control_leads_where_it_led_and_not_where_it_was_expected_to_lead(tmp_path: Path) -> None:
    def veiled(state: State) -> State:
        """Whether the door is open cannot be seen from behind the zinc key."""
        hidden = (
            {Atom("open", ()), Atom("closed", ())} if Atom("held", ("zinc",)) in state.true else set[Atom]()
        )
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
