"""The words for MiniGrid: one vocabulary for all tasks, of which each uses the part that its things need.

Places are cells ``cell-ROW-COLUMN``; a door is a cell, too. What the agent carries is drawn below the board (``minigrid_world``),
at a place called ``hand``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from aam_vision.envs.grids import neighbours, places_by_cell
from aam_vision.envs.sources import Source, cyclic, defined, given, somewhere, there, vocabulary, where
from aam_vision.envs.worlds.features import Features
from aam_vision.perception import (
    Constraint,
    Exactly,
    Never,
    Perceived,
    Scene,
    VisualVocabulary,
    comes_as,
    exclusive,
)
from aam_vision.strips import Atom, State

TYPES: Final = {
    "place": "object",
    "cell": "place",
    "door": "cell",
    "direction": "object",
    "thing": "object",
    "key": "thing",
    "ball": "thing",
    "box": "thing",
}
DIRECTIONS: Final = ("right", "down", "left", "up")
"""Each a quarter turn clockwise from the one before; in MiniGrid's order."""
COLOURS: Final = ("blue", "green", "grey", "purple", "red", "yellow")
LOOKS: Final = tuple(f"{colour}-{kind}" for kind in ("key", "ball", "box") for colour in COLOURS)
HAND: Final = "hand"
"""The place below the board where a carried thing is drawn."""
SEEN: Final = "seen"
"""The auxiliary predicate that says at which cell, or in the hand, each thing is seen."""

Truths = tuple[list[Atom], list[Atom]]


def _where_seen(name: str, in_hand: bool) -> Source:
    """p(thing, cell), or p(thing) for the hand: the thing is seen there."""

    def define(scene: Scene, seen: State) -> Truths:
        def atoms(found: Iterable[Atom]) -> list[Atom]:
            return [
                Atom(name, atom.objects[:1] if in_hand else atom.objects)
                for atom in found
                if atom.predicate == SEEN and (atom.objects[1] == HAND) is in_hand
            ]

        return atoms(seen.true), atoms(seen.unknown)

    return defined(define, "the thing is drawn in the hand" if in_hand else "the thing is there")


def _hand_free(scene: Scene, seen: State) -> Truths:
    values = [seen.value(Atom(SEEN, (thing, HAND))) for thing in scene.looks]
    free = [Atom("hand-free", ())]
    if True in values:
        return [], []
    return ([], free) if None in values else (free, [])


def _alive(scene: Scene, seen: State) -> Truths:
    values = [
        False
        if False in (at := seen.value(Atom("at", (place,))), hot := seen.value(Atom("lava", (place,))))
        else None
        if None in (at, hot)
        else True
        for place in scene.objects.of_type("cell")
    ]
    if True in values:
        return [], []
    alive = [Atom("alive", ())]
    return ([], alive) if None in values else (alive, [])


def _next(scene: Scene, seen: State) -> Truths:
    cells = {place: name for place, name in places_by_cell(scene).items() if name != HAND}
    return [Atom("next", objects) for objects in neighbours(cells)], []


PREDICATES: Final[dict[str, tuple[str, Source]]] = {
    "at ?c - cell": ("", there("arrow", "the red arrow is there")),
    "clear ?c - cell": ("", there("clear", "floor, the goal or an open door, and no arrow")),
    "facing ?d - direction": ("", somewhere(DIRECTIONS, "cell", "a red arrow that points {}")),
    "marked ?c - cell": ("marked floor", given("not plain floor: a goal, a door, lava or coloured floor")),
    "lies ?x - thing ?c - cell": ("thing", _where_seen("lies", in_hand=False)),
    "holding ?x - thing": ("thing", _where_seen("holding", in_hand=True)),
    "hand-free": ("several", defined(_hand_free, "nothing is drawn in the hand")),
    "closed ?d - door": ("doors", there("closed", "a door with a handle")),
    "locked ?d - door": ("locks", there("locked", "a door with a keyhole")),
    "same-colour ?k - key ?d - door": ("locks", given("the key and the door have one colour")),
    "lava ?c - cell": ("lava", there("lava", "orange lava, whether the arrow is there or not")),
    "alive": ("lava", defined(_alive, "the arrow is not in lava")),
    "next ?a ?b - cell ?d - direction": ("", defined(_next, "the next cell in that direction")),
    "clockwise ?d ?e - direction": ("", cyclic(DIRECTIONS, "a quarter turn")),
    f"{SEEN} ?x - thing ?p - place": ("thing", where(LOOKS, "the thing is drawn there", auxiliary=True)),
}
"""Declaration -> the feature that a task must have for it, and the source of its truth."""


def vocabulary_of(features: Features) -> VisualVocabulary:
    """The part of the vocabulary that a task needs."""
    asked = {
        text: source for text, (feature, source) in PREDICATES.items() if feature in ("", *features.words)
    }
    bare = vocabulary("minigrid", TYPES, asked)
    heads = {head for entry in bare.entries if isinstance(entry, Perceived) for head in entry.heads.values()}
    return vocabulary(
        "minigrid",
        TYPES,
        asked,
        may_vanish={look: look.endswith("-box") for look in LOOKS},
        constraints=tuple(constraint for constraint in _constraints() if _heads(constraint) <= heads),
    )


def _constraints() -> tuple[Constraint, ...]:
    """One arrow, which points in one direction; a cell shows one thing, and the arrow only lava besides."""
    return (
        Exactly("arrow", 1),
        *comes_as("arrow", DIRECTIONS),
        *exclusive("clear", "lava", "locked", "closed", *LOOKS),
        *[Never(("arrow", other)) for other in ("clear", "locked", "closed", *LOOKS)],
    )


def _heads(constraint: Constraint) -> set[str]:
    if isinstance(constraint, Exactly):
        return {constraint.head}
    assert isinstance(constraint, Never)  # the vocabulary declares no others
    return {*constraint.shows, *constraint.without}
