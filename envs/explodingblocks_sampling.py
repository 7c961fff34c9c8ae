"""Exploding Blocks states and boards at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aam_vision.envs import blocks_sampling
from aam_vision.envs.board import Layout
from aam_vision.envs.pddlgym_files import declarations
from aam_vision.strips import Atom, Objects

ROBOT = "robot"
_HAND = ("handempty", "handfull")


def sample(layout: Layout, rng: np.random.Generator) -> frozenset[Atom]:
    """Blocks in any piles, one of them perhaps held; any that are not may be destroyed, and the table."""
    robots = tuple(layout.objects.of_type(ROBOT))
    atoms = {
        Atom(one.predicate, robots) if one.predicate in _HAND else one
        for one in blocks_sampling.sample(layout, rng)
    }
    held = {one.objects[0] for one in atoms if one.predicate == "holding"}
    share = rng.random() / 2  # many destroyed blocks come up as well as none
    for block in layout.objects.of_type("block"):
        if block not in held and rng.random() < share:
            atoms.add(Atom("destroyed", (block,)))
    if rng.random() < share:
        atoms.add(Atom("table-destroyed", ()))
    return frozenset(atoms)


def synthesize(name: str, rows: int, columns: int, rng: np.random.Generator) -> Layout:
    """As many blocks as columns."""
    kinds = {chr(ord("a") + number): "block" for number in range(columns)} | {ROBOT: ROBOT}
    bare = Layout(
        "explodingblocks",
        name,
        Objects(kinds, declarations("explodingblocks").types),
        frozenset(),
        frozenset(),
    )
    goal = frozenset(atom for atom in sample(bare, rng) if atom.predicate in ("on", "ontable"))
    return replace(bare, initial=sample(bare, rng), goal=goal)
