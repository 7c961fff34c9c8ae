"""Logs of a training run: the loss, the confusion of every classifier, sample images.

Figures go to ``logs/metrics.csv`` and, if asked for, to TensorBoard (the extra ``tensorboard``), which also gets the
images of the first batch as training sees them, and the confusion as a table. Nothing here changes what is learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from aam_vision.classifiers.torchvision_cure import cure_torchvision
from aam_vision.errors import UnusableInput
from aam_vision.training.labels import NO_LABEL

cure_torchvision()

from lightning.pytorch import Callback, LightningModule, Trainer  # noqa: E402
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
