"""What looks like something labelled is recognised, and all else refused: for classifiers that learned from few labels.

A network that learned from few labels is sure of things that it never saw. So every place is also compared with labelled
places. The *look* of a cell is its pixels, in several sizes, because things are drawn in other sizes on boards of other
shapes. A place is recognised if it is nearer to a labelled one than things of that label are to each other on different
boards, and farther from all that are labelled otherwise; or if it is one cell with a thing over something else, both of which
were labelled (``Overlays``). About any other place nothing is said, and nothing where the network surely says otherwise in
anything of a cell that is not the same as a labelled one: a thing that is alike in one way was taken for another. What the
network makes of labelled pixels is no second opinion, but what it has not learned.

Classifiers that passed their test on pictures of a user's own read all they should, but know no doubt: they still say something
of what they never saw, of a hand, of an intruder, in the light of another lamp. What a program draws has few looks, so all of
those that were learned from are kept. A place is *familiar* if each of its cells is as near to one of them as equal things are
to each other on different boards. The classifiers are believed about it if they say what was right of such a look; of any other
place nothing is said.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.legality import Probabilities
from aam_vision.classifiers.looks import (
    IDENTICAL,
    NO_LABEL,
    Answers,
    LabelledLooks,
    Looks,
    distances_in_sizes,
    in_sizes,
    inner,
    shifted,
)

MARGIN: Final = 1.3
"""Places that are labelled otherwise must be so many times farther away: a larger one refuses more."""

ALIKE: Final = 2.0
"""What is nearer than this looks the same, whatever its labels are: a larger one refuses more."""

WIDER: Final = 2.0
"""How much farther than usual a place may be away where others are much farther: a larger one says more about what was never
labelled."""

REMEMBERED: Final = 20_000
"""Places whose labels are kept, so that they are compared once: more of them cost memory."""

Found = TypeVar("Found")


class Comparison(ABC, Generic[Found]):
    """Compares places with labelled ones of which the same classifiers are asked, each place once."""

    def __init__(self) -> None:
        self._memory: dict[tuple[bytes, bytes], Found] = {}

    def compare(self, places: Sequence[Looks], asked: NDArray[np.bool_]) -> list[Found]:
        """What is found of every place.

        Args:
            places: the looks of each one's cells.
            asked: (heads, places), which classifiers are asked of it.
        """
        pixels = [self.pixels(cells).tobytes() for cells in places]
        keys = [(column.tobytes(), own) for column, own in zip(asked.T, pixels, strict=True)]
        memory = self._memory
        found = {key: memory[key] for key in keys if key in memory}
        new = {key: cells for key, cells in zip(keys, places, strict=True) if key not in found}
        for kind in dict.fromkeys(kind for kind, _ in new):
            mine = [key for key in new if key[0] == kind]
            found.update(zip(mine, self.of_kind(kind, [new[key] for key in mine]), strict=True))
        if len(memory) > REMEMBERED:  # a new one, not the old one emptied: another thread may be reading that
            memory = self._memory = {}
        memory.update(found)
        return [found[key] for key in keys]

    def pixels(self, cells: Looks) -> Looks:
        """Those that places of equal findings have in common."""
        return cells

    @abstractmethod
    def of_kind(self, kind: bytes, places: Sequence[Looks]) -> Sequence[Found]:
        """What is found of places; ``kind`` is the classifiers that are asked of them, as in ``LabelledLooks.by_kind``."""

    def doubted(
        self,
        probabilities: Probabilities,
        places: Sequence[Looks],
        asked: NDArray[np.bool_],
        sure: tuple[Probabilities, Probabilities],
    ) -> Probabilities:
        """The probabilities (heads, places) of a network, one half where nothing can be said.

        Args:
            probabilities: of the network.
            places: the looks of each one's cells.
            asked: (heads, places).
            sure: (heads, 1) each, below and above which the network is sure.
        """
        doubted, (low, high) = probabilities.copy(), sure
        self.doubt(doubted, self.compare(places, asked), low[:, 0], high[:, 0])
        return doubted

    @abstractmethod
    def doubt(
        self, said: Probabilities, found: Sequence[Found], low: Probabilities, high: Probabilities
    ) -> None:
        """Take back what cannot be said of places (heads, places); ``low`` and ``high`` are (heads,)."""


@dataclass(frozen=True)
class Recognised:
    """What a place looks like.

    Args:
        labels: (heads,), of the labelled places that look the same.
        identical: whether it is one cell with the pixels of a labelled one, or of one thing over another.
        hidden: numbers of heads of which nothing can be said.
    """

    labels: Answers
    identical: bool = False
    hidden: tuple[int, ...] = ()


class Recognition(Comparison[Recognised | None]):
    """Tells the labels of places that look like labelled ones."""

    def __init__(self, known: LabelledLooks) -> None:
        super().__init__()
        self._groups = {asked: _Group(known, mine) for asked, mine in known.by_kind().items()}
        self._overlays = Overlays(known)

    def labels(self, places: Sequence[Looks], asked: NDArray[np.bool_]) -> list[Answers | None]:
        """Per place the labels, (heads,), of those that look the same; None where there are none. See ``compare``."""
        return [None if found is None else found.labels for found in self.compare(places, asked)]

    def of_kind(self, kind: bytes, places: Sequence[Looks]) -> Sequence[Recognised | None]:
        found: list[Recognised | None] = [None] * len(places)
        if group := self._groups.get(kind):
            found = group.recognise(places)
        single = [number for number, one in enumerate(found) if one is None and len(places[number]) == 1]
        if single:  # each may be one thing over another
            cells = np.concatenate([places[number] for number in single])
            explained = self._overlays.explain(cells, np.frombuffer(kind, bool))
            for number, over in zip(single, explained, strict=True):
                found[number] = over
        return found

    def doubt(
        self, said: Probabilities, found: Sequence[Recognised | None], low: Probabilities, high: Probabilities
    ) -> None:
        for place, like in enumerate(found):
            if like is None:
                said[:, place] = 0.5
                continue
            own, labels = said[:, place], like.labels
            against = ((labels == 1) & (own < low)) | ((labels == 0) & (own > high))
            if against.any() and not like.identical:  # it is no such place, and nothing of it is sure
                said[:, place] = 0.5
            else:
                said[labels >= 0, place] = labels[labels >= 0]
                said[list(like.hidden), place] = 0.5


def unlike(probabilities: NDArray[np.float32], asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which places look unlike everything labelled, (places,): of which ``doubted`` leaves nothing; ``asked`` is (heads, places)."""
    nothing: NDArray[np.bool_] = ((probabilities == 0.5) | ~asked).all(0)
    return nothing & asked.any(0)


