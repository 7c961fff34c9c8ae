"""The trainer: whatever a network is taught, Lightning drives it, with checkpoints, logs, a limit of time, and going on from a checkpoint.

What differs between pictures made of cells and pictures without is a ``Task``: ``tasks`` has one for each. What is held
back from training is looked at every so many steps: the loss on it tells the best checkpoint from the last one. Looking changes
nothing, so the weights depend on data, steps and seed alone.
"""

from __future__ import annotations

import logging
import platform
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import DataLoader

from aam_vision.agents.perception import NO_LABEL
from aam_vision.classifiers.networks import Network
from aam_vision.classifiers.store import Card, describe
from aam_vision.classifiers.torchvision_cure import cure_torchvision
from aam_vision.support.errors import UnusableInput, reason
from aam_vision.training.folder import Labellable

cure_torchvision()

from lightning.pytorch import LightningModule, Trainer  # noqa: E402
from lightning.pytorch.callbacks import ModelCheckpoint  # noqa: E402
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger  # noqa: E402
from torchmetrics import MeanMetric  # noqa: E402

LOG_EVERY = 10
"""Steps between two lines of the logs: fewer make longer logs, and cost time."""

LOGS = "logs"
"""Folder of the logs: ``metrics.csv`` has the losses and the confusion of every classifier."""

CELLS = ("yes as yes", "yes as no", "no as yes", "no as no")
"""Of a confusion: what was labelled how, and taken for what at a probability of one half."""

_ORDER = "order"  # what a checkpoint has of where batches come from

Batch = tuple[Tensor, ...]
"""Images, (N, 3, height, width), then what else a task needs to know about them, and their labels at the end."""

Progress = Callable[[int, float], None]
"""Called after every step with the number of steps done and the mean loss since the last call."""

Data = TypeVar("Data", bound=Sized)


class Source(ABC):
    """Batches to learn from, without end; all chance is its own."""

    @abstractmethod
    def batch(self) -> Batch:
        """The next one; images are float32, between 0 and 1."""

    def read(self, losses: Tensor) -> None:  # noqa: B027
        """How well the images of the last batch were read: (N,), or empty where the task does not tell."""

    def state(self) -> dict[str, Any]:
        """What a checkpoint has to keep; nothing where drawing the batches again tells the rest."""
        return {}

    def restore(self, state: Mapping[str, Any], done: int) -> None:
        """Go on from a ``state`` after so many batches."""
        for _ in range(done):
            self.batch()


class Judged(NamedTuple):
    """What came of a batch: its loss, the logits, as the network answers, and what is told to ``Source.read``."""

    loss: Tensor
    logits: Tensor
    each: Tensor


class Task(Protocol[Network, Data]):
    """What is learned: which network, from which data, by which loss.

    Attributes:
        heads: names of the classifiers.
        rate: the highest learning rate: a higher one learns in fewer steps, until training becomes unstable.
        warm_up: share of the steps of a round in which the rate rises: a longer rise is steadier, and leaves less time to settle.
        check: steps between two looks at what is held back: more of them find a better checkpoint, and cost time.
        sure: per classifier, thresholds at least: it says no below the first, and yes above the second.
    """

    heads: tuple[str, ...]
    rate: float
    warm_up: float
    check: int
    sure: Mapping[str, tuple[float, float]]

    def network(self, seed: int) -> Network:
        """A network with fresh weights that depend on the seed alone."""

    def source(self, data: Data, seed: int) -> Source:
        """Batches of changed images; the same seed gives the same ones."""

    def held(self, data: Data) -> list[Batch]:
        """Batches of images as they are."""

    def trained(self, only: Sequence[str]) -> Tensor:
        """The answers of some classifiers, or of all if none are named, in the form in which ``judge`` takes it."""

    def judge(self, network: Network, batch: Batch, trained: Tensor) -> Judged:
        """Ask a network, and compare the answers that are trained with the labels."""

    def by_head(self, values: Tensor, nothing: int) -> Tensor:
        """Logits or labels of images as (N, heads, questions); where a classifier is asked less often than another: ``nothing``."""

    def answered(self, network: Network, data: Data, generator: Generator) -> Iterator[tuple[Tensor, Tensor]]:
        """Logits and labels, (N, heads, questions), of changed copies of all images."""

    def part(self, data: Data, numbers: Sequence[int]) -> Data:
        """Some of the images."""

    def fingerprint(self, data: Data) -> str:
        """The sha256 of all images and labels, in order."""

    def positives(self, data: Data) -> dict[str, int]:
        """For every classifier the answers about all images where yes is right."""


