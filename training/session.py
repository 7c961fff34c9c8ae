"""A whole training session: data, training, calibration, evaluation, and the files that come of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any, Final, Generic, TypeVar

import numpy as np

from aam_vision.classifiers import store
from aam_vision.classifiers.architecture import KINDS, SHARED
from aam_vision.classifiers.camera.network import CameraNetwork
from aam_vision.classifiers.camera.network import network_of as camera_network
from aam_vision.classifiers.camera.perception import CameraPerception, picture_of
from aam_vision.classifiers.camera.plan import Size, plan_of
from aam_vision.classifiers.looks import LabelledLooks
from aam_vision.classifiers.networks import BoardNetwork, Classifiers, Network, weights_of
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.store import Card, WeightFiles, weaknesses
from aam_vision.envs.image_domain import ImageDomain, Pictures
from aam_vision.envs.labelled import Labelled
from aam_vision.envs.own import OwnEnvironment
from aam_vision.support.commandline import Progress
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted
from aam_vision.training import boards
from aam_vision.training.assessment import PerceptionScores, Reader, evaluate_domain
from aam_vision.training.boards import Example
from aam_vision.training.folder import Line, doubts, labelled_images, read_labels
from aam_vision.training.folder import told as told_of_board
from aam_vision.training.labelling.pool import learned_looks
from aam_vision.training.pictures import (
    Lessons,
    PictureFolder,
    backdrop_facts,
    labelled,
    lessons_of,
    read_pictures,
)
from aam_vision.training.pictures import lessons as picture_lessons
from aam_vision.training.pictures import told as told_of_picture
from aam_vision.training.settings import TrainingSettings, heads_of, limited_threads, write_files
from aam_vision.training.tasks import CellTask, PlaceTask
from aam_vision.training.trainer import (
    Data,
    Examined,
    StartingPoint,
    Task,
    TrainingOptions,
    calibrated,
    teach,
)

CALIBRATION_SHARE: Final = 10
"""One image in so many is kept from training to calibrate on: more of them calibrate better, fewer teach more."""

STATES: Final = 400
"""Distinct states per group of layouts in the evaluation that ends a session: more of them take longer."""


# Training in rounds: after each of them unseen pictures are read, until all are read rightly or training stands still.
#
# Every round is examined on pictures drawn for it alone, so no decision to go on has seen the pictures whose figures are told.


PATIENCE: Final = 2
"""Rounds without a better figure after which training stands still: more of them find late gains, and take longer."""

Sees = TypeVar("Sees", bound=Reader)


@dataclass(frozen=True)
class Trained(Generic[Network, Sees]):
    """What a round of training came to: calibrated classifiers, their card, and how well they read which pictures."""

    network: Network
    card: Card
    perception: Sees
    scores: Mapping[str, PerceptionScores]
    steps: int
    pictures: Mapping[str, Sequence[Pictures]]

    @property
    def misread(self) -> int:
        """Pictures that were not read rightly, of all groups."""
        return sum(found.states - found.exact for found in self.scores.values())


class Rounds(Generic[Network, Sees]):
    """The rounds of a session, and the best of what they came to."""

    def __init__(
        self,
        domain: ImageDomain,
        settings: TrainingSettings,
        states: int,
        finish: Callable[[Network], tuple[Card, Sees]],
        progress: Progress,
    ) -> None:
        self._domain, self._settings, self._states = domain, settings, states
        self._finish, self._progress = finish, progress
        self.steps, self.limit = settings.rounds(domain)
        self.cpu_s = 0.0
        """Of all examinations."""
        self._best: Trained[Network, Sees] | None = None
        self._examined = self._since_best = self._done = 0

    @property
    def best(self) -> Trained[Network, Sees]:
        """The round with the fewest misread pictures, the first of several."""
        assert self._best is not None, "wherever training ends, it is examined"
        return self._best

    @property
    def examined(self) -> Examined:
        """What a trainer has to know."""
        return Examined(self.steps, self._enough)

    def step(self, done: int, loss: float) -> None:
        """Tell that a step was done."""
        self._progress.step(done, -(-done // self.steps) * self.steps, f"loss {loss:.4f}")

    def tell(self) -> None:
        """How many pictures are read rightly, and what to do if not all of them are."""
        name = self._domain.name
        for group, found in self.best.scores.items():
            told = f"{found.exact} of {found.states} {group} pictures read rightly"
            if found.exact == found.states:
                self._progress.stage(f"{name}: {told}")
                continue
            if self._since_best == PATIENCE:
                cure = (
                    f"{counted(PATIENCE, 'more round')} of training did not help: give more pictures, or clearer ones, "
                    f"or label some (python -m aam_vision.training.label)"
                )
            else:
                stopped = self._done < self.limit
                cure = f"train longer ({'--resume' if stopped else f'--steps {2 * self.limit}'})"
            self._progress.stage(
                f"warning: {told}: runs with these classifiers of {name} take some misread pictures for facts; {cure}"
            )

    def _enough(self, network: Any, steps: int) -> bool:
        """Examine what a network has learned; whether there is no use in going on."""
        started, network = process_time(), deepcopy(network).cpu().eval()
        self._progress.stage(f"{self._domain.name}: evaluating after {counted(steps, 'step')}")
        card, perception = self._finish(network)
        seed = self._settings.seed + self._examined
        drawn = {group: [*some] for group, some in self._domain.examinations(self._states, seed).items()}
        scores = evaluate_domain(self._domain, perception, seed=seed, examined=drawn)
        now = Trained(network, card, perception, scores, steps, drawn)
        self._examined, self._done = self._examined + 1, steps
        if self._best is None or now.misread < self._best.misread:
            self._best, self._since_best = now, 0
        else:
            self._since_best += 1
        self.cpu_s += process_time() - started
        stands = now.misread == 0 or self._since_best == PATIENCE
        if not stands and steps + self.steps <= self.limit:
            told = counted(now.misread, "unseen picture")
            self._progress.stage(f"{self._domain.name}: {told} misread: training goes on")
        return stands


# What a session has to know of a domain's images.


SIZED: Final = 20
"""Pictures whose size is looked at for the card: more of them show rarer sizes."""


class Study(ABC, Generic[Network, Data, Sees]):
    """A domain whose images are learned from.

    Args:
        domain: the environment.
        settings: what to train, and from what.

    Attributes:
        stage: what is told while the data are made.
        unit: what an image is called.
        task: what is learned.
        start: the network to begin with.
        kept: the card of ``start.base``, if there is one.

    Raises:
        UnusableInput: the network to go on from cannot be used, or the settings do not suit the domain.
    """

    stage: str
    unit: str
    task: Task[Network, Data]

    def __init__(self, domain: ImageDomain, settings: TrainingSettings) -> None:
        self._domain, self._settings = domain, settings
        self.start: StartingPoint[Network] = StartingPoint()
        self.kept: Card | None = None

    @abstractmethod
    def data(self) -> Data:
        """What is learned from, images labelled by hand included."""

    def picture(self, data: Data) -> tuple[int, int] | None:
        """Height and width of the images, if all have to be of one size."""
        return None

    @abstractmethod
    def perception(self, network: Network, card: Card) -> Sees:
        """What reads with a network."""

    def compared(
        self, best: Trained[Network, Sees], data: Data
    ) -> tuple[LabelledLooks | None, Mapping[str, PerceptionScores]]:
        """Looks to be kept beside the weights, and how well images are read with them."""
        return None, best.scores

    @abstractmethod
    def figures(self, network: Network, taught: Data, held: Data) -> dict[str, Any]:
        """What else the card says, by the images that were learned from, and those that were not."""

    @abstractmethod
    def doubts(self, perception: Sees) -> list[str]:
        """A line for every label by hand that the classifiers contradict; the first of them."""


class BoardStudy(Study[BoardNetwork, Sequence[Example], BoardPerception]):
    """A domain of boards."""

    stage, unit = "drawing boards", "board"
    task: CellTask

    def __init__(self, domain: ImageDomain, settings: TrainingSettings) -> None:
        super().__init__(domain, settings)
        kind = settings.network
        if settings.only is not None:
            taught = heads_of(domain, settings.only)
            base, self.kept = store.load(domain.visual, domain.name, settings.base, without=settings.only)
            store.check_alone(self.kept, f"--only {settings.only}")
            self.start, kind = StartingPoint(base, taught), base.kind
        self.task = CellTask(domain.visual.cell_heads(), kind)

    def data(self) -> list[Example]:
        """Images labelled by hand, then the boards of the domain, drawn or remembered."""
        domain, settings, side = self._domain, self._settings, KINDS[self.task.kind]
        by_hand = [] if settings.images is None else labelled_images(domain, settings.images, side)
        rng = np.random.default_rng(settings.seed)
        draw = partial(boards.lessons, domain, rng, side, fewer=settings.fewer, workers=settings.workers)
        if settings.cache is None:
            return by_hand + draw()
        name = boards.key(domain, settings.seed, side, settings.fewer)
        return by_hand + boards.remembered(settings.cache, name, draw)

    def perception(
        self, network: BoardNetwork, card: Card, looks: LabelledLooks | None = None
    ) -> BoardPerception:
        visual, weights = self._domain.visual, weights_of(network)
        return BoardPerception(visual, weights, card, looks=looks, remembered=0, backend="torch")

    def compared(
        self, best: Trained[BoardNetwork, BoardPerception], data: Sequence[Example]
    ) -> tuple[LabelledLooks | None, Mapping[str, PerceptionScores]]:
        """The looks that a user's own pictures are compared with, and how well they are read then.

        None where there are too many looks, or pictures of the test are read worse or refused because of them: some things
        look otherwise there than in any picture that was learned from.
        """
        if self._settings.images is not None or not isinstance(self._domain, OwnEnvironment):
            return None, best.scores
        looks = learned_looks(data)
        if looks is None:
            return None, best.scores
        figures = {group: found.summary() for group, found in best.scores.items()}
        perception = self.perception(best.network, replace(best.card, figures=figures), looks)
        scores = evaluate_domain(self._domain, perception, examined=best.pictures)
        for group, before in best.scores.items():
            if scores[group].exact < before.exact or scores[group].wrong > before.wrong:
                return None, best.scores
        return looks, scores

    def figures(
        self, network: Classifiers, taught: Sequence[Example], held: Sequence[Example]
    ) -> dict[str, Any]:
        """Least and greatest height and width of a cell in pictures of a user's own; boards of ours have any size."""
        if not isinstance(self._domain, OwnEnvironment):
            return {}
        drawn = islice(self._domain.lessons(np.random.default_rng(self._settings.seed)), SIZED)
        shapes = [(one.draw(one.states[0]).shape, one.scene) for one in drawn]
        sizes = np.array([(high / scene.rows, wide / scene.columns) for (high, wide, _), scene in shapes])
        return {"cell_pixels": np.stack([sizes.min(0), sizes.max(0)], axis=1).round(2).tolist()}

    def doubts(self, perception: BoardPerception) -> list[str]:
        if self._settings.images is None:
            return []
        labels = read_labels(self._domain, self._settings.images, KINDS[self.task.kind])
        return doubts(perception, [told_of_board(self.task.heads, one) for one in labels])


