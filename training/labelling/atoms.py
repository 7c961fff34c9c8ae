"""Single atoms that are asked about instead of whole pictures: is there a stone at this place?

A place is asked about until all is known that it shows, and then all places that look the same are known, too. Places chosen at random
are read before they are asked about: that is the test that ends the rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import NO_LABEL
from aam_vision.classifiers.legality import Truth
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.labelled import Labels
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted
from aam_vision.training.folder import Labellable
from aam_vision.training.labelling.boards import SAME, BoardLearner
from aam_vision.training.labelling.pool import AskedAtom, LabelQuestion, Pool, SiteAnswers
from aam_vision.training.labelling.rounds import IN_A_ROW, Answer
from aam_vision.training.labelling.settings import Way

TOLERATED: Final = 0.2
"""Largest share of wrong answers about looks at random, by its upper bound, with which asking stops: .02, as for whole pictures, would
take 149 answers in a row; this takes 14."""

COVERED: Final = 8.0
"""No look may be farther from all known ones when asking stops: a smaller distance needs more answers, with a larger one small marks may
never have been asked about."""

ROOMS: Final = 3
"""Every so manieth place is one of several cells, while any of them are open."""


class AtomLearner(BoardLearner):
    """Asks about single atoms of pictures of boards."""

    FIRST, EACH = 24, 12

    def __init__(self, domain: Labellable, pool: Pool, way: Way) -> None:
        super().__init__(domain, pool, way)
        self._single = SiteAnswers(pool, len(self._heads))
        self._left_out: set[int] = set()
        self._open_rooms: list[int] = []
        self._turn, self._farthest = 0, np.inf
        self._read: tuple[Truth, Truth]

    def questions(self, perception: BoardPerception | None) -> Iterator[tuple[AskedAtom, bool]]:
        """About the place that says most until it is known; places at random, to be examined on, once nothing is open."""
        while True:
            found = strangest_look(self._single, self._open.looks, self._left_out)
            look, self._farthest = found or (None, 0.0)
            if perception is None or self._open.any() or self._farthest > COVERED:
                rooms = [one for one in self._open_rooms if self._wanted(one)]
                if rooms and self._turn % ROOMS == ROOMS - 1:
                    site = rooms[int(self._rng.integers(len(rooms)))]
                elif look is not None or rooms:
                    site = rooms[0] if look is None else look
                else:
                    return
                self._turn += 1
                shown, members = set(self.found.pictures), self._pool.members[site]
                number, place = next((one for one in members if one[0] in shown), members[0])
                while (
                    site not in self._left_out and (head := most_telling_head(self._single, site)) is not None
                ):
                    yield AskedAtom(number, place, head), False
            else:  # every look is as likely as any other, however often it is seen
                wanted = [site for site in range(len(self._pool.members)) if self._wanted(site)]
                if not wanted:
                    return
                site = wanted[int(self._rng.integers(len(wanted)))]
                members = self._pool.members[site]
                number, place = members[int(self._rng.integers(len(members)))]
                _, sure, doubtful = self._pool.pictures[number].read(perception)
                self._read = sure, doubtful
                while (
                    site not in self._left_out
                    and (head := surest(sure[:, place], self._single.possible(site))) is not None
                ):
                    yield AskedAtom(number, place, head), True

    def take(self, question: LabelQuestion, answer: Answer | None) -> None:
        assert isinstance(question, AskedAtom)
        if answer is None:
            self._left_out.add(int(self._pool.of[question.number][question.place]))
        else:
            self._single.add(question, yes=bool(answer))
            self.found.atoms += 1

    def compared(self, question: LabelQuestion, perception: BoardPerception) -> tuple[int, int, int]:
        """Whether the last answer was read rightly, wrongly or not at all."""
        asked, yes = self.found.answers[-1]
        sure, doubtful = (bool(one[asked.head, asked.place]) for one in self._read)
        return int(not doubtful and sure == yes), int(not doubtful and sure != yes), int(doubtful)

    def left(self) -> bool:
        """Whether anything is neither known nor left out."""
        return any(self._wanted(site) for site in range(len(self._pool.members)))

    def examined(self) -> bool:
        """Whether enough held-out answers were foreseen, and no look is strange."""
        test = self.found.examination
        return test.whole >= IN_A_ROW and test.bound <= TOLERATED and self._farthest <= COVERED

    def references(self) -> Mapping[int, Labels]:
        """Places of which all is known: of others it is not known what they look unlike."""
        numbers = dict.fromkeys(self._pool.members[site][0][0] for site in self._single.wholes)
        return {number: self._single.labels(number, whole=True) for number in numbers}

    def train(self) -> BoardPerception:
        if self.found.atoms and not self._single.wholes:
            raise UnusableInput(
                f"no place is known by {counted(self.found.atoms, 'answer')}, so there is nothing to learn from: give more "
                "--answers"
            )
        self._known.sites.update(self._single.wholes)
        self._answers = {number: self._single.labels(number) for number in self.found.pictures}
        return super().train()

    def _find_open(self, follow: tuple[Labels, list[Labels]]) -> None:
        super()._find_open(follow)
        looks, members = len(self._pool.looks), self._pool.members
        self._open.looks[:] &= np.array([self._pool.is_asked(look) for look in range(looks)], bool)
        firsts = [(site, *members[site][0]) for site in range(looks, len(members))]
        self._open_rooms = [
            site for site, number, place in firsts if (follow[1][number][:, place] == NO_LABEL).all()
        ]

    def _wanted(self, site: int) -> bool:
        return self._pool.is_asked(site) and site not in self._single.wholes and site not in self._left_out


# Which atom to ask about next: at the place that looks least like all known ones, the one that halves what it may show.


STRANGE: Final = 100.0
"""Distance from which on looks have nothing in common; it is larger than that of any two."""

SIMILAR: Final = 30.0
"""Distance up to which a place probably shows what the most similar known one does: a larger one is wrong more often."""

LIKELY: Final = 8.0
"""How many times likelier a place shows what the most similar known one does than anything else: a larger one asks fewer
questions where that is so, and more where it is not."""


def strangest_look(
    answers: SiteAnswers, doubted: NDArray[np.bool_], left_out: set[int]
) -> tuple[int, float] | None:
    """The look that is least like all known ones, and how far it is from them; None if all are known or left out.

    So what is rare comes as soon as what is common, and no look that is not known stays farther from all known ones than the last one
    that was asked about (farthest-first traversal: Gonzalez, 1985). Those that are not read surely come first.

    Args:
        answers: what is known.
        doubted: (looks,), whether a look is not read surely.
        left_out: sites that are not asked about.
    """
    pool, looks = answers.pool, len(answers.pool.looks)
    known = [site for site in answers.wholes if site < looks]
    candidates = np.array(
        [
            look
            for look in range(looks)
            if look not in answers.wholes and look not in left_out and pool.is_asked(look)
        ],
        np.intp,
    )
    if not len(candidates):
        return None
    near = pool.distances[:, known].min(1, initial=STRANGE)[candidates]
    first = doubted[candidates] & (near >= SAME)
    chosen = int((near + np.where(first, STRANGE, 0)).argmax())
    return int(candidates[chosen]), float(near[chosen])


def most_telling_head(answers: SiteAnswers, site: int) -> int | None:
    """The classifier to ask of a site: the one whose answer is least foreseen; None if nothing is left to be asked.

    What the site may show is as likely as any other, but for what the most similar known look shows.
    """
    left = answers.possible(site)
    if len(left) < 2:
        return None
    likely = np.ones(len(left))
    looks = len(answers.pool.looks)
    known = [one for one in answers.wholes if one < looks] if site < looks else []
    away = answers.pool.distances[site, known] if known else np.array([np.inf])
    if away.min() < SIMILAR:
        likely[(left == answers.wholes[known[int(away.argmin())]]).all(1)] = LIKELY * (len(left) - 1)
    likely /= likely.sum()
    open_ = _open(left)
    yes = likely @ (left[:, open_] == 1)
    return int(open_[int(np.abs(yes - 0.5).argmin())])


def surest(sure: NDArray[np.bool_], left: Labels) -> int | None:
    """The classifier whose answer tells most of what was read at a place, if that is right: what is there, before what is not.

    ``sure``: (heads,), what is read there; ``left``: (n, heads), what the place may show.
    """
    open_ = _open(left)
    if not len(open_):
        return None
    kept = (left[:, open_] == sure[open_]).sum(0)
    return int(open_[int(kept.argmin())])


def _open(left: Labels) -> NDArray[np.intp]:
    """The classifiers whose answers tell something, and can be told: nothing hides what they are about, whatever is there."""
    return np.flatnonzero((left != left[0]).any(0) & (left != NO_LABEL).all(0))
