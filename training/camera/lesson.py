"""One training run of the network for pictures: its loss, and which pictures it learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Generator, Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from aam_vision.classifiers.camera.network import CameraNetwork, new_network
from aam_vision.classifiers.camera.plan import CameraPlan
from aam_vision.training.camera.calibration import places_of
from aam_vision.training.camera.data import UNKNOWN, Lessons, augmented
from aam_vision.training.labels import NO_LABEL
from aam_vision.training.trainer import Examined, Pace, Progress, Taught, TrainingOptions, fit

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
EASY: Final = 0.5
"""Share of the pictures, those read best when they were last learned from, that are left out every other time."""

CHECK: Final = 500
"""Steps between two looks at the pictures that are held back: more of them find a better checkpoint, and cost time."""
LOOKED: Final = 32
"""Pictures that are looked at together."""

_ORDER = "order"  # what a checkpoint has under this name


@dataclass(frozen=True)
class PictureStart:
    """The network that training begins with.

    Args:
        base: a trained network for the same looks, which stays as it is.
        only: its classifiers that are trained, which it may have or not; all that it has besides is kept bit by bit.
    """

    base: CameraNetwork
    only: tuple[str, ...]

    def keep(self, network: CameraNetwork) -> None:
        """Give a network the weights of ``base``, except for the classifiers to train."""
        network.adopt(self.base, [head for head in network.plan.heads if head not in self.only])


class PictureLesson(Taught):
    """A network that learns from labelled pictures.

    Args:
        network: the network to train.
        data: what is learned from.
        steps: optimiser steps of a round.
        seed: of the order of the pictures and their augmentation.
        only: the classifiers to train; all if none are named.
    """

    def __init__(
        self, network: CameraNetwork, data: Lessons, steps: int, seed: int, only: Sequence[str] = ()
    ) -> None:
        super().__init__(network, Pace(steps, LEARNING_RATE, WARM_UP))
        self._data = data
        places = places_of(network.plan)
        self._asked = torch.zeros(network.plan.size, dtype=torch.bool)
        self._asked[[place for head in only or places for place in places[head]]] = True
        self._generator = Generator().manual_seed(seed)
        self._order = Order(len(data), self._generator)

    def training_step(self, step: int, number: int) -> Tensor:
        numbers = self._order.batch()
        known = (self._data.where[numbers, :, :1, :1] != UNKNOWN).float()
        pictures, where = augmented(*self._pictures(numbers), self._generator)
        answers = self.network(self._given(pictures))
        labels = self._wanted(self._data.labels[numbers]).to(self.device)
        loss, each = loss_of(self._plan, answers.logits, labels)
        if self._asked.all():
            loss = loss + WHERE * loss_of_places(answers.maps, where.to(self.device), known.to(self.device))
        self._order.read(numbers, each.cpu())
        self.note(loss, len(numbers))
        return loss

    def validation_step(self, batch: tuple[Tensor, Tensor, Tensor], number: int) -> Tensor:
        pictures, labels, _ = batch
        logits = self.network(self._given(pictures.float() / 255)).logits
        self.log("held_loss", loss_of(self._plan, logits, self._wanted(labels))[0], batch_size=len(pictures))
        return by_head(self._plan, logits, 0)

    def shown(self, step: int) -> Tensor:
        """The pictures of the next step, as they will be learned from."""
        generator = Generator()
        generator.set_state(self._generator.get_state())
        numbers = self._order.copy(generator).batch()
        return augmented(*self._pictures(numbers), generator)[0]

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint[_ORDER] = self._order.state()

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self._order.restore(checkpoint[_ORDER])

    @property
    def _plan(self) -> CameraPlan:
        plan: CameraPlan = self.network.plan
        return plan

    def _wanted(self, labels: Tensor) -> Tensor:
        """The labels of the classifiers that are trained; the others have none."""
        return torch.where(self._asked.to(labels.device), labels, NO_LABEL)

    def _pictures(self, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Pictures, and how much of every place shows things of each look."""
        return self._data.pictures[numbers].float().div_(255), self._data.where[numbers] / (UNKNOWN - 1)

    def _given(self, pictures: Tensor) -> Tensor:
        """Pictures as the network takes them."""
        return pictures.to(self.device).contiguous(memory_format=torch.channels_last)


