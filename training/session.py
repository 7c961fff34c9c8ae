"""A whole training session: data, training, calibration, evaluation, and the files that come of it."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.store import Card, Paths, describe, save
from aam_vision.commandline import Progress
from aam_vision.envs.board import BoardDomain
from aam_vision.training.boards import fingerprint
from aam_vision.training.calibration import calibrate, shift
from aam_vision.training.data import lessons
from aam_vision.training.evaluation import evaluate_domain
from aam_vision.training.lesson import teach

CALIBRATION_SHARE = 10
"""One board in so many is kept from training to calibrate on."""

STATES = 400
"""Distinct states per group of layouts in the evaluation that ends a session."""


def train_domain(
    domain: BoardDomain, folder: Path, *, seed: int, steps: int, threads: int, progress: Progress
) -> Paths:
    """Train, calibrate and evaluate the classifiers of a domain, and write them to ``folder``.

    Args:
        domain: the environment; only its layouts for training are used before the evaluation.
        folder: receives ``<name>.safetensors`` and ``<name>.json``.
        seed: of everything that is drawn.
        steps: training steps.
        threads: for torch; with 1 the same seed gives the same weights bit by bit.
        progress: is told what is being done.
    """
    started = process_time()
    name, heads = domain.name, domain.visual.cell_heads()
    rng = np.random.default_rng(seed)
    with _threads(threads):
        progress.stage(f"{name}: drawing boards")
        data = lessons(domain, rng)
        held, taught = data[::CALIBRATION_SHARE], data[:]
        del taught[::CALIBRATION_SHARE]
        cpu = {"imports": started, "data": process_time() - started}
        progress.stage(f"{name}: {len(taught)} boards, {steps} steps")
        network = teach(
            heads,
            taught,
            steps=steps,
            seed=seed,
            progress=lambda done, loss: progress.step(done, steps, f"loss {loss:.4f}"),
        )
        calibration = calibrate(network, held, torch.Generator().manual_seed(seed))
        shift(network, calibration.offsets)
        card = Card(
            name=name,
            vocabulary=describe(domain.visual),
            weights_sha256="",
            data_sha256=fingerprint(data),
            seed=seed,
            temperatures=calibration.temperatures,
            thresholds=calibration.thresholds,
            versions={"python": platform.python_version(), "torch": torch.__version__},
        )
        cpu["training"] = process_time() - sum(cpu.values())
        progress.stage(f"{name}: evaluating")
        perception = BoardPerception(domain.visual, network, card, remembered=0)
        figures = evaluate_domain(domain, perception, states=STATES, seed=seed)
        cpu["evaluation"] = process_time() - sum(cpu.values())
    cpu["all"] = process_time()
    card = replace(card, figures=_figures(figures, len(data), steps, cpu))
    files = save(network, card, folder)
    for group, assessment in figures.items():
        progress.stage(f"{name}: {assessment.exact} of {assessment.states} states exact on {group} layouts")
    progress.stage(f"{name}: {cpu['all']:.1f} CPU seconds, written to {files.weights}")
    return files


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
