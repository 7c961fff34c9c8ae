"""A whole training session: data, training, calibration, evaluation, and the files that come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any, Final, Generic, Protocol, TypeVar

from aam_vision.classifiers.looks import LabelledLooks
from aam_vision.classifiers.networks import Classifiers, Network
from aam_vision.classifiers.store import Card, WeightFiles, weaknesses
from aam_vision.envs.image_domain import ImageDomain, Pictures
from aam_vision.support.commandline import Progress
from aam_vision.support.wording import counted
from aam_vision.training.assessment import PerceptionScores, Reader, evaluate_domain
from aam_vision.training.cells import CellStudy
from aam_vision.training.places import PlaceStudy
from aam_vision.training.settings import TrainingSettings, limited_threads, write_files
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
        pictures = {group: [*some] for group, some in self._domain.examinations(self._states, seed).items()}
        scores = evaluate_domain(self._domain, perception, seed=seed, examined=pictures)
        now = Trained(network, card, perception, scores, steps, pictures)
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


class Study(Protocol[Network, Data, Sees]):
    """What a session has to know of a domain's images: ``cells`` has one for boards, ``places`` one for pictures without cells.

    Attributes:
        stage: what is told while the data are made.
        unit: what an image is called.
        start: the network to begin with.
        kept: the card of ``start.base``, if there is one.
    """

    stage: str
    unit: str
    start: StartingPoint[Network]
    kept: Card | None

    @property
    def task(self) -> Task[Network, Data]:
        """What is learned."""

    def data(self) -> Data:
        """What is learned from, images labelled by hand included."""

    def picture(self, data: Data) -> tuple[int, int] | None:
        """Height and width of the images, if all have to be of one size."""

    def perception(self, network: Network, card: Card) -> Sees:
        """What reads with a network."""

    def compared(
        self, best: Trained[Network, Sees], data: Data
    ) -> tuple[LabelledLooks | None, Mapping[str, PerceptionScores]]:
        """Looks to be kept beside the weights, and how well images are read with them."""

    def figures(self, network: Network, taught: Data, held: Data) -> dict[str, Any]:
        """What else the card says, by the images that were learned from, and those that were not."""

    def doubts(self, perception: Sees) -> list[str]:
        """A line for every label by hand that the classifiers contradict; the first of them."""


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
        study: Study[Any, Any, Any] = (PlaceStudy if domain.visual.cellless else CellStudy)(domain, settings)
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
            card = calibrated(
                *about, kind=network.kind, kept=trained, picture=study.picture(data), figures=own
            )
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
