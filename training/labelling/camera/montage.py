"""New labelled pictures, made of what labelled ones show: groups put elsewhere, with things replaced by others of their outline.

The labels follow: a group brings what is true of its things, and no predicate of two things holds between groups. What is nearer to
the camera, lower in the picture, covers what is behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.labelled import Labelled
from aam_vision.perception import Frame, Perceived, Reading, Scene, VisualVocabulary
from aam_vision.strips import Atom, Objects
from aam_vision.training.labelling.camera.cutouts import NOTHING, Group, Parts, Spot
from aam_vision.training.labelling.camera.exchange import cuts_of, exchanged
from aam_vision.training.labelling.camera.replacing import Replacements, large_sizes

JITTER: Final = 0.024
"""How far from where a labelled group stood another one is put, as a share of the picture's height."""

EXCHANGED: Final = 0.6
"""Probability that a part of a group is exchanged with that of another one, and then again."""

CROWDED: Final = 0.5
"""Probability that a group is put as near to another one as near ones were seen, so that one hides a part of the other."""

TRIED: Final = 12
"""Places that are tried for a group; twice as many groups are tried for a picture."""

SHOWS: Final = 0.25
HIDDEN: Final = 0.08
"""A thing shows with so large a share of the pixels of a large one of its look, and is hidden with so small a one; between them
either answer is right."""

MORE: Final = 2
"""So many things more than in a labelled picture there are at most."""


