"""Maze states and boards at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aam_vision.envs.board import Layout
from aam_vision.envs.grids import cell_names, neighbours, places_of
from aam_vision.envs.pddlgym_domains import static_atoms
from aam_vision.envs.pddlgym_files import declarations
from aam_vision.strips import Atom, Objects

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
    objects = Objects(kinds, declarations("maze").types)
    bare = Layout("maze", name, objects, frozenset(), frozenset([Atom("at", ("player-1", goal))]))
    start = _changeable(bare, floor, others[rng.integers(len(others))], rng)
    return replace(bare, initial=start.union([*steps, Atom("is-goal", (goal,))]))
