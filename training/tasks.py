"""What networks are taught, and how: one task for boards, which are made of cells, and one for pictures without cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from aam_vision.agents.perception import NO_LABEL
from aam_vision.classifiers.architecture import SHARED
from aam_vision.classifiers.camera.network import CameraNetwork, new_network
from aam_vision.classifiers.camera.plan import CameraPlan
from aam_vision.classifiers.networks import BoardNetwork, fresh, make_network, place_logits
from aam_vision.classifiers.store import SURE
from aam_vision.training.augmentation import augment, retaken
from aam_vision.training.boards import Example, collate, fingerprint
from aam_vision.training.pictures import UNKNOWN, Lessons
from aam_vision.training.trainer import Batch, Judged, Source

# Boards.


BOARDS: Final = 8
"""Boards of a step: more of them give steadier steps, and each takes longer."""

BOARD_COPIES: Final = 6
"""Augmented copies of every board that is calibrated on."""


class CellTask:
    """Learning from boards, see ``trainer.Task``."""

    rate, warm_up, check = 4e-3, 0.2, 100

    def __init__(self, heads: Sequence[str], kind: str = SHARED) -> None:
        self.heads, self.kind = tuple(heads), kind
        self.sure: Mapping[str, tuple[float, float]] = dict.fromkeys(heads, SURE)

    def network(self, seed: int) -> BoardNetwork:
        return fresh(lambda: make_network(self.kind, self.heads), seed)

    def source(self, data: Sequence[Example], seed: int) -> BoardBatches:
        return BoardBatches(data, BOARDS, seed)

    def held(self, data: Sequence[Example]) -> list[Batch]:
        return [collate([example]) for example in data]

    def trained(self, only: Sequence[str]) -> Tensor:
        """The numbers of the classifiers."""
        return torch.tensor([number for number, head in enumerate(self.heads) if not only or head in only])

    def judge(self, network: BoardNetwork, batch: Batch, trained: Tensor) -> Judged:
        boards, pooling, labels = batch
        logits = place_logits(network(boards), pooling)
        return Judged(balanced_loss(logits[:, trained], labels[:, trained]), logits, logits.new_empty(0))

    def by_head(self, values: Tensor, nothing: int) -> Tensor:
        """They are so already."""
        return values

    def answered(
        self, network: BoardNetwork, data: Sequence[Example], generator: Generator
    ) -> Iterator[tuple[Tensor, Tensor]]:
        for example in data:
            boards, pooling, labels = collate([example] * BOARD_COPIES)
            yield place_logits(network(augment(boards, generator)), pooling), labels

    def part(self, data: Sequence[Example], numbers: Sequence[int]) -> Sequence[Example]:
        return [data[number] for number in numbers]

    def fingerprint(self, data: Sequence[Example]) -> str:
        return fingerprint(data)

    def positives(self, data: Sequence[Example]) -> dict[str, int]:
        counts = torch.stack([(one.labels == 1).sum(1) for one in data]).sum(0)
        return dict(zip(self.heads, counts.tolist(), strict=True))


def balanced_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy in which, per head, the yes and the no labels of a batch weigh the same; both (N, heads, places)."""
    each = binary_cross_entropy_with_logits(logits, labels.clamp(min=0).float(), reduction="none")
    parts = []
    for value in (0, 1):
        chosen = (labels == value).float()  # (N, heads, places)
        number = chosen.sum((0, 2))
        parts.append(((each * chosen).sum((0, 2)) / number.clamp(min=1)).mean())
    return torch.stack(parts).sum()


class BoardBatches(Source):
    """Augmented batches of boards of one shape: (N, 3, h, w), pooling (N, cells, places), labels (N, heads, places).

    Shapes are drawn in proportion to the number of their examples, examples without replacement until
    a shape is used up. The order does not depend on how well they are read.
    """

    def __init__(self, data: Sequence[Example], size: int, seed: int) -> None:
        self._size = size
        self._rng, self._generator = np.random.default_rng(seed), Generator().manual_seed(seed)
        shapes: dict[tuple[int, ...], list[Example]] = {}
        for example in data:
            shapes.setdefault(tuple(example.pixels.shape), []).append(example)
        self._groups = list(shapes.values())
        self._queues: list[list[int]] = [[] for _ in self._groups]

    def batch(self) -> Batch:
        share = np.array([len(group) for group in self._groups], dtype=float)
        which = int(self._rng.choice(len(share), p=share / share.sum()))
        group, queue = self._groups[which], self._queues[which]
        if len(queue) < self._size:
            queue += self._rng.permutation(len(group)).tolist()
        chosen, self._queues[which] = queue[: self._size], queue[self._size :]
        boards, pooling, labels = collate([group[number] for number in chosen])
        return augment(boards, self._generator), pooling, labels


# Pictures without cells.


PICTURES: Final = 16
"""Pictures of a step: more of them give steadier steps, and each takes longer."""
PAIRS: Final = 3.0
"""Weight of the answers about pairs, most of which are no."""
WHERE: Final = 0.3
"""Weight of where things are, in pictures of which that is known."""
LEAST: Final = 0.3
"""Places of a map that a thing covers, at least, to be looked for at one of them."""
EASY: Final = 0.5
"""Share of the pictures, those read best when they were last learned from, that are left out every other time."""

