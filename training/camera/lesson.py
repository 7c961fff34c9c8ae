"""One training run of the network for pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import torch
from torch import Generator, Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from aam_vision.classifiers.camera.network import CameraNetwork, new_network
from aam_vision.classifiers.camera.plan import CameraPlan
from aam_vision.training.camera.augmentation import augmented
from aam_vision.training.camera.data import UNKNOWN, Lessons
from aam_vision.training.labels import NO_LABEL

BATCH: Final = 16
"""Pictures of a step: more of them give steadier steps, and each takes longer."""
LEARNING_RATE: Final = 3e-3
"""The highest of the run."""
WARM_UP: Final = 0.12
"""Share of the steps in which the learning rate rises."""
PAIRS: Final = 3.0
"""Weight of the answers about pairs, most of which are no."""
WHERE: Final = 0.3
"""Weight of where things are, in pictures of which that is known."""
LEAST: Final = 0.3
"""Places of a map that a thing covers, at least, to be looked for at one of them."""
Progress = Callable[[int, float], None]
"""Called after every step with the number of steps done and its loss."""


def teach(plan: CameraPlan, data: Lessons, *, steps: int, seed: int, progress: Progress) -> CameraNetwork:
    """Train a network on labelled pictures; the same seed gives the same weights.

    Args:
        plan: its classifiers.
        data: what is learned from.
        steps: optimiser steps.
        seed: of the weights, the order of the pictures and their augmentation.
        progress: told after every step.
    """
    network = new_network(plan, seed).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimiser = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=LEARNING_RATE, total_steps=steps, pct_start=WARM_UP
    )
    generator = Generator().manual_seed(seed)
    chosen = _batches(len(data), generator)
    network.train()
    for step in range(steps):
        numbers = next(chosen)
        known = (data.where[numbers, :, :1, :1] != UNKNOWN).float()
        pictures, where = augmented(
            data.pictures[numbers].float().div_(255), data.where[numbers] / (UNKNOWN - 1), generator
        )
        answers = network(pictures.contiguous(memory_format=torch.channels_last))
        loss = loss_of(plan, answers.logits, data.labels[numbers])
        loss = loss + WHERE * loss_of_places(answers.maps, where, known)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
        progress(step + 1, float(loss.detach()))
    return network.eval()  # type: ignore[no-any-return]


def loss_of(plan: CameraPlan, logits: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy, each kind of answer by its mean over those that have a label; both (N, plan.size)."""
    known = (labels != NO_LABEL).float()
    each = known * binary_cross_entropy_with_logits(logits, labels.clamp(min=0).float(), reduction="none")
    looks = len(plan.looks)
    sizes = [looks, len(plan.alone), looks * len(plan.single), looks * looks * len(plan.pairs)]
    whole = logits.new_zeros(())
    parts, counts = torch.split(each, sizes, 1), torch.split(known, sizes, 1)
    for part, asked, weight in zip(parts, counts, (1, 1, 1, PAIRS), strict=True):
        if part.shape[1]:
            whole = whole + weight * part.sum() / asked.sum().clamp(min=1)
    return whole


def loss_of_places(maps: Tensor, where: Tensor, known: Tensor) -> Tensor:
    """How far maps are from where things are: cross entropy of every place, and of the place among all of its map.

    Args:
        maps: log odds that a place shows a thing, (N, looks, h, w).
        where: how much of it does, of the same shape.
        known: (N, looks, 1, 1), 1 where that is known and 0 elsewhere.
    """
    where = (where * known).clamp(0, 1)
    whole = where.sum((2, 3))
    each = binary_cross_entropy_with_logits(maps, where, reduction="none") * known
    shows = (whole > LEAST).float()
    shares = where.flatten(2) / whole.clamp(min=LEAST)[..., None]
    among = -(shares * maps.flatten(2).log_softmax(2)).sum(2) * shows
    return each.sum() / whole.sum().clamp(min=1) + among.sum() / shows.sum().clamp(min=1)


def _batches(number: int, generator: Generator) -> Iterator[Tensor]:
    """Numbers of pictures, in another order every time that all were seen."""
    left = torch.empty(0, dtype=torch.long)
    while True:
        while len(left) < BATCH:
            left = torch.cat([left, torch.randperm(number, generator=generator)])
        yield left[:BATCH]
        left = left[BATCH:]
