"""MiniGrid's environments as worlds: drawn with what the agent carries, and without an end except in lava.

MiniGrid does not draw what the agent carries. Here a row of cells below the board shows it in its first cell. The world
goes on after the end of an episode (a goal, a task that is done or can no longer be): that is a matter of rewards. Only
who stands in lava can do nothing any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import gymnasium
import numpy as np
from minigrid.core.actions import Actions
from minigrid.core.grid import Grid
from minigrid.core.world_object import Ball, Box, Door, Floor, Goal, Key, Lava, WorldObj
from minigrid.envs.dynamicobstacles import DynamicObstaclesEnv
from minigrid.envs.memory import MemoryEnv

from aam_vision.agents.perception import (
    Exactly,
    Frame,
    Never,
    Scene,
    VisualVocabulary,
    comes_as,
    exclusive,
)
from aam_vision.envs.grids import board_scene, neighbours, places_by_cell
from aam_vision.envs.sources import Source, cyclic, defined, given, somewhere, there, vocabulary, where
from aam_vision.model.strips import Atom, Objects, State, Types
from aam_vision.support.errors import UnusableInput

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
    facts = [Atom("marked", (cell(place),)) for place, thing in board(env).items() if marked(thing)]
    for name, (thing, _) in known.items():
        if KINDS[type(thing)] == "key":
            same = [cell(place) for place, door in doors.items() if door.color == thing.color]
            facts += [Atom("same-colour", (name, door)) for door in same]
    return Scene(
        plain.objects,
        env.height + 1,
        env.width,
        {**plain.cells, HAND: ((env.height, 0),)},
        looks=looks,
        anchors={name: known[name][1] for name in alike},
        facts=frozenset(facts),
        spots=Objects({**plain.objects, HAND: "place"}, Types(TYPES)),
    )


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


# The words for MiniGrid: one vocabulary for all tasks, of which each uses the part that its things need.
#
# Places are cells ``cell-ROW-COLUMN``; a door is a cell, too. What the agent carries is drawn below the board (``minigrid_world``),
# at a place called ``hand``.


TYPES: Final = {
    "place": "object",
    "cell": "place",
    "door": "cell",
    "direction": "object",
    "thing": "object",
    "key": "thing",
    "ball": "thing",
    "box": "thing",
}
DIRECTIONS: Final = ("right", "down", "left", "up")
"""Each a quarter turn clockwise from the one before; in MiniGrid's order."""
COLOURS: Final = ("blue", "green", "grey", "purple", "red", "yellow")
LOOKS: Final = tuple(f"{colour}-{kind}" for kind in ("key", "ball", "box") for colour in COLOURS)
HAND: Final = "hand"
"""The place below the board where a carried thing is drawn."""
SEEN: Final = "seen"
"""The auxiliary predicate that says at which cell, or in the hand, each thing is seen."""

MARKED: Final = "marked floor"
"""Cells that are neither wall nor plain floor, on which no thing can be put down."""

Truths = tuple[list[Atom], list[Atom]]


def _where_seen(name: str, in_hand: bool) -> Source:
    """p(thing, cell), or p(thing) for the hand: the thing is seen there."""

    def define(scene: Scene, seen: State) -> Truths:
        def atoms(found: Iterable[Atom]) -> list[Atom]:
            return [
                Atom(name, atom.objects[:1] if in_hand else atom.objects)
                for atom in found
                if atom.predicate == SEEN and (atom.objects[1] == HAND) is in_hand
            ]

        return atoms(seen.true), atoms(seen.unknown)

    return defined(define, "the thing is drawn in the hand" if in_hand else "the thing is there")


def _unless(name: str, values: list[bool | None]) -> Truths:
    """An atom that is true where none of some values is."""
    atom = [Atom(name, ())]
    return ([], []) if True in values else ([], atom) if None in values else (atom, [])


def _hand_free(scene: Scene, seen: State) -> Truths:
    return _unless("hand-free", [seen.value(Atom(SEEN, (thing, HAND))) for thing in scene.looks])


def _alive(scene: Scene, seen: State) -> Truths:
    both = [
        (seen.value(Atom("at", (place,))), seen.value(Atom("lava", (place,))))
        for place in scene.objects.of_type("cell")
    ]
    return _unless("alive", [False if False in one else None if None in one else True for one in both])


def _next(scene: Scene, seen: State) -> Truths:
    cells = {place: name for place, name in places_by_cell(scene).items() if name != HAND}
    return [Atom("next", objects) for objects in neighbours(cells)], []


