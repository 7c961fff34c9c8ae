"""Hanoi: discs on pegs, seen from the side.

Pegs and discs are plain objects in PDDLGym: an object that is smaller than nothing is a peg. All discs have one look.
Which is which follows from the first image, where the user names them, and from following each of them since. Which
is smaller than which the user states.

A native action names the disc and where it goes; PDDLGym finds where from. Problems differ in the number of discs:
interrogated are the train problems with 3 to 6 discs, held out are the test problems with 9 to 13. Classifiers learn
from other numbers of discs.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from aam_vision.agents.perception import Box, Cell, Scene
from aam_vision.envs.board import BoardDomain, Layout, problems
from aam_vision.envs.pddlgym_domains import static_atoms
from aam_vision.envs.rendering import drawn_by_pddlgym
from aam_vision.envs.sources import (
    Piles,
    Truths,
    above,
    defined,
    given,
    pile_scene,
    seen_at,
    seen_in_pile,
    spot,
)
from aam_vision.model.strips import ROOT_TYPE, Atom, GroundAction, State

WIDTH, HEIGHT, MARGIN = 4.2, 1.5, 0.05
"""PDDLGym's picture in its own units, and the margin of its axes."""

DISCS_HEIGHT = 0.9
"""Height of all discs on top of each other."""


def pegs_and_discs(atoms: frozenset[Atom]) -> tuple[list[str], list[str]]:
    """The pegs by name, as PDDLGym draws them from the left, and the discs from the largest."""
    pairs = [atom.objects for atom in atoms if atom.predicate == "smaller"]
    discs = {smaller for _, smaller in pairs}
    pegs = sorted({larger for larger, _ in pairs} - discs)
    return pegs, sorted(discs, key=lambda disc: (sum(smaller == disc for _, smaller in pairs), disc))


def board(layout: Layout) -> Scene:
    """The levels of the pegs."""
    pegs, discs = pegs_and_discs(layout.initial)
    levels = len(discs)
    spots = {
        spot(peg, level): (levels - 1 - level, peg) for peg in range(len(pegs)) for level in range(levels)
    }
    return pile_scene(layout.objects, discs, "disc", spots, lambda cell: _box(cell, levels, len(pegs)))


def _box(cell: Cell, levels: int, pegs: int) -> Box:
    """A level of a peg in the picture: PDDLGym fits its axes into it and centres them."""
    fitted = min(WIDTH / (WIDTH + 2 * MARGIN), HEIGHT / (HEIGHT + 2 * MARGIN))
    (row, column), high, wide = cell, DISCS_HEIGHT / levels, WIDTH / pegs
    low, left = (levels - 1 - row) * high, column * wide
    top, bottom = (0.5 - (y - HEIGHT / 2) * fitted / HEIGHT for y in ((levels - row) * high, low))
    start, end = (0.5 + (x - WIDTH / 2) * fitted / WIDTH for x in (left, (column + 1) * wide))
    return top, bottom, start, end


def _bottoms(scene: Scene) -> dict[str, str]:
    """The lowest spot of each peg, with the peg."""
    return {spot(number, 0): peg for number, peg in enumerate(pegs_and_discs(scene.facts)[0])}


def _clear(scene: Scene, seen: State) -> Truths:
    """No disc at the next higher level; a peg without discs."""
    piles = Piles.of(seen)
    tops: dict[str, str | None] = {disc: above(place) for disc, place in piles.places.items()}
    return piles.free(tops | {peg: place for place, peg in _bottoms(scene).items()})


def sights(scene: Scene, true: frozenset[Atom]) -> list[Atom]:
    """At which level of which peg every disc is."""
    lying = {under: disc for disc, under in (a.objects for a in true if a.predicate == "on")}
    pegs, _ = pegs_and_discs(scene.facts)
    return [
        atom
        for number, peg in enumerate(pegs)
        if peg in lying
        for atom in seen_in_pile(lying[peg], number, lying)
    ]


def _controls(layout: Layout) -> tuple[GroundAction, ...]:
    _, discs = pegs_and_discs(layout.initial)
    return tuple(GroundAction("move", (disc, to)) for disc in discs for to in layout.objects if to != disc)


HANOI: Final = BoardDomain(
    name="hanoi",
    sources={
        "clear": defined(_clear, "no disc right above it"),
        "on": defined(
            lambda scene, seen: Piles.of(seen).on(_bottoms(scene)),
            "right above the other disc, or lowest on the peg",
        ),
        "smaller": given("the second is smaller than the first; pegs are large"),
    },
    auxiliary=seen_at("disc", "a disc is seen at that level of the peg"),
    may_vanish={"disc": False},
    sights=sights,
    board=board,
    named={"move": (0, 2)},
    controls=_controls,
    drawing=drawn_by_pddlgym,
    interrogated=problems("train", [0, 1, 4, 5]),
    held_out=problems("test", range(5)),
    trained_on=problems("train", [2, 3]),
    sampler=__name__,
    shapes=((2, 3), (7, 3), (8, 4), (15, 3)),
)


# Hanoi states and boards at random.


def sample(layout: Layout, rng: np.random.Generator) -> frozenset[Atom]:
    """Every disc on any peg: all such states are legal. Every peg is as likely to be left out as another."""
    pegs, discs = pegs_and_discs(layout.initial)
    return static_atoms(layout) | _state(pegs, discs, rng)


def _state(pegs: list[str], discs: list[str], rng: np.random.Generator) -> frozenset[Atom]:
    shares = rng.dirichlet(np.ones(len(pegs)))  # high piles come up as well as low ones
    tops = {peg: peg for peg in pegs}
    atoms = []
    for disc, peg in zip(discs, rng.choice(len(pegs), size=len(discs), p=shares).tolist(), strict=True):
        atoms.append(Atom("on", (disc, tops[pegs[peg]])))
        tops[pegs[peg]] = disc
    return frozenset([*atoms, *[Atom("clear", (top,)) for top in tops.values()]])


def synthesize(name: str, rows: int, columns: int, rng: np.random.Generator) -> Layout:
    """As many discs as rows and as many pegs as columns."""
    pegs = [f"peg{number + 1}" for number in range(columns)]
    discs = [f"d{number + 1}" for number in range(rows)][::-1]
    smaller = [Atom("smaller", (peg, disc)) for peg in pegs for disc in discs]
    smaller += [Atom("smaller", (large, small)) for i, large in enumerate(discs) for small in discs[i + 1 :]]
    start, end = _state(pegs, discs, rng), _state(pegs, discs, rng)
    goal = frozenset(atom for atom in end if atom.predicate == "on")
    kinds = dict.fromkeys([*sorted(discs), *pegs], ROOT_TYPE)
    return Layout.of("hanoi", name, kinds, start.union(smaller), goal)
