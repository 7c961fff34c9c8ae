"""Labelled pictures, taken apart: groups of things, cut out along their masks, and what is behind them.

Things between which a predicate of two holds (``on(a, b)``) make a *group*, which stays together. A group with a thing of which something
is true that is counted over the whole scene (``holding``, where the vocabulary says that something is held or the hand is empty) is tied to
its place, and so is one with a thing that never leaves its own, such as a drawer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Frame, Mask, Reading, VisualVocabulary
from aam_vision.envs.labelled import Labelled
from aam_vision.model.constraints import Number
from aam_vision.model.strips import Atom

SHADOW: Final = 0.145
"""How far from a group its shadow reaches at most, as a share of the picture's height."""

BESIDE: Final = 2
"""Pixels: a group that is nearer to another one may be partly behind it, and is not put elsewhere."""

OUTLINES: Final = 3
"""Outlines that a thing has at most which never leaves its place: a drawer that is in, out, or half out."""

SAME: Final = 0.6
"""Share of the pixels of two outlines together that they have in common, from which on they are the same: less may be another place."""

MOSTLY: Final = 0.9
"""Share of its pictures, at least, in which it has one of these: in others something hides a part of it, or a label is wrong."""

SIGHTINGS: Final = 6
"""Pictures that show a thing, at least, before it is said to stay where it is."""

NOTHING: Final = -1
"""No thing's pixel."""

WAYS: Final = ((1, 0), (-1, 0), (0, 1), (0, -1))

Spot = tuple[int, int]
"""Row and column of a pixel."""

Numbers = NDArray[np.int8]


@dataclass(frozen=True)
class Group:
    """A group of things, cut out of a picture.

    Attributes:
        looks: of its things.
        kinds: their types.
        atoms: what is true of them: predicates with the numbers of things.
        owner: int8 (h, w), the number of the thing that each pixel shows, ``NOTHING`` elsewhere.
        pixels: uint8 (h, w, 3).
        shade: float32 (h, w, 3), what is behind is multiplied by it: below 1 in the group's shadow.
        corner: of the cut-out in its picture.
        foot: the middle of its lowest row, in its picture.
        tied: whether it belongs to its place.
        whole: whether nothing is in front of it.
    """

    looks: tuple[str, ...]
    kinds: tuple[str, ...]
    atoms: tuple[tuple[str, tuple[int, ...]], ...]
    owner: Numbers
    pixels: Frame
    shade: NDArray[np.float32]
    corner: Spot
    foot: Spot
    tied: bool
    whole: bool


@dataclass(frozen=True)
class Parts:
    """A labelled picture, taken apart: what is true of the scene as a whole, the groups, and the picture without those not tied."""

    alone: tuple[str, ...]
    groups: tuple[Group, ...]
    bare: Frame


def fixed_looks(pictures: Sequence[Labelled]) -> frozenset[str]:
    """Looks of things that never leave their place: nearly all their outlines are among a few. Moved things have others in every picture."""
    outlines: dict[str, list[list[Mask]]] = {}
    for one in pictures:
        for thing, mask in one.masks.items():
            if mask.any():
                known = outlines.setdefault(one.scene.looks[thing], [])
                alike = [own for own in known if (own[0] & mask).sum() >= SAME * (own[0] | mask).sum()]
                alike[0].append(mask) if alike else known.append([mask])
    sizes = {look: sorted(map(len, known), reverse=True) for look, known in outlines.items()}
    return frozenset(
        look
        for look, own in sizes.items()
        if sum(own) >= SIGHTINGS and sum(own[:OUTLINES]) >= MOSTLY * sum(own)
    )


