"""Piles of coloured squares on a wide shelf, with shadows, drawn by numpy: pictures with all that a label says of them."""

from __future__ import annotations

import numpy as np

from aam_vision.envs.labelled import Labelled
from aam_vision.model.strips import Atom
from tests.classifiers.camera.piles import VOCABULARY, random_state, scene

SIZE = (64, 96)
SIDE = 9
COLOURS = {"red": (220, 30, 30), "green": (30, 170, 40), "blue": (30, 60, 220), "ball": (240, 200, 40)}
ROWS, COLUMNS, HAND = (40, 60), (8, 30, 52, 74), (2, 44)


def backdrop():
    """The shelf without things."""
    return np.full((*SIZE, 3), 190, np.uint8)


def labelled(rng, looks=("red", "green", "blue", "ball")):
    """A picture of things in piles; those in front hide what is behind. Each has a shadow on its right."""
    one = scene(*looks)
    true = {atom for atom in random_state(one, rng).true if atom.predicate not in ("dark", "free")}
    places = [(row, column) for row in ROWS for column in COLUMNS]
    free = iter(rng.permutation(len(places)).tolist())
    spots = {}
    for atom in sorted(true):
        if atom.predicate == "held":
            spots[atom.objects[0]] = HAND
        if atom.predicate == "on-table":
            row, column = places[next(free)]
            spots[atom.objects[0]] = row - SIDE, column
    waiting = [atom.objects for atom in sorted(true) if atom.predicate == "on"]
    while waiting:
        upper, lower = waiting.pop(0)
        if lower in spots:
            spots[upper] = spots[lower][0] - SIDE, spots[lower][1]
        else:
            waiting.append((upper, lower))
    return _drawn(one, true, spots)


def _drawn(one, true, spots):
    frame = backdrop()
    owner = np.full(SIZE, -1)
    for top, left in spots.values():
        frame[top + SIDE - 3 : top + SIDE, left + SIDE : left + SIDE + 4] = 95
    for number, thing in enumerate(spots):
        top, left = spots[thing]
        frame[top : top + SIDE, left : left + SIDE] = COLOURS[one.looks[thing]]
        owner[top : top + SIDE, left : left + SIDE] = number
    masks = {thing: owner == number for number, thing in enumerate(spots)}
    shows = {Atom("seen", (thing,)) for thing in one.objects if masks[thing].sum() > SIDE * SIDE / 4}
    return Labelled(one, frozenset(true | shows), frame, masks)


__all__ = ["COLOURS", "HAND", "SIDE", "SIZE", "VOCABULARY", "backdrop", "labelled"]
