"""Rounds of labels and training for pictures without cells, as ``labelling.rounds`` has them for boards.

A few pictures are labelled and taken apart, and the classifiers learn from thousands of pictures that are made of the parts. In every
further round the most doubtful pictures are labelled, and some at random, which are read before they are learned from. Of all labelled
pictures a share teaches nothing: on it, it is measured how sure is sure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from time import process_time
from typing import Final

import numpy as np
import torch

from aam_vision.classifiers.architecture import CAMERA
from aam_vision.classifiers.camera.network import CameraNetwork
from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.camera.plan import SceneAtoms, plan_of
from aam_vision.classifiers.camera.typical import typical
from aam_vision.classifiers.networks import weights_of
from aam_vision.classifiers.store import describe
from aam_vision.commandline import Progress
from aam_vision.envs.image_domain import Pictures
from aam_vision.envs.labelled import Labelled
from aam_vision.errors import UnusableInput
from aam_vision.perception import Percept
from aam_vision.strips import State
from aam_vision.training.assessment import samples
from aam_vision.training.calibration import calibrate
from aam_vision.training.camera import Lessons, answers, lessons_of
from aam_vision.training.folder import Labellable
from aam_vision.training.labelling.answers import PictureLabeller
from aam_vision.training.labelling.camera.cutouts import Parts, backdrop_of, taken_apart
from aam_vision.training.labelling.camera.montage import Montage
from aam_vision.training.labelling.choice import ACTIVE, upper_bound
from aam_vision.training.labelling.pool import Walked
from aam_vision.training.labelling.rounds import Labelled as Found
from aam_vision.training.labelling.rounds import Way
from aam_vision.training.labels import NO_LABEL
from aam_vision.training.places import PlaceTask
from aam_vision.training.settings import limited_threads
from aam_vision.training.trainer import teach
from aam_vision.wording import counted

FIRST: Final = 30
"""Pictures that are labelled before anything is trained."""

EACH: Final = 15
"""Pictures of every further round."""

AUDITED: Final = 6
"""Pictures of a round that are chosen at random and read before they are learned from."""

HELD: Final = 5
"""One labelled picture in so many teaches nothing: the thresholds are set by them."""

MADE: Final = 1600
"""Pictures that are made for a round: more of them show more, and take time."""

MADE_TO_CALIBRATE: Final = 200
"""Pictures made of those that teach nothing."""

REPEATED: Final = 4
"""So many times the labelled pictures themselves are among those learned from."""

STEPS: Final = 1200
"""Training steps of a round, which goes on from the weights of the one before."""

WATCHED: Final = 300
"""Walked pictures that are read after every training: more of them find what is doubtful, and take time."""

REFUSED: Final = 0.02
"""Largest share of walked pictures that may be refused when labelling stops, by its upper bound: a smaller one takes more labels.
Where things hide each other more than on walks, more is refused."""


class PictureRounds:
    """Labels pictures of walks until classifiers read the others surely.

    Args:
        domain: the environment; its vocabulary and name are used.
        walked: pictures of walks, of one camera.
        labeller: tells what they show.
        way: how labels are come by; without ``free`` nothing is made of labelled pictures.
        progress: is told what is being done.
    """

    def __init__(
        self,
        domain: Labellable,
        walked: Sequence[Walked],
        labeller: PictureLabeller,
        way: Way,
        progress: Progress,
    ) -> None:
        self._domain, self._visual, self._walked = domain, domain.visual, walked
        self._labeller, self._way, self._progress = labeller, way, progress
        self._plan = plan_of(describe(domain.visual))
        self._rng = np.random.default_rng([way.seed, 19])
        self._backdrop = backdrop_of([one.frame for one in walked])
        self._labels: dict[int, Labelled] = {}
        self._parts: dict[int, Parts] = {}
        self._watched = self._rng.permutation(len(walked))[:WATCHED].tolist()
        self._doubts: dict[int, int] = {}
        self._network: CameraNetwork | None = None
        self._most = min(way.most, len(walked))
        self.found = Found()

    def run(self) -> tuple[CameraPerception, Found]:
        """Label and train until the test is passed or ``Way.most`` pictures are labelled.

        Raises:
            UnusableInput: new pictures cannot be made of the labelled ones.
        """
        for _ in range(min(FIRST, self._most)):
            self._ask(self._at_random())
        with limited_threads(1):
            perception = self._train()
            while not self._passed() and len(self._labels) < self._most:
                self._round(perception)
                perception = self._train()
        self.found.sure = self._passed()
        return perception, self.found

    def labelled(self, number: int) -> Labelled:
        """A labelled picture."""
        return self._labels[number]

    def _passed(self) -> bool:
        watched = len(self._watched)
        bound = upper_bound(round(self.found.refused * watched), watched)
        return self.found.examination.passed and bound <= REFUSED

    def _round(self, perception: CameraPerception) -> None:
        """Label some more pictures, those to be examined on first."""
        for place in range(min(EACH, self._most - len(self._labels))):
            if place < AUDITED or self._way.choice != ACTIVE:
                number = self._at_random()
            else:
                number = self._most_doubtful()
            self._ask(number)
            if place < AUDITED:
                self._examine(perception, number)

    def _at_random(self) -> int:
        """A picture at random of the problems with the fewest labelled pictures."""
        often = Counter(self._walked[number].problem for number in self._labels)
        rest = [number for number in range(len(self._walked)) if number not in self._labels]
        fewest = min(often[self._walked[number].problem] for number in rest)
        chosen = [number for number in rest if often[self._walked[number].problem] == fewest]
        return chosen[int(self._rng.integers(len(chosen)))]

    def _most_doubtful(self) -> int:
        """The picture of which most is not read surely, among those of problems where nothing was chosen since the last training."""
        if not any(self._doubts.values()):
            return self._at_random()
        number = max(self._doubts, key=lambda one: (self._doubts[one], -one))
        problem = self._walked[number].problem
        self._doubts = {
            one: doubt for one, doubt in self._doubts.items() if self._walked[one].problem != problem
        }
        return number

    def _ask(self, number: int) -> None:
        """Have a picture labelled."""
        picture = self._walked[number]
        labelled = self._labeller.label_picture(picture)._replace(scene=picture.scene, frame=picture.frame)
        parts = taken_apart(self._visual, labelled, self._backdrop)
        self._labels[number] = labelled
        self._doubts.pop(number, None)
        if parts is not None:
            self._parts[number] = parts
        atoms = SceneAtoms(self._visual, self._plan, picture.scene)
        given = answers(atoms, _state(labelled))
        self.found.pictures.append(number)
        self.found.atoms += int((given != NO_LABEL).sum())

    def _examine(self, perception: CameraPerception, number: int) -> None:
        """Compare the answer about a picture with what was read before."""
        labelled = self._labels[number]
        (sample,) = samples(self._visual, _pictures(labelled), [_state(labelled)])
        state = self._read(perception, number).state
        wrong = (state.true ^ sample.true.true) - state.unknown
        undecided = state.unknown - sample.visible.unknown
        atoms = SceneAtoms(self._visual, self._plan, labelled.scene)
        asked = len(atoms.atoms) - len(atoms.found)
        right = asked - len(wrong) - len(state.unknown.intersection(atoms.atoms))
        self.found.examination.add(right, len(wrong), len(undecided))

    def _read(self, perception: CameraPerception, number: int) -> Percept:
        (percept,) = perception.read_many([self._walked[number].frame], self._walked[number].scene)
        return percept

    def _watch(self, perception: CameraPerception) -> None:
        """Read walked pictures: how many are refused, and how much of each."""
        refused, self._doubts = 0, {}
        for number in self._watched:
            percept = self._read(perception, number)
            refused += percept.refused
            if percept.refused and number not in self._labels:
                self._doubts[number] = len(percept.state.unknown)
        self.found.refused = refused / len(self._watched)

    def _lessons(self) -> tuple[Lessons, Lessons]:
        """What is learned from, and what the thresholds are set by."""
        order = list(self._labels)
        held = [number for place, number in enumerate(order) if place % HELD == HELD - 1]
        taught = [number for number in order if number not in held]
        own = [self._labels[number] for number in taught]
        test = [self._labels[number] for number in held]
        if not self._way.free:
            return lessons_of(self._visual, self._plan, own), lessons_of(
                self._visual, self._plan, [*own, *test]
            )
        made = self._made(taught, MADE)
        if not made:
            raise UnusableInput(
                f"{self._domain.name}: no new pictures can be made of the labelled ones, in which things share looks, "
                "or their masks are missing; label scenes where each look is there once"
            )
        self.found.given = len(made), 0
        return (
            lessons_of(self._visual, self._plan, [*made, *own * REPEATED]),
            lessons_of(
                self._visual, self._plan, [*self._made(held, MADE_TO_CALIBRATE), *test * REPEATED, *own]
            ),
        )

    def _made(self, numbers: Sequence[int], most: int) -> list[Labelled]:
        """Pictures made of labelled ones; none if that cannot be done."""
        montage = Montage(self._visual, [self._parts[one] for one in numbers if one in self._parts])
        return [montage.make(self._rng) for _ in range(most)] if montage.usable else []

    def _train(self) -> CameraPerception:
        """The classifiers, trained further on all labels."""
        began = process_time()
        taught, held = self._lessons()
        task = PlaceTask(self._plan)
        network = teach(
            task,
            taught,
            steps=STEPS,
            seed=self._way.seed + len(self._labels),
            progress=lambda *_: None,
            further=self._network,
        )
        self._network = deepcopy(network)
        calibration = calibrate(task, network, held, torch.Generator().manual_seed(self._way.seed))
        network.shift(calibration.offsets)
        figures = {
            "pictures": len(taught),
            "steps": STEPS,
            "positives": task.positives(taught),
            "typical": typical(taught.pictures),
        }
        card = calibration.card(
            self._domain, self._way.seed, taught.fingerprint(), CAMERA, figures=figures, picture=taught.taken
        )
        self.found.network, self.found.card = network, card
        perception = CameraPerception(self._visual, weights_of(network), card, remembered=0)
        self._watch(perception)
        self.found.seconds.append(process_time() - began)
        self._progress.stage(
            f"{self._domain.name}: {counted(len(self._labels), 'picture')} labelled, "
            f"{self.found.seconds[-1]:.1f} CPU seconds"
        )
        return perception


def _state(labelled: Labelled) -> State:
    return State(labelled.true, labelled.scene.objects, labelled.unknown)


def _pictures(labelled: Labelled) -> Pictures:
    """A labelled picture as one that is examined."""
    return Pictures(
        labelled.scene, (_state(labelled),), lambda _: labelled.frame, complete=False, checked=False
    )
