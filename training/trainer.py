"""Lightning as all training runs use it: checkpoints, logs, a limit of time, and going on from a checkpoint."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from aam_vision.classifiers.torchvision_cure import cure_torchvision
from aam_vision.errors import UnusableInput, reason
from aam_vision.training.labels import NO_LABEL

cure_torchvision()

from lightning.pytorch import Callback, LightningModule, Trainer  # noqa: E402
from lightning.pytorch.callbacks import ModelCheckpoint  # noqa: E402
from torchmetrics import MeanMetric  # noqa: E402

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
class Examined:
    """Training in rounds, each of which is examined.

    Args:
        steps: optimiser steps of a round.
        enough: is given the network and the number of steps done, at the end of every round and wherever training
            stops; whether training is to stop. It leaves the network as it is.
    """

    steps: int
    enough: Callable[[Any, int], bool]


@dataclass(frozen=True)
class Pace:
    """How the learning rate goes.

    Args:
        steps: optimiser steps of a round, in which it rises and falls once; another round does the same again.
        rate: the highest of a round: a higher one learns in fewer steps, until training becomes unstable.
        warm_up: share of the steps in which it rises: a longer rise is steadier, and leaves less time to settle.
    """

    steps: int
    rate: float
    warm_up: float


class Taught(LightningModule):  # type: ignore[misc]
    """A network that learns, as Lightning wants it said; what it learns from is said by subclasses.

    Args:
        network: the network to train.
        pace: of its learning.
    """

    def __init__(self, network: nn.Module, pace: Pace) -> None:
        super().__init__()
        self.network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.pace = pace
        self.mean_loss = MeanMetric()

    def note(self, loss: torch.Tensor, number: int) -> None:
        """Log the loss of a step that learned from so many images."""
        self.mean_loss.update(loss.detach())
        self.log("loss", loss.detach(), batch_size=number)

    def configure_optimizers(self) -> dict[str, object]:
        pace = self.pace
        optimiser = torch.optim.AdamW(self.network.parameters(), lr=pace.rate)
        rising = pace.warm_up * pace.steps
        if rising == 1:  # a rise of one step, from the first to the first, divides by zero
            rising = 1.5
        share = rising / pace.steps
        schedule = _EveryRound(optimiser, max_lr=pace.rate, total_steps=pace.steps, pct_start=share)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


class _EveryRound(torch.optim.lr_scheduler.OneCycleLR):
    """A cycle of the learning rate for every round."""

    def get_lr(self) -> list[float | torch.Tensor]:
        done = self.last_epoch
        self.last_epoch = done % self.total_steps
        try:
            return super().get_lr()
        finally:
            self.last_epoch = done


class _Examine(Callback):  # type: ignore[misc]
    """Ends training after the round that was enough; what stops in the middle of a round is examined, too."""

    def __init__(self, examined: Examined) -> None:
        self._examined = examined

    def on_train_batch_end(self, trainer: Trainer, lesson: Taught, *_: object) -> None:
        if trainer.global_step % self._examined.steps == 0 and self._enough(trainer, lesson):
            trainer.should_stop = True

    def on_train_end(self, trainer: Trainer, lesson: Taught) -> None:
        if trainer.global_step % self._examined.steps:
            self._enough(trainer, lesson)

    def _enough(self, trainer: Trainer, lesson: Taught) -> bool:
        return self._examined.enough(lesson.network, trainer.global_step)


class _ReportProgress(Callback):  # type: ignore[misc]
    """Tells a caller how far training has come."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def on_train_batch_end(self, trainer: Trainer, lesson: Taught, *_: object) -> None:
        self._progress(trainer.global_step, float(lesson.mean_loss.compute()))
        lesson.mean_loss.reset()


