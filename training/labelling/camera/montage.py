"""New labelled pictures, made of what labelled ones show: groups put elsewhere, with things replaced by others of their outline.

The labels follow: a group brings what is true of its things, and no predicate of two things holds between groups. What is nearer to
the camera, lower in the picture, covers what is behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.labelled import Labelled
from aam_vision.perception import Frame, Mask, Perceived, Reading, Scene, VisualVocabulary
from aam_vision.strips import Atom, Objects
from aam_vision.training.labelling.camera.cutouts import NOTHING, Group, Parts, Spot

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


# Groups of things made of two others: what hangs on one side of a relation in the one, with what is on its other side in the
# other.
#
# Of a pile and another pile the lower part of the first with the upper part of the second makes a third. Every thing stays on
# its side of a relation of the same kind, so that what is true of it alone stays true: what bore something bears something, what
# stood on a thing stands on a thing.


GAP: Final = 0.12
"""Share of a thing's pixels, at most, that are to be filled in where the one that comes into its place leaves a gap."""

NEAR: Final = 3
"""Gaps so near to the thing below are filled with its pixels; others show what is behind."""


@dataclass(frozen=True)
class Cut:
    """A relation of a group that is all that holds its two sides together.

    Attributes:
        group: the group.
        predicate: of the relation.
        ends: the numbers of its two things.
        sides: the numbers of all things on the side of the first, and of the second.
    """

    group: Group
    predicate: str
    ends: tuple[int, int]
    sides: tuple[tuple[int, ...], tuple[int, ...]]


def cuts_of(group: Group) -> list[Cut]:
    """All such relations of a group."""
    pairs = [(predicate, about) for predicate, about in group.atoms if len(about) == 2]
    found = []
    for predicate, (one, other) in pairs:
        side = {one}
        rest = [about for relation, about in pairs if (relation, about) != (predicate, (one, other))]
        for _ in group.looks:
            side.update(thing for about in rest if side.intersection(about) for thing in about)
        if other not in side:
            everything = range(len(group.looks))
            sides = tuple(sorted(side)), tuple(thing for thing in everything if thing not in side)
            found.append(Cut(group, predicate, (one, other), sides))
    return found


def exchanged(below: Cut, above: Cut) -> Group | None:
    """The second side of one group with the first side of another one; None if they do not fit.

    Args:
        below: gives the second side, and the place.
        above: gives the first side.
    """
    lower, upper = below.group, above.group
    low, high = below.sides[1], above.sides[0]
    looks = [*(lower.looks[one] for one in low), *(upper.looks[one] for one in high)]
    if below.predicate != above.predicate or len(set(looks)) < len(looks):
        return None
    goal, place = _foot(lower, below.ends[0]), _foot(upper, above.ends[0])
    away = goal[0] - place[0], goal[1] - place[1]
    corner, size = _around(lower, upper, away)
    first = _Sheet(lower, (0, 0), corner, size)
    second = _Sheet(upper, away, corner, size)
    owner = np.full(size, NOTHING, np.int8)
    pixels = first.pixels.copy()
    for number, thing in enumerate(low):
        owner[first.owner == thing] = number
    gap = np.isin(first.owner, below.sides[0])
    for number, thing in enumerate(high, start=len(low)):
        here = second.owner == thing
        owner[here] = number
        pixels[here] = second.pixels[here]
    gap &= owner == NOTHING
    if not _filled(owner, pixels, gap, low.index(below.ends[1]), GAP * (lower.owner == below.ends[0]).sum()):
        return None
    return Group(
        tuple(looks),
        (*(lower.kinds[one] for one in low), *(upper.kinds[one] for one in high)),
        (
            *_atoms(lower, low, 0),
            *_atoms(upper, high, len(low)),
            (below.predicate, (len(low) + high.index(above.ends[0]), low.index(below.ends[1]))),
        ),
        owner,
        pixels,
        first.shade,
        corner,
        lower.foot,
        tied=False,
        whole=True,
    )


class _Sheet:
    """A group's cut-out in the middle of a larger one."""

    def __init__(self, group: Group, away: Spot, corner: Spot, size: Spot) -> None:
        top, left = (group.corner[axis] + away[axis] - corner[axis] for axis in (0, 1))
        height, width = group.owner.shape
        part = np.s_[top : top + height, left : left + width]
        self.owner = np.full(size, NOTHING, np.int8)
        self.pixels = np.zeros((*size, 3), np.uint8)
        self.shade = np.ones((*size, 3), np.float32)
        self.owner[part], self.pixels[part], self.shade[part] = group.owner, group.pixels, group.shade


def _around(lower: Group, upper: Group, away: Spot) -> tuple[Spot, Spot]:
    """Corner and size of what holds a group and another one that is moved."""
    one, other = np.array(lower.corner), np.array(upper.corner) + away
    corner = np.minimum(one, other)
    size = np.maximum(one + lower.owner.shape, other + upper.owner.shape) - corner
    return (int(corner[0]), int(corner[1])), (int(size[0]), int(size[1]))


def _foot(group: Group, thing: int) -> Spot:
    """The lowest row of a thing, and the middle of its columns, in the picture."""
    rows, columns = np.nonzero(group.owner == thing)
    if not len(rows):
        return group.foot
    return int(rows.max()) + group.corner[0], int(columns.min() + columns.max()) // 2 + group.corner[1]


