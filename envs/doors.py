"""Doors: an agent walks about unlocked rooms and picks up keys that unlock further rooms.

Locations are named ``loc-R-C``: row R and column C from 0. The vocabulary is PDDLGym's without the action
literals ``moveto(?loc)`` and ``pick(?key)``, which are the instructions themselves. A locked room shows
fences on its border cells; which cells make up a room, and which key is for it, is not to be seen:
the user states these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.board import BoardDomain, Layout, Tiles, one_of
from aam_vision.envs.board_env import BoardEnv
from aam_vision.envs.rendering import Codes
from aam_vision.perception import Cell, Exactly, Given, Perceived, Reading, Scene, VisualVocabulary
from aam_vision.strips import ActionHeader, Atom, Predicate, Types

FENCE, PLAYER, KEY = 1, 2, 4
"""What can lie on a cell's tile; a code is their sum. Tiles of locked and unlocked rooms look the same."""

TYPES: Final = Types({"location": "object", "room": "object", "key": "object"})


def cell_of(location: str) -> Cell:
    """The cell that a location's name points to."""
    _, row, column = location.split("-")
    return int(row), int(column)


def scene(layout: Layout) -> Scene:
    """The board of a problem, the cells of its rooms, and its keys' places at the start.

    A room without cells (PDDLGym's train problems have some) is left out of ``cells``: whether it is
    unlocked cannot be seen.
    """
    cells: dict[str, tuple[Cell, ...]] = {
        name: (cell_of(name),) for name in layout.objects.of_type("location")
    }
    board = list(cells.values())
    for location, room in sorted(a.objects for a in layout.initial if a.predicate == "locinroom"):
        cells[room] = (*cells.get(room, ()), cell_of(location))
    return Scene(
        objects=layout.objects,
        rows=max(row for ((row, _),) in board) + 1,
        columns=max(column for ((_, column),) in board) + 1,
        cells=cells,
        looks=dict.fromkeys(layout.objects.of_type("key"), "key"),
        anchors=dict(sorted(a.objects for a in layout.initial if a.predicate == "keyat")),  # type: ignore[misc]
        facts=frozenset(a for a in layout.initial if a.predicate in ("locinroom", "keyforroom")),
    )


VISUAL: Final = VisualVocabulary(
    name="doors",
    types=TYPES,
    entries=(
        Perceived(Predicate("at", ("location",)), Reading.THERE, {"": "player"}, "the player is seen there"),
        Perceived(
            Predicate("unlocked", ("room",)), Reading.THERE, {"": "unlocked"}, "no fence on the room's cells"
        ),
        Given(Predicate("locinroom", ("location", "room")), "the cells that make up a room"),
        Perceived(
            Predicate("keyat", ("key", "location")),
            Reading.WHERE,
            {"key": "key"},
            "the cell where the key is seen, if it is anywhere",
        ),
        Given(Predicate("keyforroom", ("key", "room")), "which key is for which room"),
    ),
    may_vanish={"key": True},
    constraints=(Exactly("player", 1),),
)


def painter(layout: Layout) -> Callable[[frozenset[Atom]], Codes]:
    """What every cell shows: fences around locked rooms, the player, keys."""
    board = scene(layout)
    room_at = np.full((board.rows, board.columns), -1)
    rooms = {name: i for i, name in enumerate(layout.objects.of_type("room"))}
    for location, room in (a.objects for a in layout.initial if a.predicate == "locinroom"):
        room_at[cell_of(location)] = rooms[room]
    edges = {room: (room_at == i) & _on_border(room_at) for room, i in rooms.items()}

    def paint(atoms: frozenset[Atom]) -> Codes:
        codes = np.zeros(room_at.shape, np.uint8)
        unlocked = {atom.objects[0] for atom in atoms if atom.predicate == "unlocked"}
        for room, edge in edges.items():
            if room not in unlocked:
                codes[edge] = FENCE
        for predicate, objects in atoms:
            if predicate == "at":
                codes[board.cells[objects[0]][0]] |= PLAYER
            elif predicate == "keyat":
                codes[board.cells[objects[1]][0]] |= KEY
        return codes

    return paint


def _on_border(room_at: NDArray[np.int_]) -> NDArray[np.bool_]:
    """Cells with another room, or the board's edge, above, below, left or right."""
    framed = np.pad(room_at, 1, constant_values=-2)
    middle = framed[1:-1, 1:-1]
    sides = (framed[:-2, 1:-1], framed[2:, 1:-1], framed[1:-1, :-2], framed[1:-1, 2:])
    return np.any([side != middle for side in sides], axis=0)  # type: ignore[no-any-return]


def _flags(code: int) -> NDArray[np.float64]:
    """PDDLGym's cell: flags for player, locked room, unlocked room, key, boundary."""
    return np.array([bool(code & PLAYER), 0, 1, bool(code & KEY), bool(code & FENCE)], np.float64)


DOORS: Final = BoardDomain(
    name="doors",
    gym_id="aam_vision/Doors-v0",
    visual=VISUAL,
    headers=(
        ActionHeader("moveto", ("sloc", "eloc", "eroom"), ("location", "location", "room")),
        ActionHeader("pick", ("loc", "key", "room"), ("location", "key", "room")),
    ),
    controls=one_of({"moveto": "location", "pick": "key"}),
    native={"moveto": ("moveto", (1,)), "pick": ("pick", (1,))},
    interrogated=tuple(("test", i) for i in range(5)),
    held_out=tuple(("test", i) for i in range(5, 10)),
    trained_on=tuple(("train", i) for i in range(3)),
    scene=scene,
    drawing=lambda layout: Tiles(scene(layout), "doors", painter(layout), _flags),
    sampler="aam_vision.envs.doors_sampling",
)


class DoorsEnv(BoardEnv):
    """Doors; native actions are ``moveto`` for every location, then ``pick`` for every key."""

    domain = DOORS
