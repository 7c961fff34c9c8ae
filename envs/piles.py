"""Common parts of all piles: things on top of each other, read off the levels where they are seen.

Blocks and Hanoi show piles from the side. The perceived part is ``seen-at(thing, spot)``; what lies on what, and
what is clear, is defined over it. Where a thing cannot be told apart, all that depends on it is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aam_vision.envs.grids import grid_scene
from aam_vision.envs.sources import Source, where
from aam_vision.perception import Box, Cell, Scene
from aam_vision.strips import Atom, Objects, State, Types

SEEN_AT: Final = "seen-at"

Truths = tuple[list[Atom], list[Atom]]


def pile_scene(
    objects: Objects, things: Sequence[str], look: str, spots: Mapping[str, Cell], box: Callable[[Cell], Box]
) -> Scene:
    """The scene of things of one look at the levels of piles; ``box`` says where in the image a level is."""
    return replace(
        grid_scene(objects, spots, looks=dict.fromkeys(things, look)),
        spots=Objects({**dict.fromkeys(things, look), **dict.fromkeys(spots, "spot")}, Types({})),
        boxes={cell: box(cell) for cell in spots.values()},
    )


def seen_at(look: str, description: str) -> Mapping[str, Source]:
    """The auxiliary predicate that says at which spot each thing is seen."""
    return {f"{SEEN_AT} ?thing - {look} ?at - spot": where((look,), description, auxiliary=True)}


def seen_in_pile(bottom: str, pile: int, lying: Mapping[str, str]) -> list[Atom]:
    """At which levels the things of a pile are seen; ``lying`` gives the thing on top of another one."""
    found, level, thing = [], 0, bottom
    while True:
        found.append(Atom(SEEN_AT, (thing, spot(pile, level))))
        if thing not in lying:
            return found
        level, thing = level + 1, lying[thing]


def spot(pile: int, level: int) -> str:
    """The name of a level (from 0, the lowest) of a pile (from 0, the leftmost)."""
    return f"pile-{pile}-level-{level}"


def above(name: str) -> str | None:
    """The next spot up; None for what is not a level of a pile."""
    return _beside(name, 1)


def below(name: str) -> str | None:
    """The next spot down; None on the lowest level, and for what is not a level of a pile."""
    return _beside(name, -1)


def _beside(name: str, step: int) -> str | None:
    if not name.startswith("pile-"):
        return None
    _, pile, _, level = name.split("-")
    return spot(int(pile), int(level) + step) if int(level) + step >= 0 else None


@dataclass(frozen=True)
class Piles:
    """Who is seen where.

    Attributes:
        places: thing -> spot, for those that are told apart.
        things: spot -> thing, the other way round.
        lost: things that are not told apart.
        doubtful: spots where one of these may be.
    """

    places: Mapping[str, str]
    things: Mapping[str, str]
    lost: tuple[str, ...]
    doubtful: frozenset[str]

    @classmethod
    def of(cls, seen: State) -> Piles:
        """The piles in what is seen."""
        unknown = [a.objects for a in seen.unknown if a.predicate == SEEN_AT]
        found = sorted(atom.objects for atom in seen.true if atom.predicate == SEEN_AT)
        places = {objects[0]: objects[1] for objects in found}
        return cls(
            places,
            {place: thing for thing, place in places.items()},
            tuple(sorted({thing for thing, _ in unknown})),
            frozenset(place for _, place in unknown),
        )

    def on(self, bottoms: Mapping[str, str]) -> Truths:
        """``on(thing, what is right below it)``; ``bottoms`` names what is below a lowest level, if anything."""
        everything = [*self.places, *self.lost, *bottoms.values()]
        true, unknown = [], []
        for thing, place in self.places.items():
            under = below(place)
            if under is None:
                if place in bottoms:
                    true.append(Atom("on", (thing, bottoms[place])))
            elif under in self.things:
                true.append(Atom("on", (thing, self.things[under])))
            elif under in self.doubtful:
                unknown += [Atom("on", (thing, other)) for other in self.lost]
        unknown += [
            Atom("on", (thing, other)) for thing in self.lost for other in everything if other != thing
        ]
        return true, unknown

    def free(self, tops: Mapping[str, str | None]) -> Truths:
        """``clear(thing)`` for everything with no thing at the spot above it; None where there is no such spot.

        ``tops`` gives the spot above everything that is told apart.
        """
        true, unknown = [], []
        for thing, over in tops.items():
            if over in self.doubtful:
                unknown.append(Atom("clear", (thing,)))
            elif over not in self.things:
                true.append(Atom("clear", (thing,)))
        return true, unknown + [Atom("clear", (thing,)) for thing in self.lost]
