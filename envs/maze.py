"""Maze: a robot turns and walks to a person, seen from above.

Locations are named ``loc-R-C``: row R and column C from 1. PDDLGym's operators are its actions, and PDDLGym finds
where from and where to. The robot on the goal looks otherwise than elsewhere, so that no goal is ever hidden.

One train problem of 6x6 cells is interrogated: it tells all that can be told, while proofs that nothing more can
be told take minutes on larger boards. Held out are the one small test problem (10x10) and seven train problems
from 6x6 to 14x14 that serve for nothing else. PDDLGym's other test problems have 1600 to 2401 cells and
pictures of two megapixels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from aam_vision.agents.perception import Cell, Scene
from aam_vision.envs.board import BoardDomain, Layout, problems
from aam_vision.envs.grids import STEPS, Passages, cell_names, grid_scene, neighbours, places_of
from aam_vision.envs.pddlgym_domains import static_atoms
from aam_vision.envs.sources import Source, Truths, defined, on, there, where
from aam_vision.model.strips import Atom, State


def cell_of(location: str) -> Cell:
    """The cell that a location's name points to."""
    _, row, column = location.split("-")
    return int(row) - 1, int(column) - 1


def board(layout: Layout) -> Scene:
    """The cells that PDDLGym draws: one row and one column more than the locations that facts speak of."""
    used = {cell_of(name) for atom in layout.initial for name in atom.objects if name.startswith("loc-")}
    rows, columns = max(row for row, _ in used) + 2, max(column for _, column in used) + 2
    cells = {name: cell_of(name) for name in layout.objects.of_type("location")}
    shown = {name: cell for name, cell in cells.items() if cell[0] < rows and cell[1] < columns}
    looks = dict.fromkeys(layout.objects.of_type("player"), "player")
    return grid_scene(layout.objects, shown, rows=rows, columns=columns, looks=looks)


def _free(seen: State) -> tuple[set[str], set[str]]:
    """Cells that show bare floor or the person alone, and those that perhaps do."""
    free = places_of(seen.true, "bare-floor", "person-alone")
    perhaps = places_of(seen.unknown, "bare-floor", "person-alone")
    return free, perhaps - free - places_of(seen.true, "at")


def _clear(scene: Scene, seen: State) -> Truths:
    free, perhaps = _free(seen)
    return [Atom("clear", (n,)) for n in sorted(free)], [Atom("clear", (n,)) for n in sorted(perhaps)]


def move_dir(direction: str) -> Source:
    """From one cell to the next in a direction, where both are clear or occupied."""
    passages = Passages(lambda start, end, way: Atom(f"move-dir-{way}", (start, end)), [direction])

    def define(scene: Scene, seen: State) -> Truths:
        free, perhaps = _free(seen)
        floor = free | places_of(seen.true, "at")
        return passages.between(scene, floor, floor | perhaps | places_of(seen.unknown, "at"))

    return defined(
        define, f"the next cell {direction}; neither is a wall (a cell neither clear nor occupied)"
    )


def _is_goal(scene: Scene, seen: State) -> Truths:
    true, unknown = places_of(seen.true, "person-alone"), places_of(seen.unknown, "person-alone")
    for robot in scene.looks:
        met = seen.value(Atom("with-person", (robot,)))
        for name in scene.cells:
            here = seen.value(Atom("at", (robot, name)))
            if here and met is not None:  # what the robot covers is known from the robot's own picture
                unknown.discard(name)
            if here and met:
                true.add(name)
            elif here is None:
                unknown.add(name)
    return [Atom("is-goal", (n,)) for n in sorted(true)], [Atom("is-goal", (n,)) for n in sorted(unknown)]


