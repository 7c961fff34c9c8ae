"""Whole pictures of boards that are labelled, or single atoms of them, and classifiers that learn from them.

Some pictures are chosen at random, the others are those that say most about the looks of all. Labels that follow from those given,
because two places look the same, cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import NO_LABEL, Reading, VisualVocabulary
from aam_vision.classifiers.legality import Truth
from aam_vision.classifiers.networks import weights_of
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.recognition import Recognition
from aam_vision.envs.labelled import Labels
from aam_vision.model.strips import State
from aam_vision.support.errors import UnusableInput
from aam_vision.support.resampling import resized
from aam_vision.support.wording import counted
from aam_vision.training.boards import Example
from aam_vision.training.folder import Labellable
from aam_vision.training.labelling.pool import (
    NO_LOOK,
    AskedAtom,
    KnownLooks,
    LabelQuestion,
    Pool,
    SiteAnswers,
    labelled_looks,
)
from aam_vision.training.labelling.rounds import IN_A_ROW, Answer, Elsewhere, Learner, least_labelled
from aam_vision.training.labelling.settings import ACTIVE, Way
from aam_vision.training.tasks import CellTask
from aam_vision.training.trainer import calibrated, teach

AUDITED: Final = 2
"""The first ones of a round, at random of the layouts that are labelled least, which are read before they are learned from:
more of them end the rounds sooner where all is well, and leave fewer to choose."""

STEPS: Final = 120
"""Training steps of a round on boards of ``CELLS`` cells: more of them read better, and take longer."""

CELLS: Final = 60
"""On smaller boards there are more steps, which take as long."""

MOST_STEPS: Final = 360
"""However small the boards are."""

FREE: Final = 60
"""Pictures with labels for free that are learned from, and mosaics: more of them take longer to be learned."""


class BoardLearner(Learner[BoardPerception]):
    """Asks about whole pictures of boards."""

    FIRST, EACH, STREAM = 4, 3, 18

    WATCHED = 150
    """None of them may be refused when labelling stops: of so many, none tells that at most 2% of all walked pictures are (95%;
    Clopper and Pearson). More of them tell less, and take time."""

    def __init__(self, domain: Labellable, pool: Pool, way: Way) -> None:
        super().__init__(domain, pool.walked, way)
        self._pool, self._heads, self._open = pool, domain.visual.cell_heads(), Open(pool)
        self._known = KnownLooks(pool, len(self._heads))
        self._answers: dict[int, Labels] = {}
        cells = float(np.mean([len(one.index.places) for one in pool.pictures]))
        self._steps = int(np.clip(STEPS * CELLS / cells, STEPS, MOST_STEPS))

    def questions(self, perception: BoardPerception | None) -> Iterator[tuple[LabelQuestion, bool]]:
        """The pictures that say most; first those to be examined on, once nothing is open."""
        begun = len(self._answers)
        while True:
            tested = perception is not None and len(self._answers) < begun + AUDITED and not self._open.any()
            done = self.found.done
            if tested:
                chosen = least_labelled(self._pool.walked, done, self._rng)
            elif self.way.choice == ACTIVE:
                chosen = most_telling(self._pool, self._known, done, self._open)
            else:
                chosen = at_random(self._pool, done, self._rng)
            if chosen is None:
                return
            yield LabelQuestion(chosen), tested

    def take(self, question: LabelQuestion, answer: Answer | None) -> None:
        if answer is None:
            return
        assert isinstance(answer, State)
        number = question.number
        self._answers[number] = labels = self._pool.pictures[number].labels(answer)
        self._known.answer(number, labels)
        self._open.close(self._pool, number)
        self.found.atoms += int((labels != NO_LABEL).sum())

    def compared(self, question: LabelQuestion, perception: BoardPerception) -> tuple[int, int, int]:
        _, sure, doubtful = self._pool.pictures[question.number].read(perception)
        wanted = self._answers[question.number]
        asked, right = wanted != NO_LABEL, sure == (wanted == 1)
        told = asked & ~doubtful
        return int((told & right).sum()), int((told & ~right).sum()), int((asked & doubtful).sum())

    def passed(self) -> bool:
        return self.examined() and not self.found.refused and not self.elsewhere().wrong

    def examined(self) -> bool:
        """Whether enough held-out answers were foreseen."""
        return self.found.examination.passed

    def references(self) -> Mapping[int, Labels]:
        """The labels (heads, places) of pictures that unlabelled ones are compared with."""
        return self._answers

    def elsewhere(self) -> Elsewhere:
        return read_elsewhere(self._pool, self.references())

    def train(self) -> BoardPerception:
        if not self.references():
            raise UnusableInput(
                "all was skipped, so there is nothing to learn from: begin anew in another --out"
            )
        looks = labelled_looks(self._pool, self.references())
        follow = self._known.follow(Recognition(looks))
        self._find_open(follow)
        own = [self._pool.pictures[number].example(labels) for number, labels in self._answers.items()]
        data = list(own)
        if self.way.free:
            data += self._free(follow)
        seed = self.way.seed
        task = CellTask(self._heads)
        network = teach(task, data, steps=self._steps, seed=seed, progress=lambda *_: None)
        figures = {"boards": len(data), "steps": self._steps, "positives": task.positives(data)}
        card = calibrated(task, network, own, self.domain, seed, task.fingerprint(data), figures=figures)
        self.found.network, self.found.card, self.found.looks = network, card, looks
        perception = BoardPerception(self._visual, weights_of(network), card, looks=looks, remembered=0)
        self._watch(perception)
        return perception

    def _find_open(self, follow: tuple[Labels, list[Labels]]) -> None:
        """Note what does not follow from the answers."""
        self._open.looks[:] = np.all(follow[0] == NO_LABEL, axis=1)
        for number, one in enumerate(self._pool.pictures):
            several = np.flatnonzero(one.looks == NO_LOOK)
            silent: NDArray[np.bool_] = np.all(follow[1][number][:, several] == NO_LABEL, axis=0)
            asked: NDArray[np.bool_] = np.any(one.index.legality.asked[:, several], axis=0)
            self._open.rooms[number] = int((silent & asked).sum())

    def _free(self, follow: tuple[Labels, Sequence[Labels]]) -> list[Example]:
        """Pictures that were not answered about, with the labels that follow, as many mosaics, and the answered ones again."""
        looks, pictures = follow
        drawn: list[int] = []  # by what follows about them: those with rare answers more often
        rest = np.array([one for one in range(len(pictures)) if one not in self._answers], np.intp)
        if len(rest):
            yes = np.array([(pictures[one] == 1).any(1) for one in rest], float).reshape(len(rest), -1)
            worth = (yes / np.maximum(yes.sum(0), 1)).sum(1)
            useful, odds = np.flatnonzero(worth > 0), worth[worth > 0]
            if len(useful):
                number = min(FREE, len(useful))
                chosen = self._rng.choice(useful, number, replace=False, p=odds / odds.sum())
                drawn = rest[chosen].tolist()
        mosaics = Mosaics(self._pool, looks)
        found = [self._pool.pictures[one].example(pictures[one]) for one in drawn]
        found += [mosaics.example(one, pictures[one], self._rng) for one in drawn]
        for one, labels in self._answers.items():
            found += [self._pool.pictures[one].example(labels)] * (len(drawn) // len(self._answers))
        self.found.given = len(drawn), int(sum((pictures[one] != NO_LABEL).sum() for one in drawn))
        return found

    def _watch(self, perception: BoardPerception) -> None:
        """Read walked pictures: how many are refused, and which looks are not read surely."""
        refused = 0
        for number in self._watched:
            one = self._pool.pictures[number]
            looks = one.looks
            unsure: NDArray[np.bool_] = np.any(shown(self._visual, *one.read(perception)[1:]), axis=0)
            refused += bool(unsure.any())
            self._open.looks[looks[unsure & (looks != NO_LOOK)]] = True
            self._open.rooms[number] = int(unsure[looks == NO_LOOK].sum())
        self.found.refused = refused / len(self._watched)


# A test that speaks of other layouts: each labelled layout is read by what was labelled in the others.


def read_elsewhere(pool: Pool, answers: Mapping[int, Labels]) -> Elsewhere:
    """Read every layout with labelled pictures by the others; nothing is read where there is one only."""
    right = wrong = refused = 0
    layouts: dict[str, dict[int, Labels]] = {}
    for number, labels in answers.items():
        layouts.setdefault(pool.walked[number].problem, {})[number] = labels
    for own in layouts.values() if len(layouts) > 1 else ():
        others = {number: labels for number, labels in answers.items() if number not in own}
        recognition = Recognition(labelled_looks(pool, others))
        for number, labels in own.items():
            asked = pool.pictures[number].index.legality.asked
            cells = [pool.cells_at(number, place) for place in range(asked.shape[1])]
            for place, found in enumerate(recognition.labels(cells, asked)):
                if found is None:
                    refused += bool((labels[:, place] != NO_LABEL).any())
                    continue
                told = (found != NO_LABEL) & (labels[:, place] != NO_LABEL)
                right += int((found == labels[:, place])[told].sum())
                wrong += int((found != labels[:, place])[told].sum())
    return Elsewhere(right, wrong, refused)


# Which picture to label next: the one that says most about the looks of all others.


SAME: Final = 3.0
"""Looks that are nearer than this to one that was just labelled are not asked for again before the next training."""

STRANGE: Final = 30.0
"""Distance from which on a look is as strange as can be: a larger one has rare large things labelled before small marks."""

DOUBTED: Final = 4.0
"""Weight of a look that the classifiers do not read surely, or otherwise than its label: a larger one follows the classifiers
sooner, and what is merely new later."""


def at_random(pool: Pool, labelled: Sequence[int], rng: np.random.Generator) -> int | None:
    """Any picture that is not labelled yet; None if there is none."""
    rest = _others(pool, labelled)
    return rest[int(rng.integers(len(rest)))] if rest else None


class Open:
    """What is not known yet; of a new one, nothing.

    Attributes:
        looks: (looks,), whether a look is not read surely.
        rooms: (pictures,), how many places of several cells are not read surely.
    """

    def __init__(self, pool: Pool) -> None:
        self.looks: NDArray[np.bool_] = np.zeros(len(pool.looks), bool)
        self.rooms: NDArray[np.intp] = np.zeros(len(pool.pictures), np.intp)

    def any(self) -> bool:
        """Whether anything is open."""
        return bool(self.looks.any() or self.rooms.any())

    def close(self, pool: Pool, number: int) -> None:
        """A picture was labelled: what it shows is not open any more, nor what looks the same."""
        looks = pool.pictures[number].looks
        own = looks[looks != NO_LOOK]
        self.looks[pool.distances[:, own].min(1, initial=np.inf) < SAME] = False
        self.rooms[number] = 0


def most_telling(pool: Pool, known: KnownLooks, labelled: Sequence[int], doubted: Open) -> int | None:
    """The picture whose label says most; None if all are labelled.

    By turns it is the one after whose label all looks together are nearest to labelled ones, and one with the strangest look of
    all. Every look counts once, however often it is seen, so that what is rare is not drowned by floors and walls. What is not
    read surely is as strange as can be, until something is labelled that looks the same.
    """
    weight = np.where(doubted.looks, DOUBTED, 1.0)
    nearest = pool.distances[:, list(known.sites)].min(1, initial=STRANGE)
    near = np.where(doubted.looks, STRANGE, nearest) ** 2
    candidates = _others(pool, labelled)
    if len(labelled) % 2 and not doubted.rooms.any():
        strangest = int((weight * near).argmax())
        candidates = [one for one in candidates if strangest in pool.pictures[one].looks] or candidates
    gains = []
    for number in candidates:
        own = np.unique(pool.pictures[number].looks)
        own = own[own != NO_LOOK]
        after = pool.distances[:, own].min(1, initial=STRANGE) ** 2
        gain = (weight * np.maximum(near - after, 0)).sum()
        gains.append(gain + DOUBTED * STRANGE**2 * doubted.rooms[number])
    return candidates[int(np.argmax(gains))] if candidates else None


def _others(pool: Pool, labelled: Sequence[int]) -> list[int]:
    """The numbers of the pictures that are not labelled."""
    done = set(labelled)
    return [number for number in range(len(pool.pictures)) if number not in done]


# Boards put together of cells whose labels are known: labels for free, and any thing beside any other.
#
# The picture of a walk is the ground, and some of its cells are replaced by cells of other pictures. A rare look is put in as
# often as a common one: all kinds of labels are drawn alike. A place of several cells keeps its label only if none of them is
# replaced.


REPLACED: Final = 0.3
"""Share of the cells that are replaced: more of them show more neighbours, and look less like a board."""


ZOOM: Final = 2
"""Pixels of a cell's side that may be cut off when a look is enlarged: more of them change things more than layouts do."""


