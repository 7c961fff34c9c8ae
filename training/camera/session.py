"""A training session for pictures without cells: data, training, calibration, evaluation, and the files that come of it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np
import torch

from aam_vision.classifiers.architecture import CAMERA, SHARED
from aam_vision.classifiers.camera.network import CameraNetwork
from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.camera.plan import plan_of
from aam_vision.classifiers.camera.running import weights_of
from aam_vision.classifiers.camera.typical import typical
from aam_vision.classifiers.store import Card, WeightFiles, describe
from aam_vision.classifiers.weak import weaknesses
from aam_vision.commandline import Progress
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.errors import UnusableInput
from aam_vision.training.camera.calibration import calibrate, places_of
from aam_vision.training.camera.data import Lessons, lessons
from aam_vision.training.camera.lesson import teach
from aam_vision.training.evaluation import evaluate_domain
from aam_vision.training.lesson import TrainingOptions
from aam_vision.training.settings import TrainingSettings, figures_of, limited_threads, write_files
from aam_vision.wording import counted

CALIBRATION_SHARE: Final = 10
"""One picture in so many is kept from training to calibrate on."""

STATES: Final = 400
"""Pictures in the evaluation that ends a session."""


def train_pictures(
    domain: ImageDomain,
    folder: Path,
    settings: TrainingSettings,
    progress: Progress,
    options: TrainingOptions | None = None,
) -> WeightFiles:
    """Train, calibrate and evaluate the classifiers of a domain of pictures; see ``session.train_domain``.

    Raises:
        UnusableInput: the settings ask for what only boards have, or the domain's pictures cannot be used.
    """
    _check(settings, options)
    started, name = process_time(), domain.name
    described = describe(domain.visual)
    plan = plan_of(described)
    with limited_threads(settings.threads):
        progress.stage(f"{name}: taking pictures")
        data = lessons(domain, plan, np.random.default_rng(settings.seed), settings.fewer)
        cpu = {"imports": started, "data": process_time() - started}
        numbers = range(len(data))
        held = data.part(numbers[::CALIBRATION_SHARE])
        taught = data.part([number for number in numbers if number % CALIBRATION_SHARE])
        steps = settings.all_steps
        progress.stage(f"{name}: {counted(len(taught), 'picture')}, {counted(steps, 'step')}")
        network = teach(
            plan,
            taught,
            steps=steps,
            seed=settings.seed,
            progress=lambda done, loss: progress.step(done, steps, f"loss {loss:.4f}"),
        )
        calibration = calibrate(network, held, torch.Generator().manual_seed(settings.seed))
        network.shift(calibration.offsets)
        cpu["training"] = process_time() - sum(cpu.values())
        card = Card(
            name=name,
            vocabulary=described,
            weights_sha256="",
            data_sha256=data.fingerprint(),
            seed=settings.seed,
            temperatures=calibration.temperatures,
            thresholds=calibration.thresholds,
            versions={"python": platform.python_version(), "torch": torch.__version__},
            network=CAMERA,
            picture=data.taken,
        )
        return _finished(domain, network, (taught, card), folder, settings, progress, cpu)


def _finished(
    domain: ImageDomain,
    network: CameraNetwork,
    made: tuple[Lessons, Card],
    folder: Path,
    settings: TrainingSettings,
    progress: Progress,
    cpu: dict[str, float],
) -> WeightFiles:
    """Evaluate, and write weights, card and model card."""
    taught, card = made
    progress.stage(f"{card.name}: evaluating")
    perception = CameraPerception(domain.visual, weights_of(network), card, remembered=0)
    scores = evaluate_domain(domain, perception, states=STATES // settings.fewer, seed=settings.seed)
    cpu["evaluation"] = process_time() - sum(cpu.values())
    cpu["all"] = process_time()
    figures = figures_of(scores, len(taught), settings.all_steps, cpu)
    more = {"positives": _positives(network, taught), "typical": typical(taught.pictures)}
    card = replace(card, figures={**figures, **more})
    files = write_files(network, card, folder)
    for group, found in scores.items():
        progress.stage(f"{card.name}: {found.exact} of {found.states} states exact on {group} layouts")
    for line in weaknesses(card):
        progress.stage(f"warning: {line}")
    progress.stage(f"{card.name}: {cpu['all']:.1f} CPU seconds, written to {files.weights}")
    return files


def _positives(network: CameraNetwork, data: Lessons) -> Mapping[str, Any]:
    """For every classifier the answers of all pictures where yes is right."""
    yes = (data.labels == 1).sum(0)
    return {head: int(yes[places].sum()) for head, places in places_of(network.plan).items()}


def _check(settings: TrainingSettings, options: TrainingOptions | None) -> None:
    """Refuse what pictures do not have."""
    asked = {
        "--images": settings.images is not None,
        "--only": settings.only is not None,
        "--trunk or --backbone": settings.network != SHARED,
        "--resume": options is not None and options.resume is not None,
        "--max-seconds": options is not None and options.max_seconds is not None,
        "--tensorboard": options is not None and options.tensorboard,
    }
    for option, given in asked.items():
        if given:
            raise UnusableInput(f"{option} is for boards, and these are pictures without cells: leave it out")
