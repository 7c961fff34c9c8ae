"""MiniGrid's environments as worlds: drawn with what the agent carries, and without an end except in lava.

MiniGrid does not draw what the agent carries. Here a row of cells below the board shows it in its first cell. The world
goes on after the end of an episode (a goal, a task that is done or can no longer be): that is a matter of rewards. Only
who stands in lava can do nothing any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import gymnasium
import numpy as np
from minigrid.core.actions import Actions
from minigrid.core.grid import Grid
from minigrid.core.world_object import Door, Lava

from aam_vision.envs.grids import board_scene
from aam_vision.envs.worlds.features import KINDS, carried, marked
from aam_vision.envs.worlds.minigrid_vocabulary import DIRECTIONS, HAND, SEEN, TYPES
from aam_vision.perception import Frame, Scene
from aam_vision.strips import Atom, Objects, Types

TILE: Final = 40
"""Side of a cell in pixels."""
MARGIN: Final = 2
"""Pixels around the board: a twentieth of a cell, as on all boards that are found in images by their size alone."""

MiniGridEnv = Any
"""MiniGrid's environment, which declares no types."""


class World(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment of MiniGrid whose images show what is carried, below the board."""

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """Reset, and name the things after colour and kind: ``yellow-key``, ``red-ball``, ``red-ball-2``."""
        found = self.env.reset(**given)
        numbers: dict[str, int] = {}
        for thing in self.unwrapped.grid.grid:  # type: ignore[attr-defined]
            if carried(thing):
                look = look_of(thing)
                numbers[look] = numbers.get(look, 0) + 1
                thing.own_name = look if numbers[look] == 1 else f"{look}-{numbers[look]}"
        return found

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """A step; nothing happens where the agent stands in lava. It is never over for having taken long.

        In a door at the edge the agent can face what is beyond the board: there is nothing, though MiniGrid looks for it.
        """
        env: MiniGridEnv = self.unwrapped
        env.step_count = 0
        if isinstance(env.grid.get(*env.agent_pos), Lava):
            return env.gen_obs(), 0, True, False, {}
        if not faces_board(env):
            quarters = {Actions.left: -1, Actions.right: 1}.get(action, 0)
            env.agent_dir = (env.agent_dir + quarters) % len(DIRECTIONS)
            return env.gen_obs(), 0, False, False, {}
        return self.env.step(action)

    def render(self) -> Any:
        """The board and a row of cells below it, with a margin around both.

        Returns:
            uint8, ((rows + 1) * TILE + 2 * MARGIN, columns * TILE + 2 * MARGIN, 3).
        """
        env: MiniGridEnv = self.unwrapped
        board: Frame = env.grid.render(TILE, env.agent_pos, env.agent_dir)
        below = np.zeros((TILE, board.shape[1], 3), np.uint8)
        below[:, :TILE] = Grid.render_tile(env.carrying, tile_size=TILE)
        return np.pad(np.concatenate([board, below]), ((MARGIN, MARGIN), (MARGIN, MARGIN), (0, 0)))


def snapshot(world: gymnasium.Env[Any, Any]) -> object:
    """All that can change."""
    env: MiniGridEnv = world.unwrapped
    doors = [(thing, thing.is_open, thing.is_locked) for thing in env.grid.grid if isinstance(thing, Door)]
    return env.agent_pos, env.agent_dir, env.carrying, list(env.grid.grid), doors


def restore(world: gymnasium.Env[Any, Any], token: Any) -> None:
    """Bring a world back to where a token was taken."""
    env: MiniGridEnv = world.unwrapped
    env.agent_pos, env.agent_dir, env.carrying, grid, doors = token
    env.grid.grid = list(grid)
    for door, is_open, is_locked in doors:
        door.is_open, door.is_locked = is_open, is_locked


def cell(position: Any) -> str:
    """The name of a place that MiniGrid calls (column, row)."""
    return f"cell-{position[1]}-{position[0]}"


def board(env: MiniGridEnv) -> dict[tuple[int, int], Any]:
    """All places, as (column, row), with what is there: an object of MiniGrid's, or None."""
    return {(i % env.width, i // env.width): thing for i, thing in enumerate(env.grid.grid)}


def faces_board(env: MiniGridEnv) -> bool:
    """Whether the place in front of the agent is one of the board."""
    column, row = env.front_pos
    return bool(0 <= column < env.width and 0 <= row < env.height)


def look_of(thing: Any) -> str:
    """The classifier that sees a thing."""
    return f"{thing.color}-{KINDS[type(thing)]}"


def things(env: MiniGridEnv) -> dict[str, tuple[Any, str]]:
    """Name -> each thing that can be picked up, and where it is, which may be the hand."""
    found = {thing.own_name: (thing, cell(place)) for place, thing in board(env).items() if carried(thing)}
    return found | ({env.carrying.own_name: (env.carrying, HAND)} if env.carrying else {})


def scene_of(env: MiniGridEnv, *, with_things: bool = True) -> Scene:
    """The board and the objects of a problem after its reset; without things where they can never be moved."""
    doors = {place: thing for place, thing in board(env).items() if isinstance(thing, Door)}
    known = things(env) if with_things else {}
    kinds = {
        **dict.fromkeys(map(cell, doors), "door"),
        **dict.fromkeys(DIRECTIONS, "direction"),
        **{name: KINDS[type(thing)] for name, (thing, _) in known.items()},
    }
    looks = {name: look_of(thing) for name, (thing, _) in known.items()}
    alike = [name for name, look in looks.items() if list(looks.values()).count(look) > 1]
    plain = board_scene(env.height, env.width, TYPES, kinds)
    return Scene(
        plain.objects,
        env.height + 1,
        env.width,
        {**plain.cells, HAND: ((env.height, 0),)},
        looks=looks,
        anchors={name: known[name][1] for name in alike},
        facts=frozenset([*_same_colour(known, doors), *_marked(env)]),
        spots=Objects({**plain.objects, HAND: "place"}, Types(TYPES)),
    )


def _same_colour(known: dict[str, tuple[Any, str]], doors: Mapping[tuple[int, int], Any]) -> Iterator[Atom]:
    for name, (thing, _) in known.items():
        for place, door in doors.items():
            if KINDS[type(thing)] == "key" and door.color == thing.color:
                yield Atom("same-colour", (name, cell(place)))


def _marked(env: MiniGridEnv) -> Iterator[Atom]:
    for place, thing in board(env).items():
        if marked(thing):
            yield Atom("marked", (cell(place),))


def shown(env: MiniGridEnv) -> list[Atom]:
    """The atoms of perceived predicates that are true, of the whole vocabulary."""
    here = cell(env.agent_pos)
    true = [Atom("at", (here,)), Atom(f"facing-{DIRECTIONS[env.agent_dir]}", (here,))]
    for place, thing in board(env).items():
        where = (cell(place),)
        if isinstance(thing, Lava):
            true.append(Atom("lava", where))
        elif thing is None or thing.can_overlap():
            true += [Atom("clear", where)] if where[0] != here else []
        elif isinstance(thing, Door):
            true.append(Atom("locked" if thing.is_locked else "closed", where))
    return true + [Atom(SEEN, (name, where)) for name, (_, where) in things(env).items()]
