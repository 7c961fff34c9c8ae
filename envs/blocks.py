"""Blocks: a gripper piles up blocks on a table, seen from the side.

The vocabulary is PDDLGym's. PDDLGym draws as many columns as there are blocks, and a pile in the column that the
name of its lowest block has in alphabetical order; a held block is in the gripper. Colours are drawn at random
as blocks are first seen, in an order that depends on the state: they tell nothing about names. All blocks have one
look: which is which follows from the first image, where the user names them, and from following each of them
since.

PDDLGym's operators are its actions. A native action names what the state does not settle: ``unstack(?x)`` takes a
block off whatever it is on, ``stack(?y)`` puts what is held on a block. A state is drawn whole by PDDLGym.

PDDLGym's problems have 4 to 7 blocks. Classifiers learn from boards with 3, 8 and 9 blocks: never from a layout, or a
state, of any of its problems. Interrogated are the train problems, held out the test ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from aam_vision.envs.board import BoardDomain, Layout
from aam_vision.envs.board_env import BoardEnv
from aam_vision.envs.piles import SEEN_AT, Piles, Truths, above, below, places_of, seen_at, spot
from aam_vision.envs.whole_pictures import drawn_by_pddlgym
from aam_vision.perception import Box, Cell, Defined, Scene, VisualVocabulary
from aam_vision.strips import ActionHeader, Atom, GroundAction, Objects, Predicate, State, Types

SIDE, MARGIN = 3.2, 0.05
"""PDDLGym's picture in its own units, and the margin of its axes."""

TABLE, ROBOT = 0.15 * SIDE, 0.1 * SIDE
"""Height of the table, from below, and of the gripper, from above."""

HAND: Final = "hand"

TYPES: Final = Types({"block": "object"})


def scene(layout: Layout) -> Scene:
    """The levels of the piles below the gripper, and where the blocks are at the start."""
    blocks = layout.objects.of_type("block")
    number = len(blocks)
    spots: dict[str, Cell] = {
        spot(pile, level): (number - level, pile) for pile in range(number) for level in range(number)
    }
    spots[HAND] = (0, 0)
    bare = Scene(
        objects=layout.objects,
        rows=number + 1,
        columns=number,
        cells={name: (cell,) for name, cell in spots.items()},
        looks=dict.fromkeys(blocks, "block"),
        spots=Objects({**dict.fromkeys(blocks, "block"), **dict.fromkeys(spots, "spot")}, TYPES),
        boxes={cell: _box(cell, number) for cell in spots.values()},
    )
    return replace(bare, anchors=places_of(sights(bare, layout.initial)))


def _box(cell: Cell, number: int) -> Box:
    """A level of a pile in the picture, or the gripper."""
    wide, high = SIDE / number, (SIDE - TABLE - ROBOT) / number - 0.05 * SIDE
    row, column = cell
    left, low = column * wide, TABLE + (number - row) * high
    if row == 0:  # PDDLGym draws a held block a third of its height below the gripper
        left, low = (SIDE - wide) / 2, SIDE - ROBOT - high / 3
    return (
        max(0.0, 1 - (low + high + MARGIN) / (SIDE + 2 * MARGIN)),  # large blocks stick out of the picture
        1 - (low + MARGIN) / (SIDE + 2 * MARGIN),
        (left + MARGIN) / (SIDE + 2 * MARGIN),
        (left + wide + MARGIN) / (SIDE + 2 * MARGIN),
    )


# --- what the user defines ---------------------------------------------------------------------------


def on(scene: Scene, seen: State) -> Truths:
    """Right above the other block."""
    return Piles.of(seen).on({})


def clear(scene: Scene, seen: State) -> Truths:
    """In a pile, with no block right above it."""
    piles = Piles.of(seen)
    return piles.free({block: above(place) for block, place in piles.places.items() if place != HAND})


def ontable(scene: Scene, seen: State) -> Truths:
    """At the lowest level of a pile."""
    piles = Piles.of(seen)
    low = [block for block, place in piles.places.items() if place != HAND and below(place) is None]
    return [Atom("ontable", (block,)) for block in low], [Atom("ontable", (b,)) for b in piles.lost]


