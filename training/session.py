"""A whole training session: data, training, calibration, evaluation, and the files that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any, Final, Protocol

import torch

from aam_vision.classifiers.looks import LabelledLooks
from aam_vision.classifiers.networks import Classifiers, Network
from aam_vision.classifiers.store import Card, WeightFiles, weaknesses
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.support.commandline import Progress
from aam_vision.support.wording import counted
from aam_vision.training.assessment import PerceptionScores, Reader
from aam_vision.training.calibration import calibrate
from aam_vision.training.cells import CellStudy
from aam_vision.training.places import PlaceStudy
from aam_vision.training.rounds import Rounds, Sees, Trained
from aam_vision.training.settings import TrainingSettings, limited_threads, write_files
from aam_vision.training.trainer import Data, StartingPoint, Task, TrainingOptions, teach

CALIBRATION_SHARE: Final = 10
"""One image in so many is kept from training to calibrate on: more of them calibrate better, fewer teach more."""

STATES: Final = 400
"""Distinct states per group of layouts in the evaluation that ends a session: more of them take longer."""


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

    def figures(self, taught: Data) -> dict[str, Any]:
        """More figures for the card."""

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
            calibration = calibrate(task, network, held, torch.Generator().manual_seed(settings.seed))
            if kept is not None:
                calibration = calibration.only(start.only, kept)
            network.shift(calibration.offsets)
            picture = study.picture(data)
            card = calibration.card(domain, settings.seed, sha256, network.kind, picture=picture)
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
            **study.figures(taught),
        }
        card = replace(best.card, figures=figures)
        files = write_files(best.network, card, folder, looks)
        for line in (*study.doubts(best.perception), *weaknesses(card)):
            progress.stage(f"warning: {line}")
        rounds.tell()
        progress.stage(f"{name}: {cpu['all']:.1f} CPU seconds, written to {files.weights}")
    return files
