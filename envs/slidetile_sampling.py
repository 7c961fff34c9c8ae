"""Slidetile states at random: those of one parity of the permutation of tiles."""

from __future__ import annotations

import numpy as np

from aam_vision.envs.board import Layout
from aam_vision.envs.pddlgym_domains import load_layout, static_atoms
from aam_vision.envs.slidetile import CELLS, SIDE
from aam_vision.strips import Atom


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
