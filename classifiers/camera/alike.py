"""Things that look the same, found apart in one picture and followed to the next.

The map of a look that several things share has several peaks. Each peak with what is nearest to it is a *sighting*, about
which the network answers as it would about the only thing of that look. Which sighting is which thing is followed, never
guessed (as ``classifiers.tracking`` does on boards): a sighting where one thing was, and no other, is that thing; a single
thing and a single sighting that are left belong together. In the first picture the scene says where things are. Unless
there are as many sightings as things, two of them may be one: then nothing is believed about any thing of that look, and
from there on they are not told apart any more, for a sighting where one was may be another that was not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Point, Scene
from aam_vision.classifiers.camera.plan import CameraPlan

SIGHTED: Final = 0.9
"""Probability of a sighting, at least: where one too many is counted, things may be taken for each other."""

SAME_PLACE: Final = 0.05
"""How far apart the places of a thing that stayed may be found, as a share of the picture's width and height."""

POINTED: Final = 0.08
"""The same between where the user points and where a thing is found: not always in its middle."""

BESIDE: Final = 0.2
"""How far apart things are at most that touch, as a share of the picture's width and height."""

CLEARLY: Final = 2.0
"""How many times farther, in squares, all are in the second best way to pair them with where the user points."""

MATCHED_AT_MOST: Final = 6
"""More things of one look than this are not paired all at once: the ways are gone through."""


@dataclass(frozen=True)
class Told:
    """Which sighting each thing is.

    Attributes:
        rows: per thing, the number of its sighting; of things that are not told apart, that of any.
        doubtful: per thing, whether it is not told apart.
        places: things that share a look and were followed, and where they are.
        unclear: sightings of things that are not told apart: what is beside them may be read wrongly.
    """

    rows: NDArray[np.intp]
    doubtful: NDArray[np.bool_]
    places: Mapping[str, Point] = field(default_factory=dict)
    unclear: tuple[Point, ...] = ()

    def beside(self, position: NDArray[np.float32]) -> bool:
        """Whether something at a position may be read wrongly."""
        return any(_apart(_point(position), spot) < BESIDE for spot in self.unclear)


