"""Where known operators lead: what is expected there comes about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aam_vision.agents.perception import ImageTest
from aam_vision.controls.exploring import found
from aam_vision.controls.giving import Giving
from aam_vision.controls.reach import Node, Reach
from aam_vision.controls.rules import Rules
from aam_vision.model.strips import Atom, GroundAction, Model, State

from . import worlds

NOTHING = GroundAction("", ())
DOOR = ["toggle()=unlock,swing", "shut()=shut", "lock()=lock", "take(?k)=take", "put()=put"]


def other_hall(known: Model) -> State:
    """Another ring, in which the agent starts elsewhere."""
    return worlds.hall(known, cells="stuvw", chest="v")


def third_key(known: Model) -> State:
    """Three other keys, of which one fits."""
    kinds = dict.fromkeys(("iron", "brass", "zinc"), "key")
    facts = ["closed", "fits iron", "lying iron", "lying brass", "lying zinc", "free"]
    return worlds.state(known, kinds, *facts)


def taught(
    text: str,
    controls: list[str],
    start: Callable[[Model], State],
    other: Callable[[Model], State],
    folder: Path,
) -> tuple[Giving, Rules, list[Node]]:
    """What is reached where everything was seen of one problem, and only the beginning of the other."""
    known = worlds.model(text, folder)
    giving = Giving(worlds.agent(text, controls, [start(known), other(known)], folder))
    here, _ = giving.initial()
    worlds.give_everywhere(giving, here, *[control.name for control in giving.controls])
    rules, reach = Rules(found(giving), giving), Reach(giving)
    reach.bring_up_to_date(rules)
    return giving, rules, list(reach.nodes())


CASES = pytest.mark.parametrize(
    ("text", "controls", "start", "other"),
    [
        (worlds.HALL, ["step(?b)=walk", "lift()=lift"], worlds.hall, other_hall),
        (worlds.DOOR, DOOR, worlds.door, third_key),
    ],
    ids=["hall", "door"],
)


@CASES
def test_the_agent_goes_where_a_way_is_expected_to_lead(
    text: str,
    controls: list[str],
    start: Callable[[Model], State],
    other: Callable[[Model], State],
    tmp_path: Path,
) -> None:
    giving, _, nodes = taught(text, controls, start, other, tmp_path)
    assert any(len(node.way) > 2 for node in nodes), "some are far from what was seen"
    for node in nodes:
        here = node.start
        for control in node.way:
            _, here = giving.give(here, control)
        assert here.state == node.state


@CASES
def test_every_kind_of_situation_that_can_be_reached_is_expected_once(
    text: str,
    controls: list[str],
    start: Callable[[Model], State],
    other: Callable[[Model], State],
    tmp_path: Path,
) -> None:
    giving, rules, nodes = taught(text, controls, start, other, tmp_path)
    assert len({node.state for node in nodes}) == len(nodes)
    known = worlds.model(text, tmp_path)
    world = worlds.agent(text, controls, [start(known), other(known)], tmp_path)
    states = {one.before for one in worlds.reachable(world)}
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
    _, _, nodes = taught(worlds.DOOR, DOOR, worlds.door, same_key, tmp_path)
    assert any(node.way and "iron" in node.state.objects for node in nodes)


def test_a_control_leads_where_it_led_and_not_where_it_was_expected_to_lead(tmp_path: Path) -> None:
    def veiled(state: State) -> State:
        """Whether the door is open cannot be seen from behind the zinc key."""
        hidden = (
            {Atom("open", ()), Atom("closed", ())} if Atom("held", ("zinc",)) in state.true else set[Atom]()
        )
        return State(state.true - hidden, state.objects, frozenset(hidden))

    known = worlds.model(worlds.DOOR, tmp_path)
    clear = worlds.agent(worlds.DOOR, DOOR, [worlds.door(known), third_key(known)], tmp_path)
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