class _Group:
    """Labelled places of which the same classifiers are asked."""

    def __init__(self, known: LabelledLooks, mine: NDArray[np.intp]) -> None:
        cells = np.flatnonzero(np.isin(known.places, mine))
        looks, self._look = np.unique(known.cells[cells], return_inverse=True)
        self._sized = in_sizes(known.looks[looks])
        self._place = np.searchsorted(mine, known.places[cells])
        self._labels, self._limits = known.labels[mine], known.limits[mine]
        self._single = len(cells) == len(mine)
        if not self._single:
            among = distances_in_sizes(known.looks[looks], self._sized)
            self._apart = among[np.ix_(self._look, self._look)]
            self._kinds = [
                (labels, (self._labels == labels).all(1)) for labels in np.unique(self._labels, axis=0)
            ]

    def recognise(self, places: Sequence[Looks]) -> list[Recognised | None]:
        """What places look like; None of those that are not recognised."""
        cells, own = np.unique(np.concatenate(places), axis=0, return_inverse=True)
        away = distances_in_sizes(cells, self._sized)
        ends = np.cumsum([len(place) for place in places])
        each = [away[rows][:, self._look] for rows in np.split(own.reshape(-1), ends[:-1])]
        if not self._single:
            return [self._of_cells(rows) for rows in each]
        # places of one cell say nothing of what a larger one looks like
        return [self._of_cell(rows[0]) if len(rows) == 1 else None for rows in each]

    def _of_cell(self, away: NDArray[np.float32]) -> Recognised | None:
        """What a place of one cell looks like by its distances (cells,)."""
        nearest = int(away.argmin())
        labels = self._labels[self._place[nearest]]
        others = away[(self._labels[self._place] != labels).any(1)].min(initial=np.inf)
        same = _is_same(float(away[nearest]), float(others), float(self._limits[self._place[nearest]]))
        return Recognised(labels, bool(away[nearest] <= IDENTICAL)) if same else None

    def _of_cells(self, away: NDArray[np.float32]) -> Recognised | None:
        """What a place of several cells looks like, by their distances (its cells, known cells).

        All of its cells look like cells of places with these labels; and every place with others has a cell that looks like
        none of such places and none of this one, or this one has a cell that looks like none of the others.
        """
        found, nearest = [], away.min(0)
        for labels, same in self._kinds:
            mine = same[self._place]
            least = float(away[:, mine].min(1).max())
            telling = np.minimum(nearest, self._apart[:, mine].min(1))
            others = min(
                (
                    max(away[:, theirs[self._place]].min(1).max(), telling[self._place == place].max())
                    for _, theirs in self._kinds
                    if theirs is not same
                    for place in np.flatnonzero(theirs)
                ),
                default=np.inf,
            )
            if _is_same(least, float(others), float(self._limits[same].max())):
                found.append(labels)
        return Recognised(found[0]) if len(found) == 1 else None