TOGETHER: Final = 32
"""Pictures that are looked at together."""
PICTURE_COPIES: Final = 3
"""Augmented copies of every picture that is calibrated on."""

SURE_OF_THINGS: Final = (0.02, 0.98)
"""Thresholds at least. Stricter than those of boards: what stands behind something is often a guess that is right nine times of ten."""
FOUND: Final = (0.02, 0.5)
"""The same of the classifiers of looks. Of a thing that hardly shows other classifiers learn to say what can be said of it, so
that it is enough if it rather shows than not."""


class PlaceTask:
    """Learning from pictures without cells, see ``trainer.Task``."""

    rate, warm_up, check = 3e-3, 0.12, 500

    def __init__(self, plan: CameraPlan) -> None:
        self.plan, self.heads = plan, plan.heads
        self.sure: Mapping[str, tuple[float, float]] = {
            head: FOUND if head in plan.found else SURE_OF_THINGS for head in plan.heads
        }

    def network(self, seed: int) -> CameraNetwork:
        return new_network(self.plan, seed)

    def source(self, data: Lessons, seed: int) -> PictureBatches:
        return PictureBatches(data, seed)

    def held(self, data: Lessons) -> list[Batch]:
        parts = (torch.split(part, TOGETHER) for part in (data.pictures, data.labels))
        return list(zip(*parts, strict=True))

    def trained(self, only: Sequence[str]) -> Tensor:
        """(plan.size,) bool."""
        asked = torch.zeros(self.plan.size, dtype=torch.bool)
        asked[[place for head in only or self.heads for place in self.plan.places[head]]] = True
        return asked

    def judge(self, network: CameraNetwork, batch: Batch, trained: Tensor) -> Judged:
        """Where things are is learned if all classifiers are trained, and if the batch says it."""
        pictures, *located, labels = batch
        answers = network(pictures if pictures.is_floating_point() else pictures.float() / 255)
        wanted = torch.where(trained.to(labels.device), labels, NO_LABEL)
        loss, each = loss_of_answers(self.plan, answers.logits, wanted)
        if located and trained.all():
            loss = loss + WHERE * loss_of_places(answers.maps, *located)
        return Judged(loss, answers.logits, each)

    def by_head(self, values: Tensor, nothing: int) -> Tensor:
        places = self.plan.places.values()
        found = values.new_full((len(values), len(places), max(map(len, places))), nothing)
        for number, own in enumerate(places):
            found[:, number, : len(own)] = values[:, own]
        return found

    def answered(
        self, network: CameraNetwork, data: Lessons, generator: Generator
    ) -> Iterator[tuple[Tensor, Tensor]]:
        for pictures, labels in self.held(data) * PICTURE_COPIES:
            seen, _ = retaken(pictures.float() / 255, pictures[:, :0], generator)
            yield self.by_head(network(seen).logits, 0), self.by_head(labels, NO_LABEL)

    def part(self, data: Lessons, numbers: Sequence[int]) -> Lessons:
        return data.part(numbers)

    def fingerprint(self, data: Lessons) -> str:
        return data.fingerprint()

    def positives(self, data: Lessons) -> dict[str, int]:
        yes = (data.labels == 1).sum(0)
        return {head: int(yes[own].sum()) for head, own in self.plan.places.items()}


def loss_of_answers(plan: CameraPlan, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Cross entropy, each kind of answer by its mean over those that have a label; both (N, plan.size).

    Returns:
        The loss, and the sum over all answers to each picture, (N,).
    """
    known = (labels != NO_LABEL).float()
    each = known * binary_cross_entropy_with_logits(logits, labels.clamp(min=0).float(), reduction="none")
    sizes = list(plan.sizes)
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


class PictureBatches(Source):
    """Augmented pictures, (N, 3, height, width), with where things are, and where that is known, as ``loss_of_places`` has them.

    All are learned from in random order, then the harder ones, and so on by turns.
    """

    def __init__(self, data: Lessons, seed: int) -> None:
        self._data, self._generator = data, Generator().manual_seed(seed)
        self._losses = torch.full((len(data),), torch.inf)
        self._left, self._numbers = torch.empty(0, dtype=torch.long), torch.empty(0, dtype=torch.long)
        self._all = False

    def batch(self) -> Batch:
        while len(self._left) < PICTURES:
            self._all = not self._all
            order = torch.randperm(len(self._losses), generator=self._generator)
            if not self._all:
                order = order[self._losses[order] > self._losses.quantile(EASY)]
            self._left = torch.cat([self._left, order])
        numbers, self._left = self._left[:PICTURES], self._left[PICTURES:]
        self._numbers, where = numbers, self._data.where[numbers]
        known = (where[:, :, :1, :1] != UNKNOWN).float()
        pictures = self._data.pictures[numbers].float().div_(255)
        pictures, where = retaken(pictures, where / (UNKNOWN - 1), self._generator)
        return pictures, where, known, self._data.labels[numbers]

    def read(self, losses: Tensor) -> None:
        self._losses[self._numbers] = losses

    def state(self) -> dict[str, Any]:
        own = {"losses": self._losses, "left": self._left, "all": self._all}
        return {**own, "generator": self._generator.get_state()}

    def restore(self, state: Mapping[str, Any], done: int) -> None:
        self._losses, self._left, self._all = state["losses"], state["left"], state["all"]
        self._generator.set_state(state["generator"])
