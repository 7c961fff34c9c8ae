"""A thing replaced by another one of its outline: a group with other looks, of which the same is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from aam_vision.perception import Frame, Mask
from aam_vision.training.labelling.camera.cutouts import Group, Spot

REPLACED: Final = 0.6
"""Probability that a thing is replaced by one of another look."""

FITS: Final = 0.06
"""Share of a thing's pixels, at most, that lie outside of the outline of what replaces it."""

OTHER_SIZE: Final = 0.2
"""How much smaller the one of two things is at most that replace each other."""

TRIED: Final = 12
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
            for _ in range(TRIED):
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
