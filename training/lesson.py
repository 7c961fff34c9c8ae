"""One training run: the network, its loss and its optimiser, driven by Lightning.

The boards held back from training are looked at every ``CHECK`` steps: the loss on them tells the best
checkpoint from the last one. Looking changes nothing, so the weights depend on data, steps and seed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import DataLoader, IterableDataset

from aam_vision.classifiers.architecture import SHARED
from aam_vision.classifiers.network import BoardNetwork, place_logits
from aam_vision.classifiers.networks import make_network
from aam_vision.classifiers.torchvision_cure import cure_torchvision
from aam_vision.errors import UnusableInput, reason
from aam_vision.training.boards import Batch, BoardBatches, Example, collate
from aam_vision.training.logs import ShowWhatIsSeen, loggers
from aam_vision.training.quiet import quiet_lightning

cure_torchvision()

from lightning.pytorch import Callback, LightningModule, Trainer  # noqa: E402
from lightning.pytorch.callbacks import ModelCheckpoint  # noqa: E402
from torchmetrics import MeanMetric  # noqa: E402

BATCH = 8
"""Boards of a step: more of them give steadier steps, and each takes longer."""
LEARNING_RATE = 4e-3
"""The highest of the run: a higher one learns in fewer steps, until training becomes unstable."""
CHECK = 100
"""Steps between two evaluations of the boards that are held back: more of them find a better checkpoint, and cost time."""
WARM_UP = 0.2
"""Share of the steps in which the learning rate rises: a longer rise is steadier, and leaves less time to settle."""
LOG_EVERY = 10
"""Steps between two lines of the logs: fewer make longer logs, and cost time."""

Progress = Callable[[int, float], None]
"""Called after every step with the number of steps done and the mean loss since the last call."""


@dataclass(frozen=True)
class TrainingOptions:
    """How a training run is carried out; none of it but ``max_seconds`` changes what comes of it.

    Args:
        folder: receives ``checkpoints/last.ckpt``, ``checkpoints/best.ckpt`` and ``logs``;
            None for none of them.
        resume: a checkpoint to go on from; the weights are those of a run that was never interrupted.
        max_seconds: stop after so much wall time, wherever training is by then.
        devices: Lightning's: a number of devices, or ``auto``.
        strategy: Lightning's: ``auto``, ``ddp`` and so on.
        tensorboard: write the logs for TensorBoard as well.
    """

    folder: Path | None = None
    resume: Path | None = None
    max_seconds: float | None = None
    devices: str = "1"
    strategy: str = "auto"
    tensorboard: bool = False


@dataclass(frozen=True)
class StartingPoint:
    """The network that training begins with.

    Args:
        kind: of the network, one of ``networks.KINDS``; with ``base``, that of ``base``.
        base: a trained network; None for a fresh one. It stays as it is.
        only: with ``base``, the classifiers to train, which it may have or not. Its shared trunk and its
            other ones are kept bit by bit.
    """

    kind: str = SHARED
    base: BoardNetwork | None = None
    only: tuple[str, ...] = ()

    def network(self, heads: Sequence[str], seed: int) -> BoardNetwork:
        """The network with these classifiers; fresh weights depend on the seed alone."""
        network = new_network(heads, seed, self.kind if self.base is None else self.base.kind)
        self.keep(network)
        return network

    def keep(self, network: BoardNetwork) -> None:
        """Give a network the weights of ``base``, except for the classifiers to train."""
        if self.base is not None:
            network.adopt(self.base, [head for head in network.heads if head not in self.only])


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
    """A network that learns from labelled boards, as Lightning wants it said: loss, optimiser and what to log.

    Args:
        network: the network to train.
        steps: optimiser steps of the whole run, by which the learning rate rises and falls.
        only: the classifiers to train; all if none are named.
    """

    def __init__(self, network: BoardNetwork, steps: int, only: Sequence[str] = ()) -> None:
        super().__init__()
        self.network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._trained_heads = [
            number for number, head in enumerate(network.heads) if not only or head in only
        ]
        """Numbers of the classifiers that are trained."""
        if only:
            self.network.freeze_shared()  # stays so in training: Lightning keeps each module's mode
        self.steps = steps
        self.mean_loss = MeanMetric()

    def _logits(self, batch: Batch) -> Tensor:
        boards, pooling, _ = batch
        boards = boards.contiguous(memory_format=torch.channels_last)
        return place_logits(self.network(boards), pooling)

    def _loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        return loss_of(logits[:, self._trained_heads], labels[:, self._trained_heads])

    def training_step(self, batch: Batch, _: int) -> Tensor:
        loss = self._loss(self._logits(batch), batch[2])
        self.mean_loss.update(loss.detach())
        self.log("loss", loss.detach(), batch_size=len(batch[0]))
        return loss

    def validation_step(self, batch: Batch, _: int) -> Tensor:
        logits = self._logits(batch)
        self.log("held_loss", self._loss(logits, batch[2]), batch_size=1)
        return logits

    def configure_optimizers(self) -> dict[str, object]:
        optimiser = torch.optim.AdamW(self.network.parameters(), lr=LEARNING_RATE)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, max_lr=LEARNING_RATE, total_steps=self.steps, pct_start=WARM_UP
        )
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


class _ReportProgress(Callback):  # type: ignore[misc]
    """Tells a caller how far training has come."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def on_train_batch_end(self, trainer: Trainer, lesson: Lesson, *_: object) -> None:
        self._progress(trainer.global_step, float(lesson.mean_loss.compute()))
        lesson.mean_loss.reset()


