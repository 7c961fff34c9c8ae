"""Blocks states and boards at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aam_vision.envs.board import Layout
from aam_vision.envs.pddlgym_files import declarations
from aam_vision.strips import Atom, Objects


def sample(layout: Layout, rng: np.random.Generator) -> frozenset[Atom]:
    """The blocks in any order in any number of piles, in half of the states one of them held."""
    blocks = layout.objects.of_type("block")
    order = [blocks[number] for number in rng.permutation(len(blocks))]
    atoms = [Atom("handempty", ())]
    if rng.random() < 0.5:
        atoms = [Atom("handfull", ()), Atom("holding", (order.pop(),))]
    share = rng.random()  # high piles come up as well as low ones
    under: str | None = None
    for block in order:
        if under is not None and rng.random() < share:
            atoms.append(Atom("on", (block, under)))
        else:
            atoms += [Atom("ontable", (block,))] + ([Atom("clear", (under,))] if under is not None else [])
        under = block
    if under is not None:
        atoms.append(Atom("clear", (under,)))
    return frozenset(atoms)


def synthesize(name: str, rows: int, columns: int, rng: np.random.Generator) -> Layout:
    """As many blocks as columns; there is one more row, for the gripper."""
    kinds = {chr(ord("a") + number): "block" for number in range(columns)}
    bare = Layout("blocks", name, Objects(kinds, declarations("blocks").types), frozenset(), frozenset())
    goal = frozenset(atom for atom in sample(bare, rng) if atom.predicate in ("on", "ontable"))
    return replace(bare, initial=sample(bare, rng), goal=goal)