class Mosaics:
    """Makes boards of a pool's looks with their labels (looks, heads), ``NO_LABEL`` throughout for those that are not known."""

    def __init__(self, pool: Pool, labels: Labels) -> None:
        self._pool, self._labels = pool, labels
        kinds: dict[bytes, dict[bytes, list[int]]] = {}
        for look in np.flatnonzero((labels != NO_LABEL).any(1)):
            own = kinds.setdefault(pool.asked[look], {})
            own.setdefault(labels[look].tobytes(), []).append(int(look))
        self._kinds = {asked: list(groups.values()) for asked, groups in kinds.items()}

    def example(self, number: int, follows: Labels, rng: np.random.Generator) -> Example:
        """The picture of a number with some cells replaced; what replaces them is a little larger or smaller, and moved.

        Things are drawn in other sizes on boards of other shapes, as against the cell. ``follows``: its labels (heads, places), as known.
        """
        pooled, labels = self._pool.pictures[number], follows.copy()
        pixels, side = pooled.pixels.copy(), pooled.pixels.shape[1] // pooled.index.scene.rows
        replaced: set[int] = set()
        for place, cells in enumerate(pooled.index.cells):
            look = int(pooled.looks[place])
            groups = self._kinds.get(self._pool.asked[look]) if look != NO_LOOK else None
            if groups is None or cells[0] in replaced or rng.random() >= REPLACED:
                continue
            group = groups[int(rng.integers(len(groups)))]
            chosen = group[int(rng.integers(len(group)))]
            whole = self._pool.looks[chosen]
            size = int(rng.integers(side - ZOOM, whole.shape[1] + 1))
            down, right = (int(step) for step in rng.integers(0, whole.shape[1] - size + 1, 2))
            part = whole[:, down : down + size, right : right + size].transpose(1, 2, 0)
            row, column = (side * one for one in divmod(cells[0], pooled.index.scene.columns))
            cut = resized(np.ascontiguousarray(part)[None], side, side)[0]
            pixels[:, row : row + side, column : column + side] = cut
            replaced.add(cells[0])
            labels[:, place] = self._labels[chosen]
        for place, cells in enumerate(pooled.index.cells):
            if pooled.looks[place] == NO_LOOK and replaced.intersection(cells):
                labels[:, place] = NO_LABEL
        return pooled.example(labels, pixels)


