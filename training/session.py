"""A whole training session: data, training, calibration, evaluation, and the files that come of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch

from aam_vision.classifiers.architecture import KINDS
from aam_vision.classifiers.looks import LabelledLooks
from aam_vision.classifiers.network import BoardNetwork
from aam_vision.classifiers.networks import weights_of
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.store import Card, WeightFiles, check_alone, load, weaknesses
from aam_vision.commandline import Progress
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.envs.own import OwnEnvironment
from aam_vision.training.assessment import PerceptionScores
from aam_vision.training.boards import Example, fingerprint, positives
from aam_vision.training.calibration import calibrate, shift
from aam_vision.training.data import key, lessons, remembered
from aam_vision.training.evaluation import evaluate_domain
from aam_vision.training.folder import doubts, labelled_images, read_labels
from aam_vision.training.labelling.references import learned_looks
from aam_vision.training.lesson import StartingPoint, teach
from aam_vision.training.rounds import Rounds, Trained
from aam_vision.training.settings import TrainingSettings, figures_of, heads_of, limited_threads, write_files
from aam_vision.training.trainer import TrainingOptions
from aam_vision.wording import counted

CALIBRATION_SHARE = 10
"""One board in so many is kept from training to calibrate on: more of them calibrate better, fewer teach more."""

SIZED = 20
"""Pictures whose size is looked at for the card: more of them show rarer sizes."""

STATES = 400
"""Distinct states per group of layouts in the evaluation that ends a session: more of them take longer."""


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
    """
    if domain.visual.cellless:
        from aam_vision.training.camera.session import train_pictures

        return train_pictures(domain, folder, settings, progress, options)
    started = process_time()
    name = domain.name
    with limited_threads(settings.threads):
        start, kept = _start(domain, settings)
        progress.stage(f"{name}: drawing boards")
        data = _boards(domain, settings, KINDS[start.kind])
        cpu = {"imports": started, "data": process_time() - started}
        held, taught, sha256 = data[::CALIBRATION_SHARE], _taught(data), fingerprint(data)

        def finish(network: BoardNetwork) -> tuple[Card, BoardPerception]:
            start.keep(network)  # weight decay has changed the classifiers that were not trained
            calibration = calibrate(network, held, torch.Generator().manual_seed(settings.seed))
            if kept is not None:
                calibration = calibration.only(start.only, kept)
            shift(network, calibration.offsets)
            card = calibration.card(domain, settings.seed, sha256, start.kind)
            return card, BoardPerception(
                domain.visual, weights_of(network), card, remembered=0, backend="torch"
            )

        rounds = Rounds(domain, settings, STATES // settings.fewer, finish, progress)
        progress.stage(
            f"{name}: {counted(len(taught), 'board')}, {counted(rounds.steps, 'step')}, {rounds.limit} at most"
        )
        teach(
            domain.visual.cell_heads(),
            taught,
            steps=rounds.limit,
            seed=settings.seed,
            progress=rounds.step,
            held=held if options is not None and options.folder is not None else (),
            options=options,
            start=start,
            examined=rounds.examined,
        )
        cpu["training"] = process_time() - sum(cpu.values()) - rounds.cpu_s
        best = rounds.best
        looks, scores = _compared(domain, best, data) if settings.images is None else (None, best.scores)
    cpu |= {"evaluation": rounds.cpu_s, "all": process_time()}
    seen = positives(domain.visual.cell_heads(), taught)
    if kept is not None:
        known = kept.figures.get("positives")  # older cards have none
        seen = {**(known if isinstance(known, dict) else {}), **{head: seen[head] for head in start.only}}
    figures = {
        **figures_of(scores, len(data), best.steps, cpu),
        "positives": seen,
        **cell_pixels(domain, settings.seed),
    }
    card = replace(best.card, figures=figures)
    files = write_files(best.network, card, folder, looks)
    if settings.images is not None:
        labels = read_labels(domain, settings.images, KINDS[start.kind])
        for line in doubts(domain.visual.cell_heads(), best.perception, labels):
            progress.stage(f"warning: {line}")
    for line in weaknesses(card):
        progress.stage(f"warning: {line}")
    rounds.tell()
    progress.stage(f"{name}: {cpu['all']:.1f} CPU seconds, written to {files.weights}")
    return files


def _compared(
    domain: ImageDomain, best: Trained[BoardNetwork, BoardPerception], data: Sequence[Example]
) -> tuple[LabelledLooks | None, Mapping[str, PerceptionScores]]:
    """The looks that a user's own pictures are compared with, and how well they are read then.

    None where there are too many looks, or pictures of the test are read worse or refused because of them: some things look
    otherwise there than in any picture that was learned from.
    """
    looks = learned_looks(data) if isinstance(domain, OwnEnvironment) else None
    if looks is None:
        return None, best.scores
    card = replace(best.card, figures={group: found.summary() for group, found in best.scores.items()})
    perception = BoardPerception(
        domain.visual, weights_of(best.network), card, looks=looks, remembered=0, backend="torch"
    )
    scores = evaluate_domain(domain, perception, examined=best.pictures)
    for group, before in best.scores.items():
        if scores[group].exact < before.exact or scores[group].wrong > before.wrong:
            return None, best.scores
    return looks, scores


def cell_pixels(domain: ImageDomain, seed: int) -> dict[str, Any]:
    """Least and greatest height and width of a cell in pictures of a user's own, for the card; boards of ours have any size."""
    if not isinstance(domain, OwnEnvironment):
        return {}
    pictures = islice(domain.lessons(np.random.default_rng(seed)), SIZED)
    shapes = [(one.draw(one.states[0]).shape, one.scene) for one in pictures]
    sizes = np.array([(high / scene.rows, wide / scene.columns) for (high, wide, _), scene in shapes])
    return {"cell_pixels": np.stack([sizes.min(0), sizes.max(0)], axis=1).round(2).tolist()}


def _start(domain: ImageDomain, settings: TrainingSettings) -> tuple[StartingPoint, Card | None]:
    """The network to begin with, and the card of the one that it grows from."""
    if settings.only is None:
        return StartingPoint(settings.network), None
    taught = heads_of(domain, settings.only)
    base, card = load(domain.visual, domain.name, settings.base, without=settings.only)
    check_alone(card, f"--only {settings.only}")
    return StartingPoint(base.kind, base, taught), card


def _taught(data: list[Example]) -> list[Example]:
    """The boards that are learned from, without those to calibrate on."""
    return [board for number, board in enumerate(data) if number % CALIBRATION_SHARE]


def _boards(domain: ImageDomain, settings: TrainingSettings, side: int) -> list[Example]:
    """The boards to learn from: images labelled by hand, then those of the domain, drawn or remembered."""
    by_hand = labelled_images(domain, settings.images, side) if settings.images is not None else []

    def draw() -> list[Example]:
        rng = np.random.default_rng(settings.seed)
        return lessons(domain, rng, side, fewer=settings.fewer, workers=settings.workers)

    name = None if settings.cache is None else key(domain, settings.seed, side, settings.fewer)
    drawn = draw() if settings.cache is None or name is None else remembered(settings.cache, name, draw)
    return by_hand + drawn