def _filled(
    owner: NDArray[np.int8], pixels: NDArray[np.uint8], gap: NDArray[np.bool_], thing: int, most: float
) -> bool:
    """Fill gaps beside a thing with its pixels; say whether there were few of them."""
    own, spots = np.argwhere(owner == thing), np.argwhere(gap)
    if not len(own):
        return False
    if not len(spots):
        return True
    far = np.abs(spots[:, None] - own[None]).sum(2)
    near = far.min(1) <= NEAR
    if near.sum() > most:
        return False
    for spot, source in zip(spots[near], own[far.argmin(1)[near]], strict=True):
        owner[tuple(spot)], pixels[tuple(spot)] = thing, pixels[tuple(source)]
    return True


def _atoms(group: Group, things: Sequence[int], first: int) -> list[tuple[str, tuple[int, ...]]]:
    """What is true of some things of a group, numbered anew from ``first`` on."""
    return [
        (predicate, tuple(first + list(things).index(one) for one in about))
        for predicate, about in group.atoms
        if set(about) <= set(things)
    ]


# A thing replaced by another one of its outline: a group with other looks, of which the same is true.


REPLACED: Final = 0.6
"""Probability that a thing is replaced by one of another look."""

FITS: Final = 0.06
"""Share of a thing's pixels, at most, that lie outside of the outline of what replaces it."""

OTHER_SIZE: Final = 0.2
"""How much smaller the one of two things is at most that replace each other."""

THINGS_TRIED: Final = 12
"""Things that are tried as a replacement."""

LARGE: Final = 0.9
"""Quantile of the pixels of things of a look that counts as large."""

WHOLE: Final = 0.92
"""Share of those pixels, at least, of a thing that shows wholly."""


@dataclass(frozen=True)
class _Single:
    """A thing that shows wholly: its look and type, which pixels of a part of the picture show it, and that part."""

    look: str
    kind: str
    mask: Mask
    pixels: Frame


def large_sizes(groups: Sequence[Group]) -> dict[str, float]:
    """Look -> the pixels of a large thing of it."""
    sizes: dict[str, list[int]] = {}
    for group in groups:
        for number, look in enumerate(group.looks):
            sizes.setdefault(look, []).append(int((group.owner == number).sum()))
    return {look: float(np.quantile(own, LARGE)) for look, own in sizes.items()}


class Replacements:
    """What things can be replaced by.

    Args:
        groups: in which there are things that show wholly.
        large: see ``large_sizes``.
    """

    def __init__(self, groups: Sequence[Group], large: dict[str, float]) -> None:
        self._large = large
        self._singles = [single for group in groups for single in self._wholly(group)]

    def _wholly(self, group: Group) -> list[_Single]:
        """The things of a group that show wholly."""
        found = []
        for number, look in enumerate(group.looks):
            mask = group.owner == number
            if mask.sum() >= WHOLE * self._large[look]:
                rows, columns = np.nonzero(mask)
                part = np.s_[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
                found.append(_Single(look, group.kinds[number], mask[part], group.pixels[part]))
        return found

    def replaced(self, group: Group, taken: set[str], rng: np.random.Generator) -> Group:
        """A group with some things replaced by others of about their outline."""
        looks, kinds, pixels = list(group.looks), list(group.kinds), group.pixels.copy()
        for number, look in enumerate(group.looks):
            if rng.random() >= REPLACED or not self._singles:
                continue
            mask = group.owner == number
            whole = mask.sum() >= WHOLE * self._large[look]
            for _ in range(THINGS_TRIED):
                single = self._singles[int(rng.integers(len(self._singles)))]
                if single.look in taken or single.look in looks or not self._of_a_size(look, single.look):
                    continue
                if _painted(pixels, mask, single, whole=whole):
                    looks[number], kinds[number] = single.look, single.kind
                    break
        return replace(group, looks=tuple(looks), kinds=tuple(kinds), pixels=pixels)

    def _of_a_size(self, one: str, other: str) -> bool:
        """Whether things of two looks are about equally large."""
        sizes = self._large[one], self._large[other]
        return min(sizes) >= (1 - OTHER_SIZE) * max(sizes)


def _painted(pixels: Frame, mask: Mask, single: _Single, *, whole: bool) -> bool:
    """Paint a thing over another one, if it has its outline as far as that shows."""
    rows, columns = np.nonzero(mask)
    height, width = single.mask.shape
    best: tuple[int, Spot] | None = None
    for lower in (-1, 0, 1):
        for further in (-1, 0, 1):
            top = rows.max() + 1 - height + lower
            left = (columns.min() + columns.max() + 1 - width) // 2 + further
            inside = (rows >= top) & (rows < top + height) & (columns >= left) & (columns < left + width)
            covered = int(single.mask[rows[inside] - top, columns[inside] - left].sum())
            if best is None or covered > best[0]:
                best = covered, (int(top), int(left))
    assert best is not None
    covered, (top, left) = best
    if covered < (1 - FITS) * len(rows) or (whole and covered < (1 - FITS) * single.mask.sum()):
        return False
    at = np.stack([rows - top, columns - left], 1)
    down, across = at.T
    there = (down >= 0) & (down < height) & (across >= 0) & (across < width)
    there[there] = single.mask[tuple(at[there].T)]
    own = np.argwhere(single.mask)
    at[~there] = own[np.abs(own - at[~there, None]).sum(2).argmin(1)]
    pixels[rows, columns] = single.pixels[tuple(at.T)]
    return True