def _trainer(
    heads: Sequence[str],
    steps: int,
    progress: Progress,
    options: TrainingOptions,
    *,
    check: int | None,
    examined: Examined | None,
) -> Any:
    """Lightning's trainer.

    Args:
        heads: names of the classifiers.
        steps: of the optimiser, at most.
        progress: told after every step.
        options: of the run.
        check: steps between two looks at what is held back; None if nothing is.
        examined: the rounds; None for a single one, which nobody examines.

    Raises:
        UnusableInput: there are no such devices.
    """
    callbacks: list[Callback] = [_ReportProgress(progress), *([_Examine(examined)] if examined else [])]
    writers = loggers(options.folder, tensorboard=options.tensorboard)
    if writers:
        callbacks.append(ShowWhatIsSeen(heads))
    if options.folder is not None:
        callbacks.append(
            ModelCheckpoint(
                options.folder / "checkpoints",
                filename="best",
                monitor="held_loss" if check else None,
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
            val_check_interval=check,
            check_val_every_n_epoch=None if check else 1,
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


def _steps_done(checkpoint: Path, lesson: Taught, steps: int) -> int:
    """How many of ``steps`` a checkpoint has behind it, once it is known to fit."""
    cure = "name the last.ckpt of a run with the same environment, seed and steps"
    try:
        content = torch.load(checkpoint, map_location="cpu", weights_only=True)
        done = int(content["global_step"])
        lesson.load_state_dict(content["state_dict"])
        same = content["lr_schedulers"][0]["total_steps"] == lesson.pace.steps
    except OSError as error:
        raise UnusableInput(f"cannot read {checkpoint} ({error.strerror or error}): {cure}") from None
    except Exception as error:  # a damaged archive fails in as many ways as there are bytes
        raise UnusableInput(
            f"{checkpoint} is no checkpoint of this training ({type(error).__name__}): {cure}"
        ) from None
    if not same or done >= steps:
        raise UnusableInput(f"{checkpoint} has {done} steps behind it, of another number or of all: {cure}")
    return done


def fit(
    lesson: Taught,
    heads: Sequence[str],
    batches: Callable[[int], Any],
    held: Any | None,
    *,
    steps: int,
    progress: Progress,
    options: TrainingOptions,
    check: int,
    examined: Examined | None,
) -> None:
    """Train the network of a lesson.

    Args:
        lesson: its network is trained.
        heads: names of the classifiers.
        batches: what is learned from, one batch after the other, once so many steps are done.
        held: batches that are not trained on; None if nothing is held back.
        steps: of the optimiser, at most.
        progress: told after every step.
        options: of the run.
        check: steps between two looks at what is held back.
        examined: the rounds; None for a single one, which nobody examines.

    Raises:
        UnusableInput: the checkpoint to resume from cannot be used, or there are no such devices.
    """
    done = _steps_done(options.resume, lesson, steps) if options.resume else 0
    with quiet_lightning():
        looks = None if held is None else check
        trainer = _trainer(heads, steps, progress, options, check=looks, examined=examined)
        trainer.fit(
            lesson,
            DataLoader(batches(done), batch_size=None),
            None if held is None else DataLoader(held, batch_size=None),
            ckpt_path=options.resume,
            weights_only=True,
        )


# Logs of a training run: the loss, the confusion of every classifier, sample images.
#
# Figures go to ``logs/metrics.csv`` and, if asked for, to TensorBoard (the extra ``tensorboard``), which also gets the
# images of the first batch as training sees them, and the confusion as a table. Nothing here changes what is learned.


cure_torchvision()

from lightning.pytorch import Callback, LightningModule  # noqa: E402
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger  # noqa: E402

FOLDER = "logs"

CELLS = ("yes as yes", "yes as no", "no as yes", "no as no")
"""Of a confusion: what was labelled how, and taken for what at a probability of one half."""


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


def loggers(folder: Path | None, *, tensorboard: bool) -> list[Any]:
    """Lightning's loggers for a run; none without a folder.

    Raises:
        UnusableInput: TensorBoard is asked for and not installed.
    """
    if folder is None:
        return []
    found: list[Any] = [CSVLogger(folder, name="", version=FOLDER)]
    if tensorboard:
        if find_spec("tensorboard") is None:
            raise UnusableInput(
                "the package tensorboard is not installed: pip install 'aam-vision[tensorboard]', or leave out "
                "--tensorboard"
            )
        found.append(TensorBoardLogger(folder, name="", version=FOLDER))
    return found


class ShowWhatIsSeen(Callback):  # type: ignore[misc]
    """Logs the confusion after every look at what is held back, and to TensorBoard the first images as well."""

    def __init__(self, heads: Sequence[str]) -> None:
        self._heads = heads
        self._confusion = Confusion(heads)

    def on_train_batch_start(
        self, trainer: Trainer, lesson: LightningModule, batch: Any, number: int
    ) -> None:
        if number == 0:
            for board in _boards_of(trainer):
                board.add_images("images of the first batch", lesson.shown(batch), trainer.global_step)

    def on_validation_epoch_start(self, trainer: Trainer, lesson: LightningModule) -> None:
        self._confusion = Confusion(self._heads)

    def on_validation_batch_end(
        self, trainer: Trainer, lesson: LightningModule, outputs: Any, batch: Any, *_: object
    ) -> None:
        self._confusion.add(outputs, batch[2])

    def on_validation_epoch_end(self, trainer: Trainer, lesson: LightningModule) -> None:
        lesson.log_dict(self._confusion.figures(), sync_dist=True, reduce_fx="sum")
        for board in _boards_of(trainer):
            board.add_text("confusion", self._confusion.table(), trainer.global_step)


def _boards_of(trainer: Trainer) -> list[Any]:
    """The writers of TensorBoard, on the process that writes."""
    if not trainer.is_global_zero:
        return []
    return [logger.experiment for logger in trainer.loggers if isinstance(logger, TensorBoardLogger)]


# Lightning without its banners and advice.


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
