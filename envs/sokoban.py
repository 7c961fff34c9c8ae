"""Sokoban: a player pushes stones to goals, seen from above.

Native actions are the four directions. Locations are named ``pos-X-Y``: column X and row Y from 1, as PDDLGym draws them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from aam_vision.agents.perception import Cell, Never, Scene, exclusive
from aam_vision.envs.board import BoardDomain, Layout, problems
from aam_vision.envs.grids import STEPS, Passages, cell_names, grid_scene, neighbours, places_of
from aam_vision.envs.pddlgym_domains import static_atoms
from aam_vision.envs.sources import Truths, defined, of_look, on, there, where
from aam_vision.model.strips import Atom, State


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


def _is_nongoal(scene: Scene, seen: State) -> Truths:
    goals, doubtful = places_of(seen.true, "is-goal"), places_of(seen.unknown, "is-goal")
    nongoals = [Atom("is-nongoal", (name,)) for name in scene.cells if name not in goals | doubtful]
    return nongoals, [Atom("is-nongoal", (name,)) for name in scene.cells if name in doubtful]


SOKOBAN: Final = BoardDomain(
    name="sokoban",
    sources={
        "move-dir": defined(
            move_dir, "the next cell in that direction; neither is a wall (a cell neither clear nor occupied)"
        ),
        "is-nongoal": defined(_is_nongoal, "a cell that is no goal"),
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
    sampler=__name__,
)


# Legal Sokoban states and boards at random, with the rare sights not rare.
#
# A random walk pushes few stones and hardly ever one onto a goal. Here stones on goals, a player on a goal and a
# player next to a stone, each come up in a fair share of the states.


MOST_STONES = 8
"""Stones of a board: more of them teach more of their sights, but crowd the small boards."""


def sample(layout: Layout, rng: np.random.Generator) -> frozenset[Atom]:
    """A legal state: player and stones anywhere on the floor, no two in one cell."""
    named = {cell_of(name): name for name in layout.objects.of_type("location")}
    floor = sorted(map(cell_of, places_of(layout.initial, "clear", "at")))
    goals = set(map(cell_of, places_of(layout.initial, "is-goal")))
    things = layout.objects.of_type("thing")
    stones = [thing for thing in things if look_of(thing) == "stone"]
    (player,) = (thing for thing in things if look_of(thing) == "player")
    places = _stones(floor, goals, len(stones), rng)
    free = [cell for cell in floor if cell not in places]
    where = dict(zip(stones, places, strict=True)) | {player: _player(free, goals, places, rng)}
    return static_atoms(layout) | _changeable(named, floor, goals, where)


def _stones(floor: list[Cell], goals: set[Cell], count: int, rng: np.random.Generator) -> list[Cell]:
    """Cells for the stones: any number of them on goals, each number as likely as another."""
    on, off = [c for c in floor if c in goals], [c for c in floor if c not in goals]
    least = max(0, count + 1 - len(off))  # the player needs a cell, too
    most = min(count, len(on))
    number = int(rng.integers(min(least, most), most + 1))
    cells = [on[i] for i in rng.permutation(len(on))[:number]]
    cells += [off[i] for i in rng.permutation(len(off))[: count - number]]
    return [cells[i] for i in rng.permutation(count)]


def _player(free: list[Cell], goals: set[Cell], stones: Iterable[Cell], rng: np.random.Generator) -> Cell:
    """A free cell: anywhere, on a goal, or next to a stone, as far as there are such cells."""
    beside = {(r + dr, c + dc) for r, c in stones for dr, dc in STEPS.values()}
    wanted = [lambda cell: True, goals.__contains__, beside.__contains__][rng.integers(3)]
    choices = [cell for cell in free if wanted(cell)] or free
    return choices[rng.integers(len(choices))]


def _changeable(
    named: dict[Cell, str], floor: list[Cell], goals: set[Cell], where: dict[str, Cell]
) -> frozenset[Atom]:
    taken = set(where.values())
    atoms = [Atom("at", (thing, named[cell])) for thing, cell in where.items()]
    atoms += [Atom("clear", (named[cell],)) for cell in floor if cell not in taken]
    atoms += [
        Atom("at-goal", (thing,))
        for thing, cell in where.items()
        if cell in goals and look_of(thing) == "stone"
    ]
    return frozenset(atoms)


def synthesize(name: str, rows: int, columns: int, rng: np.random.Generator) -> Layout:
    """A board of connected floor, often but not always walled in, with 1 to 8 stones and as many goals."""
    margin = int(rng.random() < 0.8)
    floor = _grow(rows, columns, margin, rng)
    count = int(rng.integers(1, min(MOST_STONES, max(1, len(floor) // 4)) + 1))
    chosen = [floor[i] for i in rng.permutation(len(floor))]
    goals = set(chosen[:count])
    stones = [f"stone-{i + 1:02}" for i in range(count)]
    named = cell_names(rows, columns, "pos-{column}-{row}")
    kinds = dict.fromkeys([f"dir-{way}" for way in STEPS], "direction") | dict.fromkeys(
        named.values(), "location"
    )
    kinds |= dict.fromkeys(["player-01", *stones], "thing")
    moves = neighbours({cell: named[cell] for cell in floor})
    steps = [Atom("move-dir", (start, end, f"dir-{way}")) for start, end, way in moves]
    static = [Atom("is-player", ("player-01",)), *[Atom("is-stone", (stone,)) for stone in stones], *steps]
    static += [Atom("is-goal" if cell in goals else "is-nongoal", (place,)) for cell, place in named.items()]
    start = dict(zip([*stones, "player-01"], chosen[count:], strict=False))
    initial = _changeable(named, floor, goals, start).union(static)
    return Layout.of("sokoban", name, kinds, initial, [Atom("at-goal", (stone,)) for stone in stones])


def _grow(rows: int, columns: int, margin: int, rng: np.random.Generator) -> list[Cell]:
    """Connected cells, grown one neighbour at a time to between 40% and all of the space."""
    inside = [(r, c) for r in range(margin, rows - margin) for c in range(margin, columns - margin)]
    target = round(len(inside) * rng.uniform(0.4, 1.0))
    floor = [inside[rng.integers(len(inside))]]
    space, edge = set(inside) - set(floor), list(floor)
    while len(floor) < target:
        r, c = edge[rng.integers(len(edge))]
        near = [(r + dr, c + dc) for dr, dc in STEPS.values() if (r + dr, c + dc) in space]
        if not near:
            edge.remove((r, c))
            continue
        cell = near[rng.integers(len(near))]
        space.remove(cell)
        floor.append(cell)
        edge.append(cell)
    return sorted(floor)
