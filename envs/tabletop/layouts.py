"""What stands on the table: things with looks, in piles at random places, drawn from a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

BLOCK, BALL, STEEL, CRATE = "block", "ball", "steel", "crate"
"""Kinds of things: by their bodies, whatever they look like."""

BLOCK_LOOKS: Final = ("red", "green", "blue", "yellow", "purple", "white", "striped", "checkered")
"""Looks of blocks."""
LOOKS: Final[Mapping[str, tuple[str, ...]]] = {
    BLOCK: BLOCK_LOOKS,
    BALL: (BALL,),
    STEEL: (STEEL,),
    CRATE: (CRATE,),
}
"""The looks that a thing of a kind can have."""

COLUMNS: Final = (-0.144, -0.048, 0.048, 0.144)
ROWS: Final = (-0.085, 0.0, 0.085)
"""Centres of the places where a pile can stand, in metres: more places than there are things."""
JITTER: Final = (0.012, 0.008)
"""How far from its centre a pile may stand, in metres: a hand fits between neighbours wherever they stand."""
TURN: Final = np.pi / 9
"""How far a thing may be turned either way, in radians."""
HIGHEST: Final = 3
"""Things in a pile at the beginning."""


@dataclass(frozen=True)
class Thing:
    """One thing: its name, the kind of its body and its look."""

    name: str
    kind: str
    look: str


@dataclass(frozen=True)
class Pile:
    """Things on top of each other, the lowest first: their numbers, the place in metres, and a turn of each."""

    things: tuple[int, ...]
    place: tuple[float, float]
    turns: tuple[float, ...]


@dataclass(frozen=True)
class Layout:
    """What stands where at the beginning."""

    things: tuple[Thing, ...]
    piles: tuple[Pile, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the things, in order: what decides the physics."""
        return tuple(thing.kind for thing in self.things)


def named(kinds: Sequence[str], looks: Sequence[str]) -> tuple[Thing, ...]:
    """Things named after their looks; things of one look are numbered."""
    number, several, things = Counter[str](), Counter(looks), []
    for kind, look in zip(kinds, looks, strict=True):
        number[look] += 1
        name = f"{look}-{kind}" if kind != look else look
        things.append(Thing(f"{name}-{number[look]}" if several[look] > 1 else name, kind, look))
    return tuple(things)


def random_layout(rng: np.random.Generator, blocks: int | None = None, alike: int = 1) -> Layout:
    """Blocks, a ball and a piece of steel in random piles.

    Args:
        rng: decides everything.
        blocks: how many; None: three to five.
        alike: how many of the blocks have the same look; the others have looks of their own.
    """
    number = int(rng.integers(3, 6)) if blocks is None else blocks
    drawn = [str(look) for look in rng.permutation(BLOCK_LOOKS)[: number - alike + 1]]
    things = named(
        (*[BLOCK] * number, BALL, STEEL),
        (*[drawn[0]] * (alike - 1), *drawn, BALL, STEEL),
    )
    return Layout(things, random_piles(rng, things))


def random_piles(rng: np.random.Generator, things: Sequence[Thing]) -> tuple[Pile, ...]:
    """Piles of all things: each thing, in random order, begins a pile or goes onto a pile that bears it."""
    piles: list[list[int]] = []
    for thing in rng.permutation(len(things)):
        bearing = [pile for pile in piles if len(pile) < HIGHEST and things[pile[-1]].kind != BALL]
        if bearing and rng.random() < 0.5:
            bearing[int(rng.integers(len(bearing)))].append(int(thing))
        else:
            piles.append([int(thing)])
    places = rng.permutation(len(COLUMNS) * len(ROWS))[: len(piles)]
    return tuple(
        Pile(
            tuple(pile),
            _near(rng, int(place)),
            tuple(float(turn) for turn in rng.uniform(-TURN, TURN, len(pile))),
        )
        for pile, place in zip(piles, places, strict=True)
    )


def centres() -> list[tuple[float, float]]:
    """The centres of all places, in metres, row by row."""
    return [(column, row) for row in ROWS for column in COLUMNS]


def _near(rng: np.random.Generator, place: int) -> tuple[float, float]:
    """A point near the centre of a place."""
    across, along = centres()[place]
    right, up = rng.uniform(-1, 1, 2) * JITTER
    return float(across + right), float(along + up)