# Which answers a picture shows, hidden by nothing.


def shown(vocabulary: VisualVocabulary, sure: Truth, doubtful: Truth) -> Truth:
    """The doubtful answers that the picture shows, hidden by nothing: all are (heads, places)."""
    rows, found = vocabulary.rows, doubtful.copy()
    looks = {look: rows[head] for look, head in vocabulary.look_heads.items()}
    for entry in vocabulary.perceived:
        if entry.reading is not Reading.WHERE:
            row = rows[entry.heads[""]]
            if entry.hidden_by is not None:
                found[row] &= ~sure[looks[entry.hidden_by]]
            if entry.reading is Reading.ON:
                found[row] &= sure[list(looks.values())].any(0)
    return found


# Single atoms that are asked about instead of whole pictures: is there a stone at this place?
#
# A place is asked about until all is known that it shows, and then all places that look the same are known, too. Places chosen at random
# are read before they are asked about: that is the test that ends the rounds.


TOLERATED: Final = 0.2
"""Largest share of wrong answers about looks at random, by its upper bound, with which asking stops: .02, as for whole pictures, would
take 149 answers in a row; this takes 14."""

COVERED: Final = 8.0
"""No look may be farther from all known ones when asking stops: a smaller distance needs more answers, with a larger one small marks may
never have been asked about."""

