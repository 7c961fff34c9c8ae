"""What stands on the table: things with looks, in piles at random places, drawn from a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

BLOCK, BALL, STEEL, CRATE = "block", "ball", "steel", "crate"
"""Kinds of things: by their bodies, whatever they look like."""

BLOCK_LOOKS: Final = ("red", "green", "blue", "yellow", "purple", "white", "striped", "checkered")
"""Looks of blocks."""

COLUMNS: Final = (-0.144, -0.048, 0.048, 0.144)
ROWS: Final = (-0.085, 0.0, 0.085)
"""Centres of the places where a pile can stand, in metres: more places than there are things."""
JITTER: Final = (0.012, 0.008)
"""How far from its centre a pile may stand, in metres: a hand fits between neighbours wherever they stand."""
TURN: Final = np.pi / 9
"""How far a thing may be turned either way, in radians."""
HIGHEST: Final = 3
"""Things in a pile at the beginning, at most."""
PILED: Final = 0.5
PILED_CROWDED: Final = 0.65
"""How likely a thing goes onto a pile if it can; the second where piles stand behind each other."""
APART: Final = (("red", "white"),)
"""Looks of blocks that pictures for training never show together."""


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
    """What stands where at the beginning, and the number of the thing in the hand, if any; it belongs to no pile."""

    things: tuple[Thing, ...]
    piles: tuple[Pile, ...]
    held: int | None = None

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


def random_layout(
    rng: np.random.Generator, blocks: int | None = None, alike: int = 1, *, apart: bool = False
) -> Layout:
    """Blocks, a ball and a piece of steel in random piles.

    Args:
        rng: decides everything.
        blocks: how many; None: three to five.
        alike: how many of the blocks have the same look; the others have looks of their own.
        apart: whether looks that are to be kept ``APART`` never come together.
    """
    number = int(rng.integers(3, 6)) if blocks is None else blocks
    drawn = _looks(rng, number - alike + 1)
    while apart and any({*pair} <= {*drawn} for pair in APART):
        drawn = _looks(rng, number - alike + 1)
    things = named(
        (*[BLOCK] * number, BALL, STEEL),
        (*[drawn[0]] * (alike - 1), *drawn, BALL, STEEL),
    )
    return Layout(things, random_piles(rng, things))


def rearranged(
    rng: np.random.Generator, layout: Layout, *, highest: int, holding: float, crowded: bool = False
) -> Layout:
    """The same things in other places.

    Args:
        rng: decides everything.
        layout: with the things.
        highest: how many things a pile has at most.
        holding: how likely one of those that can be lifted is in the hand.
        crowded: whether piles stand behind each other as far as they can, so that much is partly hidden.
    """
    light = [number for number, thing in enumerate(layout.things) if thing.kind != STEEL]
    held = int(rng.choice(light)) if rng.random() < holding else None
    return Layout(layout.things, random_piles(rng, layout.things, highest, held, crowded=crowded), held)


def random_piles(
    rng: np.random.Generator,
    things: Sequence[Thing],
    highest: int = HIGHEST,
    held: int | None = None,
    *,
    crowded: bool = False,
) -> tuple[Pile, ...]:
    """Piles of all things but one that is held: each, in random order, begins a pile or goes onto one that bears it."""
    piles: list[list[int]] = []
    for thing in rng.permutation([number for number in range(len(things)) if number != held]):
        bearing = [pile for pile in piles if len(pile) < highest and things[pile[-1]].kind != BALL]
        if bearing and rng.random() < (PILED_CROWDED if crowded else PILED):
            bearing[int(rng.integers(len(bearing)))].append(int(thing))
        else:
            piles.append([int(thing)])
    places = rng.permutation(len(COLUMNS) * len(ROWS))
    if crowded:  # one column after another
        across = rng.permutation(len(COLUMNS))
        places = places[np.argsort(across[places % len(COLUMNS)], kind="stable")]
    places = places[: len(piles)]
    turns = [tuple(float(turn) for turn in rng.uniform(-TURN, TURN, len(pile))) for pile in piles]
    return tuple(
        Pile(tuple(pile), _near(rng, int(place)), turned)
        for pile, place, turned in zip(piles, places, turns, strict=True)
    )


def _looks(rng: np.random.Generator, number: int) -> list[str]:
    """So many different looks of blocks."""
    return [str(look) for look in rng.permutation(BLOCK_LOOKS)[:number]]


def centres() -> list[tuple[float, float]]:
    """The centres of all places, in metres, row by row."""
    return [(column, row) for row in ROWS for column in COLUMNS]


def _near(rng: np.random.Generator, place: int) -> tuple[float, float]:
    """A point near the centre of a place."""
    across, along = centres()[place]
    right, up = rng.uniform(-1, 1, 2) * JITTER
    return float(across + right), float(along + up)
