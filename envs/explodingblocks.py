"""Exploding Blocks: as Blocks, but what is put down may destroy what it is put on, a block or the table, for good.

PDDLGym draws a cross on what is destroyed, and then the block over its cross, so that only the table's shows. Here crosses are
drawn last. Everything else is PDDLGym's: which instructions can be carried out, what may come of them, how likely, and the picture.

PDDLGym's problems have 4 to 6 blocks. Classifiers learn from boards with 3 and 7 blocks: never from a layout, or a state, of any of its
problems.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from aam_vision.agents.perception import Scene
from aam_vision.envs import blocks
from aam_vision.envs.blocks import SIDE, TABLE, part, sights
from aam_vision.envs.board import BoardDomain, Layout, problems
from aam_vision.envs.rendering import drawn_by_pddlgym
from aam_vision.envs.sources import SEEN_AT, Piles, Truths, defined, there
from aam_vision.model.strips import Atom, Objects, State, Types

TABLETOP: Final = "table"
"""The spot where the cross of the table is."""
ROBOT: Final = "robot"
"""The type of the robot, and its name on boards of ours."""
MARKED: Final = "marked"
"""The auxiliary predicate of the spots where a cross is seen."""


def board(layout: Layout) -> Scene:
    """The levels of the piles below the gripper, and the middle of the table."""
    scene = blocks.board(layout)
    number = len(scene.looks)
    cell, across = (number + 1, 0), SIDE / number
    box = part(0.0, TABLE, (SIDE - across) / 2, (SIDE + across) / 2)
    assert scene.spots is not None, "piles have spots"
    assert scene.boxes is not None, "and boxes"
    return replace(
        scene,
        rows=scene.rows + 1,
        cells={**scene.cells, TABLETOP: (cell,)},
        spots=Objects({**dict(scene.spots.items()), TABLETOP: "spot"}, Types({})),
        boxes={**scene.boxes, cell: box},
    )


def _destroyed(scene: Scene, seen: State) -> Truths:
    piles = Piles.of(seen)
    marks = {block: seen.value(Atom(MARKED, (place,))) for block, place in piles.places.items()}
    true = [Atom("destroyed", (block,)) for block, mark in marks.items() if mark]
    doubtful = [*piles.lost, *(block for block, mark in marks.items() if mark is None)]
    return true, [Atom("destroyed", (block,)) for block in doubtful]


def _table_destroyed(scene: Scene, seen: State) -> Truths:
    mark, atom = seen.value(Atom(MARKED, (TABLETOP,))), [Atom("table-destroyed", ())]
    return (atom if mark else []), (atom if mark is None else [])


def _sights(scene: Scene, true: frozenset[Atom]) -> list[Atom]:
    """At which level of which pile every block is, what is held, and where crosses are."""
    found = sights(scene, true)
    place = {atom.objects[0]: atom.objects[1] for atom in found if atom.predicate == SEEN_AT}
    marked = sorted(place[atom.objects[0]] for atom in true if atom.predicate == "destroyed")
    if Atom("table-destroyed", ()) in true:
        marked.append(TABLETOP)
    return found + [Atom(MARKED, (spot,)) for spot in marked]


EXPLODINGBLOCKS: Final = BoardDomain(
    name="explodingblocks",
    sources={
        **blocks.sources(ROBOT),
        "destroyed": defined(_destroyed, "a cross is seen on the block"),
        "table-destroyed": defined(_table_destroyed, "a cross is seen on the table"),
    },
    auxiliary={
        **blocks.BLOCKS.auxiliary,
        f"{MARKED} ?at - spot": there("cross", "a cross is seen there", auxiliary=True),
    },
    may_vanish={"block": False},
    sights=_sights,
    board=board,
    drawing=partial(drawn_by_pddlgym, crosses=True),
    interrogated=problems("train", range(5)),
    held_out=problems("test", range(5)),
    trained_on=(),
    sampler="aam_vision.envs.explodingblocks",
    shapes=((4, 3), (4, 3), (8, 7)),  # crosses are small, and harder to see, where blocks are large
    round_steps=1600,
)


# Exploding Blocks states and boards at random.


_HAND = ("handempty", "handfull")


def sample(layout: Layout, rng: np.random.Generator) -> frozenset[Atom]:
    """Blocks in any piles, one of them perhaps held; any that are not may be destroyed, and the table."""
    robots = tuple(layout.objects.of_type(ROBOT))
    atoms = {
        Atom(one.predicate, robots) if one.predicate in _HAND else one for one in blocks.sample(layout, rng)
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
    bare = Layout.of("explodingblocks", name, kinds)
    goal = frozenset(atom for atom in sample(bare, rng) if atom.predicate in ("on", "ontable"))
    return replace(bare, initial=sample(bare, rng), goal=goal)
