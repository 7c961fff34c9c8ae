"""MiniGrid's tasks as environments: ``minigrid:DoorKey-5x5`` is ``MiniGrid-DoorKey-5x5-v0``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, Final

import gymnasium
import minigrid  # noqa: F401  # registers its tasks with Gymnasium

from aam_vision.envs.labelled import labelled_images
from aam_vision.envs.worlds.features import EVERYTHING, features
from aam_vision.envs.worlds.minigrid_boards import random_boards, shake
from aam_vision.envs.worlds.minigrid_instructions import CONTROLS, instructions_of, intended
from aam_vision.envs.worlds.minigrid_vocabulary import vocabulary_of
from aam_vision.envs.worlds.minigrid_world import World, restore, scene_of, shown, snapshot
from aam_vision.envs.worlds.ready import ReadyWorld
from aam_vision.errors import AamError, UnusableInput, reason
from aam_vision.perception import Perceived
from aam_vision.strips import Atom

SEEDS: Final = (0, 1, 2)
"""The problems that are interrogated together."""
HELD_OUT: Final = (3, 4, 5, 6, 7)
PICTURES: Final = 1200
"""Boards to train on: each shows one arrow, which can be on floor, goal, lava or in a door, in four directions."""
EXAMINED: Final = (
    "DoorKey-8x8",
    "UnlockPickup",
    "BlockedUnlockPickup",
    "KeyCorridorS3R3",
    "PutNear-8x8-N3",
    "LavaCrossingS9N1",
    "RedBlueDoors-6x6",
    "Fetch-8x8-N3",
    "GoToObject-6x6-N2",
    "ObstructedMaze-1Dl",
    "MultiRoom-N2-S4",
    "Empty-16x16",
)
"""Tasks whose boards the classifiers are examined on: they are trained on none of MiniGrid's."""

__all__ = ["EXAMINED", "task", "training"]


def _made(gym_id: str) -> gymnasium.Env[Any, Any]:
    return World(gymnasium.make(gym_id, render_mode="rgb_array", disable_env_checker=True))


@lru_cache(maxsize=64)
def task(name: str) -> ReadyWorld:
    """The environment of a task.

    Args:
        name: as MiniGrid calls it, without ``MiniGrid-`` and without ``-v0``, which other versions must give.

    Raises:
        UnusableInput: MiniGrid has no such task, or the vocabulary does not cover it.
    """
    make = partial(_made, gym_id(name))
    found = features(f"minigrid:{name}", _problems(name, make))
    visual = vocabulary_of(found)
    perceived = {entry.predicate.name for entry in visual.entries if isinstance(entry, Perceived)}
    scene = partial(scene_of, with_things=bool(found.kinds))
    truths = partial(_shown, perceived)
    return ReadyWorld(
        name="minigrid",
        visual=visual,
        instructions=instructions_of(found),
        make=make,
        scene=scene,
        seeds=SEEDS,
        unseen=labelled_images([make], scene, truths, shake),
        restore=(snapshot, restore),
        truth=lambda: intended(found, visual.vocabulary()),
        held_out=HELD_OUT,
        controls=CONTROLS,
        shown=truths,
        shake=shake,
    )


@lru_cache(maxsize=1)
def training() -> ReadyWorld:
    """What the classifiers of all tasks are trained on: random boards with everything that the vocabulary covers."""
    makers = [partial(_made, gym_id(name)) for name in EXAMINED]
    visual = vocabulary_of(EVERYTHING)
    return ReadyWorld(
        name="minigrid",
        visual=visual,
        instructions=instructions_of(EVERYTHING),
        make=_no_task,
        scene=scene_of,
        pictures=labelled_images(random_boards(), scene_of, shown, shake),
        number=PICTURES,
        round_steps=2500,
        unseen=labelled_images(makers, scene_of, shown, shake),
        restore=(snapshot, restore),
        truth=lambda: intended(EVERYTHING, visual.vocabulary()),
        shown=shown,
        shake=shake,
    )


def gym_id(name: str) -> str:
    """Gymnasium's name of a task.

    Raises:
        UnusableInput: there is no such task.
    """
    wanted = f"MiniGrid-{name}" if re.search(r"-v\d+$", name) else f"MiniGrid-{name}-v0"
    known = sorted(one for one in gymnasium.registry if one.startswith("MiniGrid-"))
    if wanted not in known:
        alike = [one for one in known if one.lower().startswith(wanted.lower().split("-v")[0][:13])] or known
        short = [one.removeprefix("MiniGrid-").removesuffix("-v0") for one in alike]
        raise UnusableInput(f"minigrid:{name}: MiniGrid has no task {wanted}; use one of {', '.join(short)}")
    return wanted


def _problems(name: str, make: Callable[[], gymnasium.Env[Any, Any]]) -> Iterator[Any]:
    """MiniGrid's environment after the reset of one problem after the other."""
    try:
        env = make()
        for seed in (*SEEDS, *HELD_OUT):
            env.reset(seed=seed)
            yield env.unwrapped
    except AamError:
        raise
    except (
        Exception
    ) as error:  # whatever somebody else's task raises; some need files that MiniGrid does not bring
        raise UnusableInput(
            f"minigrid:{name}: MiniGrid cannot make it here ({reason(error)}); use another task"
        ) from error


def _shown(perceived: set[str], env: Any) -> list[Atom]:
    """The true atoms of the predicates that a task's vocabulary has."""
    return [atom for atom in shown(env) if atom.predicate in perceived]


def _no_task() -> gymnasium.Env[Any, Any]:
    raise UnusableInput("name a task, such as minigrid:DoorKey-5x5")