def _is_same(least: float, others: float, limit: float) -> bool:
    """Whether something looks like what is nearest, by the distance from that, that from others, and the usual limit."""
    if others < max(MARGIN * least, ALIKE):
        return False
    return least <= limit * (min(WIDER, (others / least) ** 0.5) if least else 1)


class Familiarity(Comparison[Answers]):
    """Tells which places look like labelled ones; per place, the labels (n, heads) of all that looks the same."""

    def __init__(self, known: LabelledLooks) -> None:
        super().__init__()
        self._kinds = {asked: _Kind(known, mine) for asked, mine in known.by_kind().items()}

    def pixels(self, cells: Looks) -> Looks:
        return inner(cells)

    def of_kind(self, kind: bytes, places: Sequence[Looks]) -> Sequence[Answers]:
        known = self._kinds.get(kind)
        return [np.zeros((0, len(kind)), np.int8)] * len(places) if known is None else known.alike(places)

    def doubt(
        self, said: Probabilities, found: Sequence[Answers], low: Probabilities, high: Probabilities
    ) -> None:
        place = np.repeat(np.arange(len(found)), [len(rows) for rows in found])
        every, own = np.concatenate([np.zeros((0, len(said)), np.int8), *found]), said.T[place]
        against = ((every == 1) & (own < low)) | ((every == 0) & (own > high))
        agreed = np.bincount(place[~against.any(1)], minlength=len(found))
        said[:, agreed == 0] = 0.5


class _Kind:
    """Labelled places of which the same classifiers are asked."""

    def __init__(self, known: LabelledLooks, mine: NDArray[np.intp]) -> None:
        cells = np.flatnonzero(np.isin(known.places, mine))
        places = known.places[cells]
        looks, self._look = np.unique(known.cells[cells], return_inverse=True)
        self._known = [*shifted(in_sizes(known.looks[looks]))]
        self._limits = known.limits[places]
        self._labels, number = np.unique(known.labels[places], axis=0, return_inverse=True)
        self._has = np.eye(len(self._labels), dtype=np.float32)[number.reshape(-1)]  # (cells, labels)

    def alike(self, places: Sequence[Looks]) -> list[Answers]:
        """Per place the labels (n, heads) of which each of its cells looks like some cell."""
        away = distances_in_sizes(np.concatenate(places), self._known)[:, self._look]
        near = (away <= self._limits).astype(np.float32) @ self._has > 0
        begins = np.cumsum([0, *map(len, places)])[:-1]
        return [self._labels[some] for some in np.logical_and.reduceat(near, begins, axis=0)]


# A thing over something else: how a cell is recognised that nobody labelled, because what is in it was labelled elsewhere.
#
# A car upon any of four parking places, framed or not, facing any of four sides, has more looks than few labels can show. But two
# labelled cells that are the same except where a thing is, one with it and one without, tell which pixels the thing touches, what
# it looks like there, and what its being there changes in the labels. Any other labelled look with the thing over it is known
# then, too. A cell is taken for such a pair only if *all* of its pixels are as they must be: like the thing where it covers the
# ground, like the ground where it leaves that free, and between the two at its border. Where several pairs make the same pixels,
# nothing is said about what they disagree on.
#
# How much of the ground shines through a pixel at a thing's border is known if the thing was labelled on two grounds that differ
# there. A ground on which that is not known is not used: upon a red ground, a red lamp could be taken for one that is off.


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

    def explain(self, cells: Looks, asked: NDArray[np.bool_]) -> list[Recognised | None]:
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
        return np.where(changed, thing.labels, np.where(hidden, NO_LABEL, labels))


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

    def explain(self, pixels: Pixels) -> list[Recognised | None]:
        """What cells (n, pixels, 3) show; None for those that no pair makes."""
        exact, plain, flat = self._exact, self._plain, pixels.reshape(len(pixels), -1)
        squares = flat**2 @ exact.T - 2 * flat @ (plain * exact).T + (plain**2 * exact).sum(1)
        possible = squares <= (RIVALS * TOLERANCE) ** 2 * flat.shape[1]
        return [self._of(one, np.flatnonzero(some)) for one, some in zip(pixels, possible, strict=True)]

    def _of(self, pixels: Pixels, pairs: NDArray[np.intp]) -> Recognised | None:
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
        told, hidden = np.where(agreed, labels[0], NO_LABEL).astype(np.int8), np.flatnonzero(~agreed)
        return Recognised(told, least <= IDENTICAL, tuple(hidden.tolist()))


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
