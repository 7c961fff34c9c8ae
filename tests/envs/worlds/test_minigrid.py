"""MiniGrid's tasks as ready-made worlds: what they mean, what their images show, and which of them are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.refusals import told_by

pytest.importorskip("minigrid")

import gymnasium
from minigrid.core.actions import Actions

from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs import worlds
from aam_vision.envs.registry import image_domain
from aam_vision.envs.worlds.minigrid_tasks import task, training
from aam_vision.model.strips import State
from aam_vision.support.errors import UnusableInput
from aam_vision.training.assessment import expected
from aam_vision.training.labels import check_legal
from tests.profiles import first, scaled, some

TASKS = ["LavaGapS5", "GoToDoor-5x5", "MemoryS7", "DoorKey-5x5", "KeyCorridorS3R2", "PutNear-6x6-N2"]
TASKS += ["Empty-5x5", "Unlock", "UnlockPickup", "BlockedUnlockPickup", "ObstructedMaze-1Dl"]
"""Every kind of thing and of instruction is in one of the first six."""


@pytest.mark.parametrize("name", first(6, TASKS))
def test_the_intended_model_is_what_the_simulator_does(name: str) -> None:
    """In random states every instruction that can be meant is carried out exactly where the model says so, with its effects."""
    world, rng = task(name), np.random.default_rng(0)
    assert world.truth is not None
    model, done, told_of = world.truth(), set[str](), {header.name for header in world.headers}
    simulators = [world.simulator(("seed", seed)) for seed in range(5)]
    for seed in range(250):
        if seed >= scaled(20) and done == told_of:
            break
        simulator = simulators[seed % 5]
        simulator.start()
        env = simulator.present
        world.shake(env, rng)
        simulator._seen = None  # it was changed behind the simulator's back
        here, before = simulator.snapshot(), world.true_state(env, simulator.scene)
        meant = ((told.header, objects) for told in world.instructions for objects in told.meant(env))
        for header, objects in meant:
            kinds = [simulator.scene.objects.members(kind) for kind in header.types]
            if not all(one in members for one, members in zip(objects, kinds, strict=True)):
                continue
            schema = model.schema(header.name)
            applicable = schema.applicable(before, objects)
            assert simulator.instruct(header.name, objects) is applicable, (header.name, objects, seed)
            if applicable:
                done.add(header.name)
                after = world.true_state(simulator.present, simulator.scene)
                assert after.true == schema.successor(before, objects).true, (header.name, objects)
            simulator.restore(here)
    assert done == told_of


@pytest.mark.parametrize("name", TASKS)
def test_what_is_seen_says_what_is_true(name: str) -> None:
    world, rng = task(name), np.random.default_rng(1)
    made: Any = world.make()
    for seed in some(8, range(20)):
        made.reset(seed=seed)
        env = made.unwrapped
        scene = world.scene(env)
        world.shake(env, rng)
        index, true = SceneIndex(world.visual, scene), world.true_state(env, scene)
        seen = State(true.true.union(world.shown(env)), scene.objects)
        check_legal(world.visual, index, seen)
        assert expected(world.visual, index, seen).state == true


def test_what_is_carried_is_drawn_below_the_board() -> None:
    env: Any = task("DoorKey-5x5").make()
    env.reset(seed=0)
    free = env.render()
    (key,) = [thing for thing in env.unwrapped.grid.grid if getattr(thing, "own_name", "") == "yellow-key"]
    env.unwrapped.carrying = key
    rows, columns = np.nonzero((env.render() != free).any(-1))
    assert rows.min() >= env.unwrapped.height * 40
    assert columns.max() <= 42


def test_the_limit_of_steps_and_the_goal_are_no_end_but_lava_is() -> None:
    env: Any = task("LavaGapS5").make()
    env.reset(seed=0)
    env.unwrapped.max_steps = 3
    for _ in range(8):
        *_, terminated, truncated, _ = env.step(Actions.left)
        assert not terminated
        assert not truncated
    board = {(i % 5, i // 5): thing for i, thing in enumerate(env.unwrapped.grid.grid) if thing is not None}
    for kind, moves in (("goal", True), ("lava", False)):
        env.unwrapped.agent_pos = next(place for place, thing in board.items() if thing.type == kind)
        before = env.unwrapped.agent_dir
        env.step(Actions.left)
        assert (env.unwrapped.agent_dir != before) is moves


def test_an_agent_in_a_door_at_the_edge_may_face_what_is_beyond() -> None:
    env: Any = task("GoToDoor-5x5").make()
    env.reset(seed=0)
    env.unwrapped.agent_pos, env.unwrapped.agent_dir = (0, 2), 2
    for action in Actions:
        env.step(action)
    assert tuple(env.unwrapped.agent_pos) == (0, 2)
    assert env.unwrapped.agent_dir == 2, "a turn to the left and one to the right"


def test_things_that_look_alike_have_names_and_are_anchored() -> None:
    world = task("Playground")
    simulator = world.simulator(("seed", 0))
    looks = list(simulator.scene.looks.values())
    alike = {name for name, look in simulator.scene.looks.items() if looks.count(look) > 1}
    assert alike
    assert alike == set(simulator.scene.anchors)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Dynamic-Obstacles-5x5", "move at random"),
        ("ObstructedMaze-1Dlh", "boxes hide keys"),
        ("DoorKey-7x7", "use one of DoorKey-16x16, DoorKey-5x5"),
        ("NoSuchTask", "MiniGrid has no task MiniGrid-NoSuchTask-v0"),
    ],
)
def test_a_task_that_is_not_covered_is_refused_in_one_line(name: str, told: str) -> None:
    told_by(lambda: image_domain(f"minigrid:{name}"), told)


def test_every_other_task_is_covered() -> None:
    known = [one for one in gymnasium.registry if one.startswith("MiniGrid-") and "-WFC-" not in one]
    refused = []
    for gym_id in known:
        try:
            task(gym_id.removeprefix("MiniGrid-"))
        except UnusableInput:
            refused.append(gym_id)
    assert len(known) >= 70
    assert all("Dynamic-Obstacles" in one or "ObstructedMaze" in one for one in refused)
    assert "MiniGrid-ObstructedMaze-1Dl-v0" not in refused


def test_without_minigrid_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "find_spec", lambda name: None)
    told_by(lambda: image_domain("minigrid:DoorKey-5x5"), r'pip install "aam-vision\[minigrid\]"')


def test_the_boards_to_train_on_cannot_be_interrogated() -> None:
    told_by(lambda: training().simulator(("seed", 0)), "name a task")


@pytest.mark.parametrize("name", ["DoorKey-5x5", "PutNear-6x6-N2", "LavaGapS5"])
def test_held_out_steps_are_what_controls_do(name: str) -> None:
    world = task(name)
    steps = world.held_out_steps(100, np.random.default_rng(0))
    assert len(steps) == 100
    assert {step.control.name for step in steps} == {header.name for header in world.control_headers}
    assert all(step.before.objects == step.after.objects for step in steps)
    assert any(step.before != step.after for step in steps)
    simulator = world.controlled(("seed", 0))
    before = simulator.frame()
    assert all(simulator.instruct(name, ()) for name in ("done", "toggle", "left", "right"))
    assert (simulator.frame() == before).all() or name != "LavaGapS5"
