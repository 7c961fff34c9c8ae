"""Piles of coloured squares on a line, drawn by numpy: a domain of pictures that needs no renderer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from aam_vision.envs.image_domain import Pictures
from aam_vision.model.strips import Atom, State
from aam_vision.training.settings import TrainingSettings
from tests.classifiers.camera.piles import LOOKS, VOCABULARY, random_state, scene

SIZE = (48, 64)
COLOURS = {"red": (220, 30, 30), "green": (30, 170, 40), "blue": (30, 60, 220), "ball": (240, 200, 40)}
_SIDE = 9
FEW_STEPS = TrainingSettings(steps=10, fast=True)
"""The weights are of no use after them."""


class DrawnDomain:
    """An ``ImageDomain`` as far as training and evaluation need one.

    Args:
        masks: whether its lessons say where things show.
    """

    name = "piles"
    visual = VOCABULARY
    round_steps = 100

    def __init__(self, *, masks: bool = False) -> None:
        self._masks = masks

    def lessons(self, rng: np.random.Generator, fewer: int = 1) -> Iterator[Pictures]:
        for one in _pictures(rng, 200 // fewer):
            yield one if self._masks else replace(one, masks=lambda state: {})

    def examinations(self, states: int, seed: int) -> dict[str, Iterator[Pictures]]:
        return {"unseen": _pictures(np.random.default_rng([seed, 7]), states)}

    def example(self, rng: np.random.Generator, shape: tuple[int, int], number: int) -> Pictures:
        return next(iter(_pictures(rng, 1)))

    def scene_of(self, problem: str):
        return scene(*LOOKS)

    def depends_on(self) -> None:
        return None

    def classifiers(self, given):
        return given


def _pictures(rng: np.random.Generator, number: int) -> Iterator[Pictures]:
    """Scenes of two to four things, one picture of each; now and then a thing is not drawn, and the state says so."""

    def endless() -> Iterator[Pictures]:
        while True:
            one = scene(*rng.permutation(LOOKS)[: rng.integers(2, 5)].tolist())
            state = random_state(one, rng)
            hidden = {str(rng.choice(list(one.objects)))} if rng.random() < 0.1 else set()
            seen = {Atom("seen", (thing,)) for thing in one.objects if thing not in hidden}
            frame, masks = _drawn(one, state, hidden, rng)
            yield Pictures(
                one,
                [State(state.true | seen, one.objects)],
                lambda _, frame=frame: frame,
                masks=lambda _, masks=masks: masks,
            )

    return islice(endless(), number)


def drawn(one, state, rng):
    """The picture of a state in which all things show."""
    return _drawn(one, state, set(), rng)[0]


def _drawn(one, state, hidden, rng):
    picture = np.full((*SIZE, 3), 40 if Atom("dark", ()) in state.true else 190, np.uint8)
    columns = iter(rng.permutation(4))
    where = {}
    for atom in sorted(state.true, key=lambda atom: atom.predicate == "on"):
        if atom.predicate == "held":
            where[atom.objects[0]] = (2, 28)
        elif atom.predicate == "on-table":
            where[atom.objects[0]] = (SIZE[0] - _SIDE, 4 + 15 * int(next(columns)))
    waiting = [atom.objects for atom in state.true if atom.predicate == "on"]
    while waiting:
        waiting.sort(key=lambda pair: pair[1] not in where)
        upper, lower = waiting.pop(0)
        where[upper] = (where[lower][0] - _SIDE, where[lower][1])
    masks = {thing: np.zeros(SIZE, bool) for thing in one.objects}
    for thing, (top, left) in where.items():
        if thing not in hidden:
            masks[thing][top : top + _SIDE, left : left + _SIDE] = True
            picture[masks[thing]] = COLOURS[one.looks[thing]]
    return picture, masks