def holding(scene: Scene, seen: State) -> Truths:
    """In the gripper."""
    piles = Piles.of(seen)
    held = [Atom("holding", (piles.things[HAND],))] if HAND in piles.things else []
    return held, [Atom("holding", (b,)) for b in piles.lost if HAND in piles.doubtful]


def handempty(scene: Scene, seen: State) -> Truths:
    """No block in the gripper."""
    return _hand("handempty", seen, full=False)


def handfull(scene: Scene, seen: State) -> Truths:
    """A block in the gripper."""
    return _hand("handfull", seen, full=True)


def _hand(predicate: str, seen: State, *, full: bool) -> Truths:
    piles, atom = Piles.of(seen), [Atom(predicate, ())]
    if HAND not in piles.things and HAND in piles.doubtful:
        return [], atom
    return (atom if (HAND in piles.things) == full else []), []


def sights(scene: Scene, true: frozenset[Atom]) -> list[Atom]:
    """At which level of which pile every block is, and what is held."""
    lying = {under: block for block, under in (a.objects for a in true if a.predicate == "on")}
    column = {block: number for number, block in enumerate(sorted(scene.looks))}
    found = [Atom(SEEN_AT, (a.objects[0], HAND)) for a in true if a.predicate == "holding"]
    for bottom in sorted(a.objects[0] for a in true if a.predicate == "ontable"):
        level, block = 0, bottom
        while True:
            found.append(Atom(SEEN_AT, (block, spot(column[bottom], level))))
            if block not in lying:
                break
            level, block = level + 1, lying[block]
    return found


VISUAL: Final = VisualVocabulary(
    name="blocks",
    types=TYPES,
    entries=(
        Defined(Predicate("on", ("block", "block")), on, "right above the other block"),
        Defined(Predicate("ontable", ("block",)), ontable, "at the lowest level of a pile"),
        Defined(Predicate("clear", ("block",)), clear, "in a pile, with no block right above it"),
        Defined(Predicate("handempty"), handempty, "no block is seen in the gripper"),
        Defined(Predicate("handfull"), handfull, "a block is seen in the gripper"),
        Defined(Predicate("holding", ("block",)), holding, "seen in the gripper"),
        seen_at("block", "block", "a block is seen at that level of the pile, or in the gripper"),
    ),
    may_vanish={"block": False},
    sights=sights,
)


# --- states and boards at random ---------------------------------------------------------------------


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
    bare = Layout("blocks", name, Objects(kinds, TYPES), frozenset(), frozenset())
    goal = frozenset(atom for atom in sample(bare, rng) if atom.predicate in ("on", "ontable"))
    return replace(bare, initial=sample(bare, rng), goal=goal)


# --- the domain --------------------------------------------------------------------------------------


def _controls(layout: Layout) -> tuple[GroundAction, ...]:
    blocks = layout.objects.of_type("block")
    return (
        *[GroundAction("pick-up", (block,)) for block in blocks],
        GroundAction("put-down", ()),
        *[GroundAction("stack", (block,)) for block in blocks],
        *[GroundAction("unstack", (block,)) for block in blocks],
    )


BLOCKS: Final = BoardDomain(
    name="blocks",
    gym_id="aam_vision/Blocks-v0",
    visual=VISUAL,
    headers=(
        ActionHeader("pick-up", ("x",), ("block",)),
        ActionHeader("put-down", ("x",), ("block",)),
        ActionHeader("stack", ("x", "y"), ("block", "block")),
        ActionHeader("unstack", ("x", "y"), ("block", "block")),
    ),
    controls=_controls,
    native={
        "pick-up": ("pick-up", (0,)),
        "put-down": ("put-down", ()),
        "stack": ("stack", (1,)),
        "unstack": ("unstack", (0,)),
    },
    interrogated=tuple(("train", number) for number in range(5)),
    held_out=tuple(("test", number) for number in range(15)),
    trained_on=(),
    scene=scene,
    drawing=drawn_by_pddlgym,
    sampler="aam_vision.envs.blocks",
    shapes=((4, 3), (9, 8), (10, 9)),
)


class BlocksEnv(BoardEnv):
    """Blocks; native actions are pick-up, put-down, stack and unstack with what they must name."""

    domain = BLOCKS