class Sightings:
    """The things of a scene, and the sightings that a picture of it may have.

    Attributes:
        numbers: how many sightings of each look of the plan are searched: one, or one more than there are things.
        searched: the classifier that each sighting is found by.
        plan: the same classifiers with the things of the scene as looks, in the order of ``things``.
        things: the things whose look the plan knows.
    """

    def __init__(self, plan: CameraPlan, scene: Scene) -> None:
        owners: list[list[str]] = [[] for _ in plan.looks]
        for thing, look in scene.looks.items():
            if look in plan.looks:
                owners[plan.looks.index(look)].append(thing)
        self.numbers = tuple(1 if len(own) < 2 else len(own) + 1 for own in owners)
        self.searched = tuple(
            head for head, number in zip(plan.found, self.numbers, strict=True) for _ in range(number)
        )
        begins = np.cumsum([0, *self.numbers])
        self._shared = [
            (own, range(begins[look], begins[look + 1])) for look, own in enumerate(owners) if len(own) > 1
        ]
        self.things = tuple(thing for own in owners for thing in own)
        self._rows = np.array([begins[look] for look, own in enumerate(owners) for _ in own], np.intp)
        self.plan = CameraPlan(
            self.things,
            tuple(plan.found[look] for look, own in enumerate(owners) for _ in own),
            plan.alone,
            plan.single,
            plan.pairs,
        )
        self._points = scene.points

    @property
    def shared(self) -> bool:
        """Whether any look is shared."""
        return bool(self._shared)

    def tell(
        self,
        found: NDArray[np.bool_],
        possible: NDArray[np.bool_],
        positions: NDArray[np.float32],
        before: Mapping[str, Point] | None,
    ) -> Told:
        """Say which sighting is which thing.

        Args:
            found: (sightings,) whether each is surely there.
            possible: (sightings,) whether it may be.
            positions: (sightings, 2).
            before: where things were in the picture before; None for the first picture.
        """
        rows, doubtful = self._rows.copy(), np.zeros(len(self.things), bool)
        places: dict[str, Point] = {}
        unclear: list[Point] = []
        for things, searched in self._shared:
            seen = [row for row in searched if found[row]]
            sure = len(seen) == len(things) and all(found[row] for row in searched if possible[row])
            spots = {row: _point(positions[row]) for row in seen}
            told = self._told(things, spots, before) if sure else {}
            places.update({thing: spots[row] for thing, row in told.items()})
            if before is None and not sure:  # the user says where they are, whatever the picture shows
                places.update({thing: self._points[thing] for thing in things if thing in self._points})
            for thing in things:
                number = self.things.index(thing)
                rows[number] = told.get(thing, searched[0])
                doubtful[number] = thing not in told
            lost = [thing for thing in things if thing not in told]
            if lost:
                earlier = self._points if before is None else before
                unclear += [_point(positions[row]) for row in searched if possible[row]]
                unclear += [earlier[thing] for thing in lost if thing in earlier]
        return Told(rows, doubtful, places, tuple(unclear))

    def _told(
        self, things: list[str], seen: Mapping[int, Point], before: Mapping[str, Point] | None
    ) -> dict[str, int]:
        """The sightings of the things that are told apart, of as many as there are things."""
        if before is None:
            told = _paired(things, self._points, seen)
            return _matched(things, self._points, seen, POINTED) if told is None else told
        if any(thing not in before for thing in things):
            return {}  # the one that was not seen may be where another one was, and that one elsewhere
        return _matched(things, before, seen, SAME_PLACE)

    def chosen(self, logits: NDArray[np.float32], rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """The answers about these sightings, in the order of ``plan``, from those about all sightings."""
        plan, sightings = self.plan, sum(self.numbers)
        sizes = (sightings, len(plan.alone), sightings * len(plan.single), sightings**2 * len(plan.pairs))
        found, alone, single, pairs = np.split(logits, np.cumsum(sizes)[:-1])
        single = single.reshape(sightings, len(plan.single))[rows]
        pairs = pairs.reshape(sightings, sightings, len(plan.pairs))[np.ix_(rows, rows)]
        return np.concatenate([found[rows], alone, single.ravel(), pairs.ravel()])


def _paired(
    things: list[str], points: Mapping[str, Point], seen: Mapping[int, Point]
) -> dict[str, int] | None:
    """The sightings of all things by where the user points, if one way to pair them is clearly the best; else None."""
    if not len(things) == len(seen) <= MATCHED_AT_MOST or any(thing not in points for thing in things):
        return None
    far = np.array([[_apart(points[thing], place) for place in seen.values()] for thing in things])
    each = np.arange(len(things))
    ways = sorted((float((far[each, list(way)] ** 2).sum()), way) for way in permutations(range(len(things))))
    (least, best), (second, _) = ways[:2]
    if second < CLEARLY * least or (far[each, list(best)] > POINTED).any():
        return None
    return {thing: list(seen)[column] for thing, column in zip(things, best, strict=True)}


def _matched(
    things: list[str], earlier: Mapping[str, Point], seen: Mapping[int, Point], reach: float
) -> dict[str, int]:
    """The sightings of the things that are told apart."""
    near = {
        thing: [row for row, place in seen.items() if _apart(place, earlier[thing]) < reach]
        for thing in things
        if thing in earlier
    }
    claims = [row for rows in near.values() for row in rows]
    told = {thing: rows[0] for thing, rows in near.items() if len(rows) == 1 and claims.count(rows[0]) == 1}
    missing = [thing for thing in things if thing not in told]
    left = [row for row in seen if row not in told.values()]
    if len(missing) == 1 and len(left) == 1:
        told[missing[0]] = left[0]
    return told


def _apart(one: Point, other: Point) -> float:
    """How far apart two points are."""
    return float(np.hypot(one[0] - other[0], one[1] - other[1]))


def _point(position: NDArray[np.float32]) -> Point:
    return float(position[0]), float(position[1])
