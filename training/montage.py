"""New labelled pictures, made of parts of labelled ones: groups put elsewhere, with things replaced by others of their outline.

The labels follow: a group brings what is true of its things, and no predicate of two things holds between groups. What is nearer to
the camera, lower in the picture, covers what is behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Frame, Mask, Reading, Scene, VisualVocabulary
from aam_vision.envs.labelled import Labelled
from aam_vision.model.strips import Atom, Objects
from aam_vision.training.cutouts import NOTHING, Group, Numbers, Parts, Spot

T = TypeVar("T", bound=np.generic)

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

STRANGE: Final = 0.35
"""Probability that something which no label speaks of is before the things: a hand, or a thing of another look."""

STRANGE_SIZE: Final = (0.03, 0.1)
"""Its half height and half width, as shares of the picture's height."""

WHOLE: Final = 0.92
"""Share of those pixels, at least, of a thing that shows wholly."""


class _Single(NamedTuple):
    """A thing that shows wholly: its look and type, which pixels of a part of the picture show it, and that part."""

    look: str
    kind: str
    mask: Mask
    pixels: Frame


class Montage:
    """Makes pictures of parts of labelled ones."""

    def __init__(self, vocabulary: VisualVocabulary, parts: Sequence[Parts]) -> None:
        self._vocabulary = vocabulary
        self._groups = [group for one in parts for group in one.groups if group.whole and not group.tied]
        self._bases = [
            one
            for one in parts
            if all(group.whole for group in one.groups if group.tied)
            and (self._groups or any(group.tied for group in one.groups))
        ]
        self._cuts = [cut for group in self._groups for cut in cuts_of(group)]
        self._layouts = [[group.foot for group in one.groups if not group.tied] for one in parts]
        self._most = MORE + max((sum(len(one.looks) for one in each.groups) for each in parts), default=-MORE)
        sizes: dict[str, list[int]] = {}
        for group in (group for one in parts for group in one.groups):
            for number, look in enumerate(group.looks):
                sizes.setdefault(look, []).append(int((group.owner == number).sum()))
        self._large = {look: float(np.quantile(own, LARGE)) for look, own in sizes.items()}
        self._singles: list[_Single] = []
        for group in self._groups:
            for number, look in enumerate(group.looks):
                mask = group.owner == number
                if mask.sum() >= WHOLE * self._large[look]:
                    rows, columns = np.nonzero(mask)
                    part = np.s_[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
                    self._singles.append(_Single(look, group.kinds[number], mask[part], group.pixels[part]))
        pairs = [pair for feet in self._layouts for pair in permutations(feet, 2)] or [((0, 0), (0, 0))]
        self._apart = np.abs(np.diff(np.array(pairs), axis=1)[:, 0])
        feet = np.array([foot for one in self._layouts for foot in one] or [(0, 0)])
        self._jitter = round(JITTER * len(parts[0].bare)) if parts else 0
        self._first, self._last = feet.min(0) - self._jitter, feet.max(0) + self._jitter
        order = self._apart.sum(1).argsort(kind="stable")
        self._near = self._apart[order[: max(len(order) // 4, 1)]]
        (self._found,) = (entry.predicate.name for entry in vocabulary.read_as(Reading.FOUND))

    @property
    def usable(self) -> bool:
        """Whether the labelled pictures have parts to make new ones of."""
        return bool(self._bases)

    def make(self, rng: np.random.Generator) -> Labelled:
        """A picture; all chance comes from ``rng``."""
        base = self._bases[int(rng.integers(len(self._bases)))]
        tied = [group for group in base.groups if group.tied]
        known = {look for group in tied for look in group.looks}
        placed: list[tuple[Group, Spot]] = [(self._replaced(one, known, rng), (0, 0)) for one in tied]
        taken = {look for group, _ in placed for look in group.looks}
        most = int(rng.integers(self._most // 2, self._most + 1))
        for _ in range(TRIED * 2 if self._groups else 0):
            if len(taken) >= most:
                break
            group = self._some(rng)
            if len(taken) + len(group.looks) > most:
                continue
            group = self._replaced(group, taken, rng)
            if taken.intersection(group.looks):
                continue
            away = self._somewhere(group, placed, base.bare.shape[:2], rng)
            if away is not None:
                placed.append((group, away))
                taken.update(group.looks)
        if not placed:  # no group fitted, and nothing can be asked of a picture without things
            placed.append((self._groups[int(rng.integers(len(self._groups)))], (0, 0)))
        strange = _strange(base.bare.shape[:2], rng) if rng.random() < STRANGE else None
        return self._drawn(base, placed, strange)

    def _some(self, rng: np.random.Generator) -> Group:
        """A labelled group, or one made of two or three of them."""
        group = self._groups[int(rng.integers(len(self._groups)))]
        while self._cuts and rng.random() < EXCHANGED:
            own = cuts_of(group) or self._cuts
            other = self._cuts[int(rng.integers(len(self._cuts)))]
            group = exchanged(own[int(rng.integers(len(own)))], other) or group
        return group

    def _replaced(self, group: Group, taken: set[str], rng: np.random.Generator) -> Group:
        """A group with some things replaced by others of about their outline, of which the same is true."""
        looks, kinds, pixels = list(group.looks), list(group.kinds), group.pixels.copy()
        for number, look in enumerate(group.looks):
            if rng.random() >= REPLACED or not self._singles:
                continue
            mask, large = group.owner == number, self._large[look]
            for _ in range(THINGS_TRIED if mask.any() else 0):  # others may hide it wholly
                single = self._singles[int(rng.integers(len(self._singles)))]
                sizes = large, self._large[single.look]
                if single.look in taken or single.look in looks or min(sizes) < (1 - OTHER_SIZE) * max(sizes):
                    continue
                if _painted(pixels, mask, single, whole=mask.sum() >= WHOLE * large):
                    looks[number], kinds[number] = single.look, single.kind
                    break
        return replace(group, looks=tuple(looks), kinds=tuple(kinds), pixels=pixels)

    def _somewhere(
        self, group: Group, placed: Sequence[tuple[Group, Spot]], size: Spot, rng: np.random.Generator
    ) -> Spot | None:
        """How far a group can be moved so that it stands apart from others as labelled ones do; None if no way is found."""
        crowded = rng.random() < CROWDED
        own_first, own_last = _box(group.owner != NOTHING) + np.array(group.corner)
        boxes = [
            (one.tied, *(_box(one.owner != NOTHING) + np.array(one.corner) + move)) for one, move in placed
        ]
        free = [np.array(one.foot) + move for one, move in placed if not one.tied]
        for _ in range(TRIED):
            feet = self._layouts[int(rng.integers(len(self._layouts)))]
            if not feet:
                continue
            foot = feet[int(rng.integers(len(feet)))]
            goal = np.array(foot) + rng.integers(-self._jitter, self._jitter + 1, 2)
            if free and crowded:
                signs = rng.choice((-1, 1), 2)
                near = self._near[int(rng.integers(len(self._near)))]
                other = free[int(rng.integers(len(free)))]
                goal = other + signs * (near + rng.integers(0, self._jitter + 1, 2))
            if (goal < self._first).any() or (goal > self._last).any():
                continue
            away = int(goal[0]) - group.foot[0], int(goal[1]) - group.foot[1]
            first, last = own_first + away, own_last + away
            if (first < 0).any() or (last >= size).any():
                continue
            meets = [tied for tied, low, high in boxes if (first <= high).all() and (low <= last).all()]
            if any(meets) or (free and crowded and not meets):
                continue
            # two groups were seen that are no farther apart in both directions
            if all((self._apart <= np.abs(goal - other)).all(1).any() for other in free):
                return away
        return None

    def _drawn(
        self, base: Parts, placed: Sequence[tuple[Group, Spot]], strange: tuple[Mask, Frame] | None
    ) -> Labelled:
        """The picture of groups, each moved; what is nearer covers what is farther, and what is strange covers all."""
        frame = base.bare.copy()
        owner: NDArray[np.int16] = np.full(frame.shape[:2], NOTHING, np.int16)
        looks = [look for group, _ in placed for look in group.looks]
        names = [f"{number}-{look}" for number, look in enumerate(looks)]
        firsts = np.cumsum([0, *[len(group.looks) for group, _ in placed]]).tolist()
        windows = [_window(group, away, owner.shape) for group, away in placed]
        drawn = list(zip(placed, windows, firsts, strict=False))
        drawn.sort(key=lambda one: (not one[0][0].tied, one[0][0].foot[0] + one[0][1][0]))
        for (group, _), (there, own), _ in drawn:
            if not group.tied:
                frame[there] = (frame[there] * group.shade[own]).clip(0, 255).round().astype(np.uint8)
        for (group, _), (there, own), first in drawn:
            shows = group.owner[own] != NOTHING
            frame[there][shows] = group.pixels[own][shows]
            owner[there][shows] = group.owner[own][shows] + first
        if strange is not None:
            owner[strange[0]] = NOTHING
            frame[strange[0]] = strange[1][strange[0]]
        masks = {name: owner == number for number, name in enumerate(names)}
        true, unknown = {Atom(predicate, ()) for predicate in base.alone}, set()
        for (group, _), first in zip(placed, firsts, strict=False):
            for predicate, about in group.atoms:
                true.add(Atom(predicate, tuple(names[first + number] for number in about)))
        for name, look in zip(names, looks, strict=True):
            share, seen = masks[name].sum() / self._large[look], Atom(self._found, (name,))
            if share >= SHOWS:
                true.add(seen)
            elif share > HIDDEN:
                unknown.add(seen)
        kinds = [kind for group, _ in placed for kind in group.kinds]
        objects = Objects(dict(zip(names, kinds, strict=True)), self._vocabulary.types)
        scene = Scene.of_things(objects, dict(zip(names, looks, strict=True)))
        return Labelled(scene, frozenset(true), frame, masks, frozenset(unknown))


def _strange(size: Spot, rng: np.random.Generator) -> tuple[Mask, Frame]:
    """Which pixels something strange covers, and a picture of its colours: an ellipse, with or without an arm that reaches in from below."""
    height, width = size
    down, across = np.mgrid[:height, :width]
    row, column = rng.uniform(0.2, 0.9) * height, rng.uniform(0.05, 0.95) * width
    high, wide = rng.uniform(*STRANGE_SIZE, 2) * height
    mask = ((down - row) / high) ** 2 + ((across - column) / wide) ** 2 < 1
    if rng.random() < 0.5:
        lean = rng.uniform(-0.5, 0.5)
        mask |= (down > row) & (np.abs(across - column - lean * (down - row)) < 0.7 * wide)
    shade = (
        1 + rng.uniform(-0.4, 0.4) * (across - column) / wide + rng.uniform(-0.4, 0.4) * (down - row) / high
    )
    colours = rng.uniform(20, 250, 3) * shade.clip(0.5, 1.3)[..., None] + rng.normal(0, 4, (*size, 3))
    return mask, colours.clip(0, 255).round().astype(np.uint8)


def _window(
    group: Group, away: Spot, size: tuple[int, ...]
) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """The part of a picture where a moved cut-out is, and that of the cut-out which is in the picture."""
    parts = []
    for corner, move, length, whole in zip(group.corner, away, group.owner.shape, size, strict=True):
        first, last = max(corner + move, 0), min(corner + move + length, whole)
        parts.append((slice(first, last), slice(first - corner - move, last - corner - move)))
    (down, own_down), (across, own_across) = parts
    return (down, across), (own_down, own_across)


def _box(mask: Mask) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first and last row and column of a mask that is not empty."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return np.array([rows[0], columns[0]]), np.array([rows[-1], columns[-1]])


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
    """The second side and the place of a group (``below``) with the first side of another one (``above``); None if they do not fit."""
    lower, upper = below.group, above.group
    low, high = below.sides[1], above.sides[0]
    looks = [*(lower.looks[one] for one in low), *(upper.looks[one] for one in high)]
    if below.predicate != above.predicate or len(set(looks)) < len(looks):
        return None
    first = np.array(lower.corner)
    second = np.array(upper.corner) + _foot(lower, below.ends[0]) - _foot(upper, above.ends[0])
    corner = np.minimum(first, second)
    size = np.maximum(first + lower.owner.shape, second + upper.owner.shape) - corner
    first, second = first - corner, second - corner
    kept, gone = _renumbered(lower, low, 0), _renumbered(lower, below.sides[0], 0) != NOTHING
    owner, gap = _spread(kept, first, size, NOTHING), _spread(gone, first, size, 0)
    pixels, put = _spread(lower.pixels, first, size, 0), _renumbered(upper, high, len(low))
    there, shows = tuple(map(slice, second, second + put.shape)), put != NOTHING
    owner[there][shows], pixels[there][shows] = put[shows], upper.pixels[shows]
    gap &= owner == NOTHING
    most = GAP * np.count_nonzero(lower.owner == below.ends[0])
    if not _filled(owner, pixels, gap, low.index(below.ends[1]), most):
        return None
    numbers = (
        {one: number for number, one in enumerate(low)},
        {one: number for number, one in enumerate(high, len(low))},
    )
    atoms = [
        (predicate, tuple(own[thing] for thing in about))
        for group, own in zip((lower, upper), numbers, strict=True)
        for predicate, about in group.atoms
        if set(about) <= own.keys()
    ]
    atoms.append((below.predicate, (numbers[1][above.ends[0]], numbers[0][below.ends[1]])))
    kinds = (*(lower.kinds[one] for one in low), *(upper.kinds[one] for one in high))
    shade = _spread(lower.shade, first, size, 1)
    place = int(corner[0]), int(corner[1])
    return Group(
        tuple(looks), kinds, tuple(atoms), owner, pixels, shade, place, lower.foot, tied=False, whole=True
    )


def _renumbered(group: Group, things: Sequence[int], first: int) -> Numbers:
    """Which pixels show each of some things, whose numbers are ``first`` and so on."""
    numbers: Numbers = np.full(len(group.looks) + 1, NOTHING, np.int8)  # the last one is that of NOTHING
    numbers[[*things]] = range(first, first + len(things))
    return numbers[group.owner]


def _spread(part: NDArray[T], at: NDArray[np.intp], size: NDArray[np.intp], value: int) -> NDArray[T]:
    """A part of a picture in the middle of a larger one; ``value`` around it."""
    (top, left), (height, width) = at, part.shape[:2]
    whole = np.full((*size, *part.shape[2:]), value, part.dtype)
    whole[top : top + height, left : left + width] = part
    return whole


def _foot(group: Group, thing: int) -> NDArray[np.intp]:
    """The lowest row of a thing, and the middle of its columns, in the picture."""
    mask = group.owner == thing
    if not mask.any():
        return np.array(group.foot)
    (_, left), (lowest, right) = _box(mask)
    foot: NDArray[np.intp] = np.array([lowest, (left + right) // 2])
    return foot + group.corner


def _filled(
    owner: NDArray[np.int8], pixels: NDArray[np.uint8], gap: NDArray[np.bool_], thing: int, most: float
) -> bool:
    """Fill gaps beside a thing with its pixels; say whether there were few of them."""
    from scipy.ndimage import binary_dilation

    mask = owner == thing
    if not mask.any():
        return False
    if not gap.any():
        return True
    (top, left), (bottom, right) = _box(gap)
    around = np.s_[max(top - NEAR, 0) : bottom + NEAR + 1, max(left - NEAR, 0) : right + NEAR + 1]
    owner, pixels, mask = owner[around], pixels[around], mask[around]
    spots = np.argwhere(gap[around] & binary_dilation(mask, iterations=NEAR))
    if len(spots) > most:
        return False
    if len(spots):
        own = np.argwhere(mask)
        nearest = own[np.abs(spots[:, None] - own).sum(2).argmin(1)]
        owner[tuple(spots.T)], pixels[tuple(spots.T)] = thing, pixels[tuple(nearest.T)]
    return True


# A thing replaced by another one of its outline: a group with other looks, of which the same is true.


def _painted(pixels: Frame, mask: Mask, single: _Single, *, whole: bool) -> bool:
    """Paint a thing over another one, if it has its outline as far as that shows."""
    rows, columns = np.nonzero(mask)
    height, width = single.mask.shape
    (first, left_most), (last, right_most) = (rows.min(), columns.min()), (rows.max(), columns.max())

    def common(place: Spot) -> int:
        """Pixels of both, with the upper left corner of the thing there."""
        top, left = place
        down, across = max(top, first), max(left, left_most)  # of what both boxes have in common
        low, right = min(top + height, last + 1), min(left + width, right_most + 1)
        own = single.mask[down - top : low - top, across - left : right - left]
        return int(np.count_nonzero(own & mask[down:low, across:right]))

    resting, centred = int(last + 1 - height), int((left_most + right_most + 1 - width) // 2)
    places = product(range(resting - 1, resting + 2), range(centred - 1, centred + 2))
    top, left = best = max(places, key=common)  # the first of several
    covered = common(best)
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
