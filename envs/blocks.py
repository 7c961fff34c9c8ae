"""Blocks: a gripper piles up blocks on a table, seen from the side.

PDDLGym draws as many columns as there are blocks, and a pile in the column that the name of its lowest block has in
alphabetical order; a held block is in the gripper. Colours are drawn at random as blocks are first seen: they tell
nothing about names. All blocks have one look. Which is which follows from the first image, where the user names
them, and from following each of them since.

A native action names what the state does not settle: ``unstack(?x)`` takes a block off whatever it is on,
``stack(?y)`` puts what is held on a block.

PDDLGym's problems have 4 to 7 blocks. Classifiers learn from boards with 3, 8 and 9 blocks: never from a layout, or a
state, of any of its problems. Interrogated are the train problems, held out the test ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from aam_vision.agents.perception import Box, Cell, Scene
from aam_vision.envs.board import BoardDomain, Layout, problems
from aam_vision.envs.rendering import drawn_by_pddlgym
from aam_vision.envs.sources import (
    SEEN_AT,
    Piles,
    Source,
    Truths,
    above,
    below,
    defined,
    pile_scene,
    seen_at,
    seen_in_pile,
    spot,
)
from aam_vision.model.strips import Atom, State

SIDE, MARGIN = 3.2, 0.05
"""PDDLGym's picture in its own units, and the margin of its axes."""

TABLE, ROBOT = 0.15 * SIDE, 0.1 * SIDE
"""Height of the table, from below, and of the gripper, from above."""

HAND: Final = "hand"


def board(layout: Layout) -> Scene:
    """The levels of the piles below the gripper."""
    blocks = layout.objects.of_type("block")
    number = len(blocks)
    piles = {spot(pile, level): (number - level, pile) for pile in range(number) for level in range(number)}
    spots = {**piles, HAND: (0, 0)}
    return pile_scene(layout.objects, blocks, "block", spots, lambda cell: _box(cell, number))


def _box(cell: Cell, number: int) -> Box:
    """A level of a pile in the picture, or the gripper."""
    wide, high = SIDE / number, (SIDE - TABLE - ROBOT) / number - 0.05 * SIDE
    row, column = cell
    left, low = column * wide, TABLE + (number - row) * high
    if row == 0:  # PDDLGym draws a held block a third of its height below the gripper
        left, low = (SIDE - wide) / 2, SIDE - ROBOT - high / 3
    return part(low, low + high, left, left + wide)


def part(low: float, top: float, left: float, right: float) -> Box:
    """A part of the picture, of which the edges are given in PDDLGym's units from the left and from below."""
    whole = SIDE + 2 * MARGIN
    return (
        max(0.0, 1 - (top + MARGIN) / whole),  # large blocks stick out of the picture
        1 - (low + MARGIN) / whole,
        (left + MARGIN) / whole,
        (right + MARGIN) / whole,
    )


def _clear(scene: Scene, seen: State) -> Truths:
    piles = Piles.of(seen)
    return piles.free({block: above(place) for block, place in piles.places.items() if place != HAND})


def _ontable(scene: Scene, seen: State) -> Truths:
    piles = Piles.of(seen)
    low = [block for block, place in piles.places.items() if place != HAND and below(place) is None]
    return [Atom("ontable", (block,)) for block in low], [Atom("ontable", (b,)) for b in piles.lost]


def _holding(scene: Scene, seen: State) -> Truths:
    piles = Piles.of(seen)
    held = [Atom("holding", (piles.things[HAND],))] if HAND in piles.things else []
    return held, [Atom("holding", (b,)) for b in piles.lost if HAND in piles.doubtful]


def _hand(predicate: str, description: str, *, full: bool, robot: str | None) -> Source:
    """Whether there is a block in the gripper; of the robots, where there is such a type."""

    def define(scene: Scene, seen: State) -> Truths:
        robots = [()] if robot is None else [(one,) for one in scene.objects.of_type(robot)]
        piles, atoms = Piles.of(seen), [Atom(predicate, one) for one in robots]
        if HAND not in piles.things and HAND in piles.doubtful:
            return [], atoms
        return (atoms if (HAND in piles.things) == full else []), []

    return defined(define, description)


def sights(scene: Scene, true: frozenset[Atom]) -> list[Atom]:
    """At which level of which pile every block is, and what is held."""
    lying = {under: block for block, under in (a.objects for a in true if a.predicate == "on")}
    columns = {block: number for number, block in enumerate(sorted(scene.looks))}
    bottoms = sorted(a.objects[0] for a in true if a.predicate == "ontable")
    held = [Atom(SEEN_AT, (a.objects[0], HAND)) for a in true if a.predicate == "holding"]
    return held + [atom for block in bottoms for atom in seen_in_pile(block, columns[block], lying)]


def sources(robot: str | None = None) -> dict[str, Source]:
    """Where the truth of every predicate of blocks comes from; ``robot``: the type of the robots, where there is one."""
    return {
        "on": defined(lambda scene, seen: Piles.of(seen).on({}), "right above the other block"),
        "ontable": defined(_ontable, "at the lowest level of a pile"),
        "clear": defined(_clear, "in a pile, with no block right above it"),
        "handempty": _hand("handempty", "no block is seen in the gripper", full=False, robot=robot),
        "handfull": _hand("handfull", "a block is seen in the gripper", full=True, robot=robot),
        "holding": defined(_holding, "seen in the gripper"),
    }


BLOCKS: Final = BoardDomain(
    name="blocks",
    sources=sources(),
    auxiliary=seen_at("block", "a block is seen at that level of the pile, or in the gripper"),
    may_vanish={"block": False},
    sights=sights,
    board=board,
    named={"pick-up": (0,), "put-down": (), "stack": (1,), "unstack": (0,)},
    drawing=drawn_by_pddlgym,
    interrogated=problems("train", range(5)),
    held_out=problems("test", range(15)),
    trained_on=(),
    sampler="aam_vision.envs.blocks",
    shapes=((4, 3), (9, 8), (10, 9)),
)


# Blocks states and boards at random.


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
    bare = Layout.of("blocks", name, kinds)
    goal = frozenset(atom for atom in sample(bare, rng) if atom.predicate in ("on", "ontable"))
    return replace(bare, initial=sample(bare, rng), goal=goal)
