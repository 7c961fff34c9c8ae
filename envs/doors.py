"""Doors: an agent walks about unlocked rooms and picks up keys that unlock further rooms.

Native actions are ``moveto`` for every location, then ``pick`` for every key. Locations are named ``loc-R-C``: row R and
column C from 0. A locked room shows fences on its border cells. An image does not show which cells make up a room and which
key is for it: the user states these.

All three train problems have rooms without cells, whose ``unlocked`` cannot be seen. They serve the training of
classifiers only; test problems 0 to 4 are interrogated, 5 to 9 held out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from aam_vision.agents.perception import Cell, Exactly, Scene
from aam_vision.envs.board import BoardDomain, Layout, problems
from aam_vision.envs.grids import grid_scene
from aam_vision.envs.pddlgym_domains import static_atoms
from aam_vision.envs.sources import given, there, where
from aam_vision.model.strips import Atom


def cell_of(location: str) -> Cell:
    """The cell that a location's name points to."""
    _, row, column = location.split("-")
    return int(row), int(column)


def board(layout: Layout) -> Scene:
    """The cells of locations and rooms, and the look of keys; rooms without cells are left out."""
    cells = {name: cell_of(name) for name in layout.objects.of_type("location")}
    rooms: dict[str, tuple[Cell, ...]] = {}
    for location, room in layout.facts("locinroom"):
        rooms[room] = (*rooms.get(room, ()), cell_of(location))
    scene = grid_scene(layout.objects, cells, looks=dict.fromkeys(layout.objects.of_type("key"), "key"))
    return replace(scene, cells={**scene.cells, **rooms})


DOORS: Final = BoardDomain(
    name="doors",
    sources={
        "at": there("player", "the player is seen there"),
        "unlocked": there("unlocked", "no fence on the room's cells"),
        "locinroom": given("the cells that make up a room"),
        "keyat": where(("key",), "the cell where the key is seen, if it is anywhere"),
        "keyforroom": given("which key is for which room"),
    },
    may_vanish={"key": True},
    constraints=(Exactly("player", 1),),
    board=board,
    interrogated=problems("test", range(5)),
    held_out=problems("test", range(5, 10)),
    trained_on=problems("train", range(3)),
    sampler=__name__,
)


# Legal Doors states and boards at random.
#
# A state is legal when a room is unlocked exactly if it was from the start or its key is gone, and the
# player stands in an unlocked room. Whether the player could have got that far does not matter.


MOST_ROOMS = 7
"""Rooms of a board: more of them teach more borders, but become too small to have a cell inside."""

ON_KEY = 0.25
"""Share of states with the player on a key, where possible: at random it would seldom stand there."""

Box = tuple[int, int, int, int]
"""Rows top:bottom and columns left:right of a room."""


def sample(layout: Layout, rng: np.random.Generator) -> frozenset[Atom]:
    """Any subset of keys picked, the player anywhere in an unlocked room, often on a key."""
    of = {name: layout.facts(name) for name in ("keyat", "keyforroom", "unlocked", "locinroom")}
    picked = {key for key, _ in of["keyat"] if rng.random() < 0.5}
    room_of_key: dict[str, str] = dict(of["keyforroom"])  # type: ignore[arg-type]
    unlocked = {room for (room,) in of["unlocked"]} | {room_of_key[key] for key in picked}
    open_places = [place for place, room in of["locinroom"] if room in unlocked]
    keys = [(key, place) for key, place in of["keyat"] if key not in picked]
    on_key = sorted({place for _, place in keys} & set(open_places))
    choices = on_key if on_key and rng.random() < ON_KEY else open_places
    atoms = [Atom("at", (choices[rng.integers(len(choices))],))]
    atoms += [Atom("unlocked", (room,)) for room in sorted(unlocked)]
    atoms += [Atom("keyat", pair) for pair in keys]
    return static_atoms(layout) | frozenset(atoms)


def synthesize(name: str, rows: int, columns: int, rng: np.random.Generator) -> Layout:
    """Rectangular rooms, the first unlocked, each key in a room that an earlier key unlocks."""
    boxes = _rooms(rows, columns, rng)
    rooms = {
        f"room-{i}": [f"loc-{r}-{c}" for r in range(top, bottom) for c in range(left, right)]
        for i, (top, bottom, left, right) in enumerate(boxes)
    }
    order = list(rooms)
    kinds = {f"loc-{r}-{c}": "location" for r in range(rows) for c in range(columns)}
    kinds |= dict.fromkeys(rooms, "room")
    atoms = [Atom("locinroom", (place, room)) for room, places in rooms.items() for place in places]
    atoms.append(Atom("unlocked", (order[0],)))
    start = rooms[order[0]]
    atoms.append(Atom("at", (start[rng.integers(len(start))],)))
    for i, room in enumerate(order[1:]):
        earlier = rooms[order[rng.integers(i + 1)]]
        kinds[f"key-{i}"] = "key"
        atoms.append(Atom("keyforroom", (f"key-{i}", room)))
        atoms.append(Atom("keyat", (f"key-{i}", earlier[rng.integers(len(earlier))])))
    return Layout.of("doors", name, kinds, atoms, [Atom("at", (rooms[order[-1]][0],))])


def _rooms(rows: int, columns: int, rng: np.random.Generator) -> list[Box]:
    """The board cut in two again and again, until there are 2 to 7 rooms or none is large enough."""
    shortest = int(rng.integers(1, 4))
    wanted = int(rng.integers(2, MOST_ROOMS + 1))
    boxes: list[Box] = [(0, rows, 0, columns)]
    while len(boxes) < wanted:
        large = [
            (i, across)
            for i, (top, bottom, left, right) in enumerate(boxes)
            for across, side in ((False, bottom - top), (True, right - left))
            if side >= 2 * shortest
        ]
        if not large:
            break
        i, across = large[rng.integers(len(large))]
        boxes[i : i + 1] = _cut(boxes[i], across, shortest, rng)
    return [boxes[i] for i in rng.permutation(len(boxes))]


def _cut(box: Box, across: bool, shortest: int, rng: np.random.Generator) -> list[Box]:
    top, bottom, left, right = box
    if across:
        middle = int(rng.integers(left + shortest, right - shortest + 1))
        return [(top, bottom, left, middle), (top, bottom, middle, right)]
    middle = int(rng.integers(top + shortest, bottom - shortest + 1))
    return [(top, middle, left, right), (middle, bottom, left, right)]
