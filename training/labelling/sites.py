"""Single answers about the places of many pictures, and what follows from them.

Places that look the same to the pixel, and of which the same classifiers are asked, are one *site*: an answer about one of them is
an answer about all. Constraints and the numbers of things give further answers: who knows where the player is knows where it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aam_vision.errors import UnusableInput
from aam_vision.training.labelling.pool import NO_LOOK, Pool
from aam_vision.training.labels import NO_LABEL, Labels
from aam_vision.training.single_answers import possible

Place = tuple[int, int]
"""The number of a picture in its pool, and of a place in it."""


@dataclass(frozen=True)
class AskedAtom:
    """What is asked: whether a picture shows something at a place.

    Args:
        number: of the picture in its pool.
        place: its number.
        head: the number of the classifier.
    """

    number: int
    place: int
    head: int


class Sites:
    """The sites of a pool; the first of them are its looks, in their order.

    Args:
        pool: the pictures.

    Attributes:
        of: per picture the sites of its places, ``NO_LOOK`` where nothing is asked.
        members: per site the places that belong to it.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.looks = len(pool.looks)
        self.members: list[list[Place]] = [[] for _ in range(self.looks)]
        self.of: list[NDArray[np.intp]] = []
        rooms: dict[tuple[bytes, bytes], int] = {}
        for number, one in enumerate(pool.pictures):
            own = one.looks.copy()
            for place in np.flatnonzero(own == NO_LOOK).tolist():
                asked = one.index.legality.asked[:, place]
                if asked.any():
                    key = (asked.tobytes(), pool.cells(number, place).tobytes())
                    own[place] = rooms.setdefault(key, self.looks + len(rooms))
            self.of.append(own)
        self.members += [[] for _ in rooms]
        for number, own in enumerate(self.of):
            for place in np.flatnonzero(own != NO_LOOK).tolist():
                self.members[own[place]].append((number, place))

    def __len__(self) -> int:
        return len(self.members)

    def asked(self, site: int) -> bool:
        """Whether any classifier is asked of a site."""
        number, place = self.members[site][0]
        return self.pool.pictures[number].index.legality.kind(place) is not None


class SiteAnswers:
    """What is known of sites by single answers.

    Args:
        sites: all of them.
        heads: number of classifiers.
    """

    def __init__(self, sites: Sites, heads: int) -> None:
        self.sites = sites
        self._known: Labels = np.full((len(sites), heads), NO_LABEL, np.int8)
        self._whole: dict[int, Labels] = {}
        self.answered: set[int] = set()
        """The sites about which something was answered, be it by what follows."""

    def add(self, atom: AskedAtom, *, yes: bool) -> None:
        """Take in an answer, and what follows from it.

        Raises:
            UnusableInput: it contradicts others; nothing is taken in then.
        """
        site = int(self.sites.of[atom.number][atom.place])
        before = self._known.copy(), dict(self._whole), set(self.answered)
        try:
            self._say(site, atom.head, int(yes))
        except UnusableInput:
            self._known, self._whole, self.answered = before
            raise

    def check(self, atom: AskedAtom, *, yes: bool) -> None:
        """Refuse an answer that contradicts others.

        Raises:
            UnusableInput: it does.
        """
        before = self._known.copy(), dict(self._whole), set(self.answered)
        try:
            self.add(atom, yes=yes)
        finally:
            self._known, self._whole, self.answered = before

    def possible(self, site: int) -> Labels:
        """(n, heads): all that a site may show."""
        number, place = self.sites.members[site][0]
        return possible(self.sites.pool.pictures[number].index, place, self._known[site])

    def whole(self, site: int) -> Labels | None:
        """(heads,), the labels of a site, if all of them are known."""
        return self._whole.get(site)

    @property
    def wholes(self) -> Sequence[int]:
        """The sites of which all is known, in the order in which it was."""
        return list(self._whole)

    def labels(self, number: int, *, whole: bool = False) -> Labels:
        """(heads, places): what is known of a picture.

        Args:
            number: of the picture.
            whole: of places of which everything is known alone.
        """
        sites = self.sites.of[number]
        found: Labels = np.full((self._known.shape[1], len(sites)), NO_LABEL, np.int8)
        for place in np.flatnonzero(sites != NO_LOOK).tolist():
            labels = self._whole.get(int(sites[place]))
            if labels is not None:
                found[:, place] = labels
            elif not whole:
                found[:, place] = self._known[sites[place]]
        return found

    def _say(self, site: int, head: int, value: int) -> None:
        """Note one label, and all that follows."""
        todo = [(site, head, value)]
        while todo:
            site, head, value = todo.pop()
            if self._known[site, head] == value:
                continue
            self._known[site, head] = value
            self.answered.add(site)
            left = self.possible(site)
            if not len(left):
                raise UnusableInput(
                    "it contradicts earlier answers about places that look the same; undo, or correct it"
                )
            if len(left) == 1:
                self._whole[site] = left[0]
            certain = (left == left[0]).all(0) & (left[0] != NO_LABEL)
            todo += [
                (site, int(other), int(left[0][other]))
                for other in np.flatnonzero(certain & (self._known[site] != left[0]))
            ]
            if value == 1:
                for number in dict.fromkeys(number for number, _ in self.sites.members[site]):
                    todo += self._counted(number, head)

    def _counted(self, number: int, head: int) -> list[tuple[int, int, int]]:
        """The labels no that follow in a picture once all things of a look are found."""
        found: list[tuple[int, int, int]] = []
        index, sites = self.sites.pool.pictures[number].index, self.sites.of[number]
        for count in index.legality.counts:
            if count.head != head:
                continue
            here = index.legality.asked[head] & (sites != NO_LOOK)
            yes = here & (self._known[sites, head] == 1)
            if yes.sum() > count.number:
                raise UnusableInput(
                    "then a picture shows more such things than there are, by earlier answers about places that look the "
                    "same; undo, or correct it"
                )
            if yes.sum() == count.number:
                rest = np.flatnonzero(here & ~yes & (self._known[sites, head] == NO_LABEL))
                found += [(int(site), head, 0) for site in dict.fromkeys(sites[rest].tolist())]
        return found
