"""A thing over something else: how a cell is recognised that nobody labelled, because what is in it was labelled elsewhere.

A car upon any of four parking places, framed or not, facing any of four sides, has more looks than few labels can show. But two
labelled cells that are the same except where a thing is, one with it and one without, tell which pixels the thing touches, what
it looks like there, and what its being there changes in the labels. Any other labelled look with the thing over it is known
then, too. A cell is taken for such a pair only if *all* of its pixels are as they must be: like the thing where it covers the
ground, like the ground where it leaves that free, and between the two at its border. Where several pairs make the same pixels,
nothing is said about what they disagree on.

How much of the ground shines through a pixel at a thing's border is known if the thing was labelled on two grounds that differ
there. A ground on which that is not known is not used: upon a red ground, a red lamp could be taken for one that is off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.looks import IDENTICAL, NO_LABEL, Answers, LabelledLooks, Looks, inner

TOLERANCE: Final = 2.0
"""The root of the mean squared difference of a cell's pixels from what they must be: a larger one takes more for a known pair, and
is wrong more often. Rounding alone makes 0.5."""

RIVALS: Final = 3.0
"""Pairs within so many times this difference of the best one must agree on an answer: a larger one says less."""

TOUCHED: Final = 4.0
"""Difference of a pixel's colours from which on a thing is seen in it: a smaller one takes noise for things."""

FREE: Final = 0.2
"""Share of a cell's pixels that a thing leaves free at least: of one that covers all, any look could be beneath."""

NOISE: Final = 1.5
"""Of a pixel's colour, by which a share is measured that much worse where two grounds differ less: a larger one takes more for a known
pair."""

LEEWAY: Final = 4.0
"""The root of the mean squared difference that unknown shares may make in a cell's pixels: a larger one explains more cells, and leaves
more room for what is no known pair."""

MOST_LOOKS: Final = 300
"""Labelled cells whose things are compared: where more were labelled, things were labelled over others, too, and comparing takes
long."""

MOST_PAIRS: Final = 5_000
"""Pairs that cells are compared with: more of them take more memory (8 kB each) and time. Where there are more, none are used."""

BLOCK: Final = 64
"""Cells that are compared with all pairs at a time."""

Pixels = NDArray[np.float32]
"""(..., pixels, 3): without those at a cell's edges."""

Shares = NDArray[np.float32]
"""(..., pixels), from 0 to 1: how much of the ground shines through."""


@dataclass(frozen=True)
class Explained:
    """What a cell shows by all pairs that make its pixels.

    Args:
        labels: (heads,), what they agree on.
        open: (heads,), what they do not agree on.
        identical: whether the pixels differ by no more than rounding.
    """

    labels: Answers
    open: NDArray[np.bool_]
    identical: bool


@dataclass(frozen=True)
class _Thing:
    """A labelled cell and another one that differ by a thing.

    Args:
        one: the number of the cell with the thing.
        other: of that without it.
        labels: (heads,), with it.
        without: (heads,), without it.
        least: how much of a ground shines through at least.
        most: and at most.
    """

    one: int
    other: int
    labels: Answers
    without: Answers
    least: Shares
    most: Shares

    @property
    def changed(self) -> NDArray[np.bool_]:
        """(heads,), what the thing changes."""
        found: NDArray[np.bool_] = self.labels != self.without
        return found


