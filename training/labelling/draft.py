"""An answer about one picture while a person works on it: what every place shows, and what cannot be.

A person says one thing about a place: it shows a stone. What follows is filled in: the place takes the nearest combination of
answers that the constraints of the vocabulary allow, and places of the same picture that look alike and were not spoken of
take it, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.legality import Truth
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.errors import UnusableInput
from aam_vision.perception import Never, Perceived, Reading, VisualVocabulary
from aam_vision.strips import Atom, State
from aam_vision.wording import counted


@dataclass(frozen=True)
class Guess:
    """What a picture probably shows.

    Attributes:
        yes: (heads, places).
        unsure: (places,), where somebody has to look.
    """

    yes: Truth
    unsure: NDArray[np.bool_]


@dataclass(frozen=True)
class Problem:
    """Answers that cannot all be right: those about these places (numbers), and why.

    Attributes:
        places: their numbers.
        why: in words.
        number: whether there is only too much or too little of something.
    """

    places: tuple[int, ...]
    why: str
    number: bool = False


class Draft:
    """The answers about one picture.

    Args:
        vocabulary: of the picture.
        index: of its scene.
        guess: what is filled in before anybody has spoken.
        alike: (places, places), which places look alike.
    """

    def __init__(self, vocabulary: VisualVocabulary, index: SceneIndex, guess: Guess, alike: Truth) -> None:
        self._vocabulary, self.index, self._alike = vocabulary, index, alike
        self.heads = vocabulary.cell_heads()
        self._most = {count.head: count.number for count in index.legality.counts}
        self._kinds = [index.legality.kind(place) for place in range(len(index.places))]
        self.yes: Truth = np.zeros((len(self.heads), len(index.places)), bool)
        self.unsure = guess.unsure.copy()
        self._told: Truth = np.zeros(len(index.places), bool)
        self._before: list[tuple[Truth, NDArray[np.bool_], Truth]] = []
        for place, kind in enumerate(self._kinds):
            if kind is None:
                self.unsure[place] = False
            else:
                answers = guess.yes[kind.heads, place]
                self.yes[kind.heads, place] = answers & kind.meaningful[int(answers @ kind.weights)]

    def asked(self, place: int) -> list[int]:
        """The numbers of the classifiers that are asked of a place and are not hidden there."""
        kind = self._kinds[place]
        if kind is None:
            return []
        means = kind.meaningful[int(self.yes[kind.heads, place] @ kind.weights)]
        hidden = set(kind.heads[~means].tolist()) & self._can_be_hidden()
        return [head for head in kind.heads.tolist() if head not in hidden]

    def toggle(self, head: int, places: Sequence[int]) -> None:
        """Say that places show something; or that they do not, if all of them did."""
        spoken = [place for place in places if self._asked_of(head, place)]
        if not spoken:
            return
        self._remember()
        value = not self.yes[head, spoken].all()
        for place in spoken:
            self._answer(place, head, value=value)
        self._tell(spoken)

    def clear(self, places: Sequence[int]) -> None:
        """Say that places show nothing."""
        self._remember()
        self.yes[:, list(places)] = False
        self._tell(places)

    def take_back(self) -> bool:
        """Undo the last change; False if there is none."""
        if not self._before:
            return False
        self.yes, self.unsure, self._told = self._before.pop()
        return True

    def problems(self) -> list[Problem]:
        """What the constraints of the vocabulary exclude, and what there is too often or too seldom."""
        found = []
        for place, kind in enumerate(self._kinds):
            if kind is not None and not kind.legal[int(self.yes[kind.heads, place] @ kind.weights)]:
                found.append(Problem((place,), f"{self.index.places[place]} shows {self._excluded(place)}"))
        for count in self.index.legality.counts:
            shown = np.flatnonzero(self.yes[count.head])
            if len(shown) > count.number or (count.exact and len(shown) < count.number):
                most = "" if count.exact else " at most"
                number = f"{counted(len(shown), 'place')} instead of {count.number}{most}"
                why = f"{self.heads[count.head]} is in {number}"
                found.append(Problem(tuple(shown.tolist()), why, number=True))
        return found

    def state(self) -> State:
        """The perceived atoms that are true.

        Raises:
            UnusableInput: more places show something than there are things that look like that.
        """
        where = self._things()
        true = {Atom(name, (thing, place)) for thing, (name, place) in where.items()}
        scene, rows = self.index.scene, {head: row for row, head in enumerate(self.heads)}
        columns = {place: column for column, place in enumerate(self.index.places)}
        for entry in self._vocabulary.entries:
            if not isinstance(entry, Perceived) or entry.reading is Reading.WHERE:
                continue
            row, name = rows[entry.heads[""]], entry.predicate.name
            for item in scene.objects_of(entry).of_type(entry.predicate.types[0]):
                place = item if entry.reading is Reading.THERE else where.get(item, ("", ""))[1]
                if place in columns and self.yes[row, columns[place]]:
                    true.add(Atom(name, (item,)))
        return State(frozenset(true), scene.objects)

    def _things(self) -> dict[str, tuple[str, str]]:
        """Thing -> where it is, as a predicate and a place; look-alikes stay where they were first, or follow in order."""
        found: dict[str, tuple[str, str]] = {}
        scene = self.index.scene
        for entry in self._vocabulary.entries:
            if not isinstance(entry, Perceived) or entry.reading is not Reading.WHERE:
                continue
            objects = scene.objects_of(entry)
            allowed = objects.members(entry.predicate.types[1])
            for look, head in entry.heads.items():
                shown = np.flatnonzero(self.yes[self.heads.index(head)])
                places = [self.index.places[one] for one in shown if self.index.places[one] in allowed]
                alike = [
                    one for one in objects.of_type(entry.predicate.types[0]) if scene.looks.get(one) == look
                ]
                if len(places) > len(alike):
                    raise UnusableInput(
                        f"{head} is in {counted(len(places), 'place')} instead of {len(alike)} at most"
                    )
                same = {one: scene.anchors[one] for one in alike if scene.anchors.get(one) in places}
                others = [one for one in places if one not in same.values()]
                rest = [one for one in alike if one not in same]
                same.update(zip(rest, others, strict=False))
                found.update({one: (entry.predicate.name, place) for one, place in same.items()})
        return found

    def _answer(self, place: int, head: int, *, value: bool) -> None:
        """Let a place show the nearest legal combination in which one answer has this value."""
        kind = self._kinds[place]
        assert kind is not None
        own = int(np.flatnonzero(kind.heads == head)[0])
        now = self.yes[kind.heads, place].copy()
        fitting = kind.patterns[kind.patterns[:, own] == value]
        if len(fitting):
            changed, kept = (fitting != now).sum(1), (fitting & now).sum(1)
            now = fitting[np.lexsort((-kept, changed))[0]]
        else:
            now[own] = value
        self.yes[kind.heads, place] = now

    def _tell(self, places: Sequence[int]) -> None:
        """Note that somebody has spoken of places, and fill in those that look alike."""
        self._told[list(places)] = True
        self.unsure[list(places)] = False
        for place in places:
            same = self._alike[place] & ~self._told
            after = self.yes.copy()
            after[:, same] = self.yes[:, [place]]
            said = np.flatnonzero(self.yes[:, place]).tolist()
            if all(after[head].sum() <= self._most[head] for head in said if head in self._most):
                self.yes, self.unsure = after, self.unsure & ~same

    def _remember(self) -> None:
        self._before.append((self.yes.copy(), self.unsure.copy(), self._told.copy()))

    def _asked_of(self, head: int, place: int) -> bool:
        kind = self._kinds[place]
        return kind is not None and head in kind.heads

    def _can_be_hidden(self) -> set[int]:
        """The classifiers whose answers a thing may cover."""
        entries = [one for one in self._vocabulary.entries if isinstance(one, Perceived) and one.hidden_by]
        return {self.heads.index(head) for entry in entries for head in entry.heads.values()}

    def _excluded(self, place: int) -> str:
        """What a place shows although a constraint excludes it."""
        yes = {self.heads[head] for head in np.flatnonzero(self.yes[:, place])}
        for item in self._vocabulary.constraints:
            if isinstance(item, Never) and yes.issuperset(item.shows) and yes.isdisjoint(item.without):
                without = f" without {' or '.join(item.without)}" if item.without else ""
                return f"{' with '.join(item.shows)}{without}, which a constraint excludes"
        return "what a constraint excludes"
