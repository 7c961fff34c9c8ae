"""Doors: an agent walks about unlocked rooms and picks up keys that unlock further rooms.

Locations are named ``loc-R-C``: row R and column C from 0. A locked room shows fences on its border cells. An image
does not show which cells make up a room and which key is for it: the user states these.

All three train problems have rooms without cells, whose ``unlocked`` cannot be seen. They serve the training of
classifiers only; test problems 0 to 4 are interrogated, 5 to 9 held out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from aam_vision.envs.board import BoardDomain, Layout, problems
from aam_vision.envs.board_env import BoardEnv
from aam_vision.envs.grids import grid_scene
from aam_vision.envs.sources import given, there, where
from aam_vision.perception import Cell, Exactly, Scene


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
    sampler="aam_vision.envs.doors_sampling",
)


class DoorsEnv(BoardEnv):
    """Doors; native actions are ``moveto`` for every location, then ``pick`` for every key."""

    domain = DOORS