class Overlays:
    """Labelled looks with labelled things over them."""

    def __init__(self, known: LabelledLooks) -> None:
        numbers, counts = np.unique(known.places, return_counts=True)
        single = set(numbers[counts == 1].tolist())
        cells = np.flatnonzero([place in single for place in known.places.tolist()])
        places = known.places[cells]
        self._asked, self._labels = known.asked[places], known.labels[places]
        self._looks = _pixels(known.looks[known.cells[cells]])
        things = []
        if len(self._looks) <= MOST_LOOKS:
            things = [self._measured(thing) for one in range(len(self._looks)) for thing in self._things(one)]
        grounds = [self._settled(thing) for thing in things]
        self._pairs: dict[bytes, _Pairs] = {}
        """Per kind of places, all pairs of a thing and a look of such a place; none where there are too many."""
        for asked in np.unique(self._asked, axis=0):
            mine = (self._asked == asked).all(1)
            pairs = [
                (thing, int(one))
                for thing, them in zip(things, grounds, strict=True)
                for one in them[mine[them]]
            ]
            if 0 < len(pairs) <= MOST_PAIRS:
                labels = np.array([self._with(thing, ground) for thing, ground in pairs])
                self._pairs[asked.tobytes()] = _Pairs(pairs, labels, self._looks)

    def explain(self, cells: Looks, asked: NDArray[np.bool_]) -> list[Explained | None]:
        """What cells (n, ...) show, of which these classifiers are asked, (heads,); None for one that is no labelled thing over a look."""
        pairs = self._pairs.get(asked.tobytes())
        if pairs is None:
            return [None] * len(cells)
        pixels, found = _pixels(cells), []
        for begin in range(0, len(pixels), BLOCK):
            found += pairs.explain(pixels[begin : begin + BLOCK])
        return found

    def _things(self, one: int) -> Iterator[_Thing]:
        """What is seen in a labelled cell and not in others: for each way in which others are labelled, the nearest of them."""
        look, labels = self._looks[one], self._labels[one]
        added = ((labels == 1) & (self._labels != 1)).any(1)
        others = np.flatnonzero((self._asked == self._asked[one]).all(1) & added)
        for kind in np.unique(self._labels[others], axis=0):
            same = others[(self._labels[others] == kind).all(1)]
            other = int(same[int(((self._looks[same] - look) ** 2).mean((1, 2)).argmin())])
            touched = np.abs(look - self._looks[other]).max(1) > TOUCHED
            if touched.any() and touched.mean() <= 1 - FREE:
                least, most = np.where(touched, 0, 1), np.where(_inside(touched), 0, 1)
                yield _Thing(one, other, labels, kind, least.astype(np.float32), most.astype(np.float32))

    def _grounds(self, thing: _Thing) -> NDArray[np.intp]:
        """The numbers of labelled cells on which a thing would change what it changes."""
        changed = thing.changed
        may = self._asked[:, changed & (thing.labels != NO_LABEL)].all(1)
        return np.flatnonzero(may & (self._labels[:, changed] == thing.without[changed]).all(1))

    def _settled(self, thing: _Thing) -> NDArray[np.intp]:
        """The numbers of those on which it is known how much of the ground shines through, where that is to be seen."""
        grounds = self._grounds(thing)
        differ = np.abs(self._looks[grounds] - self._looks[thing.other]).max(2)
        settled: NDArray[np.intp] = grounds[(((thing.most - thing.least) * differ) ** 2).mean(1) <= LEEWAY**2]
        return settled

    def _measured(self, thing: _Thing) -> _Thing:
        """A thing with what other labelled cells with it tell of how much shines through."""
        least, most, touched = thing.least.copy(), thing.most.copy(), thing.least < 1
        width = touched.astype(np.float32)
        for cell, ground in self._again(thing):
            beneath = self._looks[ground] - self._looks[thing.other]
            over = self._looks[cell] - self._looks[thing.one]
            shares, away = _shares(over, beneath, thing.least, np.ones_like(most))
            if away > TOLERANCE:
                continue
            inaccuracy = NOISE / np.maximum(np.abs(beneath).max(1), NOISE)
            better = touched & (2 * inaccuracy < width)
            width[better] = 2 * inaccuracy[better]
            least[better] = np.maximum(shares - inaccuracy, 0)[better]
            most[better] = np.minimum(shares + inaccuracy, 1)[better]
        return _Thing(thing.one, thing.other, thing.labels, thing.without, least, most)

    def _again(self, thing: _Thing) -> Iterator[tuple[int, int]]:
        """Other labelled cells with the same thing, and the grounds that these seem to have where it leaves them free."""
        changed, free = thing.changed, thing.least == 1
        cells = np.flatnonzero((self._labels[:, changed] == thing.labels[changed]).all(1))
        plain = (self._looks[thing.one] - self._looks[thing.other])[free]
        for ground in self._grounds(thing):
            there, here = self._labels[cells][:, ~changed], self._labels[ground][~changed]
            same = ((there == here) | (there == NO_LABEL) | (here == NO_LABEL)).all(1)
            alike = cells[same & (self._asked[cells] == self._asked[ground]).all(1)]
            left = self._looks[alike][:, free] - (self._looks[ground][free] + plain)
            near = (left**2).sum((1, 2)) <= TOLERANCE**2 * self._looks[ground].size
            yield from ((int(cell), int(ground)) for cell in alike[near])

    def _with(self, thing: _Thing, ground: int) -> Answers:
        """(heads,), the labels of a ground with a thing on it: nothing is said of what was never labelled beneath the thing."""
        changed, labels = thing.changed, self._labels[ground]
        alike = (self._asked == self._asked[ground]).all(1)
        alike &= (self._labels[:, changed] == thing.labels[changed]).all(1)
        hidden = (self._labels[alike] == NO_LABEL).all(0) if alike.any() else np.zeros_like(changed)
        found: Answers = np.where(changed, thing.labels, np.where(hidden, NO_LABEL, labels))
        return found


