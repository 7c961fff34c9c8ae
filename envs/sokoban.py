"""Sokoban: a player pushes stones to goals, seen from above.

Locations are named ``pos-X-Y``: column X and row Y from 1, as PDDLGym draws them. The vocabulary is
PDDLGym's without the action literal ``move(?dir)``, which is the instruction itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from aam_vision.envs.board import BoardDomain, Layout, PerScene, Tiles, one_of
from aam_vision.envs.board_env import BoardEnv
from aam_vision.envs.rendering import Codes
from aam_vision.perception import (
    Cell,
    Defined,
    Never,
    Perceived,
    Reading,
    Scene,
    VisualVocabulary,
    exclusive,
)
from aam_vision.strips import ActionHeader, Atom, Predicate, State, Types

CLEAR, PLAYER, STONE, STONE_ON_GOAL, GOAL, WALL = range(6)
"""PDDLGym's own codes of what a cell shows."""

DIRECTIONS: Final = {"dir-up": (-1, 0), "dir-down": (1, 0), "dir-left": (0, -1), "dir-right": (0, 1)}
"""Direction -> change of row and column."""

TYPES: Final = Types({"thing": "object", "location": "object", "direction": "object"})


def cell_of(location: str) -> Cell:
    """The cell that a location's name points to."""
    _, column, row = location.split("-")
    return int(row) - 1, int(column) - 1


def look_of(thing: str) -> str:
    """``player`` or ``stone``: things are named after what they are."""
    return thing.split("-")[0]


def scene(layout: Layout) -> Scene:
    """The board of a problem, and where its player and its stones are at the start."""
    cells = {name: (cell_of(name),) for name in layout.objects.of_type("location")}
    return Scene(
        objects=layout.objects,
        rows=max(row for ((row, _),) in cells.values()) + 1,
        columns=max(column for ((_, column),) in cells.values()) + 1,
        cells=cells,
        looks={name: look_of(name) for name in layout.objects.of_type("thing")},
        anchors=dict(sorted(atom.objects for atom in layout.initial if atom.predicate == "at")),  # type: ignore[misc]
    )


# --- what the user defines ---------------------------------------------------------------------------

Truths = tuple[Iterable[Atom], Iterable[Atom]]


def _moves(scene: Scene) -> list[tuple[Atom, str, str]]:
    """Every pair of adjacent locations as the move-dir atom it could be."""
    at_cell = {cells[0]: name for name, cells in scene.cells.items()}
    return [
        (Atom("move-dir", (start, at_cell[end], direction)), start, at_cell[end])
        for (row, column), start in at_cell.items()
        for direction, (down, right) in DIRECTIONS.items()
        if direction in scene.objects and (end := (row + down, column + right)) in at_cell
    ]


_moves_of = PerScene(_moves)


def _places(scene: Scene) -> list[tuple[str, Atom]]:
    return [(name, Atom("clear", (name,))) for name in scene.cells]


_places_of = PerScene(_places)


def move_dir(scene: Scene, seen: State) -> Truths:
    """From one cell to the next in the direction named, where neither is a wall.

    A wall is a cell that is neither clear nor occupied.
    """
    occupied = {atom.objects[1] for atom in seen.true if atom.predicate == "at"}
    perhaps = {atom.objects[1] for atom in seen.unknown if atom.predicate == "at"}
    floor: set[str] = set()
    walls: set[str] = set()
    for name, clear in _places_of(scene):
        if name in occupied or clear in seen.true:
            floor.add(name)
        elif name not in perhaps and clear not in seen.unknown:
            walls.add(name)
    true, unknown = [], []
    for atom, start, end in _moves_of(scene):
        if start in floor and end in floor:
            true.append(atom)
        elif start not in walls and end not in walls:
            unknown.append(atom)
    return true, unknown


def is_nongoal(scene: Scene, seen: State) -> Truths:
    """Wherever there is no goal."""
    goals, unknown = _goals_of(scene), seen.unknown
    known = seen.true | unknown
    return [a for a, goal in goals if goal not in known], [a for a, goal in goals if goal in unknown]


def _goals(scene: Scene) -> list[tuple[Atom, Atom]]:
    """What is to be said of every location, and what it is said by."""
    return [(Atom("is-nongoal", (name,)), Atom("is-goal", (name,))) for name in scene.cells]


_goals_of = PerScene(_goals)


