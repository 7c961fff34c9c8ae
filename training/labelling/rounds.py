"""Rounds of labels and training, from no label at all until unseen pictures are read surely.

In every round some pictures are labelled, some of them chosen at random and read before their labels are learned from: that is
the test that ends the rounds. Labels that follow from those given, because two places look the same, cost nothing.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
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
from aam_vision.classifiers.store import Card, describe
from aam_vision.commandline import Progress
from aam_vision.errors import UnusableInput
from aam_vision.training.boards import fingerprint, positives
from aam_vision.training.calibration import calibrate, shift
from aam_vision.training.folder import Labellable
from aam_vision.training.labelling.answers import Labeller
from aam_vision.training.labelling.choice import ACTIVE, Open, at_random, least_labelled, most_telling
from aam_vision.training.labelling.elsewhere import Elsewhere, read_elsewhere
from aam_vision.training.labelling.free import free_examples
from aam_vision.training.labelling.pool import NO_LOOK, KnownLooks, Pool
from aam_vision.training.labelling.references import labelled_looks
from aam_vision.training.labelling.sites import AskedAtom
from aam_vision.training.labelling.stopping import Examination
from aam_vision.training.labelling.visible import shown
from aam_vision.training.labels import NO_LABEL, Labels, label
from aam_vision.training.lesson import teach
from aam_vision.training.settings import limited_threads
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
        network = teach(self._heads, data, steps=self._steps, seed=way.seed, progress=lambda *_: None)
        calibration = calibrate(network, own, torch.Generator().manual_seed(way.seed))
        shift(network, calibration.offsets)
        card = Card(
            name=self._domain.name,
            vocabulary=describe(self._visual),
            weights_sha256="",
            data_sha256=fingerprint(data),
            seed=way.seed,
            temperatures=calibration.temperatures,
            thresholds=calibration.thresholds,
            versions={"python": platform.python_version(), "torch": torch.__version__},
            figures={"boards": len(data), "steps": self._steps, "positives": positives(self._heads, data)},
            network=SHARED,
        )
        self.found.network, self.found.card, self.found.looks = network, card, looks
        perception = BoardPerception(self._visual, weights_of(network), card, looks=looks, remembered=0)
        self._watch(perception)
        self._labeller.learned(perception)
        self.found.seconds.append(process_time() - began)
        self._progress.stage(
            f"{self._domain.name}: {counted(len(own), 'picture')} labelled, {self.found.seconds[-1]:.1f} CPU seconds"
        )
        return perception
