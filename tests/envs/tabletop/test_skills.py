"""Skills carried out in continuous control with contacts do what the intended model says; predicates read from poses are consistent."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.envs.tabletop.environment import TabletopEnv
from aam_vision.envs.tabletop.world import OPEN
from aam_vision.model.strips import Atom
from tests.profiles import thorough

from .scenes import BALL_, BLUE, GREEN, RED, STEEL_, TRUTH, all_told, layout, possible, random_scene, state


@pytest.mark.parametrize("seed", range(6))
def test_a_skill_is_carried_out_exactly_if_it_is_possible_and_changes_only_what_it_should(
    table: TabletopEnv, seed: int
) -> None:
    table.set_up(random_scene(seed))
    rng = np.random.default_rng(seed)
    for _ in range(20):
        before = state(table)
        offered = possible(table) if rng.random() < 0.6 else all_told(table)
        told = offered[int(rng.integers(len(offered)))]
        schema = TRUTH.schema(told.name)
        refusal = table.carry_out(told.name, *told.objects)
        assert (refusal is None) == schema.applicable(before, told.objects), (str(told), refusal)
        after = schema.successor(before, told.objects) if refusal is None else before
        assert state(table) == after, str(told)


def test_skills_are_deterministic(table: TabletopEnv) -> None:
    def results(env: TabletopEnv) -> list[tuple[str | None, bytes]]:
        found = []
        env.set_up(random_scene(0))
        env.action_space.seed(3)
        for _ in range(60):
            refusal = env.carry_out(*env.action_space.sample())
            found.append((refusal, env.snapshot().state.tobytes()))
        return found

    first = results(table)
    assert any(refusal is None for refusal, _ in first)
    assert first == results(table) == results(TabletopEnv())


def test_a_tower_of_everything_can_be_built_and_taken_down(table: TabletopEnv) -> None:
    table.set_up(layout((STEEL_,), (RED,), (GREEN,), (BLUE,), (BALL_,)))
    tower = ["steel", "red-block", "green-block", "blue-block", "ball"]
    for under, thing in pairwise(tower):
        assert table.carry_out("pick-up", thing) is None
        assert table.carry_out("stack", thing, under) is None
    for under, thing in reversed(list(pairwise(tower))):
        assert table.carry_out("unstack", thing, under) is None
        assert table.carry_out("put-down", thing) is None


def test_only_friction_holds_a_thing(table: TabletopEnv) -> None:
    table.set_up(layout((RED,), (STEEL_,), (GREEN,), (BLUE,), (BALL_,)))
    assert table.carry_out("pick-up", "red-block") is None
    world = table.stage.world
    height = world.place(RED)[2]
    world.data.ctrl[-2:] = OPEN
    table.stage.arm.rest(0.2)
    assert world.place(RED)[2] < height - 0.05


TABLE = TabletopEnv()
SEEDS = st.integers(0, 2**31 - 1)


def expected(seed: int) -> frozenset[Atom]:
    """What is true of a random scene by its layout."""
    layout = random_scene(seed)
    names = [thing.name for thing in layout.things]
    atoms = {Atom("hand-empty", ())} if layout.held is None else {Atom("holding", (names[layout.held],))}
    for pile in layout.piles:
        atoms.add(Atom("on-table", (names[pile.things[0]],)))
        atoms.add(Atom("clear", (names[pile.things[-1]],)))
        atoms |= {Atom("on", (names[upper], names[lower])) for lower, upper in pairwise(pile.things)}
    return frozenset(atoms)


@given(SEEDS)
@thorough(40)
def test_what_is_read_is_what_was_set_up(seed: int) -> None:
    TABLE.set_up(random_scene(seed))
    assert TABLE.true_atoms() == expected(seed)