ROOMS: Final = 3
"""One of so many places that are asked about has several cells, while any of these are open."""


class AtomLearner(BoardLearner):
    """Asks about single atoms of pictures of boards."""

    FIRST, EACH = 24, 12

    def __init__(self, domain: Labellable, pool: Pool, way: Way) -> None:
        super().__init__(domain, pool, way)
        self._single = SiteAnswers(pool, len(self._heads))
        self._open_rooms: list[int] = []
        self._turn, self._farthest = 0, np.inf
        self._read: tuple[Truth, Truth]

    def questions(self, perception: BoardPerception | None) -> Iterator[tuple[AskedAtom, bool]]:
        """About the place that says most until it is known; places at random, to be examined on, once nothing is open."""
        while True:
            found = strangest_look(self._single, self._open.looks)
            look, self._farthest = found or (None, 0.0)
            read: Truth | None = None
            if perception is None or self._open.any() or self._farthest > COVERED:
                rooms = [one for one in self._open_rooms if self._single.is_open(one)]
                if rooms and self._turn % ROOMS == ROOMS - 1:
                    site = rooms[int(self._rng.integers(len(rooms)))]
                elif look is not None or rooms:
                    site = rooms[0] if look is None else look
                else:
                    return
                self._turn += 1
                shown, members = set(self.found.pictures), self._pool.members[site]
                number, place = next((one for one in members if one[0] in shown), members[0])
            else:  # every look is as likely as any other, however often it is seen
                wanted = self._wanted()
                if not wanted:
                    return
                site = wanted[int(self._rng.integers(len(wanted)))]
                members = self._pool.members[site]
                number, place = members[int(self._rng.integers(len(members)))]
                _, read, doubtful = self._pool.pictures[number].read(perception)
                self._read = read, doubtful
            while site not in self._single.left_out:
                left = self._single.possible(site)
                head = most_telling_head(self._single, site) if read is None else surest(read[:, place], left)
                if head is None:
                    break
                yield AskedAtom(number, place, head), read is not None

    def take(self, question: LabelQuestion, answer: Answer | None) -> None:
        assert isinstance(question, AskedAtom)
        if answer is None:
            self._single.left_out.add(int(self._pool.of[question.number][question.place]))
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
        return bool(self._wanted())

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

    def _wanted(self) -> list[int]:
        """All sites that are to be asked about."""
        return [site for site in range(len(self._pool.members)) if self._single.is_open(site)]