class PictureStudy(Study[CameraNetwork, Lessons, CameraPerception]):
    """A domain of pictures without cells."""

    stage, unit = "taking pictures", "picture"
    task: PlaceTask

    def __init__(self, domain: ImageDomain, settings: TrainingSettings) -> None:
        if settings.network != SHARED:
            raise UnusableInput(
                "--trunk and --backbone are for boards, and these are pictures without cells: leave them out"
            )
        super().__init__(domain, settings)
        self.task = PlaceTask(plan := plan_of(store.describe(domain.visual)))
        self._by_hand: list[Line] = []
        if settings.only is None:
            return
        heads = heads_of(domain, settings.only)
        if set(heads) & set(plan.found):
            raise UnusableInput(
                f"--only {settings.only}: all other classifiers build on which things are found; train all of them"
            )
        weights, self.kept = store.read(domain.visual, domain.name, settings.base, without=settings.only)
        known = plan_of(self.kept.vocabulary)
        if known.looks != plan.looks:
            raise UnusableInput(
                f"--only {settings.only}: the weights are for the looks {', '.join(known.looks)}, and the environment has "
                f"{', '.join(plan.looks)}; train all classifiers"
            )
        self.start = StartingPoint(camera_network(known, weights), heads)

    def data(self) -> Lessons:
        domain, settings = self._domain, self._settings
        more: list[Labelled] = []
        if isinstance(domain, PictureFolder):  # its pictures are all that there is
            self._by_hand = domain.lines
        elif settings.images is not None:
            self._by_hand = read_pictures(domain, settings.images)
            more = [labelled(line) for line in self._by_hand]
        rng = np.random.default_rng(settings.seed)
        data = picture_lessons(domain, self.task.plan, rng, settings.fewer, more)
        if self.kept is not None and self.kept.picture != data.taken:
            (height, width), (high, wide) = data.taken, picture_of(self.kept)
            raise UnusableInput(
                f"pictures of {width}x{height} pixels: the weights to go on from were trained on pictures of {wide}x{high}; "
                f"train all classifiers"
            )
        return data

    def picture(self, data: Lessons) -> Size:
        return data.taken

    def perception(self, network: CameraNetwork, card: Card) -> CameraPerception:
        return CameraPerception(self._domain.visual, weights_of(network), card, remembered=0)

    def figures(self, network: CameraNetwork, taught: Lessons, held: Lessons) -> dict[str, Any]:
        """What their camera sees apart from the things."""
        if isinstance(self._domain, PictureFolder):  # others are made of these, and show strange things, too
            own = lessons_of(self._domain.visual, self.task.plan, [labelled(line) for line in self._by_hand])
            return {store.BACKDROP: backdrop_facts(network, own)}
        return {store.BACKDROP: backdrop_facts(network, taught, held)}

    def doubts(self, perception: CameraPerception) -> list[str]:
        visual = self._domain.visual
        return doubts(perception, [told_of_picture(visual, line) for line in self._by_hand])