class Montage:
    """Makes pictures of parts of labelled ones.

    Args:
        vocabulary: of the pictures.
        parts: the labelled pictures.
    """

    def __init__(self, vocabulary: VisualVocabulary, parts: Sequence[Parts]) -> None:
        self._vocabulary, self._parts = vocabulary, parts
        self._bases = [one for one in parts if all(group.whole for group in one.groups if group.tied)]
        self._groups = [group for one in parts for group in one.groups if group.whole and not group.tied]
        self._cuts = [cut for group in self._groups for cut in cuts_of(group)]
        self._layouts = [[group.foot for group in one.groups if not group.tied] for one in parts]
        self._most = (
            max(sum(len(group.looks) for group in one.groups) for one in parts) + MORE if parts else 0
        )
        self._large = large_sizes([group for one in parts for group in one.groups])
        self._others = Replacements(self._groups, self._large)
        self._apart = np.array(
            [
                (abs(one[0] - other[0]), abs(one[1] - other[1]))
                for feet in self._layouts
                for one in feet
                for other in feet
                if one is not other
            ]
            or [(0, 0)]
        )
        feet = np.array([foot for one in self._layouts for foot in one] or [(0, 0)])
        self._jitter = round(JITTER * len(parts[0].bare)) if parts else 0
        self._first, self._last = feet.min(0) - self._jitter, feet.max(0) + self._jitter
        order = self._apart.sum(1).argsort(kind="stable")
        self._near = self._apart[order[: max(len(order) // 4, 1)]]
        (self._found,) = (
            entry
            for entry in vocabulary.entries
            if isinstance(entry, Perceived) and entry.reading is Reading.FOUND
        )

    @property
    def usable(self) -> bool:
        """Whether the labelled pictures have parts to make new ones of."""
        return bool(self._bases and self._groups)

    def make(self, rng: np.random.Generator) -> Labelled:
        """A picture; all chance comes from ``rng``."""
        base = self._bases[int(rng.integers(len(self._bases)))]
        groups = [group for group in base.groups if group.tied]
        groups = [
            self._others.replaced(group, {look for one in groups for look in one.looks}, rng)
            for group in groups
        ]
        placed: list[tuple[Group, Spot]] = [(group, (0, 0)) for group in groups]
        taken = {look for group in groups for look in group.looks}
        most = int(rng.integers(self._most // 2, self._most + 1))
        for _ in range(TRIED * 2):
            group = self._others.replaced(self._some(rng), taken, rng)
            if taken.intersection(group.looks) or len(taken) + len(group.looks) > most:
                continue
            away = self._somewhere(group, placed, base.bare.shape[:2], rng)
            if away is not None:
                placed.append((group, away))
                taken.update(group.looks)
        return self._drawn(base, placed)

    def _some(self, rng: np.random.Generator) -> Group:
        """A labelled group, or one made of two or three of them."""
        group = self._groups[int(rng.integers(len(self._groups)))]
        while self._cuts and rng.random() < EXCHANGED:
            own = cuts_of(group) or self._cuts
            other = self._cuts[int(rng.integers(len(self._cuts)))]
            group = exchanged(own[int(rng.integers(len(own)))], other) or group
        return group

    def _somewhere(
        self, group: Group, placed: Sequence[tuple[Group, Spot]], size: Spot, rng: np.random.Generator
    ) -> Spot | None:
        """How far a group can be moved so that it stands apart from others as labelled ones do; None if no way is found."""
        crowded = rng.random() < CROWDED
        for _ in range(TRIED):
            feet = self._layouts[int(rng.integers(len(self._layouts)))]
            if not feet:
                continue
            foot = feet[int(rng.integers(len(feet)))]
            goal = np.array(foot) + rng.integers(-self._jitter, self._jitter + 1, 2)
            free = [np.array(one.foot) + move for one, move in placed if not one.tied]
            if free and crowded:
                signs = rng.choice((-1, 1), 2)
                near = self._near[int(rng.integers(len(self._near)))]
                goal = free[int(rng.integers(len(free)))] + signs * (
                    near + rng.integers(0, self._jitter + 1, 2)
                )
            if (goal < self._first).any() or (goal > self._last).any():
                continue
            away = goal - group.foot
            first, last = _box(group, (int(away[0]), int(away[1])))
            if (first < 0).any() or (last >= size).any():
                continue
            meets = [_overlap(group, (int(away[0]), int(away[1])), one, move) for one, move in placed]
            if any(met and one.tied for met, (one, _) in zip(meets, placed, strict=True)):
                continue
            if free and crowded and not any(meets):
                continue
            if all(self._stands(np.abs(goal - other)) for other in free):
                return int(away[0]), int(away[1])
        return None

    def _stands(self, apart: NDArray[np.int_]) -> bool:
        """Whether two groups were seen that are no farther apart in both directions."""
        return bool((self._apart <= apart).all(1).any())

    def _drawn(self, base: Parts, placed: Sequence[tuple[Group, Spot]]) -> Labelled:
        """The picture of groups, each moved."""
        frame = base.bare.copy()
        owner: NDArray[np.int16] = np.full(frame.shape[:2], NOTHING, np.int16)
        looks = [look for group, _ in placed for look in group.looks]
        kinds = [kind for group, _ in placed for kind in group.kinds]
        firsts = np.cumsum([0, *[len(group.looks) for group, _ in placed]])
        order = sorted(
            range(len(placed)),
            key=lambda one: (not placed[one][0].tied, placed[one][0].foot[0] + placed[one][1][0]),
        )
        for one in order:
            group, away = placed[one]
            if not group.tied:
                _shaded(frame, group, away)
        for one in order:
            group, away = placed[one]
            _pasted(frame, owner, group, away, int(firsts[one]))
        names = [f"{number}-{look}" for number, look in enumerate(looks)]
        masks = {name: owner == number for number, name in enumerate(names)}
        true = {Atom(predicate, ()) for predicate in base.alone}
        for (group, _), first in zip(placed, firsts, strict=False):
            true.update(
                Atom(predicate, tuple(names[first + number] for number in about))
                for predicate, about in group.atoms
            )
        unknown = set()
        for name, look in zip(names, looks, strict=True):
            share, seen = masks[name].sum() / self._large[look], Atom(self._found.predicate.name, (name,))
            if share >= SHOWS:
                true.add(seen)
            elif share > HIDDEN:
                unknown.add(seen)
        objects = Objects(dict(zip(names, kinds, strict=True)), self._vocabulary.types)
        scene = Scene.of_things(objects, dict(zip(names, looks, strict=True)))
        return Labelled(scene, frozenset(true), frame, masks, frozenset(unknown))


def _window(group: Group, away: Spot, size: Spot) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """The part of a picture where a moved cut-out is, and that of the cut-out which is in the picture."""
    top, left = group.corner[0] + away[0], group.corner[1] + away[1]
    height, width = group.owner.shape
    there = slice(max(top, 0), min(top + height, size[0])), slice(max(left, 0), min(left + width, size[1]))
    own = slice(there[0].start - top, there[0].stop - top), slice(there[1].start - left, there[1].stop - left)
    return there, own


def _shaded(frame: Frame, group: Group, away: Spot) -> None:
    there, own = _window(group, away, (frame.shape[0], frame.shape[1]))
    frame[there] = (frame[there] * group.shade[own]).clip(0, 255).round().astype(np.uint8)


def _pasted(frame: Frame, owner: NDArray[np.int16], group: Group, away: Spot, first: int) -> None:
    there, own = _window(group, away, (frame.shape[0], frame.shape[1]))
    shows = group.owner[own] != NOTHING
    frame[there][shows] = group.pixels[own][shows]
    owner[there][shows] = group.owner[own][shows] + first


def _overlap(group: Group, away: Spot, other: Group, move: Spot) -> bool:
    """Whether the rectangles around two moved groups meet."""
    one, two = _box(group, away), _box(other, move)
    return bool((one[0] <= two[1]).all() and (two[0] <= one[1]).all())


def _box(group: Group, away: Spot) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first and last row and column of a moved group's things."""
    spots = np.argwhere(group.owner != NOTHING) + group.corner + away
    return spots.min(0), spots.max(0)