def _named(predicate: str, look: str) -> Callable[[Scene, State], Truths]:
    def define(scene: Scene, seen: State) -> Truths:
        return [Atom(predicate, (thing,)) for thing, own in scene.looks.items() if own == look], ()

    return define


VISUAL: Final = VisualVocabulary(
    name="sokoban",
    types=TYPES,
    entries=(
        Defined(
            Predicate("move-dir", ("location", "location", "direction")),
            move_dir,
            "the next cell in that direction; neither is a wall (a cell neither clear nor occupied)",
        ),
        Defined(Predicate("is-nongoal", ("location",)), is_nongoal, "a cell that is no goal"),
        Perceived(
            Predicate("clear", ("location",)),
            Reading.THERE,
            {"": "clear"},
            "floor with nothing standing on it",
        ),
        Defined(Predicate("is-stone", ("thing",)), _named("is-stone", "stone"), "named stone-*"),
        Perceived(
            Predicate("at", ("thing", "location")),
            Reading.WHERE,
            {"player": "player", "stone": "stone"},
            "the cell where the thing is seen",
        ),
        Defined(Predicate("is-player", ("thing",)), _named("is-player", "player"), "named player-*"),
        Perceived(
            Predicate("at-goal", ("thing",)),
            Reading.ON,
            {"": "stone-on-goal"},
            "the thing looks like a stone that is on a goal",
        ),
        Perceived(
            Predicate("is-goal", ("location",)),
            Reading.THERE,
            {"": "goal"},
            "a goal is marked there; the player covers the mark",
            hidden_by="player",
        ),
    ),
    may_vanish={"player": False, "stone": False},
    constraints=(
        *exclusive("clear", "player", "stone"),
        Never(("stone-on-goal",), without=("stone",)),
        Never(("stone-on-goal",), without=("goal",)),
        Never(("stone", "goal"), without=("stone-on-goal",)),
        Never(("goal",), without=("clear", "player", "stone")),  # no goals in walls
    ),
)


# --- how it looks ------------------------------------------------------------------------------------


def painter(layout: Layout) -> Callable[[frozenset[Atom]], Codes]:
    """What every cell shows: goals and walls are the problem's, the rest is the state's."""
    board = scene(layout)
    empty = np.full((board.rows, board.columns), CLEAR, np.uint8)
    goals = {cell_of(a.objects[0]) for a in layout.initial if a.predicate == "is-goal"}
    for atom in layout.initial:
        if atom.predicate == "is-nongoal":
            empty[cell_of(atom.objects[0])] = WALL
    for cell in goals:
        empty[cell] = GOAL
    cells = {name: cell for name, (cell,) in board.cells.items()}

    def paint(atoms: frozenset[Atom]) -> Codes:
        codes = empty.copy()
        for predicate, objects in atoms:
            if predicate == "clear":
                cell = cells[objects[0]]
                codes[cell] = GOAL if cell in goals else CLEAR
            elif predicate == "at":
                cell = cells[objects[1]]
                stone = STONE_ON_GOAL if cell in goals else STONE
                codes[cell] = PLAYER if board.looks[objects[0]] == "player" else stone
        return codes

    return paint


_PUSH = ("p", "s", "ppos", "from", "to", "dir")
_PUSHED = ("thing", "thing", "location", "location", "location", "direction")

SOKOBAN: Final = BoardDomain(
    name="sokoban",
    gym_id="aam_vision/Sokoban-v0",
    visual=VISUAL,
    headers=(
        ActionHeader("move", ("p", "from", "to", "dir"), ("thing", "location", "location", "direction")),
        ActionHeader("push-to-goal", _PUSH, _PUSHED),
        ActionHeader("push-to-nongoal", _PUSH, _PUSHED),
    ),
    controls=one_of({"move": "direction"}),
    native={"move": ("move", (3,)), "push-to-goal": ("move", (5,)), "push-to-nongoal": ("move", (5,))},
    interrogated=tuple(("train", i) for i in range(5)),
    held_out=tuple(("test", i) for i in range(4)),
    trained_on=tuple(("train", i) for i in range(5)),
    scene=scene,
    drawing=lambda layout: Tiles(scene(layout), "sokoban", painter(layout), int),
    sampler="aam_vision.envs.sokoban_sampling",
)


class SokobanEnv(BoardEnv):
    """Sokoban; native actions are the four directions."""

    domain = SOKOBAN
