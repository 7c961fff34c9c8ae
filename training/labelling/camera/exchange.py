"""Groups of things made of two others: what hangs on one side of a relation in the one, with what is on its other side in the other.

Of a pile and another pile the lower part of the first with the upper part of the second makes a third. Every thing stays on its side of a
relation of the same kind, so that what is true of it alone stays true: what bore something bears something, what stood on a thing
stands on a thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.training.labelling.camera.cutouts import NOTHING, Group, Spot

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