# Which atom to ask about next: at the place that looks least like all known ones, the one that halves what it may show.


UNLIKE: Final = 100.0
"""Distance from which on looks have nothing in common; it is larger than that of any two."""

SIMILAR: Final = 30.0
"""Distance up to which a place probably shows what the most similar known one does: a larger one is wrong more often."""

LIKELY: Final = 8.0
"""How many times likelier a place shows what the most similar known one does than anything else: a larger one asks fewer
questions where that is so, and more where it is not."""


def strangest_look(answers: SiteAnswers, doubted: NDArray[np.bool_]) -> tuple[int, float] | None:
    """The look that is least like all known ones, and how far it is from them; None if all are known or left out.

    So what is rare comes as soon as what is common, and no look that is not known stays farther from all known ones than the last one
    that was asked about (farthest-first traversal: Gonzalez, 1985). Those that are not read surely come first.

    Args:
        answers: what is known.
        doubted: (looks,), whether a look is not read surely.
    """
    pool, looks = answers.pool, len(answers.pool.looks)
    known = [site for site in answers.wholes if site < looks]
    candidates = np.array([look for look in range(looks) if answers.is_open(look)], np.intp)
    if not len(candidates):
        return None
    near = pool.distances[:, known].min(1, initial=UNLIKE)[candidates]
    first = doubted[candidates] & (near >= SAME)
    chosen = int((near + np.where(first, UNLIKE, 0)).argmax())
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
