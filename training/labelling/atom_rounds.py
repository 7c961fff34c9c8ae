"""Rounds in which single atoms are asked about instead of whole pictures: is there a stone at this place?

A place is asked about until all is known that it shows, and then all places that look the same are known, too. Places chosen at random
are read before they are asked about: that is the test that ends the rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.commandline import Progress
from aam_vision.errors import UnusableInput
from aam_vision.training.folder import Labellable
from aam_vision.training.labelling.answers import Labeller
from aam_vision.training.labelling.choice import IN_A_ROW, SAME
from aam_vision.training.labelling.pool import AskedAtom, Pool, SiteAnswers, Sites
from aam_vision.training.labelling.rounds import Rounds, Way
from aam_vision.training.labels import NO_LABEL, Labels
from aam_vision.wording import counted

FIRST: Final = 24
"""Answers before anything is trained."""

EACH: Final = 12
"""Answers of every further round."""

TOLERATED: Final = 0.2
"""Largest share of wrong answers about looks at random, by its upper bound, with which asking stops: .02, as for whole pictures, would
take 149 answers in a row; this takes 14."""

COVERED: Final = 8.0
"""No look may be farther from all known ones when asking stops: a smaller distance needs more answers, with a larger one small marks may
never have been asked about."""

ROOMS: Final = 3
"""Every so manieth place is one of several cells, while any of them are open."""


class AtomLabeller(Labeller, Protocol):
    """Tells single atoms."""

    def atom(self, atom: AskedAtom, *, tested: bool = False) -> bool | None:
        """Whether a picture shows something at a place; None if that cannot be told.

        Args:
            atom: what is asked.
            tested: whether the answer is compared with what the classifiers read.
        """
        ...


class AtomRounds(Rounds):
    """Asks about atoms of a pool's pictures until its classifiers are sure.

    Args:
        domain: as for ``Rounds``, and the others, too.
        pool: pictures of walks.
        labeller: answers.
        way: ``most`` is the number of answers.
        progress: is told what is being done.
        sites: of the pool.
    """

    def __init__(
        self,
        domain: Labellable,
        pool: Pool,
        labeller: AtomLabeller,
        way: Way,
        progress: Progress,
        sites: Sites,
    ) -> None:
        super().__init__(domain, pool, labeller, way, progress)
        self._asked_of, self._sites = labeller, sites
        self._single = SiteAnswers(sites, len(self._heads))
        self._left_out: set[int] = set()
        self._open_rooms: list[int] = []
        self._turn, self._farthest = 0, np.inf

    def _begin(self) -> None:
        while self.found.atoms < min(FIRST, self._way.most) and self._next_place():
            pass

    def _may_ask(self) -> bool:
        return self.found.atoms < self._way.most and any(
            self._sites.asked(site) and self._single.whole(site) is None and site not in self._left_out
            for site in range(len(self._sites))
        )

    def _examined(self) -> bool:
        test = self.found.examination
        return test.whole >= IN_A_ROW and test.bound <= TOLERATED and self._farthest <= COVERED

    def _references(self) -> Mapping[int, Labels]:
        """Places of which all is known: of others it is not known what they look unlike."""
        found: dict[int, Labels] = {}
        for number in dict.fromkeys(self._sites.members[site][0][0] for site in self._single.wholes):
            found[number] = self._single.labels(number, whole=True)
        return found

    def _round(self, perception: BoardPerception) -> None:
        """Ask some more; places at random, to be examined on, once nothing is open."""
        until = min(self._way.most, self.found.atoms + EACH)
        while self.found.atoms < until:
            self._next_look()
            audited = not self._open.any() and self._farthest <= COVERED
            if not (self._audit(perception, until) if audited else self._next_place(until)):
                return

    def _next_place(self, until: int | None = None) -> bool:
        """Ask about the place that says most, until it is known; False if there is none."""
        site = self._next_site()
        if site is None:
            return False
        self._turn += 1
        atom: AskedAtom | None = None
        while (
            self.found.atoms < (until or min(FIRST, self._way.most))
            and (head := most_telling_head(self._single, site)) is not None
        ):
            atom = AskedAtom(*(self._place(site) if atom is None else (atom.number, atom.place)), head)
            if self._ask_atom(atom) is None:
                break
        return True

    def _next_site(self) -> int | None:
        rooms = [one for one in self._open_rooms if self._wanted(one)]
        if rooms and self._turn % ROOMS == ROOMS - 1:
            return rooms[int(self._rng.integers(len(rooms)))]
        look = self._next_look()
        if look is None and rooms:
            return rooms[0]
        return look

    def _next_look(self) -> int | None:
        """The look that is least like all known ones; how far it is from them is noted."""
        found = strangest_look(self._single, self._open.looks, self._left_out)
        self._farthest = 0.0 if found is None else found[1]
        return None if found is None else found[0]

    def _wanted(self, site: int) -> bool:
        return self._sites.asked(site) and self._single.whole(site) is None and site not in self._left_out

    def _place(self, site: int) -> tuple[int, int]:
        """A place of a site: in a picture that was shown before, if there is one."""
        shown = set(self.found.pictures)
        return next(
            (one for one in self._sites.members[site] if one[0] in shown), self._sites.members[site][0]
        )

    def _ask_atom(self, atom: AskedAtom, *, tested: bool = False) -> bool | None:
        """Have an atom answered."""
        yes = self._asked_of.atom(atom, tested=tested)
        self.found.answers.append((atom, yes))
        if yes is None:
            self._left_out.add(int(self._sites.of[atom.number][atom.place]))
            return None
        self._single.add(atom, yes=yes)
        self.found.atoms += 1
        if atom.number not in self.found.pictures:
            self.found.pictures.append(atom.number)
        return yes

    def _audit(self, perception: BoardPerception, until: int) -> bool:
        """Ask all about a place at random, and compare the answers with what is read; False if there is none.

        Every look is as likely as any other, however often it is seen.
        """
        wanted = [site for site in range(len(self._sites)) if self._wanted(site)]
        if not wanted:
            return False
        site = wanted[int(self._rng.integers(len(wanted)))]
        members = self._sites.members[site]
        number, place = members[int(self._rng.integers(len(members)))]
        sure, doubtful = self._read(perception, number)
        while (
            self.found.atoms < until
            and (head := surest(sure[:, place], self._single.possible(site))) is not None
        ):
            yes = self._ask_atom(AskedAtom(number, place, head), tested=True)
            if yes is None:
                break
            refused = bool(doubtful[head, place])
            right = not refused and bool(sure[head, place]) == yes
            self.found.examination.add(int(right), int(not refused and not right), int(refused))
        return True

    def _train(self) -> BoardPerception:
        if self.found.atoms and not self._single.wholes:
            raise UnusableInput(
                f"no place is known by {counted(self.found.atoms, 'answer')}, so there is nothing to learn from: give more "
                "--answers"
            )
        for site in self._single.wholes:
            labels = self._single.whole(site)
            assert labels is not None
            for number, place in (
                self._sites.members[site] if site >= self._sites.looks else self._sites.members[site][:1]
            ):
                self._known.answer_place(number, place, labels)
        self._answers = {number: self._single.labels(number) for number in self.found.pictures}
        return super()._train()

    def _find_open(self, follow: tuple[Labels, list[Labels]]) -> None:
        super()._find_open(follow)
        asked = np.array([self._sites.asked(look) for look in range(self._sites.looks)], bool)
        np.logical_and(self._open.looks, asked, out=self._open.looks)
        self._open_rooms = [
            site
            for site in range(self._sites.looks, len(self._sites))
            if all(
                (follow[1][number][:, place] == NO_LABEL).all()
                for number, place in self._sites.members[site][:1]
            )
        ]


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
    sites, distances = answers.sites, answers.sites.pool.distances
    known = [site for site in answers.wholes if site < sites.looks]
    candidates = np.array(
        [
            look
            for look in range(sites.looks)
            if answers.whole(look) is None and look not in left_out and sites.asked(look)
        ],
        np.intp,
    )
    if not len(candidates):
        return None
    near = distances[:, known].min(1, initial=STRANGE)[candidates]
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
    nearest = _most_similar(answers, site)
    if nearest is not None:
        likely[(left == nearest).all(1)] = LIKELY * (len(left) - 1)
    likely /= likely.sum()
    open_ = _open(left)
    yes = likely @ (left[:, open_] == 1)
    return int(open_[int(np.abs(yes - 0.5).argmin())])


def _most_similar(answers: SiteAnswers, site: int) -> Labels | None:
    """What the most similar known site shows, if it looks like this one at all."""
    sites = answers.sites
    if site >= sites.looks:
        return None
    known = [one for one in answers.wholes if one < sites.looks]
    if not known:
        return None
    away = sites.pool.distances[site, known]
    return answers.whole(known[int(away.argmin())]) if away.min() < SIMILAR else None


def surest(sure: NDArray[np.bool_], left: Labels) -> int | None:
    """The classifier whose answer tells most of what was read at a place, if that is right: what is there, before what is not.

    Args:
        sure: (heads,), what is read there.
        left: (n, heads), what the place may show.
    """
    open_ = _open(left)
    if not len(open_):
        return None
    kept = (left[:, open_] == sure[open_]).sum(0)
    return int(open_[int(kept.argmin())])


def _open(left: Labels) -> NDArray[np.intp]:
    """The classifiers whose answers tell something, and can be told: nothing hides what they are about, whatever is there."""
    return np.flatnonzero((left != left[0]).any(0) & (left != NO_LABEL).all(0))
