"""A whole training session: data, training, calibration, evaluation, and the files that come of it."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch

from aam_vision.classifiers.networks import KINDS, SHARED
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.store import Card, Paths, describe, load, save
from aam_vision.commandline import Progress, write_atomically
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.errors import UnusableInput
from aam_vision.perception import Perceived
from aam_vision.training.boards import Example, fingerprint
from aam_vision.training.cache import key, remembered
from aam_vision.training.calibration import calibrate, shift
from aam_vision.training.data import lessons
from aam_vision.training.evaluation import evaluate_domain
from aam_vision.training.folder import labelled_images
from aam_vision.training.lesson import Course, teach
from aam_vision.training.model_card import model_card

CALIBRATION_SHARE = 10
"""One board in so many is kept from training to calibrate on."""

STATES = 400
"""Distinct states per group of layouts in the evaluation that ends a session."""


FAST = 10
"""A fast development run has so many times fewer boards, and so many steps."""


def train_domain(
    domain: ImageDomain,
    folder: Path,
    *,
    seed: int,
    steps: int,
    threads: int,
    progress: Progress,
    course: Course | None = None,
    fast: bool = False,
    images: Path | None = None,
    network: str = SHARED,
    only: str | None = None,
    base: Path | None = None,
    workers: int = 1,
    cache: Path | None = None,
) -> Paths:
    """Train, calibrate and evaluate the classifiers of a domain, and write them to ``folder``.

    Args:
        domain: the environment; only its layouts for training are used before the evaluation.
        folder: receives ``<name>.safetensors``, ``<name>.json`` and the model card ``<name>.md``.
        seed: of everything that is drawn.
        steps: training steps.
        threads: for torch; with 1 the same seed gives the same weights bit by bit.
        progress: is told what is being done.
        course: where checkpoints go, when to stop, and on which devices.
        images: a folder of labelled images to learn from as well, see ``folder``.
        network: kind of the network, one of ``networks.KINDS``.
        only: a perceived predicate: its classifiers alone are trained, on the trunk of the weights in ``base``,
            which may have none for it yet; the network is of their kind.
        base: the folder of those weights; None for the shipped ones.
        workers: processes that share the drawing of boards; the boards are the same for any number.
        cache: where data sets are kept for the next time, see ``cache``; None for nowhere. Those of a user's
            own environment are never kept.
        fast: everything once, in little time, to see that it works; the weights are of no use.
    """
    fewer, steps = (FAST, min(steps, FAST)) if fast else (1, steps)
    started = process_time()
    name, heads = domain.name, domain.visual.cell_heads()
    taught_heads = _heads_of(domain, only) if only is not None else ()
    trunk, kept = load(domain.visual, name, base, without=only) if only is not None else (None, None)
    network = network if trunk is None else trunk.kind
    side = KINDS[network]
    with _threads(threads):
        progress.stage(f"{name}: drawing boards")
        own = labelled_images(domain, images, side) if images is not None else []
        data = own + _lessons(domain, seed, side, fewer, workers, cache)
        held, taught = data[::CALIBRATION_SHARE], data[:]
        del taught[::CALIBRATION_SHARE]
        cpu = {"imports": started, "data": process_time() - started}
        progress.stage(f"{name}: {len(taught)} boards, {steps} steps")
        classifiers = teach(
            heads,
            taught,
            steps=steps,
            seed=seed,
            progress=lambda done, loss: progress.step(done, steps, f"loss {loss:.4f}"),
            held=held if course is not None and course.folder is not None else (),
            course=course,
            kind=network,
            base=trunk,
            only=taught_heads,
        )
        calibration = calibrate(classifiers, held, torch.Generator().manual_seed(seed))
        if kept is not None:
            calibration = calibration.only(taught_heads, kept)
        shift(classifiers, calibration.offsets)
        card = Card(
            name=name,
            vocabulary=describe(domain.visual),
            weights_sha256="",
            data_sha256=fingerprint(data),
            seed=seed,
            temperatures=calibration.temperatures,
            thresholds=calibration.thresholds,
            versions={"python": platform.python_version(), "torch": torch.__version__},
            network=network,
        )
        cpu["training"] = process_time() - sum(cpu.values())
        progress.stage(f"{name}: evaluating")
        perception = BoardPerception(domain.visual, classifiers, card, remembered=0)
        figures = evaluate_domain(domain, perception, states=STATES // fewer, seed=seed)
        cpu["evaluation"] = process_time() - sum(cpu.values())
    cpu["all"] = process_time()
    card = replace(card, figures=_figures(figures, len(data), steps, cpu))
    files = save(classifiers, card, folder)
    written = json.loads(files.card.read_text("utf-8"))
    card = replace(card, weights_sha256=written["weights_sha256"])
    write_atomically(files.card.with_suffix(".md"), model_card(card))
    for group, assessment in figures.items():
        progress.stage(f"{name}: {assessment.exact} of {assessment.states} states exact on {group} layouts")
    progress.stage(f"{name}: {cpu['all']:.1f} CPU seconds, written to {files.weights}")
    return files


def _lessons(
    domain: ImageDomain, seed: int, side: int, fewer: int, workers: int, cache: Path | None
) -> list[Example]:
    """The boards to learn from, drawn or remembered."""

    def draw() -> list[Example]:
        return lessons(domain, np.random.default_rng(seed), side, fewer=fewer, workers=workers)

    name = None if cache is None else key(domain, seed, side, fewer)
    return draw() if cache is None or name is None else remembered(cache, name, draw)


def _heads_of(domain: ImageDomain, predicate: str) -> tuple[str, ...]:
    """The classifiers of a perceived predicate."""
    known = {e.predicate.name: e for e in domain.visual.entries if isinstance(e, Perceived)}
    if predicate not in known:
        raise UnusableInput(
            f"--only {predicate}: no perceived predicate of {domain.name}; use one of {', '.join(known)}"
        )
    return tuple(known[predicate].heads.values())


def _figures(groups: dict[str, Any], boards: int, steps: int, cpu: dict[str, float]) -> dict[str, Any]:
    return {
        **{group: assessment.summary() for group, assessment in groups.items()},
        "boards": boards,
        "steps": steps,
        "cpu_s": {part: round(seconds, 1) for part, seconds in cpu.items()},
    }


@contextmanager
def _threads(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
