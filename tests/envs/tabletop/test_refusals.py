"""What cannot be done is refused because of bodies and forces, not because of names; and changes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aam_vision.envs.tabletop.environment import TabletopEnv
from aam_vision.envs.tabletop.layouts import Layout, Pile
from tests.refusals import told_by

from .scenes import BALL_, BLUE, CRATE_, GREEN, RED, STEEL_, THINGS, layout

SPREAD = layout((RED,), (GREEN,), (BLUE,), (BALL_,), (STEEL_,), (CRATE_,))
PILED = layout((GREEN, RED), (CRATE_, BLUE), (BALL_,), (STEEL_,))
HOLDING = layout((GREEN, BLUE), (BALL_,), (STEEL_,), (CRATE_,), held=RED)

BETWEEN, NOT_BETWEEN, HIT, OTHER = (
    "between the fingers",
    "not between the fingers",
    "hit something",
    "on the other",
)
REFUSED = [
    (HOLDING, "pick-up ball", BETWEEN),
    (HOLDING, "pick-up red-block", BETWEEN),
    (HOLDING, "unstack blue-block green-block", BETWEEN),
    (PILED, "pick-up green-block", HIT),  # something lies on it
    (PILED, "pick-up crate", HIT),
    (PILED, "pick-up red-block", HIT),  # it does not stand on the table
    (PILED, "unstack red-block crate", OTHER),  # it stands on something else
    (PILED, "unstack ball green-block", OTHER),
    (PILED, "unstack green-block red-block", OTHER),
    (SPREAD, "pick-up crate", HIT),  # too wide
    (SPREAD, "pick-up steel", "come along"),
    (HOLDING, "stack red-block ball", "ground"),
    (HOLDING, "stack red-block green-block", "something else is there"),
    (HOLDING, "stack red-block red-block", "itself"),
    (HOLDING, "stack ball blue-block", NOT_BETWEEN),  # another thing is held
    (SPREAD, "stack red-block green-block", NOT_BETWEEN),
    (SPREAD, "put-down red-block", NOT_BETWEEN),
]


@pytest.mark.parametrize(
    ("start", "told", "why"), REFUSED, ids=[f"{told}: {why}" for _, told, why in REFUSED]
)
def test_what_is_impossible_is_refused_with_its_reason_and_changes_nothing(
    table: TabletopEnv, start: Layout, told: str, why: str
) -> None:
    table.set_up(start)
    before = table.snapshot().state
    assert why in (table.carry_out(*told.split()) or "")
    assert not table.executed
    assert (table.snapshot().state == before).all()


def test_what_is_refused_follows_from_bodies_and_not_from_looks(table: TabletopEnv) -> None:
    """A block that looks like steel is lifted, steel that looks like a block is not."""
    disguised = {"red-block": "steel", "steel": "red"}
    things = tuple(replace(one, look=disguised.get(one.name, one.look)) for one in THINGS)
    table.set_up(replace(SPREAD, things=things))
    assert table.carry_out("pick-up", "steel") is not None
    assert table.carry_out("pick-up", "red-block") is None


def test_a_thing_out_of_reach_is_refused(table: TabletopEnv) -> None:
    table.set_up(Layout(THINGS, (*SPREAD.piles[1:], Pile((RED,), (0.3, -0.2), (0.0,)))))
    assert table.carry_out("pick-up", "red-block") == "the arm does not reach there"


def test_a_neighbour_in_the_way_of_a_finger_is_refused(table: TabletopEnv) -> None:
    first, _, *others = SPREAD.piles
    close = Pile((GREEN,), (first.place[0] + 0.042, first.place[1]), (0.0,))
    table.set_up(Layout(THINGS, (first, close, *others)))
    assert "hit" in (table.carry_out("pick-up", "red-block") or "")


def test_a_full_table_leaves_no_place_to_put_down(table: TabletopEnv) -> None:
    """Things stand between all places."""
    crates = (*[replace(THINGS[CRATE_], name=f"crate-{number}") for number in range(8)], THINGS[RED])
    spots = [(x, y) for y in (-0.045, 0.045) for x in (-0.12, -0.04, 0.04, 0.12)]
    piles = tuple(Pile((number,), spot, (0.0,)) for number, spot in enumerate(spots))
    table.set_up(Layout(crates, piles, held=8))
    assert table.carry_out("put-down", "red-block") == "no place is free"


@pytest.mark.parametrize(
    "told", [("fly", "ball"), ("pick-up", "moon"), ("stack", "ball"), ("pick-up", "ball", "steel")]
)
def test_what_nobody_understands_is_bad_input(table: TabletopEnv, told: tuple[str, ...]) -> None:
    table.set_up(SPREAD)
    line = told_by(lambda: table.carry_out(*told))
    assert "pick-up THING" in line
    assert "red-block" in line
