"""Rounds of labels and training, from no label at all until unseen pictures are read surely.

In every round some pictures are labelled, some of them chosen at random and read before their labels are learned from: that is
the test that ends the rounds. Labels that follow from those given, because two places look the same, cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from aam_vision.classifiers.architecture import SHARED
from aam_vision.classifiers.legality import Truth
from aam_vision.classifiers.looks import LabelledLooks
from aam_vision.classifiers.networks import weights_of
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.recognition import Recognition
from aam_vision.classifiers.resampling import resized
from aam_vision.classifiers.store import Card
from aam_vision.commandline import Progress
from aam_vision.errors import UnusableInput
from aam_vision.perception import Perceived, Reading, VisualVocabulary
from aam_vision.training.boards import Example, fingerprint, positives
from aam_vision.training.calibration import calibrate
from aam_vision.training.cells import CellTask
from aam_vision.training.folder import Labellable
from aam_vision.training.labelling.answers import Labeller
from aam_vision.training.labelling.choice import (
    ACTIVE,
    Examination,
    Open,
    at_random,
    least_labelled,
    most_telling,
    upper_bound,
)
from aam_vision.training.labelling.pool import NO_LOOK, AskedAtom, KnownLooks, Pool, PooledPicture
from aam_vision.training.labelling.references import labelled_looks
from aam_vision.training.labels import NO_LABEL, Labels, label
from aam_vision.training.settings import limited_threads
from aam_vision.training.trainer import teach
from aam_vision.wording import counted

FIRST: Final = 4
"""Pictures that are labelled before anything is trained."""

EACH: Final = 3
"""Pictures of every further round."""

AUDITED: Final = 2
"""The first ones of a round, at random of the layouts that are labelled least, which are read before they are learned from:
more of them end the rounds sooner where all is well, and leave fewer to choose."""

STEPS: Final = 120
"""Training steps of a round on boards of ``CELLS`` cells: more of them read better, and take longer."""

CELLS: Final = 60
"""On smaller boards there are more steps, which take as long."""

MOST_STEPS: Final = 360
"""However small the boards are."""

WATCHED: Final = 150
"""Walked pictures that are read after every training, to see what is refused. None of them may be when labelling stops: of so
many, none tells that at most 2% of all walked pictures are (95%; Clopper and Pearson). More of them tell less, and take time."""


@dataclass(frozen=True)
class Way:
    """How labels are come by.

    Args:
        choice: of pictures, ``choice.RANDOM`` or ``choice.ACTIVE``.
        free: whether labels that follow are learned from, too.
        most: pictures to label at most.
        seed: of weights, chance and audits.
    """

    choice: str = ACTIVE
    free: bool = True
    most: int = 10
    seed: int = 0


# A test that speaks of other layouts: each labelled layout is read by what was labelled in the others.


@dataclass(frozen=True)
class Elsewhere:
    """Answers about labelled pictures, by the looks that were labelled in other layouts alone.

    Attributes:
        right: those that are as labelled.
        wrong: those that are not.
        refused: places that look like none of the other layouts.
    """

    right: int = 0
    wrong: int = 0
    refused: int = 0

    @property
    def bound(self) -> float:
        """The upper bound of the share of wrong answers."""
        return upper_bound(self.wrong, self.right + self.wrong)


def read_elsewhere(pool: Pool, answers: Mapping[int, Labels]) -> Elsewhere:
    """Read every layout with labelled pictures by the others; nothing is read where there is one only."""
    layouts: dict[str, dict[int, Labels]] = {}
    for number, labels in answers.items():
        layouts.setdefault(pool.pictures[number].picture.problem, {})[number] = labels
    right = wrong = refused = 0
    for own in layouts.values():
        others = {number: labels for number, labels in answers.items() if number not in own}
        if not others:
            continue
        recognition = Recognition(labelled_looks(pool, others))
        for number, labels in own.items():
            index = pool.pictures[number].index
            known = recognition.labels(
                [pool.cells(number, place) for place in range(len(index.places))], index.legality.asked
            )
            for place, found in enumerate(known):
                if found is None:
                    refused += bool((labels[:, place] != NO_LABEL).any())
                    continue
                told = (found != NO_LABEL) & (labels[:, place] != NO_LABEL)
                right += int((found == labels[:, place])[told].sum())
                wrong += int((found != labels[:, place])[told].sum())
    return Elsewhere(right, wrong, refused)


@dataclass
class Labelled:
    """What came of the rounds.

    Attributes:
        pictures: numbers of the labelled pictures, in order.
        skipped: numbers of pictures that nobody could label.
        atoms: answers yes or no, about one classifier and place each, that the labels consist of.
        answers: about single atoms, where these were asked; None of what could not be told.
        sure: whether the test ended the rounds, and not the number of pictures.
        examination: the test.
        seconds: CPU seconds of every round's training.
        network: the trained classifiers.
        card: of the trained classifiers.
        looks: that were labelled; they belong to the classifiers.
        elsewhere: how labelled layouts are read by the looks of the others.
        refused: share of walked pictures in which something was refused in the end.
        given: pictures with labels for free, and how many of these labels there were, in the last round.
    """

    pictures: list[int] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    atoms: int = 0
    answers: list[tuple[AskedAtom, bool | None]] = field(default_factory=list)
    sure: bool = False
    examination: Examination = field(default_factory=Examination)
    seconds: list[float] = field(default_factory=list)
    network: nn.Module | None = None
    card: Card | None = None
    looks: LabelledLooks | None = None
    elsewhere: Elsewhere = field(default_factory=Elsewhere)
    refused: float = 1.0
    given: tuple[int, int] = (0, 0)


class Rounds:
    """Labels a pool of pictures until its classifiers are sure.

    Args:
        domain: the environment; its vocabulary and name are used.
        pool: pictures of walks.
        labeller: tells what they show.
        way: how labels are come by.
        progress: is told what is being done.
    """

    def __init__(
        self, domain: Labellable, pool: Pool, labeller: Labeller, way: Way, progress: Progress
    ) -> None:
        self._domain, self._visual, self._pool = domain, domain.visual, pool
        self._labeller, self._way, self._progress = labeller, way, progress
        self._heads = domain.visual.cell_heads()
        self._known = KnownLooks(pool, len(self._heads))
        self._answers: dict[int, Labels] = {}
        self._rng = np.random.default_rng([way.seed, 18])
        self._open = Open.nothing(pool)
        number = len(pool.pictures)
        self._watched = self._rng.permutation(number)[:WATCHED].tolist()
        cells = float(np.mean([len(one.index.places) for one in pool.pictures]))
        self._steps = int(np.clip(STEPS * CELLS / cells, STEPS, MOST_STEPS))
        self.found = Labelled()

    def run(self) -> tuple[BoardPerception, Labelled]:
        """Label and train until the test is passed or all pictures of ``Way.most`` are labelled."""
        self._begin()
        with limited_threads(1):
            perception = self._train()
            while not self._passed() and self._may_ask():
                self._round(perception)
                perception = self._train()
        self.found.sure = self._passed()
        self.found.elsewhere = read_elsewhere(self._pool, self._references())
        return perception, self.found

    def _passed(self) -> bool:
        """Whether the test says that labels are enough."""
        return (
            self._examined()
            and not self.found.refused
            and not read_elsewhere(self._pool, self._references()).wrong
        )

    def _begin(self) -> None:
        """Have something labelled before anything is trained."""
        while len(self._answers) < min(FIRST, self._way.most) and self._may_ask():
            self._ask(self._choose())

    def _may_ask(self) -> bool:
        """Whether more may be labelled, and can be."""
        left = len(self._pool.pictures) - len(self._done)
        return len(self._answers) < self._way.most and left > 0

    def _examined(self) -> bool:
        """Whether enough held-out answers were foreseen."""
        return self.found.examination.passed

    def _references(self) -> Mapping[int, Labels]:
        """The labels (heads, places) of pictures that unlabelled ones are compared with."""
        return self._answers

    @property
    def _done(self) -> list[int]:
        """The numbers of pictures that are labelled, and of those that are left out."""
        return [*self.found.pictures, *self.found.skipped]

    def _round(self, perception: BoardPerception) -> None:
        """Label some more pictures; the first of them are those to be examined on, once nothing is open."""
        for number in range(min(EACH, self._way.most - len(self._answers))):
            audited, told = number < AUDITED and not self._open.any(), False
            while not told:
                chosen = least_labelled(self._pool, self._done, self._rng) if audited else self._choose()
                if chosen is None:
                    return
                told = self._ask(chosen, tested=audited)
                if told and audited:
                    self._examine(perception, chosen)

    def _choose(self) -> int | None:
        if self._way.choice == ACTIVE:
            return most_telling(self._pool, self._known, self._done, self._open)
        return at_random(self._pool, self._done, self._rng)

    def _ask(self, number: int | None, *, tested: bool = False) -> bool:
        """Have a picture labelled; False if nobody could."""
        if number is None:
            return False
        pooled = self._pool.pictures[number]
        state = self._labeller.label(pooled.picture, tested=tested)
        if state is None:
            self.found.skipped.append(number)
            return False
        labels = label(self._visual, pooled.picture.scene, pooled.index.places, state)
        self._answers[number] = labels
        self._known.answer(number, labels)
        self._open.close(self._pool, number)
        self.found.pictures.append(number)
        self.found.atoms += int((labels != NO_LABEL).sum())
        return True

    def _examine(self, perception: BoardPerception, number: int) -> None:
        """Compare the answer about a picture with what was read before."""
        sure, doubtful = self._read(perception, number)
        wanted = self._answers[number]
        asked = wanted != NO_LABEL
        right = asked & ~doubtful & (sure == (wanted == 1))
        wrong = asked & ~doubtful & (sure != (wanted == 1))
        self.found.examination.add(int(right.sum()), int(wrong.sum()), int((asked & doubtful).sum()))

    def _read(self, perception: BoardPerception, number: int) -> tuple[Truth, Truth]:
        """(heads, places): what the classifiers say of a picture surely, and where they cannot say."""
        pooled = self._pool.pictures[number]
        (probabilities,) = perception.probabilities([pooled.picture.frame], pooled.picture.scene)
        return pooled.index.legality.settle(probabilities, *perception.thresholds)

    def _find_open(self, follow: tuple[Labels, list[Labels]]) -> None:
        """Note what does not follow from the answers."""
        self._open.looks[:] = np.all(follow[0] == NO_LABEL, axis=1)
        for number, one in enumerate(self._pool.pictures):
            several = np.flatnonzero(one.looks == NO_LOOK)
            silent: NDArray[np.bool_] = np.all(follow[1][number][:, several] == NO_LABEL, axis=0)
            asked: NDArray[np.bool_] = np.any(one.index.legality.asked[:, several], axis=0)
            self._open.rooms[number] = int((silent & asked).sum())

    def _watch(self, perception: BoardPerception) -> None:
        """Read walked pictures: how many are refused, and which looks are not read surely."""
        refused = 0
        for number in self._watched:
            looks = self._pool.pictures[number].looks
            unsure: NDArray[np.bool_] = np.any(shown(self._visual, *self._read(perception, number)), axis=0)
            refused += bool(unsure.any())
            self._open.looks[looks[unsure & (looks != NO_LOOK)]] = True
            self._open.rooms[number] = int(unsure[looks == NO_LOOK].sum())
        self.found.refused = refused / len(self._watched)

    def _train(self) -> BoardPerception:
        """New classifiers from all labels."""
        began, way = process_time(), self._way
        if not self._references():
            raise UnusableInput(
                "all was skipped, so there is nothing to learn from: begin anew in another --out"
            )
        looks = labelled_looks(self._pool, self._references())
        follow = self._known.follow(Recognition(looks))
        self._find_open(follow)
        own = [self._pool.pictures[number].example(labels) for number, labels in self._answers.items()]
        data = list(own)
        if way.free:
            free, self.found.given = free_examples(self._pool, self._answers, follow, self._rng)
            data += free
        task = CellTask(self._heads)
        network = teach(task, data, steps=self._steps, seed=way.seed, progress=lambda *_: None)
        calibration = calibrate(task, network, own, torch.Generator().manual_seed(way.seed))
        network.shift(calibration.offsets)
        figures = {"boards": len(data), "steps": self._steps, "positives": positives(self._heads, data)}
        card = calibration.card(self._domain, way.seed, fingerprint(data), SHARED, figures=figures)
        self.found.network, self.found.card, self.found.looks = network, card, looks
        perception = BoardPerception(self._visual, weights_of(network), card, looks=looks, remembered=0)
        self._watch(perception)
        self._labeller.learned(perception)
        self.found.seconds.append(process_time() - began)
        self._progress.stage(
            f"{self._domain.name}: {counted(len(own), 'picture')} labelled, {self.found.seconds[-1]:.1f} CPU seconds"
        )
        return perception


# Labels for free: pictures that nobody labelled, with what follows from those that somebody did.


FREE: Final = 60
"""Pictures with labels for free that are learned from, and mosaics: more of them take longer to be learned."""


def free_examples(
    pool: Pool,
    answers: Mapping[int, Labels],
    follow: tuple[Labels, Sequence[Labels]],
    rng: np.random.Generator,
) -> tuple[list[Example], tuple[int, int]]:
    """Pictures that were not answered about, with the labels that follow, as many mosaics, and the answered ones again.

    Args:
        pool: all pictures.
        answers: the labels of those that were answered about, by number.
        follow: the labels of all looks and of all pictures, as far as they follow; see ``KnownLooks.follow``.
        rng: the source of all chance.

    Returns:
        The examples; how many pictures without an answer are among them, and how many labels these have.
    """
    looks, pictures = follow
    drawn = _with_rare_answers(answers, pictures, rng)
    mosaics = Mosaics(pool, looks)
    found = [
        *[pool.pictures[one].example(pictures[one]) for one in drawn],
        *[mosaics.example(one, pictures[one], rng) for one in drawn],
        *[
            pool.pictures[one].example(labels)
            for one, labels in answers.items()
            for _ in range(len(drawn) // len(answers))
        ],
    ]
    return found, (len(drawn), int(sum((pictures[one] != NO_LABEL).sum() for one in drawn)))


def _with_rare_answers(
    answers: Mapping[int, Labels], pictures: Sequence[Labels], rng: np.random.Generator
) -> list[int]:
    """Up to ``FREE`` pictures without answers, drawn by what follows about them: those with rare answers more often."""
    rest = np.array([one for one in range(len(pictures)) if one not in answers], np.intp)
    if not len(rest):
        return []
    yes = np.array([(pictures[one] == 1).any(1) for one in rest], float).reshape(len(rest), -1)
    worth = (yes / np.maximum(yes.sum(0), 1)).sum(1)
    useful = np.flatnonzero(worth > 0)
    if not len(useful):
        return []
    drawn = rng.choice(useful, min(FREE, len(useful)), replace=False, p=worth[useful] / worth[useful].sum())
    return [int(rest[one]) for one in drawn]


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
    """Makes boards of a pool's looks.

    Args:
        pool: the pictures.
        labels: of all looks, (looks, heads), ``NO_LABEL`` throughout for those that are not known.
    """

    def __init__(self, pool: Pool, labels: Labels) -> None:
        self._pool, self._labels = pool, labels
        kinds: dict[bytes, dict[bytes, list[int]]] = {}
        for look in np.flatnonzero((labels != NO_LABEL).any(1)):
            own = kinds.setdefault(pool.asked[look], {})
            own.setdefault(labels[look].tobytes(), []).append(int(look))
        self._kinds = {asked: list(groups.values()) for asked, groups in kinds.items()}

    def example(self, number: int, follows: Labels, rng: np.random.Generator) -> Example:
        """The picture of a number with some cells replaced.

        Args:
            number: of a picture of the pool.
            follows: its labels, as far as they are known: (heads, places).
            rng: the source of all chance.
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
            self._put(pixels, pooled, cells[0], self._cut(chosen, side, rng))
            replaced.add(cells[0])
            labels[:, place] = self._labels[chosen]
        for place, cells in enumerate(pooled.index.cells):
            if pooled.looks[place] == NO_LOOK and replaced.intersection(cells):
                labels[:, place] = NO_LABEL
        return pooled.example(labels, pixels)

    def _cut(self, look: int, side: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """The pixels of a look, a little larger or smaller, and moved: (3, side, side).

        Things are drawn in other sizes on boards of other shapes, as against the cell.
        """
        whole = self._pool.looks[look]
        size = int(rng.integers(side - ZOOM, whole.shape[1] + 1))
        down, right = (int(step) for step in rng.integers(0, whole.shape[1] - size + 1, 2))
        part = np.ascontiguousarray(whole[:, down : down + size, right : right + size].transpose(1, 2, 0))
        found: NDArray[np.uint8] = resized(part[None], side, side)[0]
        return found

    def _put(
        self, pixels: NDArray[np.uint8], pooled: PooledPicture, cell: int, cut: NDArray[np.uint8]
    ) -> None:
        side = cut.shape[1]
        row, column = (side * part for part in divmod(cell, pooled.index.scene.columns))
        pixels[:, row : row + side, column : column + side] = cut


# Which answers a picture shows, hidden by nothing.


def shown(vocabulary: VisualVocabulary, sure: Truth, doubtful: Truth) -> Truth:
    """The doubtful answers that the picture shows, hidden by nothing: all are (heads, places)."""
    rows = {head: row for row, head in enumerate(vocabulary.cell_heads())}
    entries = [entry for entry in vocabulary.entries if isinstance(entry, Perceived)]
    looks = {
        look: rows[head]
        for entry in entries
        if entry.reading is Reading.WHERE
        for look, head in entry.heads.items()
    }
    found = doubtful.copy()
    for entry in entries:
        if entry.reading is not Reading.WHERE:
            row = rows[entry.heads[""]]
            if entry.hidden_by is not None:
                found[row] &= ~sure[looks[entry.hidden_by]]
            if entry.reading is Reading.ON:
                found[row] &= sure[list(looks.values())].any(0)
    return found
