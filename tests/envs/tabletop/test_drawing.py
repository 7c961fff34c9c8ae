"""Snapshots bit by bit and pixel by pixel, and what the camera shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aam_vision.envs import worlds
from aam_vision.envs.tabletop.environment import SEEN, SIZE, TabletopEnv, scene, shown, world
from aam_vision.envs.tabletop.layouts import (
    APART,
    BLOCK,
    COLUMNS,
    ROWS,
    Layout,
    Pile,
    centres,
    named,
    random_layout,
    rearranged,
)
from aam_vision.model.strips import Atom
from tests.processes import fresh
from tests.refusals import told_by

from .scenes import BALL_, BLUE, CRATE_, GREEN, RED, STEEL_, THINGS, layout, possible, random_scene

SMALLEST = 20
"""Pixels that a block is wide, at least."""


@pytest.mark.usefixtures("drawable")
@pytest.mark.parametrize("seed", range(3))
def test_a_snapshot_and_all_that_follows_is_bit_and_pixel_identical(table: TabletopEnv, seed: int) -> None:
    table.set_up(random_scene(seed))
    rng, told, seen = np.random.default_rng(seed), [], []
    start, first = table.snapshot(), table.picture()
    for _ in range(4):
        offered = possible(table)
        told.append(offered[int(rng.integers(len(offered)))])
        assert table.carry_out(told[-1].name, *told[-1].objects) is None
        seen.append((table.snapshot().state.tobytes(), table.picture().tobytes()))
    assert len({picture for _, picture in seen} | {first.tobytes()}) >= 3
    table.restore(start)
    assert table.snapshot().state.tobytes() == start.state.tobytes()
    assert (table.picture() == first).all()
    for one, (state, picture) in zip(told, seen, strict=True):
        table.carry_out(one.name, *one.objects)
        assert table.snapshot().state.tobytes() == state
        assert table.picture().tobytes() == picture


@pytest.mark.usefixtures("drawable")
def test_the_seed_makes_the_scene_its_looks_and_its_picture(table: TabletopEnv) -> None:
    pictures = [table.reset(seed=seed)[0] for seed in (1, 2, 1)]
    assert pictures[0].shape == (SIZE, SIZE, 3)
    assert pictures[0].dtype == np.uint8
    assert (pictures[0] == pictures[2]).all()
    assert (pictures[0] != pictures[1]).any()


@pytest.mark.usefixtures("drawable")
def test_what_is_behind_a_pile_is_not_seen_and_everything_on_an_empty_table_is(table: TabletopEnv) -> None:
    def seen_in() -> set[str]:
        return {atom.objects[0] for atom in shown(table) if atom.predicate == SEEN}

    names = {thing.name for thing in THINGS}
    table.set_up(layout((RED,), (GREEN,), (BLUE,), (BALL_,), (STEEL_,), (CRATE_,)))
    assert seen_in() == names
    table.set_up(layout((CRATE_, RED), (GREEN, BLUE), (STEEL_,), (BALL_,)))
    assert seen_in() == names
    at = centres()
    piles = (Pile((CRATE_, RED, BLUE), at[1], (0.0, 0.0, 0.0)), Pile((BALL_,), at[5], (0.0,)))
    elsewhere = tuple(Pile((thing,), at[n], (0.0,)) for thing, n in ((GREEN, 3), (STEEL_, 11)))
    table.set_up(Layout(THINGS, piles + elsewhere))
    assert table.visible()["ball"] == 0
    assert seen_in() == names - {"ball"}
    assert Atom("on-table", ("ball",)) in shown(table)


@pytest.mark.usefixtures("drawable")
def test_a_block_is_wide_enough_wherever_it_stands_and_its_pixels_are_counted(table: TabletopEnv) -> None:
    for place in centres():
        table.set_up(Layout(named((BLOCK,), ("red",)), (Pile((0,), place, (0.0,)),)))
        before = table.picture()
        (counted,) = table.visible().values()
        (mask,) = table.masks().values()
        red, green, blue = np.moveaxis(before.astype(int), 2, 0)
        drawn = (red > 60) & (red > 3 * green) & (red > 3 * blue)
        columns = np.flatnonzero(drawn.any(0))
        assert columns[-1] - columns[0] + 1 >= SMALLEST
        assert 0 < columns[0] <= columns[-1] < SIZE - 1
        assert counted == pytest.approx(drawn.sum(), rel=0.2)
        assert mask[drawn].mean() > 0.95
        assert (table.stage.drawing(SIZE).picture() == before).all()


@pytest.mark.usefixtures("drawable")
def test_what_shows_is_no_part_of_a_state() -> None:
    domain = world()
    simulator = domain.simulator(domain.interrogated[0])
    state = domain.true_state(simulator.present, simulator.scene)
    table = simulator.present
    assert SEEN not in {atom.predicate for atom in state.true}
    assert state.true >= table.true_atoms()
    assert state.unknown == frozenset()


@pytest.mark.usefixtures("drawable")
def test_a_process_ends_quietly_while_a_table_is_open() -> None:
    """Even if other finalizers were made before EGL was loaded, as torch does."""
    program = (
        "from weakref import finalize\n"
        "class Thing: pass\n"
        "first = Thing(); finalize(first, print, end='')\n"
        "from aam_vision.envs.tabletop.environment import TabletopEnv\n"
        "table = TabletopEnv('rgb_array'); table.reset(seed=0)\n"
    )
    done = fresh(program)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.usefixtures("drawable")
def test_a_table_is_collected_in_another_thread_than_it_is_drawn_in() -> None:
    program = (
        "from threading import Event, Thread\n"
        "from aam_vision.envs.tabletop.environment import TabletopEnv\n"
        "tables, drawn, end = [TabletopEnv('rgb_array')], Event(), Event()\n"
        "def draw():\n"
        "    tables[0].reset(seed=0); drawn.set(); end.wait()\n"
        "thread = Thread(target=draw); thread.start(); drawn.wait()\n"
        "tables.clear(); end.set(); thread.join()\n"
        "again = TabletopEnv('rgb_array'); again.reset(seed=0); print(again.render().std() > 10)\n"
    )
    done = fresh(program)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "True", "")


def test_scenes_for_training_keep_some_looks_apart() -> None:
    rng = np.random.default_rng(0)
    for blocks in (3, 4, 5) * 5:
        looks = {thing.look for thing in random_layout(rng, blocks, apart=True).things}
        assert not any({*pair} <= looks for pair in APART)
        assert len(looks) == blocks + 2


def test_crowded_piles_stand_behind_each_other() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        piles = rearranged(rng, random_layout(rng), highest=3, holding=0.3, crowded=True).piles
        columns = {round((pile.place[0] - COLUMNS[0]) / (COLUMNS[1] - COLUMNS[0])) for pile in piles}
        assert len(columns) == -(-len(piles) // len(ROWS))


def test_blocks_that_look_alike_have_names_of_their_own() -> None:
    things = random_layout(np.random.default_rng(0), 4, alike=3).things
    looks = [thing.look for thing in things]
    assert sorted(looks.count(look) for look in set(looks)) == [1, 1, 1, 3]
    assert len({thing.name for thing in things}) == len(things)


def test_a_snapshot_of_another_scene_is_refused(table: TabletopEnv) -> None:
    table.set_up(random_scene(0))
    kept = table.snapshot()
    table.set_up(random_scene(2))
    assert "another scene" in told_by(lambda: table.restore(kept))


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"MUJOCO_EGL_DEVICE_ID": "99"}, "osmesa: "),
        ({"MUJOCO_EGL_DEVICE_ID": "99", "MUJOCO_GL": "egl"}, "install EGL"),
        ({"MUJOCO_GL": "osmesa"}, "libosmesa6"),
    ],
)
def test_where_nothing_can_draw_one_line_says_so(variables: Any, told: str, monkeypatch: Any) -> None:
    """No EGL device has such a number, and OSMesa is hidden."""
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    program = (
        "import sys; sys.modules['mujoco.osmesa'] = None\n"
        "from aam_vision.envs import worlds\n"
        "from aam_vision.support.errors import UnusableInput\n"
        "try: worlds.load('tabletop').simulator(('seed', 1))\n"
        "except UnusableInput as error: print(error); sys.exit(2)\n"
    )
    done = fresh(program, **variables)
    (line,) = done.stdout.splitlines()
    assert told in line
    assert (done.returncode, done.stderr) == (2, "")


def test_without_mujoco_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "find_spec", lambda name: None)
    assert 'pip install "aam-vision[robot]"' in told_by(lambda: worlds.load("tabletop"))


@pytest.mark.usefixtures("drawable")
def test_things_are_where_they_are_pointed_out(table: TabletopEnv) -> None:
    for piles in (((RED,), (GREEN,)), ((GREEN,), (BLUE,)), ((BLUE, RED), (GREEN,))):
        table.set_up(layout(*piles))
        picture, masks = table.picture(), table.masks()
        for number, colour in ((pile[-1], pile[-1]) for pile in piles):
            across, down = table.point(THINGS[number].name)
            own = picture[int(down * SIZE), int(across * SIZE)]
            assert own[colour] > 2 * np.delete(own, colour).max()
            assert masks[THINGS[number].name][int(down * SIZE), int(across * SIZE)]


@pytest.mark.usefixtures("drawable")
def test_only_things_that_look_the_same_are_pointed_out() -> None:
    table = TabletopEnv("rgb_array", blocks=4, alike=3)
    table.reset(seed=2)
    alike = {thing.name for thing in table.layout.things if thing.name[-2:] in ("-1", "-2", "-3")}
    assert len(alike) == 3
    assert set(scene(table).points) == alike
    table.close()
