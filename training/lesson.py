"""One training run: the network, its loss and its optimiser, driven by Lightning."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import DataLoader

from aam_vision.classifiers.network import BoardNetwork, place_logits
from aam_vision.training.boards import Batch, BoardBatches, Example
from aam_vision.training.torchvision_cure import cure_torchvision

cure_torchvision()

from lightning.pytorch import Callback, LightningModule, Trainer  # noqa: E402
from torchmetrics import MeanMetric  # noqa: E402

BATCH = 8
LEARNING_RATE = 4e-3

Progress = Callable[[int, float], None]
"""Called after every step with the number of steps done and the mean loss since the last call."""


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy in which, per head, the yes and the no labels of a batch weigh the same.

    Args:
        logits: (N, heads, places).
        labels: (N, heads, places), 1, 0 or ``NO_LABEL``.
    """
    each = binary_cross_entropy_with_logits(logits, labels.clamp(min=0).float(), reduction="none")
    parts = []
    for value in (0, 1):
        chosen = (labels == value).float()  # (N, heads, places)
        number = chosen.sum((0, 2))
        parts.append(((each * chosen).sum((0, 2)) / number.clamp(min=1)).mean())
    return torch.stack(parts).sum()


class Lesson(LightningModule):  # type: ignore[misc]
    """A network that learns from labelled boards."""

    def __init__(self, network: BoardNetwork, steps: int) -> None:
        super().__init__()
        self.network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.steps = steps
        self.mean_loss = MeanMetric()

    def training_step(self, batch: Batch, _: int) -> Tensor:
        boards, pooling, labels = batch
        boards = boards.contiguous(memory_format=torch.channels_last)
        loss = loss_of(place_logits(self.network(boards), pooling), labels)
        self.mean_loss.update(loss.detach())
        return loss

    def configure_optimizers(self) -> dict[str, object]:
        optimiser = torch.optim.AdamW(self.network.parameters(), lr=LEARNING_RATE)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, max_lr=LEARNING_RATE, total_steps=self.steps, pct_start=0.2
        )
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


class _Report(Callback):  # type: ignore[misc]
    """Tells a caller how far training has come."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def on_train_batch_end(self, trainer: Trainer, lesson: Lesson, *_: object) -> None:
        self._progress(trainer.global_step, float(lesson.mean_loss.compute()))
        lesson.mean_loss.reset()


@contextmanager
def quiet_lightning() -> Iterator[None]:
    """Keep Lightning's banners and advice to itself, and its settings of torch from outliving it."""
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    loggers = [logging.getLogger(name) for name in ("lightning.pytorch", "lightning.fabric")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)


def new_network(heads: Sequence[str], seed: int) -> BoardNetwork:
    """A network with fresh weights that depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return BoardNetwork(heads)


def teach(
    heads: Sequence[str], data: Sequence[Example], *, steps: int, seed: int, progress: Progress
) -> BoardNetwork:
    """Train a fresh network on labelled boards; the same seed gives the same weights.

    Args:
        heads: names of the classifiers.
        data: labelled boards of any shapes.
        steps: optimiser steps.
        seed: of the weights, the order of the boards and their augmentation.
        progress: told after every step.
    """
    network = new_network(heads, seed)
    batches = DataLoader(BoardBatches(data, BATCH, seed), batch_size=None)
    with quiet_lightning():
        trainer = Trainer(
            max_steps=steps,
            accelerator="auto",
            devices=1,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            deterministic="warn",  # some backward passes have no deterministic form on GPUs
            callbacks=[_Report(progress)],
        )
        trainer.fit(Lesson(network, steps), batches)
    return network.cpu().eval()
