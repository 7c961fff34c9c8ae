"""Maze: a robot turns and walks to a person, seen from above.

Locations are named ``loc-R-C``: row R and column C from 1. PDDLGym's operators are its actions: a native
action is the name of one (``move-up``), and PDDLGym finds where from and where to. The robot on the goal
looks otherwise than the robot, so that no goal is ever hidden.

Interrogated is one train problem of 6x6 cells: what can be told, it tells, while proofs that nothing more can
be told take minutes on larger boards. Held out are the one small test problem (10x10) and seven train problems
from 6x6 to 14x14 that serve for nothing else. PDDLGym's other test problems have 1600 to 2401 cells and
pictures of two megapixels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.board import BoardDomain, Layout, PerScene, Tiles
from aam_vision.envs.board_env import BoardEnv
from aam_vision.envs.rendering import Codes
from aam_vision.perception import Cell, Defined, Perceived, Reading, Scene, VisualVocabulary
from aam_vision.strips import ActionHeader, Atom, GroundAction, Objects, Predicate, State, Types

STEPS: Final = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
"""Direction -> change of row and column."""

TURNS: Final = ("up", "left", "down", "right")
"""Directions in the order of PDDLGym's pictures of the robot: on the goal first, then elsewhere."""

WALL, PERSON, CLEAR = 8, 9, 10
"""PDDLGym's codes of what a cell shows besides the robot, and one for nothing."""

TYPES: Final = Types({"player": "object", "location": "object"})


def cell_of(location: str) -> Cell:
    """The cell that a location's name points to."""
    _, row, column = location.split("-")
    return int(row) - 1, int(column) - 1


def scene(layout: Layout) -> Scene:
    """The board of a problem, as large as PDDLGym draws it, and where its robot starts."""
    used = [cell_of(o) for atom in layout.initial for o in atom.objects if o.startswith("loc-")]
    rows, columns = max(row for row, _ in used) + 2, max(column for _, column in used) + 2
    cells = {name: cell_of(name) for name in layout.objects.of_type("location")}
    return Scene(
        objects=layout.objects,
        rows=rows,
        columns=columns,
        cells={name: (cell,) for name, cell in cells.items() if cell[0] < rows and cell[1] < columns},
        looks=dict.fromkeys(layout.objects.of_type("player"), "player"),
        anchors=dict(sorted(a.objects for a in layout.initial if a.predicate == "at")),  # type: ignore[misc]
    )


# --- what the user defines ---------------------------------------------------------------------------


def _steps(scene: Scene) -> dict[str, list[tuple[Atom, str, str]]]:
    """Per direction, every pair of adjacent locations as the atom it could be."""
    named = {cells[0]: name for name, cells in scene.cells.items()}
    return {
        direction: [
            (Atom(f"move-dir-{direction}", (start, named[end])), start, named[end])
            for (row, column), start in named.items()
            if (end := (row + down, column + right)) in named
        ]
        for direction, (down, right) in STEPS.items()
    }


_steps_of = PerScene(_steps)


def _free(scene: Scene, seen: State) -> tuple[set[str], set[str]]:
    """Cells that show bare floor or the person alone, and those that perhaps do."""
    shown = ("bare-floor", "person-alone")
    robots = {a.objects[1] for a in seen.true if a.predicate == "at"}
    true = {a.objects[0] for a in seen.true if a.predicate in shown}
    perhaps = {a.objects[0] for a in seen.unknown if a.predicate in shown}
    return true, perhaps - true - robots


def clear(scene: Scene, seen: State) -> tuple[list[Atom], list[Atom]]:
    """Floor without the robot."""
    true, unknown = _free(scene, seen)
    return [Atom("clear", (n,)) for n in sorted(true)], [Atom("clear", (n,)) for n in sorted(unknown)]


def move_dir(direction: str) -> Callable[[Scene, State], tuple[list[Atom], list[Atom]]]:
    """From one cell to the next in a direction, where neither is a wall: neither clear nor occupied."""

    def define(scene: Scene, seen: State) -> tuple[list[Atom], list[Atom]]:
        clear, unclear = _free(scene, seen)
        floor = clear | {a.objects[1] for a in seen.true if a.predicate == "at"}
        perhaps = floor | unclear | {a.objects[1] for a in seen.unknown if a.predicate == "at"}
        true, unknown = [], []
        for atom, start, end in _steps_of(scene)[direction]:
            if start in floor and end in floor:
                true.append(atom)
            elif start in perhaps and end in perhaps:
                unknown.append(atom)
        return true, unknown

    return define


def is_goal(scene: Scene, seen: State) -> tuple[list[Atom], list[Atom]]:
    """Where a person is seen: alone, or as part of the robot's picture."""
    places = [(name, Atom("person-alone", (name,)), Atom("is-goal", (name,))) for name in scene.cells]
    true = [goal for _, alone, goal in places if alone in seen.true]
    unknown = [goal for _, alone, goal in places if alone in seen.unknown]
    for robot in scene.looks:
        met = seen.value(Atom("with-person", (robot,)))
        for name, alone, goal in places:
            here = seen.value(Atom("at", (robot, name)))
            if here and met is not None and alone in seen.unknown:  # the robot hides whom it meets no more
                unknown.remove(goal)
            if here and met:
                true.append(goal)
            elif here is None and alone not in seen.unknown:
                unknown.append(goal)
    return true, unknown


def sights(scene: Scene, true: frozenset[Atom]) -> list[Atom]:
    """Where the floor is bare, and whether the person is alone or with the robot."""
    at = {place: robot for robot, place in (a.objects for a in true if a.predicate == "at")}
    goals = [a.objects[0] for a in true if a.predicate == "is-goal"]
    bare = [
        Atom("bare-floor", a.objects) for a in true if a.predicate == "clear" and a.objects[0] not in goals
    ]
    return bare + [
        Atom("with-person", (at[goal],)) if goal in at else Atom("person-alone", (goal,)) for goal in goals
    ]


