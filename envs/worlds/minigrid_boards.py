"""Random boards of MiniGrid's parts, to train classifiers on, and random states of its tasks, to examine them on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from minigrid.core.constants import DIR_TO_VEC
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Ball, Box, Door, Floor, Goal, Key, Lava, Wall, WorldObj
from minigrid.minigrid_env import MiniGridEnv

from aam_vision.envs.worlds.minigrid_world import COLOURS, World, board, carried

SHAPES: Final = ((5, 5), (7, 6), (6, 9), (9, 9), (12, 7), (25, 25))
"""Columns and rows of the boards to train on."""
LOOKS_PER_BOARD: Final = 4
"""Different things on a board at most: classifiers of more are asked together too often."""
SHARES: Final = {"wall": 0.1, "door": 0.14, "thing": 0.22, "goal": 0.05, "lava": 0.06, "floor": 0.02}
"""Of the cells inside, at random; the others are empty."""
SPARSE: Final = 0.4
"""How often a board is emptier than that. Pictures are read by their contrast, of which an empty one has little."""
EMPTIEST: Final = 0.03
"""Share of the usual parts that the emptiest board has."""
IN_VOID: Final = 0.5
"""How often it is a smaller board in a wide void, as MiniGrid's rooms are in ``MultiRoom``."""
SMALLEST: Final = 4
"""Columns and rows of such a board at least."""
DOORS_IN_WALLS: Final = 0.15
CARRYING: Final = 0.5
ON_RARE: Final = 0.3
"""How often the agent is put where something is below it, a goal, a door or lava."""
FACING: Final = 0.4
"""How often it is put in front of a door or a thing."""


class RandomBoard(MiniGridEnv):
    """A board whose cells have nothing to do with each other."""

    def __init__(self, width: int, height: int) -> None:
        super().__init__(
            MissionSpace(mission_func=lambda: "nothing"),
            width=width,
            height=height,
            render_mode="rgb_array",
        )

    def _gen_grid(self, width: int, height: int) -> None:
        rng = self.np_random
        looks = [
            (_one(rng, (Key, Ball, Box)), _one(rng, COLOURS))
            for _ in range(int(rng.integers(1, LOOKS_PER_BOARD + 1)))
        ]
        fill = EMPTIEST ** rng.random() if rng.random() < SPARSE else 1.0
        scale = rng.random() ** 3 if rng.random() < IN_VOID else 1.0
        (left, right), (top, bottom) = (_part_of(rng, size, scale) for size in (width, height))
        self.grid = Grid(width, height)
        for row in range(top, bottom):
            for column in range(left, right):
                edges = (row in (top, bottom - 1)) + (column in (left, right - 1))
                self.grid.set(column, row, _random_part(rng, edges, looks, fill))
        self.agent_pos, self.agent_dir = (left + 1, top + 1), 0
        self.grid.set(*self.agent_pos, None)


def _part_of(rng: np.random.Generator, size: int, scale: float) -> tuple[int, int]:
    """Where a board begins and ends that takes a part of a larger one, by a scale from 0 to 1."""
    smaller = SMALLEST + round(scale * (size - SMALLEST))
    begin = int(rng.integers(size - smaller + 1))
    return begin, begin + smaller


def _random_part(
    rng: np.random.Generator, edges: int, looks: list[tuple[Any, str]], fill: float
) -> WorldObj | None:
    if edges:
        return _door(rng) if edges == 1 and rng.random() < DOORS_IN_WALLS else Wall()
    drawn, part = rng.random() / fill, "nothing"
    for name, share in SHARES.items():
        if 0 <= drawn < share:
            part = name
        drawn -= share
    kind, colour = _one(rng, looks)
    made: dict[str, Callable[[], WorldObj | None]] = {
        "nothing": lambda: None,
        "wall": Wall,
        "door": lambda: _door(rng),
        "thing": lambda: kind(colour),
        "goal": Goal,
        "lava": Lava,
        "floor": lambda: Floor(_one(rng, COLOURS)),
    }
    return made[part]()


def _door(rng: np.random.Generator) -> Door:
    door = Door(_one(rng, COLOURS))
    _swing(door, rng)
    return door


def _swing(door: Door, rng: np.random.Generator) -> None:
    door.is_locked, door.is_open = _one(rng, ((True, False), (False, False), (False, True)))


def _one(rng: np.random.Generator, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def random_boards() -> list[Any]:
    """Functions that make random boards, one for each of the ``SHAPES``."""
    return [lambda shape=shape: World(RandomBoard(*shape)) for shape in SHAPES]


def shake(env: Any, rng: np.random.Generator) -> None:
    """Leave every door in any state, put things elsewhere or into the hand, and the agent anywhere where it can be."""
    for place, thing in board(env).items():
        if isinstance(thing, Door):
            if thing.is_locked or rng.random() < 0.5:
                _swing(thing, rng)
        elif carried(thing) and not (type(thing) is Box and thing.contains):
            free = [other for other, what in board(env).items() if what is None]
            if not env.carrying and rng.random() < CARRYING:
                env.carrying = thing
                env.grid.set(*place, None)
            elif free and rng.random() < 0.5:
                env.grid.set(*place, None)
                env.grid.set(*_one(rng, free), thing)
    standable = [place for place, thing in board(env).items() if thing is None or thing.can_overlap()]
    rare = [place for place in standable if env.grid.get(*place) is not None]
    env.agent_pos = _one(rng, rare if rare and rng.random() < ON_RARE else standable)
    env.agent_dir = int(rng.integers(4))
    before = [
        (place, facing) for place in standable for facing in range(4) if _before_something(env, place, facing)
    ]
    if before and rng.random() < FACING:
        env.agent_pos, env.agent_dir = _one(rng, before)


def _before_something(env: Any, place: tuple[int, int], facing: int) -> bool:
    """Whether an agent at a place faces a door or what can be picked up."""
    column, row = place[0] + DIR_TO_VEC[facing][0], place[1] + DIR_TO_VEC[facing][1]
    if not (0 <= column < env.width and 0 <= row < env.height):
        return False
    thing = env.grid.get(column, row)
    return carried(thing) or isinstance(thing, Door)
