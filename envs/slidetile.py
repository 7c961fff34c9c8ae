"""Slidetile: eight numbered tiles slide about a 3x3 board, seen from above.

PDDLGym has one board and one initial state, and no types: tiles ``t1`` to ``t8``, columns ``x1`` to ``x3`` and
rows ``y1`` to ``y3`` are plain objects. The vocabulary is PDDLGym's without the action literals ``up(?t)`` to
``right(?t)``. Every tile has a look of its own; a cell is a pair of objects, so ``at`` is defined over what is
seen in the cells.

Held out are states: classifiers learn from odd permutations of the tiles only, which can never be reached
from PDDLGym's initial state; interrogation and evaluation see even ones only.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np

from aam_vision.envs.board import BoardDomain, Layout
from aam_vision.envs.board_env import BoardEnv
from aam_vision.envs.overlapping import OverlappingTiles
from aam_vision.envs.whole_pictures import WholePictures
from aam_vision.perception import Defined, Frame, Perceived, Reading, Scene, VisualVocabulary
from aam_vision.strips import ActionHeader, Atom, GroundAction, Objects, Predicate, State, Types

SIDE: Final = 3

TYPES: Final = Types({})

TILES: Final = tuple(f"t{number}" for number in range(1, SIDE * SIDE))

CELLS: Final = {
    f"cell-{column}-{row}": (f"x{column}", f"y{row}")
    for row in range(1, SIDE + 1)
    for column in range(1, SIDE + 1)
}
"""Cell -> its column and its row."""

AXES: Final = tuple(tuple(f"{axis}{number}" for number in range(1, SIDE + 1)) for axis in "xy")

_SPOTS: Final = Objects({**dict.fromkeys(TILES, "tile"), **dict.fromkeys(CELLS, "cell")}, TYPES)

Truths = tuple[list[Atom], list[Atom]]


def scene(layout: Layout) -> Scene:
    """The board, and where the tiles are at the start."""
    return Scene(
        objects=layout.objects,
        rows=SIDE,
        columns=SIDE,
        cells={name: ((int(row[1:]) - 1, int(column[1:]) - 1),) for name, (column, row) in CELLS.items()},
        looks={tile: tile for tile in TILES},
        anchors={
            atom.objects[0]: atom.objects[1]
            for atom in sorted(sights_of(layout.initial))
            if atom.predicate == "tile-in"
        },
        spots=_SPOTS,
    )


# --- what the user defines ---------------------------------------------------------------------------


def at(scene: Scene, seen: State) -> Truths:
    """The column and the row of the cell where the tile is seen."""
    return _translated(seen.true, "tile-in", "at"), _translated(seen.unknown, "tile-in", "at")


def blank(scene: Scene, seen: State) -> Truths:
    """The column and the row of the cell that is seen empty."""
    return _translated(seen.true, "no-tile-in", "blank"), _translated(seen.unknown, "no-tile-in", "blank")


def _translated(atoms: frozenset[Atom], predicate: str, own: str) -> list[Atom]:
    return [
        Atom(own, (*atom.objects[:-1], *CELLS[atom.objects[-1]]))
        for atom in atoms
        if atom.predicate == predicate
    ]


def tile(scene: Scene, seen: State) -> Truths:
    """Named t*."""
    return [Atom("tile", (name,)) for name in scene.objects if name.startswith("t")], []


def position(scene: Scene, seen: State) -> Truths:
    """Named x* or y*."""
    return [Atom("position", (name,)) for name in scene.objects if name[0] in "xy"], []


def inc(scene: Scene, seen: State) -> Truths:
    """From a column to the next on the right, or from a row to the next below."""
    return [Atom("inc", pair) for axis in AXES for pair in pairwise(axis)], []


def dec(scene: Scene, seen: State) -> Truths:
    """From a column to the next on the left, or from a row to the next above."""
    return [Atom("dec", (after, before)) for _, (before, after) in inc(scene, seen)[0]], []


def sights_of(true: frozenset[Atom]) -> list[Atom]:
    """What is in the cells."""
    names = {pair: name for name, pair in CELLS.items()}
    seen = [Atom("tile-in", (a.objects[0], names[a.objects[1:]])) for a in true if a.predicate == "at"]  # type: ignore[index]
    return seen + [Atom("no-tile-in", (names[a.objects],)) for a in true if a.predicate == "blank"]  # type: ignore[index]


ANY: Final = "object"

VISUAL: Final = VisualVocabulary(
    name="slidetile",
    types=TYPES,
    entries=(
        Defined(Predicate("tile", (ANY,)), tile, "named t*"),
        Defined(Predicate("position", (ANY,)), position, "named x* or y*"),
        Defined(Predicate("at", (ANY, ANY, ANY)), at, "column and row of the cell that shows the tile"),
        Defined(Predicate("blank", (ANY, ANY)), blank, "column and row of the cell that shows no tile"),
        Defined(Predicate("inc", (ANY, ANY)), inc, "the next column to the right, or the next row below"),
        Defined(Predicate("dec", (ANY, ANY)), dec, "the next column to the left, or the next row above"),
        Perceived(
            Predicate("tile-in", ("tile", "cell")),
            Reading.WHERE,
            {name: name for name in TILES},
            "the tile's number is seen in the cell",
            auxiliary=True,
        ),
        Perceived(
            Predicate("no-tile-in", ("cell",)),
            Reading.THERE,
            {"": "blank"},
            "the cell is empty",
            auxiliary=True,
        ),
    ),
    may_vanish=dict.fromkeys(TILES, False),
    sights=lambda scene, true: sights_of(true),
)


# --- how it looks ------------------------------------------------------------------------------------


@cache
def _tiles() -> OverlappingTiles:
    return OverlappingTiles("slidetile", SIDE, SIDE)


def drawing(layout: Layout) -> WholePictures:
    """The board; a cell's code is the number of its tile."""

    def draw(atoms: frozenset[Atom]) -> Frame:
        codes = np.zeros((SIDE, SIDE), np.uint8)
        for column, row, number in _numbers(atoms):
            codes[row, column] = number
        return _tiles().frame(codes)

    return WholePictures(layout, draw)


