"""Sokoban boards of any size, for measuring how the cost of an interrogation grows with the board.

An n x n board has 12% walls and as many goals as stones. Its floor is connected, nothing but walls blocks the edge,
every stone can be pushed from where the player can go at the start, and at least one can be pushed to a goal.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from aam_vision.envs.grids import STEPS, cell_names, neighbours
from aam_vision.envs.pddlgym_files import declarations
from aam_vision.errors import UnusableInput
from aam_vision.perception import Cell
from aam_vision.strips import Atom, Objects, State

WALLS = 0.12
"""Share of the cells that are walls."""
TRIES = 1000
"""How often things are placed on a board, at most, until all can be pushed as they should."""


def sokoban_board(size: int, stones: int, rng: np.random.Generator) -> State:
    """The initial state of a board of ``size`` x ``size`` cells, walls included.

    Raises:
        UnusableInput: there is no room for so many stones.
    """
    cells = [(row, column) for row in range(size) for column in range(size)]
    floor = _floor(cells, round(WALLS * len(cells)), rng)
    if size > 1 and 2 * stones < len(floor):
        for _ in range(TRIES):
            player, *drawn = [floor[int(i)] for i in rng.permutation(len(floor))]
            goals, places = set(drawn[:stones]), drawn[stones : 2 * stones]
            if _can_be_played(set(floor), goals, places, player):
                return _state(size, set(floor), goals, places, player)
    raise UnusableInput(
        f"no board of {size} x {size} cells with {stones} stones was found; give a larger size"
    )


def _floor(cells: list[Cell], walls: int, rng: np.random.Generator) -> list[Cell]:
    """The cells that are left when so many are walled up one by one, where that leaves the others connected."""
    floor = set(cells)
    for number in rng.permutation(len(cells)):
        if walls == 0:
            break
        cell = cells[int(number)]
        rest = floor - {cell}
        if len(_reached(rest, next(iter(_beside(cell, rest)), None))) == len(rest):
            floor, walls = rest, walls - 1
    return sorted(floor)


def _beside(cell: Cell, within: Collection[Cell]) -> list[Cell]:
    found = [(cell[0] + down, cell[1] + right) for down, right in STEPS.values()]
    return [one for one in found if one in within]


def _reached(free: Collection[Cell], start: Cell | None) -> set[Cell]:
    """The free cells that can be reached from one of them."""
    if start is None:
        return set()
    found, waiting = {start}, [start]
    while waiting:
        for cell in _beside(waiting.pop(), free):
            if cell not in found:
                found.add(cell)
                waiting.append(cell)
    return found


def _pushes(floor: set[Cell], stones: Collection[Cell], stone: Cell, player: Cell) -> list[Cell]:
    """Where one stone can be pushed to, with the others where they are."""
    free = floor - set(stones)
    near = _reached(free, player)
    ways = [
        ((stone[0] - down, stone[1] - right), (stone[0] + down, stone[1] + right))
        for down, right in STEPS.values()
    ]
    return [ahead for behind, ahead in ways if behind in near and ahead in free]


def _can_be_played(floor: set[Cell], goals: set[Cell], stones: list[Cell], player: Cell) -> bool:
    """Whether every stone can be pushed at the start, and some stone to a goal with the others where they are."""
    if not all(_pushes(floor, stones, stone, player) for stone in stones):
        return False
    for stone in stones:
        others = [one for one in stones if one != stone]
        seen, waiting = {(stone, player)}, [(stone, player)]
        while waiting:
            place, at = waiting.pop()
            for ahead in _pushes(floor, [*others, place], place, at):
                if ahead in goals:
                    return True
                if (ahead, place) not in seen:  # the player stands where the stone was
                    seen.add((ahead, place))
                    waiting.append((ahead, place))
    return False


def _state(size: int, floor: set[Cell], goals: set[Cell], stones: list[Cell], player: Cell) -> State:
    """The board in PDDLGym's words."""
    named = cell_names(size, size, "pos-{column}-{row}")
    where = {f"stone-{number:02}": stone for number, stone in enumerate(stones, 1)} | {"player-01": player}
    kinds = dict.fromkeys([f"dir-{way}" for way in STEPS], "direction")
    kinds |= dict.fromkeys(named.values(), "location") | dict.fromkeys(where, "thing")
    steps = neighbours({cell: name for cell, name in named.items() if cell in floor})
    facts = [Atom("move-dir", (start, end, f"dir-{way}")) for start, end, way in steps]
    facts += [Atom("is-goal" if cell in goals else "is-nongoal", (name,)) for cell, name in named.items()]
    facts += [Atom("clear", (named[cell],)) for cell in sorted(floor - set(where.values()))]
    for thing, cell in where.items():
        stone = thing != "player-01"
        facts += [Atom("at", (thing, named[cell])), Atom("is-stone" if stone else "is-player", (thing,))]
    return State(frozenset(facts), Objects(kinds, declarations("sokoban").types))
