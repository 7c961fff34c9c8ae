"""Whole pictures without cells that are labelled, and classifiers that learn from them.

A few pictures are labelled and taken apart, and the classifiers learn from thousands of pictures that are made of the parts. In every
further round the most doubtful pictures are labelled, and some at random, which are read before they are learned from. Of all labelled
pictures a share teaches nothing: on it, it is measured how sure is sure. Others are set aside at random before all that, for the test
that comes last: a person confirms how they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

import numpy as np

from aam_vision.agents.perception import NO_LABEL, Percept
from aam_vision.classifiers.camera.network import CameraNetwork
from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.camera.plan import SceneAtoms, plan_of
from aam_vision.classifiers.networks import weights_of
from aam_vision.classifiers.store import BACKDROP, describe
from aam_vision.envs.labelled import Labelled
from aam_vision.support.errors import UnusableInput
from aam_vision.training.assessment import PerceptionScores, Sample, assess, samples
from aam_vision.training.cutouts import backdrop_of, fixed_looks
from aam_vision.training.described import PROBLEM
from aam_vision.training.folder import Labellable
from aam_vision.training.labelling.pool import LabelQuestion, Walked
from aam_vision.training.labelling.rounds import (
    ATTEMPTS,
    Answer,
    Learner,
    PictureTest,
    TooLittle,
    least_labelled,
    pictures_needed,
    upper_bound,
)
from aam_vision.training.labelling.settings import ACTIVE, Way
from aam_vision.training.pictures import (
    HELD,
    REPEATED,
    Lessons,
    answers,
    as_pictures,
    backdrop_facts,
    lessons_of,
    made_of,
)
from aam_vision.training.tasks import PlaceTask
from aam_vision.training.trainer import calibrated, teach

AUDITED: Final = 6
"""Pictures of a round that are chosen at random and read before they are learned from."""


@dataclass(frozen=True)
class Effort:
    """How much is made of labels.

    Attributes:
        first: labelled pictures before anything is trained.
        each: of every further round.
        made: pictures that are made for a round; more of them show more, and take time.
        to_calibrate: pictures made of those that teach nothing.
        steps: training steps of a round, which goes on from the weights of the one before.
        watched: pictures that are read after every round; more of them find what is doubtful, and take time.
    """

    first: int
    each: int
    made: int
    to_calibrate: int
    steps: int
    watched: int


USUAL: Final = Effort(30, 15, 1600, 200, 1200, 300)
WAITED_FOR: Final = Effort(12, 24, 1000, 150, 680, 200)
"""Where a person waits for every training, and confirms from then on what was learned: sooner, and in half the time."""

REFUSED: Final = 0.02
"""Largest share of walked pictures that may be refused when labelling stops, by its upper bound: a smaller one takes more labels.
Where things hide each other more than on walks, more is refused."""


class SceneLearner(Learner[CameraPerception]):
    """Asks about whole pictures without cells, of one camera; without ``Way.free`` nothing is made of labelled ones."""

    STREAM = 19

    def __init__(self, domain: Labellable, walked: Sequence[Walked], way: Way) -> None:
        self._effort = effort = WAITED_FOR if way.waits else USUAL
        self.FIRST, self.EACH, self.WATCHED = effort.first, effort.each, effort.watched
        super().__init__(domain, walked, way)
        self._plan = plan_of(describe(domain.visual))
        self._backdrop = backdrop_of([one.frame for one in walked])
        self._labels: dict[int, Labelled] = {}
        self._doubts: dict[int, int] = {}
        self._apart, self.found.test = set_aside(len(walked), way), PictureTest()
        self._network: CameraNetwork | None = None

    def questions(self, perception: CameraPerception | None) -> Iterator[tuple[LabelQuestion, bool]]:
        """The pictures of which most is not read surely; first those to be examined on, at random.

        After a picture the others of its problem are left alone until the next training; those of a folder may show anything.
        """
        begun = len(self._labels)
        while self.left():
            tested = perception is not None and len(self._labels) < begun + AUDITED
            if perception is None or tested or self.way.choice != ACTIVE or not any(self._doubts.values()):
                number = least_labelled(self._walked, self.found.done, self._rng, self._apart)
                assert number is not None, "some are left"
            else:
                number = max(self._doubts, key=lambda one: (self._doubts[one], -one))
                problem = self._walked[number].problem
                for one in [one for one in self._doubts if self._walked[one].problem == problem != PROBLEM]:
                    del self._doubts[one]
            yield LabelQuestion(number), tested

    def take(self, question: LabelQuestion, answer: Answer | None) -> None:
        number, picture = question.number, self._walked[question.number]
        self._doubts.pop(number, None)
        if answer is None:
            return
        assert isinstance(answer, Labelled)
        labelled = answer._replace(scene=picture.scene, frame=picture.frame)
        self._labels[number] = labelled
        atoms = SceneAtoms(self._visual, self._plan, picture.scene)
        given = answers(atoms, labelled.state)
        self.found.atoms += int((given != NO_LABEL).sum())

    def compared(self, question: LabelQuestion, perception: CameraPerception) -> tuple[int, int, int]:
        sample, scene = self._sample(question), self._labels[question.number].scene
        state = self._read(perception, question.number).state
        wrong = (state.true ^ sample.true.true) - state.unknown
        undecided = state.unknown - sample.visible.unknown
        atoms = SceneAtoms(self._visual, self._plan, scene)
        asked = len(atoms.atoms) - len(atoms.found)
        right = asked - len(wrong) - len(state.unknown.intersection(atoms.atoms))
        return right, len(wrong), len(undecided)

    def left(self) -> bool:
        return len({*self.found.done, *self._apart}) < len(self._walked)

    def set_aside(self) -> LabelQuestion | None:
        done = {*self.found.done}
        return next((LabelQuestion(number) for number in self._apart if number not in done), None)

    def read(self, question: LabelQuestion, perception: CameraPerception, scores: PerceptionScores) -> None:
        sample, scene = self._sample(question), self._labels[question.number].scene
        assess(perception, scene, [sample], [sample.frame], scores)

    def _sample(self, question: LabelQuestion) -> Sample:
        """A labelled picture with what should be read in it."""
        labelled = self._labels[question.number]
        (sample,) = samples(self._visual, as_pictures(labelled), [labelled.state])
        return sample

    def passed(self) -> bool:
        watched = len(self._watched)
        bound = upper_bound(round(self.found.refused * watched), watched)
        return self.found.examination.passed and bound <= REFUSED

    def train(self) -> CameraPerception:
        """The classifiers, trained further on all labels; UnusableInput if new pictures cannot be made of the labelled ones."""
        taught, held = self._lessons()
        own = lessons_of(self._visual, self._plan, list(self._labels.values()))
        task = PlaceTask(self._plan)
        network = teach(
            task,
            taught,
            steps=self._effort.steps,
            seed=self.way.seed + len(self._labels),
            progress=lambda *_: None,
            further=self._network,
        )
        self._network = deepcopy(network)
        figures = {
            "pictures": len(taught),
            "steps": self._effort.steps,
            "positives": task.positives(taught),
            BACKDROP: backdrop_facts(network, own),
        }
        about = task, network, held, self.domain, self.way.seed, taught.fingerprint()
        card = calibrated(*about, figures=figures, picture=taught.taken)
        self.found.network, self.found.card = network, card
        perception = CameraPerception(self._visual, weights_of(network), card, remembered=0)
        self._watch(perception)
        return perception

    def _read(self, perception: CameraPerception, number: int) -> Percept:
        (percept,) = perception.read_many([self._walked[number].frame], self._walked[number].scene)
        return percept

    def _watch(self, perception: CameraPerception) -> None:
        """Read walked pictures: how many are refused, and how much of each."""
        refused, self._doubts = 0, {}
        for number in self._watched:
            percept = self._read(perception, number)
            refused += percept.refused
            if percept.refused and number not in self._labels and number not in self._apart:
                self._doubts[number] = len(percept.state.unknown)
        self.found.refused = refused / len(self._watched)

    def _lessons(self) -> tuple[Lessons, Lessons]:
        """What is learned from, and what the thresholds are set by."""
        order = list(self._labels)
        held = [number for place, number in enumerate(order) if place % HELD == HELD - 1]
        taught = [number for number in order if number not in held]
        own, test = ([self._labels[number] for number in numbers] for numbers in (taught, held))
        learned, set_by = own, [*own, *test]
        if self.way.free:
            made = self._made(own, self._effort.made)
            if not made:
                alike = any(len({*one.scene.looks.values()}) < len(one.scene.looks) for one in own)
                raise (UnusableInput if alike else TooLittle)(
                    f"{self.domain.name}: no new pictures can be made of the labelled ones, in which things share looks, "
                    "touch each other as they are outlined, or have no masks; label scenes where each look is there once, things "
                    "lie apart, and none lies in one place in most of them"
                )
            self.found.given = len(made), 0
            learned = [*made, *own * REPEATED]
            set_by = [*self._made(test, self._effort.to_calibrate), *test * REPEATED, *own]
        first = lessons_of(self._visual, self._plan, learned)
        return first, lessons_of(self._visual, self._plan, set_by)

    def _made(self, labels: Sequence[Labelled], most: int) -> list[Labelled]:
        """Pictures made of labelled ones; none if that cannot be done."""
        fixed = fixed_looks([*self._labels.values()])
        return made_of(self._visual, labels, self._backdrop, fixed, most, self._rng)


def set_aside(number: int, way: Way) -> list[int]:
    """The pictures, of so many, that are kept for the last test, in the order in which they are read; none where they are too few.

    They are as many as all attempts need, and half of all at most, as far as the first attempt has enough of them.
    """
    first, most = pictures_needed(1), sum(pictures_needed(one + 1) for one in range(ATTEMPTS))
    if number - way.most < first:
        return []
    some = min(most, max(first, min(number // 2, number - way.most)))
    order = np.random.default_rng([way.seed, SceneLearner.STREAM, 1]).permutation(number)
    return [int(one) for one in order[:some]]