@dataclass(frozen=True)
class StartingPoint(Generic[Network]):
    """The network that training begins with.

    Args:
        base: a trained network, which stays as it is; None for a fresh one.
        only: with ``base``, the classifiers to train, which it may have or not. All that it has besides is kept bit by bit.
    """

    base: Network | None = None
    only: tuple[str, ...] = ()

    def keep(self, network: Network) -> None:
        """Give a network the weights of ``base``, except for the classifiers to train."""
        if self.base is not None:
            network.adopt(self.base, [head for head in network.heads if head not in self.only])


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
class Examined:
    """Training in rounds, each of which is examined.

    Args:
        steps: optimiser steps of a round, in which the learning rate rises and falls once.
        enough: is given the network and the number of steps done, at the end of every round and wherever training
            stops; whether training is to stop. It leaves the network as it is.
    """

    steps: int
    enough: Callable[[Any, int], bool]


def teach(
    task: Task[Network, Data],
    data: Data,
    *,
    steps: int,
    seed: int,
    progress: Progress,
    held: Data | None = None,
    options: TrainingOptions | None = None,
    start: StartingPoint[Network] | None = None,
    further: Network | None = None,
    examined: Examined | None = None,
) -> Network:
    """Train a network on labelled images, on a GPU if there is one; the same seed gives the same weights.

    On a GPU this holds for boards only: for pictures without cells gradients are added up in any order there.

    Args:
        task: what is learned.
        data: what is learned from.
        steps: optimiser steps, at most.
        seed: of the weights, the order of the images and their augmentation.
        progress: told after every step.
        held: images that are not learned from; None if nothing is held back.
        options: where checkpoints go, when to stop, and on which devices.
        start: the network to begin with; by default a fresh one.
        further: a network of the same task whose training goes on; it stays as it is.
        examined: the rounds, and what may end training after one; by default there is a single one.

    Raises:
        UnusableInput: the checkpoint to resume from cannot be used, or there are no such devices.
    """
    options, start = options or TrainingOptions(), start or StartingPoint()
    examined = examined or Examined(steps, lambda network, done: False)
    network = task.network(seed)
    if further is not None:
        network.load_state_dict(further.state_dict())
    start.keep(network)
    if start.base is not None:
        network.freeze_shared(start.base)  # stays so in training: Lightning keeps each module's mode
    lesson = Lesson(task, network, task.source(data, seed), start.only, progress, examined)
    if options.resume is not None:
        _check_resumable(options.resume, lesson, steps)
    with _quiet_lightning():
        trainer = _trainer(steps, options, check=None if held is None else task.check)
        trainer.fit(
            lesson,
            DataLoader(range(steps), batch_size=None),  # type: ignore[arg-type]
            None if held is None else DataLoader(task.held(held), batch_size=None),  # type: ignore[arg-type]
            ckpt_path=options.resume,
            weights_only=True,
        )
    network.cpu().eval().requires_grad_(True)
    start.keep(network)  # weight decay has changed the classifiers that were not trained
    return network


class Lesson(LightningModule, Generic[Network, Data]):  # type: ignore[misc]
    """A network that learns, as Lightning wants it said."""

    def __init__(
        self,
        task: Task[Network, Data],
        network: Network,
        source: Source,
        only: Sequence[str],
        progress: Progress,
        examined: Examined,
    ) -> None:
        super().__init__()
        self.network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.examined = examined
        self._task, self._source, self._progress = task, source, progress
        self._trained, self._confusion = task.trained(only), Confusion(task.heads)
        self._mean_loss = MeanMetric()

    def configure_optimizers(self) -> dict[str, object]:
        steps, rate = self.examined.steps, self._task.rate
        optimiser = torch.optim.AdamW(self.network.parameters(), lr=rate)
        rising = self._task.warm_up * steps
        if rising == 1:  # a rise of one step, from the first to the first, divides by zero
            rising = 1.5
        schedule = _EveryRound(optimiser, max_lr=rate, total_steps=steps, pct_start=rising / steps)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def training_step(self, step: int, number: int) -> Tensor:
        batch = self._source.batch()
        if number == 0:
            for board in self._boards():
                board.add_images("images of the first batch", batch[0], self.trainer.global_step)
        judged = self._judged(batch)
        self._source.read(judged.each.cpu())
        self._mean_loss.update(judged.loss.detach())
        self.log("loss", judged.loss.detach(), batch_size=len(batch[0]))
        return judged.loss

    def on_train_batch_end(self, *_: object) -> None:
        done = self.trainer.global_step
        self._progress(done, float(self._mean_loss.compute()))
        self._mean_loss.reset()
        if done % self.examined.steps == 0 and self.examined.enough(self.network, done):
            self.trainer.should_stop = True

    def on_train_end(self) -> None:
        done = self.trainer.global_step
        if done % self.examined.steps:  # it stops in the middle of a round
            self.examined.enough(self.network, done)

    def validation_step(self, batch: Batch, number: int) -> None:
        judged = self._judged(batch)
        self.log("held_loss", judged.loss, batch_size=len(batch[0]))
        self._confusion.add(self._task.by_head(judged.logits, 0), self._task.by_head(batch[-1], NO_LABEL))

    def on_validation_epoch_end(self) -> None:
        self.log_dict(self._confusion.figures(), sync_dist=True, reduce_fx="sum")
        for board in self._boards():
            board.add_text("confusion", self._confusion.table(), self.trainer.global_step)
        self._confusion = Confusion(self._task.heads)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint[_ORDER] = self._source.state()

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self._source.restore(checkpoint.get(_ORDER, {}), checkpoint["global_step"])

    def _judged(self, batch: Batch) -> Judged:
        images, *more = (part.to(self.device) for part in batch)
        images = images.contiguous(memory_format=torch.channels_last)
        return self._task.judge(self.network, (images, *more), self._trained)

    def _boards(self) -> list[Any]:
        """The writers of TensorBoard, on the process that writes."""
        if not self.trainer.is_global_zero:
            return []
        return [one.experiment for one in self.trainer.loggers if isinstance(one, TensorBoardLogger)]


