"""Slidetile: eight numbered tiles slide about a 3x3 board, seen from above.

PDDLGym has one board and one initial state, and no types: tiles ``t1`` to ``t8``, columns ``x1`` to ``x3`` and
rows ``y1`` to ``y3`` are plain objects. Every tile has a look of its own. A cell is a pair of objects, so ``at`` is
defined over what is seen in the cells.

Held out are states: classifiers learn from odd permutations of the tiles only, which can never be reached
from PDDLGym's initial state; interrogation and evaluation see even ones only.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from aam_vision.agents.perception import Scene
from aam_vision.envs.board import BoardDomain, Layout, problems
from aam_vision.envs.grids import grid_scene
from aam_vision.envs.pddlgym_domains import load_layout, static_atoms
from aam_vision.envs.rendering import overlapping
from aam_vision.envs.sources import Source, Truths, always, defined, named, there, where
from aam_vision.model.strips import Atom, GroundAction, Objects, State, Types

SIDE: Final = 3
NUMBERS: Final = range(1, SIDE + 1)
TILES: Final = tuple(f"t{number}" for number in range(1, SIDE * SIDE))
CELLS: Final = {f"cell-{x}-{y}": (f"x{x}", f"y{y}") for y in NUMBERS for x in NUMBERS}
"""Cell -> its column and its row, row by row."""

_STEPS: Final = [pair for axis in "xy" for pair in pairwise(f"{axis}{number}" for number in NUMBERS)]


def board(layout: Layout) -> Scene:
    """The nine cells and eight tiles."""
    return grid_scene(
        layout.objects,
        {name: (int(row[1:]) - 1, int(column[1:]) - 1) for name, (column, row) in CELLS.items()},
        looks={tile: tile for tile in TILES},
        spots=Objects({**dict.fromkeys(TILES, "tile"), **dict.fromkeys(CELLS, "cell")}, Types({})),
    )


def by_cell(own: str, seen_as: str, description: str) -> Source:
    """A predicate of a column and a row, defined over a perceived one of the cell."""

    def translated(atoms: frozenset[Atom]) -> list[Atom]:
        found = [atom.objects for atom in atoms if atom.predicate == seen_as]
        return [Atom(own, (*tile, *CELLS[cell])) for *tile, cell in found]

    def define(scene: Scene, seen: State) -> Truths:
        return translated(seen.true), translated(seen.unknown)

    return defined(define, description)


def sights(scene: Scene, true: frozenset[Atom]) -> list[Atom]:
    """The contents of the cells."""
    cells: dict[tuple[str, ...], str] = {pair: name for name, pair in CELLS.items()}
    shown = [atom for atom in true if atom.predicate in SEEN]
    return [Atom(SEEN[one.predicate], (*one.objects[:-2], cells[one.objects[-2:]])) for one in shown]


SEEN: Final = {"at": "tile-in", "blank": "no-tile-in"}
"""Predicate -> the auxiliary one by which it is seen."""

SLIDETILE: Final = BoardDomain(
    name="slidetile",
    sources={
        "tile": named(lambda name: name.startswith("t"), "named t*"),
        "position": named(lambda name: name[0] in "xy", "named x* or y*"),
        "at": by_cell("at", "tile-in", "column and row of the cell that shows the tile"),
        "blank": by_cell("blank", "no-tile-in", "column and row of the cell that shows no tile"),
        "inc": always(_STEPS, "the next column to the right, or the next row below"),
        "dec": always([(b, a) for a, b in _STEPS], "the next column to the left, or the next row above"),
    },
    auxiliary={
        "tile-in ?t - tile ?c - cell": where(TILES, "the tile's number is seen in the cell", auxiliary=True),
        "no-tile-in ?c - cell": there("blank", "the cell is empty", auxiliary=True),
    },
    may_vanish=dict.fromkeys(TILES, False),
    sights=sights,
    board=board,
    controls=lambda layout: tuple(
        GroundAction(way, (tile,)) for way in ("up", "down", "left", "right") for tile in TILES
    ),
    drawing=overlapping,
    interrogated=problems("train", [0]),
    held_out=problems("test", [0]),
    trained_on=(),
    sampler=__name__,
    shapes=((SIDE, SIDE),),
)


# Slidetile states at random: those of one parity of the permutation of tiles.


def sample(layout: Layout, rng: np.random.Generator) -> frozenset[Atom]:
    """A state of the layout that can be reached from its initial one."""
    odd = _is_odd(_order(layout.initial))
    return static_atoms(layout) | _state(_shuffled(odd, rng))


def synthesize(name: str, rows: int, columns: int, rng: np.random.Generator) -> Layout:
    """The board in a state that PDDLGym's cannot get to: an odd permutation of its initial one."""
    layout = load_layout("slidetile", "train", 0)
    odd = not _is_odd(_order(layout.initial))
    start = static_atoms(layout) | _state(_shuffled(odd, rng))
    goal = frozenset(atom for atom in _state(_shuffled(odd, rng)) if atom.predicate == "at")
    return Layout("slidetile", name, layout.objects, start, goal)


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