# The whole of it.


def train_domain(
    domain: ImageDomain,
    folder: Path,
    settings: TrainingSettings,
    progress: Progress,
    options: TrainingOptions | None = None,
) -> WeightFiles:
    """Train, calibrate and evaluate the classifiers of a domain, and write them to ``folder``.

    Args:
        domain: the environment; only its layouts for training are used before the evaluation.
        folder: receives ``<name>.safetensors``, ``<name>.json`` and the model card ``<name>.md``.
        settings: what to train, and from what.
        progress: is told what is being done.
        options: where checkpoints go, when to stop, and on which devices.

    Raises:
        UnusableInput: the settings do not suit the domain, or its images or labels cannot be used.
    """
    options = options or TrainingOptions()
    started, name = process_time(), domain.name
    with limited_threads(settings.threads):
        kind: type[Study[Any, Any, Any]] = PictureStudy if domain.visual.cellless else BoardStudy
        study = kind(domain, settings)
        task, start, kept = study.task, study.start, study.kept
        progress.stage(f"{name}: {study.stage}")
        data = study.data()
        cpu = {"imports": started, "data": process_time() - started}
        numbers = range(len(data))
        held = task.part(data, numbers[::CALIBRATION_SHARE])
        taught = task.part(data, [number for number in numbers if number % CALIBRATION_SHARE])
        sha256 = task.fingerprint(data)

        def finish(network: Classifiers) -> tuple[Card, Reader]:
            start.keep(network)  # weight decay has changed the classifiers that were not trained
            about = task, network, held, domain, settings.seed, sha256
            trained = None if kept is None else (start.only, kept)
            own = study.figures(network, taught, held)
            card = calibrated(*about, kept=trained, picture=study.picture(data), figures=own)
            return card, study.perception(network, card)

        rounds = Rounds(domain, settings, STATES // settings.fewer, finish, progress)
        progress.stage(
            f"{name}: {counted(len(taught), study.unit)}, {counted(rounds.steps, 'step')}, {rounds.limit} at most"
        )
        teach(
            task,
            taught,
            steps=rounds.limit,
            seed=settings.seed,
            progress=rounds.step,
            held=None if options.folder is None else held,
            options=options,
            start=start,
            examined=rounds.examined,
        )
        cpu["training"] = process_time() - sum(cpu.values()) - rounds.cpu_s
        best = rounds.best
        looks, scores = study.compared(best, data)
        cpu |= {"evaluation": rounds.cpu_s, "all": process_time()}
        seen = task.positives(taught)
        if kept is not None:
            known = kept.figures.get("positives")  # older cards have none
            seen = {**(known if isinstance(known, dict) else {}), **{head: seen[head] for head in start.only}}
        figures = {
            **{group: found.summary() for group, found in scores.items()},
            "boards": len(data),
            "steps": best.steps,
            "cpu_s": {part: round(seconds, 1) for part, seconds in cpu.items()},
            "positives": seen,
            **best.card.figures,
        }
        card = replace(best.card, figures=figures)
        files = write_files(best.network, card, folder, looks)
        for line in (*study.doubts(best.perception), *weaknesses(card)):
            progress.stage(f"warning: {line}")
        rounds.tell()
        progress.stage(f"{name}: {cpu['all']:.1f} CPU seconds, written to {files.weights}")
    return files