class _EveryRound(torch.optim.lr_scheduler.OneCycleLR):
    """A cycle of the learning rate for every round."""

    def get_lr(self) -> list[float | torch.Tensor]:
        done = self.last_epoch
        self.last_epoch = done % self.total_steps
        try:
            return super().get_lr()
        finally:
            self.last_epoch = done


def _trainer(steps: int, options: TrainingOptions, *, check: int | None) -> Any:
    """Lightning's trainer; ``check``: steps between two looks at what is held back, None if nothing is."""
    writers: list[Any] = []
    checkpoint = None
    if options.folder is not None:
        writers.append(CSVLogger(options.folder, name="", version=LOGS))
        if options.tensorboard:
            if find_spec("tensorboard") is None:
                raise UnusableInput(
                    "the package tensorboard is not installed: pip install 'aam-vision[tensorboard]', or leave out "
                    "--tensorboard"
                )
            writers.append(TensorBoardLogger(options.folder, name="", version=LOGS))
        checkpoint = ModelCheckpoint(
            options.folder / "checkpoints",
            filename="best",
            monitor="held_loss" if check else None,
            save_last=True,
            enable_version_counter=False,
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
            val_check_interval=check,
            check_val_every_n_epoch=None if check else 1,
            num_sanity_val_steps=0,
            enable_checkpointing=options.folder is not None,
            enable_progress_bar=False,
            enable_model_summary=False,
            deterministic="warn",  # some backward passes have no deterministic form on GPUs
            callbacks=checkpoint,
        )
    except Exception as error:  # Lightning has as many kinds as there are accelerators
        raise UnusableInput(
            f"devices {options.devices}, strategy {options.strategy}: cannot be used here: {reason(error)}"
        ) from None


def _check_resumable(checkpoint: Path, lesson: Lesson[Any, Any], steps: int) -> None:
    """Refuse a checkpoint that does not fit, or has all of ``steps`` behind it."""
    cure = "name the last.ckpt of a run with the same environment, seed and steps"
    try:
        content = torch.load(checkpoint, map_location="cpu", weights_only=True)
        done = int(content["global_step"])
        lesson.load_state_dict(content["state_dict"])
        same = content["lr_schedulers"][0]["total_steps"] == lesson.examined.steps
    except OSError as error:
        raise UnusableInput(f"cannot read {checkpoint} ({error.strerror or error}): {cure}") from None
    except Exception as error:  # a damaged archive fails in as many ways as there are bytes
        raise UnusableInput(
            f"{checkpoint} is no checkpoint of this training ({type(error).__name__}): {cure}"
        ) from None
    if not same or done >= steps:
        raise UnusableInput(f"{checkpoint} has {done} steps behind it, of another number or of all: {cure}")


class Confusion:
    """Counts per classifier, (heads, 4), in the order of ``CELLS``."""

    def __init__(self, heads: Sequence[str]) -> None:
        self.heads = tuple(heads)
        self.counts = torch.zeros(len(self.heads), len(CELLS), dtype=torch.long)

    def add(self, logits: Tensor, labels: Tensor) -> None:
        """A batch: logits and labels, (N, heads, places) each; what has no label is left out."""
        found, known, yes = (logits > 0).cpu(), (labels != NO_LABEL).cpu(), (labels == 1).cpu()
        parts = (yes & found, yes & ~found, ~yes & found, ~yes & ~found)
        self.counts += torch.stack([(part & known).sum((0, 2)) for part in parts], 1)

    def figures(self) -> dict[str, float]:
        """``HEAD/yes as no`` and so on, as they are logged."""
        return {
            f"{head}/{cell}": float(count)
            for head, row in zip(self.heads, self.counts.tolist(), strict=True)
            for cell, count in zip(CELLS, row, strict=True)
        }

    def table(self) -> str:
        """The counts in Markdown."""
        lines = ["| classifier | " + " | ".join(CELLS) + " |", "|---" * (len(CELLS) + 1) + "|"]
        for head, row in zip(self.heads, self.counts.tolist(), strict=True):
            lines.append(f"| {head} | " + " | ".join(map(str, row)) + " |")
        return "\n".join(lines)