def sights(scene: Scene, true: frozenset[Atom]) -> list[Atom]:
    """Where the floor is bare, and whether the person is alone or with the robot."""
    at = {place: robot for robot, place in (a.objects for a in true if a.predicate == "at")}
    goals = places_of(true, "is-goal")
    bare = [Atom("bare-floor", (place,)) for place in places_of(true, "clear") - goals]
    return bare + [
        Atom("with-person", (at[goal],)) if goal in at else Atom("person-alone", (goal,)) for goal in goals
    ]


MAZE: Final = BoardDomain(
    name="maze",
    sources={
        **{f"move-dir-{direction}": move_dir(direction) for direction in STEPS},
        "clear": defined(_clear, "bare floor, or the person alone"),
        "at": where(("player",), "the cell where the robot is seen"),
        **{f"oriented-{way}": on(way, f"the robot's head points {way}") for way in STEPS},
        "is-goal": defined(_is_goal, "a person is there, alone or with the robot"),
    },
    auxiliary={
        "bare-floor ?at - location": there("floor", "nothing is there", auxiliary=True),
        "person-alone ?at - location": there(
            "person", "a person without the robot", hidden_by="player", auxiliary=True
        ),
        "with-person ?p - player": on(
            "robot-with-person", "the robot looks like one that holds a person", auxiliary=True
        ),
    },
    may_vanish={"player": False},
    sights=sights,
    board=board,
    named={f"move-{direction}": () for direction in STEPS},
    interrogated=problems("train", [0]),
    held_out=(*problems("test", [10]), *problems("train", [2, 3, 8, 23, 34, 35, 38])),
    trained_on=problems("train", [1, 12, 36, 39]),
    sampler=__name__,
    shapes=((6, 6), (7, 9), (11, 8), (12, 13)),
)


# Maze states and boards at random.


TURNS = ("up", "left", "down", "right")
"""The robot's directions; their order is part of every seed."""

ON_GOAL = 0.4
"""Share of states with the robot on the goal: walks get there too seldom to learn what that looks like."""


def sample(layout: Layout, rng: np.random.Generator) -> frozenset[Atom]:
    """A legal state: the robot anywhere, turned anywhere, on the goal in a fair share of them."""
    floor = sorted(places_of(layout.initial, "clear", "at"))
    goals = [place for (place,) in layout.facts("is-goal")]
    choices = goals if rng.random() < ON_GOAL else floor
    return static_atoms(layout) | _changeable(layout, floor, choices[rng.integers(len(choices))], rng)


def _changeable(layout: Layout, floor: list[str], here: str, rng: np.random.Generator) -> frozenset[Atom]:
    (player,) = layout.objects.of_type("player")
    turn = TURNS[rng.integers(len(TURNS))]
    clear = [Atom("clear", (name,)) for name in floor if name != here]
    return frozenset([Atom("at", (player, here)), Atom(f"oriented-{turn}", (player,)), *clear])


def synthesize(name: str, rows: int, columns: int, rng: np.random.Generator) -> Layout:
    """A walled board with walls inside it at random; not all of the floor need be connected."""
    inside = [(r, c) for r in range(1, rows - 1) for c in range(1, columns - 1)]
    share = rng.uniform(0.3, 1.0)
    open_ = [cell for cell in inside if rng.random() < share]
    # PDDLGym draws a board as large as its floor asks for
    open_ = sorted({*open_, (rows - 2, columns - 2), (rows - 3, columns - 2)})
    named = cell_names(rows, columns, "loc-{row}-{column}")
    floor = [named[cell] for cell in open_]
    moves = neighbours({cell: named[cell] for cell in open_})
    steps = [Atom(f"move-dir-{direction}", (start, end)) for start, end, direction in moves]
    goal = floor[rng.integers(len(floor))]
    others = [place for place in floor if place != goal]
    kinds = {**dict.fromkeys(named.values(), "location"), "player-1": "player"}
    bare = Layout.of("maze", name, kinds, goal=[Atom("at", ("player-1", goal))])
    start = _changeable(bare, floor, others[rng.integers(len(others))], rng)
    return replace(bare, initial=start.union([*steps, Atom("is-goal", (goal,))]))
