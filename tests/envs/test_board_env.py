"""The environments keep Gymnasium's contract, and their snapshots theirs."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import aam_vision.envs  # noqa: F401 - registers the environments
from aam_vision.envs import DOMAINS
from aam_vision.envs.board_env import BoardEnv
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import GroundAction
from tests.envs.conftest import load
from tests.processes import fresh
from tests.refusals import told_by

ALL_DOMAINS = list(map(board_domain, DOMAINS))
IDS = [f"aam_vision/{one.name.capitalize()}-v0" for one in ALL_DOMAINS]
PROBLEMS = (dict(zip(("split", "problem"), one.interrogated[0], strict=True)) for one in ALL_DOMAINS)
SMALL = list(zip(IDS, PROBLEMS, strict=True))


def make(gym_id: str, **options: object) -> BoardEnv:
    env = gymnasium.make(gym_id, **options).unwrapped
    assert isinstance(env, BoardEnv)
    return env


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("gym_id", "problem"), SMALL)
def test_gymnasiums_checker_has_no_complaint(gym_id: str, problem: dict[str, object]) -> None:
    check_env(make(gym_id, render_mode="rgb_array", **problem))


@pytest.mark.parametrize("gym_id", IDS)
@pytest.mark.parametrize("vector", [gymnasium.vector.SyncVectorEnv, gymnasium.vector.AsyncVectorEnv])
def test_vector_environments_step_all_copies(gym_id: str, vector: type[gymnasium.vector.VectorEnv]) -> None:
    envs = vector([partial(gymnasium.make, gym_id, problem=0) for _ in range(2)])
    try:
        frames, _ = envs.reset(seed=3)
        assert np.array_equal(frames[0], frames[1])
        frames, rewards, *_ = envs.step(envs.action_space.sample())
        assert frames.shape == envs.observation_space.shape
        assert rewards.tolist() == [0.0, 0.0]
    finally:
        envs.close()


@pytest.mark.parametrize("gym_id", IDS)
def test_reset_leads_to_the_same_frame_and_seeds_the_sampling(gym_id: str) -> None:
    env = make(gym_id)
    first, _ = env.reset(seed=5)
    drawn = env.np_random.integers(1000)
    for action in range(env.action_space.n):
        env.step(np.int64(action))
    again, _ = env.reset(seed=5)
    assert np.array_equal(first, again)
    assert env.np_random.integers(1000) == drawn


def test_an_action_that_cannot_be_done_changes_nothing() -> None:
    env = make(IDS[0])
    before, _ = env.reset()
    for action in range(4):
        env.reset()
        after, reward, terminated, truncated, info = env.step(np.int64(action))
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert info["executed"] != np.array_equal(before, after)


def test_reaching_the_goal_is_rewarded_and_terminal() -> None:
    env = make(IDS[1], split="test", problem=0)
    env.reset()
    places = dict(atom.objects for atom in env.layout.initial if atom.predicate == "keyat")
    rewards = []
    for _ in places:  # more rounds than it takes to get at every key, whatever their order
        for key, place in places.items():
            for action in (GroundAction("moveto", (place,)), GroundAction("pick", (key,))):
                rewards.append(env.step(np.int64(env.number_of[action]))[1])
    (goal,) = env.layout.goal
    _, reward, terminated, *_ = env.step(np.int64(env.number_of[GroundAction("moveto", goal.objects)]))
    assert set(rewards) == {0.0}
    assert (reward, terminated) == (1.0, True)


@pytest.mark.parametrize(("gym_id", "problem"), SMALL)
def test_a_snapshot_brings_a_state_back(gym_id: str, problem: Any, rng: np.random.Generator) -> None:
    env = make(gym_id, **problem)
    env.reset()
    seen = []
    for _ in range(40):
        frame, *_ = env.step(rng.integers(env.action_space.n))
        seen.append((env.snapshot(), frame))
    other = make(gym_id, **problem)
    for snapshot, frame in reversed(seen):
        env.restore(snapshot)
        assert np.array_equal(env.frame(), frame)
        assert np.array_equal(other.reset(options={"snapshot": snapshot})[0], frame)
    equal = {snapshot: frame.tobytes() for snapshot, frame in seen}
    assert len(equal) == len(set(equal.values())) > 1


def test_a_snapshot_of_another_problem_is_refused() -> None:
    first, second = make(IDS[0], problem=0), make(IDS[0], problem=1)
    nonsense: Any = "nonsense"
    told_by(lambda: second.restore(first.snapshot()), "cannot restore sokoban/train/0 in sokoban/train/1")
    told_by(lambda: second.restore(nonsense), "cannot restore 'nonsense'")
    told_by(lambda: make(IDS[0], layout=load("doors", "test", 0)), "doors/test/0 is a doors layout")


@pytest.mark.parametrize("name", ["sokoban", "doors"])
def test_a_synthetic_layout_is_played_like_any_other(name: str, rng: np.random.Generator) -> None:
    layout = next(board_domain(name).random_layouts([(8, 7)], rng))
    env = make(f"aam_vision/{name.capitalize()}-v0", layout=layout)
    frame, _ = env.reset()
    assert frame.shape == env.observation_space.shape
    executed = [env.step(rng.integers(env.action_space.n))[4]["executed"] for _ in range(40)]
    assert any(executed)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"split": "dev"}, "sokoban has no split 'dev': use one of train, test"),
        ({"problem": 5}, "sokoban has no train problem 5: use a number from 0 to 4"),
        ({"problem": -1, "split": "test"}, "sokoban has no test problem -1: use a number from 0 to 3"),
        ({"render_mode": "human"}, "no render mode 'human': use 'rgb_array' or None"),
    ],
)
def test_unusable_input_is_named_in_one_line(options: dict[str, object], line: str) -> None:
    assert told_by(lambda: BoardEnv("sokoban", **options)) == line  # type: ignore[arg-type]


IMPORTED = """
import sys, aam_vision.envs, aam_vision.envs.registry as r
[r.board_domain(name) for name in r.DOMAINS]
print([m for m in ('pddlgym', 'matplotlib', 'gym') if m in sys.modules])"""
PLAYED = """
import sys, types
sys.modules['gym'] = legacy = types.ModuleType('gym')
import gymnasium, aam_vision.envs, matplotlib, PIL.Image
had, backend = 'ANTIALIAS' in vars(PIL.Image), matplotlib.rcParams._get('backend')
gymnasium.make('aam_vision/Doors-v0').reset()
import matplotlib.pyplot
print(sys.modules['gym'] is legacy, 'gym.spaces' in sys.modules,
      ('ANTIALIAS' in vars(PIL.Image)) == had, matplotlib.rcParams._get('backend') is backend,
      matplotlib.pyplot.get_fignums())"""
DRAWN = """
import sys
from aam_vision.envs.registry import board_domain
board_domain('sokoban').simulator(('train', 0)).reset()
heavy = ('matplotlib', 'scipy', 'skimage', 'networkx', 'imageio', 'pddlgym.rendering.tsp')
print([m for m in heavy if m in sys.modules])"""


@pytest.mark.parametrize(
    ("code", "told"), [(IMPORTED, "[]"), (PLAYED, "True False True True []"), (DRAWN, "[]")], ids=range(3)
)
def test_the_package_leaves_the_rest_of_the_process_alone_and_loads_little(code: str, told: str) -> None:
    done = fresh(code)
    assert (done.stdout.strip(), done.stderr.strip()) == (told, "")