def taken_apart(
    vocabulary: VisualVocabulary, labelled: Labelled, backdrop: Frame, fixed: Collection[str] = ()
) -> Parts | None:
    """The groups of a picture; None where masks are missing, or things share a look. ``fixed``: looks of things that stay in their place."""
    looks, masks = labelled.scene.looks, labelled.masks
    if len(set(looks.values())) < len(looks) or any(thing not in masks for thing in looks):
        return None
    shown = {entry.predicate.name for entry in vocabulary.read_as(Reading.SHOWN)}
    true = sorted((atom for atom in labelled.true if atom.predicate in shown), key=str)
    things = [thing for thing in looks if masks[thing].any()]
    of = {thing: thing for thing in things}
    for atom in true:
        if len(atom.objects) == 2 and set(atom.objects) <= of.keys():
            one, other = (of[thing] for thing in atom.objects)
            of = {thing: one if root == other else root for thing, root in of.items()}
    groups = [[thing for thing in things if of[thing] == root] for root in dict.fromkeys(of.values())]
    place = np.full(labelled.frame.shape[:2], NOTHING, np.int8)  # which group each pixel shows
    for number, own in enumerate(groups):
        for thing in own:
            place[masks[thing]] = number
    near = _nearest(place, differs(labelled.frame, backdrop))
    counted = [dict(item.terms()) for item in vocabulary.constraints if isinstance(item, Number)]
    tied = {name for terms in counted if None in terms.values() for name in terms}
    found, bare = [], np.where((near == NOTHING)[..., None], labelled.frame, backdrop)
    for number, own in enumerate(groups):
        atoms = [atom for atom in true if atom.objects and set(atom.objects) <= set(own)]
        belongs = any(atom.predicate in tied for atom in atoms) or any(looks[thing] in fixed for thing in own)
        found.append(_cut(labelled, backdrop, own, atoms, place, near == number, tied=belongs))
        if belongs:
            bare[near == number] = labelled.frame[near == number]
    return Parts(tuple(atom.predicate for atom in true if not atom.objects), tuple(found), bare)


def _cut(
    labelled: Labelled,
    backdrop: Frame,
    own: Sequence[str],
    atoms: Sequence[Atom],
    place: Numbers,
    near: NDArray[np.bool_],
    *,
    tied: bool,
) -> Group:
    """A group of a picture; ``near``: where it and its shadow are."""
    from scipy.ndimage import binary_dilation

    rows, columns = np.nonzero(near)
    top, left, bottom, right = rows.min(), columns.min(), rows.max() + 1, columns.max() + 1
    part = np.s_[top:bottom, left:right]
    owner = np.full(place.shape, NOTHING, np.int8)
    for number, thing in enumerate(own):
        owner[labelled.masks[thing]] = number
    behind = np.maximum(backdrop.astype(np.float32), 1)
    shade = np.where((near & (owner == NOTHING))[..., None], labelled.frame / behind, 1).astype(np.float32)
    mask = owner != NOTHING
    low = int(np.nonzero(mask.any(1))[0].max())
    around = binary_dilation(mask, iterations=BESIDE)
    scene = labelled.scene
    return Group(
        tuple(scene.looks[thing] for thing in own),
        tuple(scene.objects[thing] for thing in own),
        tuple((atom.predicate, tuple(own.index(thing) for thing in atom.objects)) for atom in atoms),
        owner[part],
        labelled.frame[part],
        shade[part].clip(0, 1.2),
        (int(top), int(left)),
        (low, round(float(np.nonzero(mask[low])[0].mean()))),
        tied,
        whole=not (around & (place != NOTHING) & ~mask).any(),
    )


def _nearest(place: Numbers, changed: NDArray[np.bool_]) -> Numbers:
    """The group that each changed pixel belongs to: that which it shows, else the nearest one within ``SHADOW``."""
    found = place.copy()
    for _ in range(round(SHADOW * len(place))):
        step = found.copy()
        for way in WAYS:
            moved = _moved(found, *way)
            step = np.where((step == NOTHING) & changed & (moved != NOTHING), moved, step)
        if (step == found).all():
            break
        found = step
    return found


def _moved(numbers: Numbers, down: int, across: int) -> Numbers:
    """Moved by one pixel; ``NOTHING`` comes in."""
    height, width = numbers.shape
    wide = np.pad(numbers, 1, constant_values=NOTHING)
    return wide[1 - down : 1 - down + height, 1 - across : 1 - across + width]


# What a fixed camera sees apart from the things: the median of many pictures, which needs no label.


MOST: Final = 120
"""Pictures that the median is taken of, at most: more of them are steadier, and take memory."""

DIFFERS: Final = 8
"""Of 255: how much a pixel differs from the backdrop, in its most different colour, where something else shows or casts a shadow."""


def backdrop_of(frames: Sequence[Frame]) -> Frame:
    """The median of pictures of one camera, pixel by pixel.

    Where one thing stands in more than half of the pictures, it is taken for a part of the backdrop.
    """
    chosen = np.linspace(0, len(frames) - 1, min(MOST, len(frames))).round().astype(int)
    found: Frame = np.median(np.stack([frames[number] for number in chosen]), axis=0).astype(np.uint8)
    return found


def differs(frame: Frame, backdrop: Frame) -> NDArray[np.bool_]:
    """(height, width): where a picture differs from the backdrop."""
    found: NDArray[np.bool_] = np.abs(frame.astype(np.int16) - backdrop).max(2) > DIFFERS
    return found