class _Pairs:
    """Pairs of a thing and the look beneath it, for places of one kind.

    Pixel by pixel, a pair looks like ``over + share * beneath``: ``over`` is the cell in which the thing was labelled, ``beneath``
    the difference of the two grounds.

    Args:
        pairs: of things and numbers of looks.
        labels: (pairs, heads), theirs.
        looks: (n, pixels, 3), all labelled ones.
    """

    def __init__(self, pairs: Sequence[tuple[_Thing, int]], labels: Answers, looks: Pixels) -> None:
        ground = [look for _, look in pairs]
        self._labels = labels
        self._over = looks[[thing.one for thing, _ in pairs]]
        self._beneath = looks[ground] - looks[[thing.other for thing, _ in pairs]]
        self._least = np.array([thing.least for thing, _ in pairs])
        self._most = np.array([thing.most for thing, _ in pairs])
        # where the share is known exactly, all cells and pairs are compared at once
        exact = np.repeat((self._least == self._most)[..., None], 3, axis=2).astype(np.float32)
        plain = self._over + self._least[..., None] * self._beneath
        self._exact, self._plain = exact.reshape(len(pairs), -1), plain.reshape(len(pairs), -1)

    def explain(self, pixels: Pixels) -> list[Explained | None]:
        """What cells (n, pixels, 3) show; None for those that no pair makes."""
        exact, plain, flat = self._exact, self._plain, pixels.reshape(len(pixels), -1)
        squares = flat**2 @ exact.T - 2 * flat @ (plain * exact).T + (plain**2 * exact).sum(1)
        possible = squares <= (RIVALS * TOLERANCE) ** 2 * flat.shape[1]
        return [self._of(one, np.flatnonzero(some)) for one, some in zip(pixels, possible, strict=True)]

    def _of(self, pixels: Pixels, pairs: NDArray[np.intp]) -> Explained | None:
        """What a cell (pixels, 3) shows by those pairs that may make it."""
        if not len(pairs):
            return None
        _, away = _shares(
            pixels - self._over[pairs], self._beneath[pairs], self._least[pairs], self._most[pairs]
        )
        least = float(away.min())
        if least > TOLERANCE:
            return None
        labels = self._labels[pairs[away <= max(TOLERANCE, RIVALS * least)]]
        agreed = (labels == labels[0]).all(0)
        return Explained(np.where(agreed, labels[0], NO_LABEL).astype(np.int8), ~agreed, least <= IDENTICAL)


def _shares(over: Pixels, beneath: Pixels, least: Shares, most: Shares) -> tuple[Shares, Shares]:
    """How much of the ground must shine through, (..., pixels), and how far the pixels are from that, (...).

    Args:
        over: (..., pixels, 3), the difference of a cell and that in which the thing was labelled.
        beneath: (..., pixels, 3), the difference of their grounds.
        least: (..., pixels), of what is possible.
        most: (..., pixels), of what is possible.
    """
    best = (over * beneath).sum(-1) / np.maximum((beneath**2).sum(-1), 1e-6)
    shares = np.clip(best, least, most)
    left = over - shares[..., None] * beneath
    return shares, np.sqrt((left**2).mean((-2, -1)))


def _pixels(looks: Looks) -> Pixels:
    """(n, pixels, 3), without the edges, into which what is beside a cell blends."""
    own = inner(looks).astype(np.float32)
    flat = own.reshape(*own.shape[:2], own.shape[2] * own.shape[3])
    return np.ascontiguousarray(np.moveaxis(flat, 1, 2))


def _inside(touched: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(pixels,): those all of whose neighbours are touched, too."""
    side = round(len(touched) ** 0.5)
    board = np.pad(touched.reshape(side, side), 1, constant_values=True)
    shifted = [board[y : y + side, x : x + side] for y in range(3) for x in range(3)]
    found: NDArray[np.bool_] = np.all(shifted, axis=0).reshape(-1)
    return found