@contextmanager
def _quiet_lightning() -> Iterator[None]:
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


# How sure is sure: calibration of every classifier on images that were not trained on.
#
# Probabilities are sigmoid((logit + offset) / temperature) with the least cross entropy within fixed ranges
# (temperature: Guo et al., "On Calibration of Modern Neural Networks", 2017; offset: Platt, 1999, needed
# because the training weighs rare and frequent answers the same). The offset becomes part of the weights.
# Thresholds are closer to certainty where a classifier makes more mistakes on those images.


TEMPERATURES = np.geomspace(0.25, 4.0, 17).round(3)
"""Below the range a classifier without a single mistake would be made infinitely sure."""

OFFSETS = np.linspace(-6, 6, 49).round(3)

SUREST = 0.99
"""No threshold asks for more than this, so that one odd image cannot make a classifier silent."""

MISTAKEN = 0.002
"""Share of the yes answers that may be taken for a sure no, and the other way round; on images that are
changed more than most, where the joint checks of ``legality`` come on top."""

_RIDGE = 1e-6  # between offsets that do not matter, the smallest


def calibrated(
    task: Task[Network, Data],
    network: Network,
    held: Data,
    domain: Labellable,
    seed: int,
    data_sha256: str,
    *,
    kept: tuple[Sequence[str], Card] | None = None,
    **more: Any,
) -> Card:
    """Calibrate a network in place on augmented copies of images that it has not learned from; its card, with ``more``, not written yet.

    ``kept``: the classifiers that were trained, and the card of the weights of all others, where not all were.
    """
    generator = Generator().manual_seed(seed)
    known: dict[str, list[tuple[Tensor, Tensor]]] = {head: [] for head in task.heads}
    with torch.inference_mode():
        for logits, labels in task.answered(network, held, generator):
            for number, head in enumerate(task.heads):
                asked = labels[:, number] != NO_LABEL
                known[head].append((logits[:, number][asked], labels[:, number][asked].float()))
    offsets: dict[str, float] = {}
    temperatures: dict[str, float] = {}
    thresholds: dict[str, tuple[float, float]] = {}
    for head, parts in known.items():
        if kept is not None and head not in kept[0]:
            offsets[head] = 0.0
            temperatures[head], thresholds[head] = kept[1].temperatures[head], kept[1].thresholds[head]
            continue
        values, truth = (torch.cat(each) for each in zip(*parts, strict=True))
        offsets[head], temperatures[head] = _best(values, truth)
        found = ((values + offsets[head]) / temperatures[head]).sigmoid()
        thresholds[head] = _thresholds(found, truth > 0, task.sure[head])
    network.shift(offsets)
    return Card(
        name=domain.name,
        vocabulary=describe(domain.visual),
        weights_sha256="",
        data_sha256=data_sha256,
        seed=seed,
        temperatures=temperatures,
        thresholds=thresholds,
        versions={"python": platform.python_version(), "torch": torch.__version__},
        network=network.kind,
        **more,
    )


def _best(logits: Tensor, truth: Tensor) -> tuple[float, float]:
    """The offset and temperature with the least cross entropy."""
    pairs = list(product(OFFSETS.tolist(), TEMPERATURES.tolist()))
    losses = [
        float(binary_cross_entropy_with_logits((logits + offset) / temperature, truth)) + _RIDGE * offset**2
        for offset, temperature in pairs
    ]
    return pairs[int(np.argmin(losses))]


def _thresholds(found: Tensor, truth: Tensor, sure: tuple[float, float]) -> tuple[float, float]:
    """At least as strict as ``sure``, and so strict that ``MISTAKEN`` at most lie beyond them, up to ``SUREST``."""
    highest_no = float(found[~truth].quantile(1 - MISTAKEN)) if (~truth).any() else 0.0
    lowest_yes = float(found[truth].quantile(MISTAKEN)) if truth.any() else 1.0
    low, high = min(sure[0], lowest_yes), max(sure[1], highest_no)
    return round(max(low, 1 - SUREST), 4), round(min(high, SUREST), 4)