def _numbers(atoms: frozenset[Atom]) -> list[tuple[int, int, int]]:
    """Column and row, from 0, and number of every tile."""
    places = [atom.objects for atom in atoms if atom.predicate == "at"]
    return [(int(column[1:]) - 1, int(row[1:]) - 1, int(tile[1:])) for tile, column, row in places]


# --- states at random --------------------------------------------------------------------------------


def sample(layout: Layout, rng: np.random.Generator) -> frozenset[Atom]:
    """A state of the layout that can be reached from its initial one."""
    odd = _is_odd(_order(layout.initial))
    return _static(layout) | _state(_shuffled(odd, rng))


def synthesize(name: str, rows: int, columns: int, rng: np.random.Generator) -> Layout:
    """The board in a state that PDDLGym's cannot get to: an odd permutation of its initial one."""
    from aam_vision.envs.pddlgym_domains import load_layout

    layout = load_layout("slidetile", "train", 0)
    odd = not _is_odd(_order(layout.initial))
    start = _static(layout) | _state(_shuffled(odd, rng))
    goal = frozenset(atom for atom in _state(_shuffled(odd, rng)) if atom.predicate == "at")
    return Layout("slidetile", name, layout.objects, start, goal)


def _static(layout: Layout) -> frozenset[Atom]:
    return frozenset(atom for atom in layout.initial if atom.predicate not in ("at", "blank"))


def _order(atoms: frozenset[Atom]) -> list[int]:
    """Per cell, row by row, the number of its tile, 0 for none."""
    inside = {atom.objects[-2:]: int(atom.objects[0][1:]) for atom in atoms if atom.predicate == "at"}
    return [inside.get(pair, 0) for pair in CELLS.values()]


def _state(order: list[int]) -> frozenset[Atom]:
    return frozenset(
        Atom("at", (f"t{number}", *pair)) if number else Atom("blank", pair)
        for number, pair in zip(order, CELLS.values(), strict=True)
    )


def _shuffled(odd: bool, rng: np.random.Generator) -> list[int]:
    order: list[int] = rng.permutation(SIDE * SIDE).tolist()
    if _is_odd(order) != odd:
        i, j = (order.index(number) for number in (1, 2))
        order[i], order[j] = order[j], order[i]
    return order


def _is_odd(order: list[int]) -> bool:
    """Whether the tiles, read row by row, have an odd number of inversions.

    On a board of odd side no slide changes that (Johnson and Story, "Notes on the '15' Puzzle", 1879).
    """
    tiles = [number for number in order if number]
    return sum(a > b for i, a in enumerate(tiles) for b in tiles[i + 1 :]) % 2 == 1


# --- the domain --------------------------------------------------------------------------------------

WAYS: Final = ("up", "down", "left", "right")

SLIDETILE: Final = BoardDomain(
    name="slidetile",
    gym_id="aam_vision/Slidetile-v0",
    visual=VISUAL,
    headers=tuple(
        ActionHeader(f"move-{way}", ("omf", "px", "py", "by" if way in ("up", "down") else "bx"), (ANY,) * 4)
        for way in WAYS
    ),
    controls=lambda layout: tuple(GroundAction(way, (tile,)) for way in WAYS for tile in TILES),
    native={f"move-{way}": (way, (0,)) for way in WAYS},
    interrogated=(("train", 0),),
    held_out=(("test", 0),),
    trained_on=(),
    scene=scene,
    drawing=drawing,
    sampler="aam_vision.envs.slidetile",
    shapes=((SIDE, SIDE),),
)


class SlidetileEnv(BoardEnv):
    """Slidetile; native actions are up, down, left and right of every tile."""

    domain = SLIDETILE