PREDICATES: Final[dict[str, tuple[str, Source]]] = {
    "at ?c - cell": ("", there("arrow", "the red arrow is there")),
    "clear ?c - cell": ("", there("clear", "floor, the goal or an open door, and no arrow")),
    "facing ?d - direction": ("", somewhere(DIRECTIONS, "cell", "a red arrow that points {}")),
    "marked ?c - cell": (MARKED, given("not plain floor: a goal, a door, lava or coloured floor")),
    "lies ?x - thing ?c - cell": ("thing", _where_seen("lies", in_hand=False)),
    "holding ?x - thing": ("thing", _where_seen("holding", in_hand=True)),
    "hand-free": ("several", defined(_hand_free, "nothing is drawn in the hand")),
    "closed ?d - door": ("doors", there("closed", "a door with a handle")),
    "locked ?d - door": ("locks", there("locked", "a door with a keyhole")),
    "same-colour ?k - key ?d - door": ("locks", given("the key and the door have one colour")),
    "lava ?c - cell": ("lava", there("lava", "orange lava, whether the arrow is there or not")),
    "alive": ("lava", defined(_alive, "the arrow is not in lava")),
    "next ?a ?b - cell ?d - direction": ("", defined(_next, "the next cell in that direction")),
    "clockwise ?d ?e - direction": ("", cyclic(DIRECTIONS, "a quarter turn")),
    f"{SEEN} ?x - thing ?p - place": ("thing", where(LOOKS, "the thing is drawn there", auxiliary=True)),
}
"""Declaration -> the feature that a task must have for it, and the source of its truth."""


def vocabulary_of(features: Features) -> VisualVocabulary:
    """The part of the vocabulary that a task needs."""
    asked = {
        text: source for text, (feature, source) in PREDICATES.items() if not feature or feature in features
    }
    known = vocabulary("minigrid", TYPES, asked).rows.keys()
    # one arrow, which points in one direction; a cell shows one thing, and the arrow only lava besides
    constraints: list[Exactly | Never] = [
        Exactly("arrow", 1),
        *comes_as("arrow", DIRECTIONS),
        *exclusive("clear", "lava", "locked", "closed", *LOOKS),
        *[Never(("arrow", other)) for other in ("clear", "locked", "closed", *LOOKS)],
    ]
    about = [{one.head} if isinstance(one, Exactly) else {*one.shows, *one.without} for one in constraints]
    return vocabulary(
        "minigrid",
        TYPES,
        asked,
        may_vanish={look: look.endswith("-box") for look in LOOKS},
        constraints=tuple(one for one, heads in zip(constraints, about, strict=True) if heads <= known),
    )


# The kinds of things that a MiniGrid task has, which decide about its vocabulary and its instructions.


KINDS: Final = {Key: "key", Ball: "ball", Box: "box"}
"""What can be picked up, with its type."""


Features = frozenset[str]
"""What a task has in any of its problems, as the tables of predicates and instructions ask for it: kinds of things that can be
picked up, ``thing`` if there is any and ``several`` if a problem has more than one, ``doors``, ``locks``, ``lava``, and ``MARKED``."""

EVERYTHING: Final = Features(("key", "ball", "box", "thing", "several", "doors", "locks", "lava", MARKED))
"""A world with all that the vocabulary covers."""


def carried(thing: WorldObj | None) -> bool:
    """Whether a thing on the board is one that can be picked up."""
    return type(thing) in KINDS


def marked(thing: WorldObj | None) -> bool:
    """Whether what is on a cell is neither a wall nor plain floor nor a thing that can be picked up."""
    return isinstance(thing, (Goal, Door, Lava, Floor))


def features(name: str, problems: Iterable[Any]) -> Features:
    """The features of a task; UnusableInput if the vocabulary does not cover the task; the message names what it lacks."""
    kinds: set[str] = set()
    found: set[str] = set()
    for env in problems:
        if isinstance(env, DynamicObstaclesEnv):
            raise UnusableInput(f"{name}: its balls move at random, and an agent of ours is deterministic")
        board = [thing for thing in env.grid.grid if thing is not None]
        if any(isinstance(thing, Box) and thing.contains is not None for thing in board):
            raise UnusableInput(f"{name}: its boxes hide keys, and the vocabulary lacks what no image shows")
        things = [] if isinstance(env, MemoryEnv) else [thing for thing in board if carried(thing)]
        kinds.update(KINDS[type(thing)] for thing in things)
        doors = [thing for thing in board if isinstance(thing, Door)]
        has = {
            "several": len(things) > 1,
            "doors": bool(doors),
            "locks": any(door.is_locked for door in doors),
            "lava": any(isinstance(thing, Lava) for thing in board),
            MARKED: any(map(marked, board)),
        }
        found.update(word for word, there in has.items() if there)
    return Features(found | kinds | {"thing"}) if kinds else Features(found - {MARKED})