VISUAL: Final = VisualVocabulary(
    name="maze",
    types=TYPES,
    entries=(
        *[
            Defined(
                Predicate(f"move-dir-{direction}", ("location", "location")),
                move_dir(direction),
                f"the next cell {direction}; neither is a wall (a cell neither clear nor occupied)",
            )
            for direction in STEPS
        ],
        Defined(Predicate("clear", ("location",)), clear, "bare floor, or the person alone"),
        Perceived(
            Predicate("at", ("player", "location")),
            Reading.WHERE,
            {"player": "player"},
            "the cell where the robot is seen",
        ),
        *[
            Perceived(
                Predicate(f"oriented-{direction}", ("player",)),
                Reading.ON,
                {"": direction},
                f"the robot's head points {direction}",
            )
            for direction in STEPS
        ],
        Defined(Predicate("is-goal", ("location",)), is_goal, "a person is there, alone or with the robot"),
        Perceived(
            Predicate("bare-floor", ("location",)),
            Reading.THERE,
            {"": "floor"},
            "nothing is there",
            auxiliary=True,
        ),
        Perceived(
            Predicate("person-alone", ("location",)),
            Reading.THERE,
            {"": "person"},
            "a person without the robot",
            hidden_by="player",
            auxiliary=True,
        ),
        Perceived(
            Predicate("with-person", ("player",)),
            Reading.ON,
            {"": "robot-with-person"},
            "the robot looks like one that holds a person",
            auxiliary=True,
        ),
    ),
    may_vanish={"player": False},
    sights=sights,
)


# --- how it looks ------------------------------------------------------------------------------------


def painter(layout: Layout) -> Callable[[frozenset[Atom]], Codes]:
    """What every cell shows: the robot is the state's, all else the problem's."""
    board = scene(layout)
    empty = np.full((board.rows, board.columns), WALL, np.uint8)
    for atom in layout.initial:
        if atom.predicate in ("clear", "at"):
            empty[cell_of(atom.objects[-1])] = CLEAR
    (goal,) = (cell_of(a.objects[0]) for a in layout.initial if a.predicate == "is-goal")
    empty[goal] = PERSON

    def paint(atoms: frozenset[Atom]) -> Codes:
        codes = empty.copy()
        (cell,) = (cell_of(a.objects[1]) for a in atoms if a.predicate == "at")
        (turn,) = (
            TURNS.index(predicate.removeprefix("oriented-"))
            for predicate, _ in atoms
            if predicate.startswith("oriented-")
        )
        codes[cell] = turn + len(TURNS) * (cell != goal)
        return codes

    return paint


def _flags(code: int) -> NDArray[np.float64]:
    """PDDLGym's cell: a flag for each picture."""
    return np.array([own == code for own in range(CLEAR)], np.float64)


# --- states and boards at random ---------------------------------------------------------------------

_CHANGING = ("at", "clear", *[f"oriented-{direction}" for direction in STEPS])


def sample(layout: Layout, rng: np.random.Generator) -> frozenset[Atom]:
    """A legal state: the robot anywhere, turned anywhere, on the goal in a fair share of them."""
    floor = sorted({a.objects[-1] for a in layout.initial if a.predicate in ("clear", "at")})
    goals = [a.objects[0] for a in layout.initial if a.predicate == "is-goal"]
    choices = goals if rng.random() < 0.4 else floor
    static = [atom for atom in layout.initial if atom.predicate not in _CHANGING]
    return frozenset(static) | _changeable(layout, floor, choices[rng.integers(len(choices))], rng)


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
    named = {(r, c): f"loc-{r + 1}-{c + 1}" for r in range(rows) for c in range(columns)}
    floor = [named[cell] for cell in open_]
    steps = [
        Atom(f"move-dir-{direction}", (named[r, c], named[r + down, c + right]))
        for r, c in open_
        for direction, (down, right) in STEPS.items()
        if (r + down, c + right) in open_
    ]
    goal = floor[rng.integers(len(floor))]
    others = [place for place in floor if place != goal]
    kinds = {**dict.fromkeys(named.values(), "location"), "player-1": "player"}
    bare = Layout(
        "maze", name, Objects(kinds, TYPES), frozenset(), frozenset([Atom("at", ("player-1", goal))])
    )
    start = _changeable(bare, floor, others[rng.integers(len(others))], rng)
    static = frozenset([*steps, Atom("is-goal", (goal,))])
    return Layout(bare.domain, name, bare.objects, static | start, bare.goal)


# --- the domain --------------------------------------------------------------------------------------

MAZE: Final = BoardDomain(
    name="maze",
    gym_id="aam_vision/Maze-v0",
    visual=VISUAL,
    headers=tuple(
        ActionHeader(f"move-{direction}", ("p", "from", "to"), ("player", "location", "location"))
        for direction in STEPS
    ),
    controls=lambda layout: tuple(GroundAction(f"move-{direction}", ()) for direction in STEPS),
    native={f"move-{direction}": (f"move-{direction}", ()) for direction in STEPS},
    interrogated=(("train", 0),),
    held_out=(("test", 10), *[("train", number) for number in (2, 3, 8, 23, 34, 35, 38)]),
    trained_on=(("train", 1), ("train", 12), ("train", 36), ("train", 39)),
    scene=scene,
    drawing=lambda layout: Tiles(scene(layout), "maze", painter(layout), _flags),
    sampler="aam_vision.envs.maze",
    shapes=((6, 6), (7, 9), (11, 8), (12, 13)),
)


class MazeEnv(BoardEnv):
    """Maze; native actions are the four directions."""

    domain = MAZE
