"""MiniGrid's DoorKey with a lock in which the key has to be turned twice, and nothing shows that it was turned once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
from minigrid.core.actions import Actions
from minigrid.core.world_object import Door

import aam_vision.classifiers
from aam_vision.envs.meaning import Instruction
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.worlds import minigrid_world
from aam_vision.envs.worlds.minigrid_tasks import task

WEIGHTS = Path(aam_vision.classifiers.__path__[0]) / "weights"
DOOR_KEY = task("DoorKey-5x5")


class Stubborn(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The first turn of the key in a lock does nothing that shows."""

    def reset(self, **options: Any) -> Any:
        """Begin with a lock in which no key was turned."""
        self.unwrapped.turned = 0  # type: ignore[attr-defined]
        return super().reset(**options)

    def step(self, action: Any) -> Any:
        """A step, or a turn of the key."""
        env: Any = self.unwrapped
        ahead = env.grid.get(*env.front_pos) if minigrid_world.faces_board(env) else None
        key = env.carrying
        if action == Actions.toggle and isinstance(ahead, Door) and ahead.is_locked and key is not None:
            env.turned += key.color == ahead.color
            if env.turned < 2:
                return env.gen_obs(), 0, False, False, {}
        return super().step(action)


def _snapshot(world: Any) -> Any:
    return minigrid_world.snapshot(world), world.unwrapped.turned


def _restore(world: Any, token: Any) -> None:
    minigrid_world.restore(world, token[0])
    world.unwrapped.turned = token[1]


def _as_turned(one: Instruction) -> Instruction:
    """The instruction; to unlock is carried out whenever the key is turned."""
    if one.header.name != "unlock":
        return one
    return replace(one, watch=lambda env: env.turned, executed=lambda before, after: bool(after > before))


MEANT = tuple(map(_as_turned, DOOR_KEY.instructions))
KNOWN = replace(
    DOOR_KEY, make=lambda: Stubborn(DOOR_KEY.make()), restore=(_snapshot, _restore), instructions=MEANT
)
"""With a model that is meant, which no memory is looked for beside."""
ENVIRONMENT = OwnEnvironment(
    "minigrid",
    DOOR_KEY.visual,
    MEANT,
    KNOWN.make,
    DOOR_KEY.scene,
    seeds=(0, 1, 2),
    weights=WEIGHTS,
    restore=(_snapshot, _restore),
    stops=False,
)
