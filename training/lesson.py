"""One training run: the network, its loss and its optimiser, driven by Lightning.

The boards held back from training are looked at every ``CHECK`` steps: the loss on them tells the best
checkpoint from the last one. Looking changes nothing, so the weights depend on data, steps and seed alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import IterableDataset

from aam_vision.classifiers.architecture import SHARED
from aam_vision.classifiers.network import BoardNetwork, place_logits
from aam_vision.classifiers.networks import make_network
from aam_vision.training.boards import Batch, BoardBatches, Example, collate
from aam_vision.training.trainer import Examined, Pace, Progress, Taught, TrainingOptions, fit

BATCH = 8
"""Boards of a step: more of them give steadier steps, and each takes longer."""
LEARNING_RATE = 4e-3
"""The highest of the run: a higher one learns in fewer steps, until training becomes unstable."""
CHECK = 100
"""Steps between two evaluations of the boards that are held back: more of them find a better checkpoint, and cost time."""
WARM_UP = 0.2
"""Share of the steps in which the learning rate rises: a longer rise is steadier, and leaves less time to settle."""


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


class Lesson(Taught):
    """A network that learns from labelled boards.

    Args:
        network: the network to train.
        steps: optimiser steps of a round, in which the learning rate rises and falls once.
        only: the classifiers to train; all if none are named.
    """

    def __init__(self, network: BoardNetwork, steps: int, only: Sequence[str] = ()) -> None:
        super().__init__(network, Pace(steps, LEARNING_RATE, WARM_UP))
        self._trained_heads = [
            number for number, head in enumerate(network.heads) if not only or head in only
        ]
        """Numbers of the classifiers that are trained."""
        if only:
            self.network.freeze_shared()  # stays so in training: Lightning keeps each module's mode

    def _logits(self, batch: Batch) -> Tensor:
        boards, pooling, _ = batch
        boards = boards.contiguous(memory_format=torch.channels_last)
        return place_logits(self.network(boards), pooling)

    def _loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        return loss_of(logits[:, self._trained_heads], labels[:, self._trained_heads])

    def shown(self, batch: Batch) -> Tensor:
        """The boards of a batch, as they are learned from."""
        return batch[0]

    def training_step(self, batch: Batch, _: int) -> Tensor:
        loss = self._loss(self._logits(batch), batch[2])
        self.note(loss, len(batch[0]))
        return loss

    def validation_step(self, batch: Batch, _: int) -> Tensor:
        logits = self._logits(batch)
        self.log("held_loss", self._loss(logits, batch[2]), batch_size=1)
        return logits


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
    examined: Examined | None = None,
) -> BoardNetwork:
    """Train a network on labelled boards; the same seed gives the same weights.

    Args:
        heads: names of the classifiers.
        data: labelled boards of any shapes.
        steps: optimiser steps, at most.
        seed: of the weights, the order of the boards and their augmentation.
        progress: told after every step.
        held: boards that are not trained on.
        options: where checkpoints go, when to stop, and on which devices.
        start: the network to begin with; by default a fresh one with a shared trunk.
        examined: the rounds, and what may end training after one; by default there is a single one.

    Raises:
        UnusableInput: the checkpoint to resume from cannot be used, or there are no such devices.
    """
    options, start = options or TrainingOptions(), start or StartingPoint()
    network = start.network(heads, seed)
    lesson = Lesson(network, examined.steps if examined else steps, start.only)
    fit(
        lesson,
        heads,
        lambda done: _Batches(islice(BoardBatches(data, BATCH, seed), done, None)),
        [collate([example]) for example in held] or None,
        steps=steps,
        progress=progress,
        options=options,
        check=CHECK,
        examined=examined,
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
