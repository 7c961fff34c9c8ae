"""Hanoi states and boards at random."""

from __future__ import annotations

import numpy as np

from aam_vision.envs.board import Layout
from aam_vision.envs.hanoi import pegs_and_discs
from aam_vision.envs.pddlgym_domains import static_atoms
from aam_vision.envs.pddlgym_files import declarations
from aam_vision.strips import ROOT_TYPE, Atom, Objects


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
    return Layout(
        "hanoi", name, Objects(kinds, declarations("hanoi").types), frozenset(smaller) | start, goal
    )