def teach(
    plan: CameraPlan,
    data: Lessons,
    *,
    steps: int,
    seed: int,
    progress: Progress,
    held: Lessons | None = None,
    options: TrainingOptions | None = None,
    start: PictureStart | None = None,
    further: CameraNetwork | None = None,
    examined: Examined | None = None,
) -> CameraNetwork:
    """Train a network on labelled pictures; the same seed gives the same weights.

    Args:
        plan: its classifiers.
        data: what is learned from.
        steps: optimiser steps, at most.
        seed: of the weights, the order of the pictures and their augmentation.
        progress: told after every step.
        held: pictures that are not learned from.
        options: where checkpoints go, when to stop, and on which devices.
        start: the network to begin with; by default a fresh one.
        further: a network of the same plan whose training goes on; it stays as it is.
        examined: the rounds, and what may end training after one; by default there is a single one.

    Raises:
        UnusableInput: the checkpoint to resume from cannot be used, or there are no such devices.
    """
    options = options or TrainingOptions()
    network = new_network(plan, seed)
    if further is not None:
        network.load_state_dict(further.state_dict())
    if start is not None:
        start.keep(network)
        network.freeze_shared(start.base)
    only = () if start is None else start.only
    lesson = PictureLesson(network, data, examined.steps if examined else steps, seed, only)
    fit(
        lesson,
        list(places_of(plan)),
        lambda done: range(done, steps),
        None if held is None else _looked_at(plan, held),
        steps=steps,
        progress=progress,
        options=options,
        check=CHECK,
        examined=examined,
    )
    network = network.cpu().eval().requires_grad_(True)
    if start is not None:
        start.keep(network)  # weight decay has changed the classifiers that were not trained
    return network


def _looked_at(plan: CameraPlan, held: Lessons) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Batches of pictures with their labels, as the network answers and by classifiers."""
    parts = (torch.split(tensor, LOOKED) for tensor in (held.pictures, held.labels))
    return [
        (pictures, labels, by_head(plan, labels, NO_LABEL)) for pictures, labels in zip(*parts, strict=True)
    ]


def by_head(plan: CameraPlan, values: Tensor, nothing: int) -> Tensor:
    """(N, plan.size) to (N, heads, questions): some classifiers are asked less often than others, there is ``nothing``."""
    places = places_of(plan).values()
    found = values.new_full((len(values), len(places), max(map(len, places))), nothing)
    for number, own in enumerate(places):
        found[:, number, : len(own)] = values[:, own]
    return found


def loss_of(plan: CameraPlan, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Cross entropy, each kind of answer by its mean over those that have a label; both (N, plan.size).

    Returns:
        The loss, and the sum over all answers to each picture, (N,).
    """
    known = (labels != NO_LABEL).float()
    each = known * binary_cross_entropy_with_logits(logits, labels.clamp(min=0).float(), reduction="none")
    looks = len(plan.looks)
    sizes = [looks, len(plan.alone), looks * len(plan.single), looks * looks * len(plan.pairs)]
    whole = logits.new_zeros(())
    parts, counts = torch.split(each, sizes, 1), torch.split(known, sizes, 1)
    for part, asked, weight in zip(parts, counts, (1, 1, 1, PAIRS), strict=True):
        if part.shape[1]:
            whole = whole + weight * part.sum() / asked.sum().clamp(min=1)
    return whole, each.detach().sum(1)


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


class Order:
    """In which order pictures are learned from: all of them in random order, then the harder ones, and so on by turns.

    Args:
        number: of pictures.
        generator: the source of all chance.
    """

    def __init__(self, number: int, generator: Generator) -> None:
        self._losses = torch.full((number,), torch.inf)
        self._generator = generator
        self._left = torch.empty(0, dtype=torch.long)
        self._all = False

    def batch(self) -> Tensor:
        """The numbers of the next pictures."""
        while len(self._left) < BATCH:
            self._all = not self._all
            number = len(self._losses)
            order = torch.randperm(number, generator=self._generator)
            if not self._all:
                order = order[self._losses[order] > self._losses.quantile(EASY)]
            self._left = torch.cat([self._left, order])
        numbers, self._left = self._left[:BATCH], self._left[BATCH:]
        return numbers

    def copy(self, generator: Generator) -> Order:
        """The same order from here on, with another source of chance."""
        other = Order(len(self._losses), generator)
        other._losses, other._left, other._all = self._losses.clone(), self._left, self._all
        return other

    def state(self) -> dict[str, Any]:
        """All that decides what comes next, for ``restore``."""
        return {
            "losses": self._losses,
            "left": self._left,
            "all": self._all,
            "generator": self._generator.get_state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a ``state``."""
        self._losses, self._left, self._all = state["losses"], state["left"], state["all"]
        self._generator.set_state(state["generator"])

    def read(self, numbers: Tensor, losses: Tensor) -> None:
        """How well pictures were read."""
        self._losses[numbers] = losses