def new_network(heads: Sequence[str], seed: int, kind: str = SHARED) -> BoardNetwork:
    """A network with fresh weights that depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make_network(kind, heads)


def teach(
    heads: Sequence[str],
    data: Sequence[Example],
    *,
    steps: int,
    seed: int,
    progress: Progress,
    held: Sequence[Example] = (),
    options: TrainingOptions | None = None,
    start: StartingPoint | None = None,
) -> BoardNetwork:
    """Train a network on labelled boards; the same seed gives the same weights.

    Args:
        heads: names of the classifiers.
        data: labelled boards of any shapes.
        steps: optimiser steps.
        seed: of the weights, the order of the boards and their augmentation.
        progress: told after every step.
        held: boards that are not trained on.
        options: where checkpoints go, when to stop, and on which devices.
        start: the network to begin with; by default a fresh one with a shared trunk.

    Raises:
        UnusableInput: the checkpoint to resume from cannot be used, or there are no such devices.
    """
    options, start = options or TrainingOptions(), start or StartingPoint()
    network = start.network(heads, seed)
    lesson = Lesson(network, steps, start.only)
    done = _steps_done(options.resume, lesson, steps) if options.resume else 0
    held_batches: Any = [collate([example]) for example in held]
    left = islice(BoardBatches(data, BATCH, seed), done, None)
    with quiet_lightning():
        trainer = _trainer(heads, steps, progress, options, checked=bool(held))
        trainer.fit(
            lesson,
            DataLoader(_Batches(left), batch_size=None),
            DataLoader(held_batches, batch_size=None) if held else None,
            ckpt_path=options.resume,
            weights_only=True,
        )
    network.cpu().eval()
    start.keep(network)  # weight decay has changed the classifiers that were not trained
    return network


class _Batches(IterableDataset[Batch]):
    """Batches that come one after the other, once."""

    def __init__(self, batches: Iterator[Batch]) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[Batch]:
        return self._batches


def _trainer(
    heads: Sequence[str], steps: int, progress: Progress, options: TrainingOptions, *, checked: bool
) -> Any:
    """Lightning's trainer.

    Raises:
        UnusableInput: there are no such devices.
    """
    callbacks: list[Callback] = [_ReportProgress(progress)]
    writers = loggers(options.folder, tensorboard=options.tensorboard)
    if writers:
        callbacks.append(ShowWhatIsSeen(heads))
    if options.folder is not None:
        callbacks.append(
            ModelCheckpoint(
                options.folder / "checkpoints",
                filename="best",
                monitor="held_loss" if checked else None,
                save_last=True,
                enable_version_counter=False,
            )
        )
    try:
        return Trainer(
            max_steps=steps,
            max_time=timedelta(seconds=options.max_seconds) if options.max_seconds is not None else None,
            accelerator="auto",
            devices=int(options.devices) if options.devices.isdecimal() else options.devices,
            strategy=options.strategy,
            logger=writers or False,
            log_every_n_steps=LOG_EVERY,
            val_check_interval=CHECK if checked else None,
            check_val_every_n_epoch=None if checked else 1,
            num_sanity_val_steps=0,
            enable_checkpointing=options.folder is not None,
            enable_progress_bar=False,
            enable_model_summary=False,
            deterministic="warn",  # some backward passes have no deterministic form on GPUs
            callbacks=callbacks,
        )
    except Exception as error:  # Lightning has as many kinds as there are accelerators
        raise UnusableInput(
            f"devices {options.devices}, strategy {options.strategy}: cannot be used here: {reason(error)}"
        ) from None


def _steps_done(checkpoint: Path, lesson: Lesson, steps: int) -> int:
    """How many steps a checkpoint has behind it, once it is known to fit."""
    cure = "name the last.ckpt of a run with the same environment, seed and steps"
    try:
        content = torch.load(checkpoint, map_location="cpu", weights_only=True)
        done = int(content["global_step"])
        lesson.load_state_dict(content["state_dict"])
        same = content["lr_schedulers"][0]["total_steps"] == steps
    except OSError as error:
        raise UnusableInput(f"cannot read {checkpoint} ({error.strerror or error}): {cure}") from None
    except Exception as error:  # a damaged archive fails in as many ways as there are bytes
        raise UnusableInput(
            f"{checkpoint} is no checkpoint of this training ({type(error).__name__}): {cure}"
        ) from None
    if not same or done >= steps:
        raise UnusableInput(f"{checkpoint} has {done} steps behind it, of another number or of all: {cure}")
    return done
