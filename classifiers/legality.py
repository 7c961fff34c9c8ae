"""The classifiers' answers, checked jointly against what any board can show.

The user declares in the vocabulary what no cell ever shows (``Never``) and how many there are
(``Exactly``; and one place per thing, unless things of its look may vanish). Here that decides which
answers are believed:

- a cell whose sure answers contradict each other is unknown, and nothing else is inferred from the board;
- a doubtful cell is decided only if, among all legal ways to complete the board, those that say so have
  ``CERTAIN`` of the probability: the most probable legal state, where it is certain and only there;
- a number that cannot be right makes its classifier, and those that are exclusive with it, unknown everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Exactly, Never, Perceived, Reading, Scene, VisualVocabulary
from aam_vision.support.errors import UnusableInput

Probabilities = NDArray[np.float32]
"""(heads, places), as of one image."""

Truth = NDArray[np.bool_]
"""(heads, places): whether a probability is high enough to be sure, or too close to say."""

CERTAIN = 0.999
"""Share of the probability of all legal boards that an inferred answer needs: a larger one leaves more unknown, a smaller
one believes more mistakes."""

PLAUSIBLE = 1e-3
"""Least probability, given the sure answers, that the doubtful ones make a legal board at all. Below it a sure answer is
probably wrong, and nothing is inferred: a larger one trusts the sure answers less."""

MOST_HEADS = 16
"""Classifiers that are asked of one place: the combinations of their answers are listed. Where there are more, those for
looks that nothing in the scene has are not asked; what looks like that goes unseen then, instead of making all unknown."""

MOST_WAYS = 4096
"""More ways to complete a board than this are not gone through: more of them settle boards with more doubtful places, and
take time and memory."""


@dataclass(frozen=True)
class PlaceKind:
    """Places of which the same classifiers are asked, and the combinations of answers that they can show.

    A combination of answers is numbered in binary: the sum of the ``weights`` of the heads that say yes.
    """

    heads: NDArray[np.intp]
    columns: NDArray[np.intp]  # of the places
    cells: tuple[NDArray[np.intp], ...]  # both, as an index into (heads, places)
    meaningful: Truth  # (2 ** heads, heads): whether an answer means anything beside the others
    legal: Truth  # (2 ** heads,): whether a board may show the combination
    patterns: Truth  # (n, heads): the legal combinations in which every yes means something
    weights: NDArray[np.int64]  # (heads,): powers of two


@dataclass(frozen=True)
class Count:
    """How many places say yes to a head: exactly ``number``, or at most."""

    head: int
    number: int
    exact: bool
    linked: tuple[int, ...]  # the heads that become unknown with it


class Legality:
    """The constraints of a vocabulary over the places of one scene.

    Args:
        vocabulary: declares the constraints.
        scene: says how many things there are of each look.
        places: names of the columns of all probabilities.

    Attributes:
        asked: (heads, places), which classifiers are asked of which places.
        counts: how many places may say yes to which classifiers.
    """

    def __init__(self, vocabulary: VisualVocabulary, scene: Scene, places: Sequence[str]) -> None:
        self._vocabulary, self._scene = vocabulary, scene
        self._index, self._entries = vocabulary.rows, vocabulary.perceived
        self._looks = {look: self._index[head] for look, head in vocabulary.look_heads.items()}
        self._nevers = [item for item in vocabulary.constraints if isinstance(item, Never)]
        self.asked = self._asked_of(places)
        if self.asked.sum(0).max(initial=0) > MOST_HEADS:
            self._ask_only_of_looks()
        self._kinds = [
            self._kind_of_place(np.flatnonzero(heads), np.flatnonzero((heads == self.asked.T).all(1)))
            for heads in np.unique(self.asked, axis=1).T
            if heads.any()
        ]
        numbers = [item for item in vocabulary.constraints if isinstance(item, Exactly)]
        self.counts = [self._count(item.head, item.number, exact=True) for item in numbers]
        self.counts += self._counts_of_things()

    def kind(self, place: int) -> PlaceKind | None:
        """What a place may show; None if no classifier is asked of it."""
        return next((kind for kind in self._kinds if place in kind.columns), None)

    def settle(
        self, probabilities: Probabilities, low: Probabilities, high: Probabilities
    ) -> tuple[Truth, Truth]:
        """Where the classifiers certainly say yes, and where they cannot say: (heads, places) each, as ``probabilities``.

        ``low`` and ``high``: (heads, 1), below which a single answer is no, and above which it is yes.
        """
        sure = (probabilities > high) & self.asked
        # not "above low": whatever is not a number is doubtful, too
        doubtful = ~sure & ~(probabilities < low) & self.asked
        consistent = True
        unsettled: list[tuple[PlaceKind, int]] = []
        for kind in self._kinds:
            codes = kind.weights @ sure[kind.cells]
            open_ = (doubtful[kind.cells] & kind.meaningful[codes].T).any(0)
            for column in kind.columns[~open_ & ~kind.legal[codes]]:
                doubtful[kind.heads, column] = True
                consistent = False
            unsettled += [(kind, int(column)) for column in kind.columns[open_]]
        if consistent and unsettled:
            self._infer(probabilities, sure, doubtful, unsettled)
        sure &= ~doubtful
        for count in self.counts:  # all answers of a classifier whose number cannot be right
            certain, possible = sure[count.head].sum(), (sure | doubtful)[count.head].sum()
            if certain > count.number or (count.exact and possible < count.number):
                for head in (count.head, *count.linked):
                    doubtful[head] = self.asked[head]
        sure &= ~doubtful
        return sure, doubtful

    def _infer(
        self,
        probabilities: Probabilities,
        sure: Truth,
        doubtful: Truth,
        unsettled: list[tuple[PlaceKind, int]],
    ) -> None:
        """Decide doubtful answers where all legal boards agree, in place."""
        options = [self._options(kind, probabilities, sure, doubtful, column) for kind, column in unsettled]
        if not 0 < prod(len(patterns) for patterns, _ in options) <= MOST_WAYS:
            return
        ways = np.array(list(product(*[range(len(patterns)) for patterns, _ in options])))  # (W, unsettled)
        mass = np.ones(len(ways))
        for place, (_, likely) in enumerate(options):
            mass *= likely[ways[:, place]]
        settled = np.ones(sure.shape[1], bool)
        settled[[column for _, column in unsettled]] = False
        for count in self.counts:
            found = np.full(len(ways), (sure[count.head] & settled).sum())
            for place, ((kind, _), (patterns, _)) in enumerate(zip(unsettled, options, strict=True)):
                (own,) = np.nonzero(kind.heads == count.head)
                if len(own):
                    found += patterns[ways[:, place], own[0]]
            mass *= (found == count.number) if count.exact else (found <= count.number)
        whole = mass.sum()
        if not whole >= PLAUSIBLE:
            return
        for place, ((kind, column), (patterns, _)) in enumerate(zip(unsettled, options, strict=True)):
            yes = mass @ patterns[ways[:, place]] / whole  # (heads,)
            decided = (yes >= CERTAIN) | (yes <= 1 - CERTAIN)
            sure[kind.heads[decided], column] = yes[decided] >= CERTAIN
            doubtful[kind.heads[decided], column] = False

    def _options(
        self, kind: PlaceKind, probabilities: Probabilities, sure: Truth, doubtful: Truth, column: int
    ) -> tuple[Truth, NDArray[np.float64]]:
        """The patterns a place may show, given its sure answers, and how likely each is."""
        given, open_ = sure[kind.heads, column], doubtful[kind.heads, column]
        means = kind.meaningful[kind.patterns @ kind.weights]
        fits = (open_ | ~means | (kind.patterns == given)).all(1)
        patterns, means = kind.patterns[fits], means[fits]
        yes = np.nan_to_num(probabilities[kind.heads, column].astype(float), nan=0.5)
        likely = np.where(patterns, yes, 1 - yes)
        return patterns, np.where(means & open_, likely, 1.0).prod(1)

    def _asked_of(self, places: Sequence[str]) -> Truth:
        """(heads, places): which classifiers are asked of which places."""
        asked = np.zeros((len(self._index), len(places)), bool)
        for entry in self._entries:
            if entry.reading is not Reading.ON:
                names = self._scene.objects_of(entry).members(entry.predicate.types[-1])
                here = np.array([place in names for place in places])
                for head in entry.heads.values():
                    asked[self._index[head]] |= here
        standing = asked[list(self._looks.values())].any(0) if self._looks else np.zeros(len(places), bool)
        for entry in self._entries:
            if entry.reading is Reading.ON:
                asked[self._index[entry.heads[""]]] |= standing
        return asked

    def _ask_only_of_looks(self) -> None:
        """Ask no classifier for a look that nothing in the scene has; UnusableInput if there are still too many at one place."""
        looks, searched = set(self._scene.looks.values()), self._vocabulary.read_as(Reading.WHERE)
        every = [item for entry in searched for item in entry.heads.items()]
        self.asked[[self._index[head] for look, head in every if look not in looks]] = False
        most = int(self.asked.sum(0).max())
        if most > MOST_HEADS:
            raise UnusableInput(
                f"{most} classifiers are asked of one place, and the answers of at most {MOST_HEADS} can be compared: "
                f"describe a problem with fewer different things"
            )

    def _kind_of_place(self, heads: NDArray[np.intp], columns: NDArray[np.intp]) -> PlaceKind:
        """The kind of these places: which combinations of answers mean anything, and which are legal."""
        weights = 2 ** np.arange(len(heads))
        answers = (np.arange(2 ** len(heads))[:, None] & weights) > 0
        at = {int(head): number for number, head in enumerate(heads)}
        meaningful = np.ones_like(answers)
        for entry in self._entries:
            own = at.get(self._index[entry.heads[""]]) if entry.reading is not Reading.WHERE else None
            if own is None:
                continue
            if entry.hidden_by is not None and self._looks[entry.hidden_by] in at:
                meaningful[:, own] &= ~answers[:, at[self._looks[entry.hidden_by]]]
            if entry.reading is Reading.ON:
                looks = [at[head] for head in self._looks_of(entry) if head in at]
                meaningful[:, own] &= answers[:, looks].any(1)
        meant = answers & meaningful
        legal = np.ones(len(answers), bool)
        for never in self._nevers:
            named = [self._index[head] for head in (*never.shows, *never.without)]
            if all(head in at for head in named):
                shown = meant[:, [at[self._index[head]] for head in never.shows]].all(1)
                spared = meant[:, [at[self._index[head]] for head in never.without]].any(1)
                legal &= ~(shown & ~spared)
        patterns = answers[legal & (meant == answers).all(1)]
        return PlaceKind(heads, columns, np.ix_(heads, columns), meaningful, legal, patterns, weights)

    def _looks_of(self, entry: Perceived) -> list[int]:
        """The heads of the looks that things have of which a predicate speaks: all but those of other things only."""
        mine, looks = self._scene.objects_of(entry).members(entry.predicate.types[0]), self._scene.looks
        others = set(looks.values()) - {look for thing, look in looks.items() if thing in mine}
        return [head for look, head in self._looks.items() if look not in others]

    def _counts_of_things(self) -> list[Count]:
        """One place per thing; nothing is known where a thing's look was not stated."""
        numbers = []
        for entry in self._vocabulary.read_as(Reading.WHERE):
            things = self._scene.objects_of(entry).of_type(entry.predicate.types[0])
            looks = [self._scene.looks.get(thing) for thing in things]
            if None not in looks:
                for look, head in entry.heads.items():
                    exact = not self._vocabulary.may_vanish.get(look, False)
                    numbers.append(self._count(head, looks.count(look), exact=exact))
        return numbers

    def _count(self, head: str, number: int, *, exact: bool) -> Count:
        groups = ({*never.shows, *never.without} for never in self._nevers)
        linked = set[str]().union(*(group for group in groups if head in group))
        return Count(self._index[head], number, exact, tuple(sorted(self._index[h] for h in linked - {head})))
