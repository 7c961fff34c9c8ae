"""Rounds of questions and training, from no label at all until unseen pictures are read surely.

In every round something is asked, and the classifiers are trained on all answers. Some questions are chosen at random, and what
they are about is read before it is learned from: that is the test that ends the rounds. What is asked next, what an answer teaches and
how the classifiers are trained is a ``Learner``'s: ``boards`` asks about whole pictures of boards, or single atoms of them, ``scenes``
about pictures without cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, log
from time import process_time
from typing import Final, Generic, Protocol, TypeVar

import numpy as np
from torch import nn

from aam_vision.classifiers.looks import LabelledLooks
from aam_vision.classifiers.store import Card
from aam_vision.envs.labelled import Labelled
from aam_vision.model.strips import State
from aam_vision.support.commandline import Progress
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted
from aam_vision.training.assessment import PerceptionScores
from aam_vision.training.folder import Labellable
from aam_vision.training.labelling.pool import AskedAtom, LabelQuestion, Walked
from aam_vision.training.labelling.settings import Way
from aam_vision.training.settings import limited_threads

Answer = State | Labelled | bool
"""The perceived atoms that are true in a picture, with pixels where it has no cells; or whether a single atom is."""


class TooLittle(UnusableInput):
    """Nothing can be learned from the answers so far; more of them may help."""


# When labels are enough: a test on answers that were not learned from.


CONFIDENCE: Final = 0.95
"""Of all bounds."""

TOLERATED: Final = 0.02
"""Largest share of wrong answers, by its upper bound, with which labelling stops: a smaller one needs more answers."""

IN_A_ROW: Final = 2
"""Held-out pictures in a row that must have been read without a mistake, and whole."""


def upper_bound(wrong: int, number: int, confidence: float = CONFIDENCE) -> float:
    """The largest share that fits so many wrong ones of a number of answers (Clopper and Pearson, 1934).

    The chance of at most ``wrong`` is exactly ``1 - confidence`` there; 1.0 without an answer.
    """
    from scipy.stats import beta

    return 1.0 if wrong >= number else float(beta.ppf(confidence, wrong + 1, number - wrong))


@dataclass
class Examination:
    """Answers about pictures chosen at random, each read before it was learned from.

    Figures count since the last mistake: what was learned after it may have cured it, and what came before says nothing of
    that.
    """

    answers: int = 0
    whole: int = 0
    mistakes: int = 0
    history: list[tuple[int, int, int]] = field(default_factory=list)

    def add(self, right: int, wrong: int, refused: int) -> None:
        """Take in a picture: numbers of answers that were right, wrong, and not given though the picture shows them."""
        self.history.append((right, wrong, refused))
        self.mistakes += wrong
        if wrong:
            self.answers = self.whole = 0
        else:
            self.answers += right
            self.whole = 0 if refused else self.whole + 1

    @property
    def bound(self) -> float:
        """The upper bound of the share of wrong answers."""
        return upper_bound(0, self.answers)

    @property
    def passed(self) -> bool:
        """Whether enough answers in a row were right."""
        return self.whole >= IN_A_ROW and self.bound <= TOLERATED


# Whether whole pictures are read without a mistake: a test on pictures that were set aside before anything was chosen or learned.


MISREAD: Final = 0.05
"""Largest share of pictures of which anything is misread, by its upper bound, with which classifiers pass: that of an examination."""

ATTEMPTS: Final = 3
"""At the test. What is misread is learned from, and other pictures are read at the next attempt."""


def pictures_needed(attempt: int) -> int:
    """How many pictures in a row have to be read without a mistake at an attempt, from 1 on.

    Half of the probability of passing wrongly is spent on the first one, half of the rest on the next, and so on, so that the bound
    holds for all attempts together.
    """
    return ceil(log((1 - CONFIDENCE) / 2**attempt) / log(1 - MISREAD))


@dataclass
class PictureTest:
    """The last attempt at the test.

    Attributes:
        attempt: its number; 0 if there was none.
        scores: of the pictures that were read: those with an atom that is decided wrongly, and those of which something was left open.
    """

    attempt: int = 0
    scores: PerceptionScores = field(default_factory=PerceptionScores)

    @property
    def missing(self) -> int:
        """How many pictures are still to be read."""
        return pictures_needed(max(self.attempt, 1)) - self.scores.states

    @property
    def bound(self) -> float:
        """The upper bound of the share of misread pictures, over all attempts together."""
        confidence = 1 - (1 - CONFIDENCE) / 2**self.attempt
        return upper_bound(self.scores.wrong, self.scores.states, confidence)

    @property
    def passed(self) -> bool:
        """Whether enough pictures were read, and none wrongly."""
        return not self.missing and not self.scores.wrong


@dataclass(frozen=True)
class Elsewhere:
    """Answers about labelled pictures by the looks that were labelled in other layouts alone; places may look like none of these."""

    right: int = 0
    wrong: int = 0
    refused_places: int = 0

    @property
    def bound(self) -> float:
        """The upper bound of the share of wrong answers."""
        return upper_bound(self.wrong, self.right + self.wrong)


@dataclass
class LabellingResult:
    """What came of the rounds.

    Attributes:
        told: all questions with their answers, in order; None of what could not be told.
        atoms: answers yes or no, about one classifier and place each, that the labels consist of.
        sure: whether the test ended the rounds, and not the number of answers.
        examination: the test.
        seconds: CPU seconds of every round's training.
        network: the trained classifiers.
        card: of the trained classifiers.
        looks: that were labelled; they belong to the classifiers.
        elsewhere: how labelled layouts are read by the looks of the others.
        refused: share of walked pictures in which something was refused in the end.
        given: pictures with labels for free, and how many of these labels there were, in the last round.
        test: on whole pictures, where pictures without cells are set aside for it; None elsewhere.
    """

    told: list[tuple[LabelQuestion, Answer | None]] = field(default_factory=list)
    atoms: int = 0
    sure: bool = False
    examination: Examination = field(default_factory=Examination)
    seconds: list[float] = field(default_factory=list)
    network: nn.Module | None = None
    card: Card | None = None
    looks: LabelledLooks | None = None
    elsewhere: Elsewhere = field(default_factory=Elsewhere)
    refused: float = 1.0
    given: tuple[int, int] = (0, 0)
    test: PictureTest | None = None

    @property
    def answers(self) -> list[tuple[AskedAtom, Answer | None]]:
        """About single atoms, where these were asked."""
        return [(asked, answer) for asked, answer in self.told if isinstance(asked, AskedAtom)]

    @property
    def pictures(self) -> list[int]:
        """Numbers of the labelled pictures, in order; those about which anything was answered."""
        return list(dict.fromkeys(asked.number for asked, answer in self.told if answer is not None))

    @property
    def done(self) -> list[int]:
        """Numbers of the pictures that were asked about, in order."""
        return [asked.number for asked, _ in self.told]

    @property
    def skipped(self) -> list[int]:
        """Numbers of pictures that nobody could label."""
        whole = (one for one in self.told if not isinstance(one[0], AskedAtom))
        return [asked.number for asked, answer in whole if answer is None]

    @property
    def answered(self) -> int:
        """The number of questions that somebody could answer."""
        return sum(answer is not None for _, answer in self.told)


P = TypeVar("P")
Seen = TypeVar("Seen", contravariant=True)


class Labeller(Protocol[Seen]):
    """Tells what pictures show: a person, or a simulator."""

    def answer(self, question: LabelQuestion, *, tested: bool = False, missing: int = 0) -> Answer | None:
        """The answer, None if nobody can tell; ``tested``: whether it is compared with what the classifiers read.

        ``missing``: how many pictures the last test still needs, this one included.
        """
        ...

    def learned(self, perception: Seen) -> None:
        """Take note of classifiers that were trained on the answers so far."""
        ...


class Learner(Generic[P]):
    """What differs between kinds of questions, which classes below this one say.

    Attributes:
        found: what came of the rounds so far; the rounds note the answers, the learner all that it makes of them.
    """

    FIRST: int
    """Answers before anything is trained."""
    EACH: int
    """Answers of every further round."""
    WATCHED: int
    """Walked pictures that are read after every training."""
    STREAM: int
    """The number of the stream of chance."""

    def __init__(self, domain: Labellable, walked: Sequence[Walked], way: Way) -> None:
        self.domain, self.way, self._visual, self._walked = domain, way, domain.visual, walked
        self._rng = np.random.default_rng([way.seed, self.STREAM])
        self._watched = self._rng.permutation(len(walked))[: self.WATCHED].tolist()
        self.found = LabellingResult()

    def questions(self, perception: P | None) -> Iterator[tuple[LabelQuestion, bool]]:
        """What to ask until the next training, and whether its answer is held out; the one before was answered then.

        ``perception``: the present classifiers; None before anything is trained.
        """
        raise NotImplementedError

    def take(self, question: LabelQuestion, answer: Answer | None) -> None:
        """Take in an answer."""
        raise NotImplementedError

    def compared(self, question: LabelQuestion, perception: P) -> tuple[int, int, int]:
        """Of a held-out question that was answered: how much the classifiers read rightly, wrongly and not at all."""
        raise NotImplementedError

    def train(self) -> P:
        """New classifiers from all answers; UnusableInput if nothing can be learned from them, ``TooLittle`` if more may help."""
        raise NotImplementedError

    def passed(self) -> bool:
        """Whether the test says that answers are enough."""
        raise NotImplementedError

    def left(self) -> bool:
        """Whether anything is left to be asked."""
        return len(self.found.done) < len(self._walked)

    def elsewhere(self) -> Elsewhere:
        """How labelled layouts are read by the others, where pictures have cells."""
        return Elsewhere()

    def set_aside(self) -> LabelQuestion | None:
        """The next of the pictures that were set aside for the last test; None if none is left, or there is no such test."""
        return None

    def read(self, question: LabelQuestion, perception: P, scores: PerceptionScores) -> None:
        """Add to the scores how a picture of the last test, which was answered, is read."""
        raise NotImplementedError


class LabellingRounds(Generic[P]):
    """Asks and trains until classifiers are sure."""

    def __init__(self, learner: Learner[P], labeller: Labeller[P], progress: Progress) -> None:
        self._learner, self._labeller, self._progress = learner, labeller, progress

    def run(self) -> tuple[P, LabellingResult]:
        """Ask and train until the test is passed or ``Way.most`` questions are answered.

        Raises:
            UnusableInput: nothing can be learned from the answers.
        """
        learner, found = self._learner, self._learner.found
        self.ask(learner.FIRST)
        with limited_threads(1):
            perception = self._first()
            while not learner.passed() and found.answered < learner.way.most and learner.left():
                self.ask(learner.EACH, perception)
                perception = self._train()
            found.sure, found.elsewhere = learner.passed(), learner.elsewhere()
            if found.test is not None:
                perception = self._tested(perception, found.test)
                found.sure = found.test.passed
        return perception, found

    def _first(self) -> P:
        """The first classifiers; more is asked while the answers are too little to learn from."""
        learner, found = self._learner, self._learner.found
        while True:
            try:
                return self._train()
            except TooLittle:
                if found.answered >= learner.way.most or not learner.left():
                    raise
                self.ask(learner.EACH)

    def _tested(self, perception: P, test: PictureTest) -> P:
        """Have pictures read that were set aside, and learn from them what is misread, until the test is passed or nothing is left."""
        learner, found = self._learner, self._learner.found
        while True:
            test.attempt, test.scores = test.attempt + 1, PerceptionScores()
            while test.missing and not test.scores.wrong and (question := learner.set_aside()) is not None:
                answer = self._labeller.answer(question, tested=True, missing=test.missing)
                found.told.append((question, answer))
                learner.take(question, answer)
                if answer is not None:
                    learner.read(question, perception, test.scores)
            if not test.scores.wrong or test.attempt == ATTEMPTS:
                return perception
            perception = self._train()

    def ask(self, number: int, perception: P | None = None) -> None:
        """Get so many answers, as far as there are questions left; those that are held out are compared with what is read."""
        found = self._learner.found
        until = min(self._learner.way.most, found.answered + number)
        for question, tested in self._learner.questions(perception):
            answer = self._labeller.answer(question, tested=tested)
            found.told.append((question, answer))
            self._learner.take(question, answer)
            if perception is not None and tested and answer is not None:
                found.examination.add(*self._learner.compared(question, perception))
            if found.answered >= until:
                return

    def _train(self) -> P:
        began, found = process_time(), self._learner.found
        perception = self._learner.train()
        self._labeller.learned(perception)
        found.seconds.append(process_time() - began)
        labelled = counted(len(found.pictures), "picture")
        name = self._learner.domain.name
        self._progress.stage(f"{name}: {labelled} labelled, {found.seconds[-1]:.1f} CPU seconds")
        return perception


def least_labelled(
    pictures: Sequence[Walked],
    labelled: Sequence[int],
    rng: np.random.Generator,
    apart: Collection[int] = (),
) -> int | None:
    """A picture at random of the problems with the fewest labelled pictures, so that it tests what was learned elsewhere.

    None if all are labelled but those that are kept ``apart``.
    """
    often, done = Counter(pictures[number].problem for number in labelled), {*labelled, *apart}
    rest = [number for number in range(len(pictures)) if number not in done]
    fewest = min((often[pictures[number].problem] for number in rest), default=0)
    chosen = [number for number in rest if often[pictures[number].problem] == fewest]
    return chosen[int(rng.integers(len(chosen)))] if chosen else None
