"""Sokoban: a player pushes stones to goals, seen from above.

Locations are named ``pos-X-Y``: column X and row Y from 1, as PDDLGym draws them.
"""

from __future__ import annotations

from typing import Final

from aam_vision.envs.board import BoardDomain, Layout, problems
from aam_vision.envs.board_env import BoardEnv
from aam_vision.envs.grids import Passages, grid_scene, places_of
from aam_vision.envs.sources import Truths, defined, of_look, on, there, where
from aam_vision.perception import Cell, Never, Scene, exclusive
from aam_vision.strips import Atom, State


def cell_of(location: str) -> Cell:
    """The cell that a location's name points to."""
    _, column, row = location.split("-")
    return int(row) - 1, int(column) - 1


def look_of(thing: str) -> str:
    """``player`` or ``stone``: things are named after what they are."""
    return thing.split("-")[0]


def board(layout: Layout) -> Scene:
    """The cells of the locations, and the looks of player and stones."""
    cells = {name: cell_of(name) for name in layout.objects.of_type("location")}
    return grid_scene(
        layout.objects, cells, looks={name: look_of(name) for name in layout.objects.of_type("thing")}
    )


_moves = Passages(lambda start, end, direction: Atom("move-dir", (start, end, f"dir-{direction}")))


def move_dir(scene: Scene, seen: State) -> Truths:
    """From one cell to the next in the direction named, where both are clear or occupied."""
    floor = places_of(seen.true, "clear", "at")
    return _moves.between(scene, floor, floor | places_of(seen.unknown, "clear", "at"))


def is_nongoal(scene: Scene, seen: State) -> Truths:
    """Wherever there is no goal."""
    goals, doubtful = places_of(seen.true, "is-goal"), places_of(seen.unknown, "is-goal")
    nongoals = [Atom("is-nongoal", (name,)) for name in scene.cells if name not in goals | doubtful]
    return nongoals, [Atom("is-nongoal", (name,)) for name in scene.cells if name in doubtful]


SOKOBAN: Final = BoardDomain(
    name="sokoban",
    sources={
        "move-dir": defined(
            move_dir, "the next cell in that direction; neither is a wall (a cell neither clear nor occupied)"
        ),
        "is-nongoal": defined(is_nongoal, "a cell that is no goal"),
        "clear": there("clear", "floor with nothing standing on it"),
        "is-stone": of_look("stone", "named stone-*"),
        "at": where(("player", "stone"), "the cell where the thing is seen"),
        "is-player": of_look("player", "named player-*"),
        "at-goal": on("stone-on-goal", "the thing looks like a stone that is on a goal"),
        "is-goal": there("goal", "a goal is marked there; the player covers the mark", hidden_by="player"),
    },
    may_vanish={"player": False, "stone": False},
    constraints=(
        *exclusive("clear", "player", "stone"),
        Never(("stone-on-goal",), without=("stone",)),
        Never(("stone-on-goal",), without=("goal",)),
        Never(("stone", "goal"), without=("stone-on-goal",)),
        Never(("goal",), without=("clear", "player", "stone")),  # no goals in walls
    ),
    board=board,
    interrogated=problems("train", range(5)),
    held_out=problems("test", range(4)),
    trained_on=problems("train", range(5)),
    sampler="aam_vision.envs.sokoban_sampling",
)


class SokobanEnv(BoardEnv):
    """Sokoban; native actions are the four directions."""

    domain = SOKOBAN
