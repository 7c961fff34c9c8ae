"""Pictures made of cells: how a network for boards learns from them, and what a session has to know of a domain of boards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from aam_vision.classifiers.architecture import KINDS, SHARED
from aam_vision.classifiers.looks import LabelledLooks
from aam_vision.classifiers.networks import (
    BoardNetwork,
    Classifiers,
    fresh,
    make_network,
    place_logits,
    weights_of,
)
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.store import SURE, Card, check_alone, load
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.envs.own import OwnEnvironment
from aam_vision.training.assessment import PerceptionScores, evaluate_domain
from aam_vision.training.augmentation import augment
from aam_vision.training.boards import Example, collate, fingerprint, key, lessons, positives, remembered
from aam_vision.training.folder import doubts, labelled_images, read_labels, told
from aam_vision.training.labelling.references import learned_looks
from aam_vision.training.settings import TrainingSettings, heads_of
from aam_vision.training.trainer import Batch, Judged, StartingPoint

if TYPE_CHECKING:
    from aam_vision.training.session import Trained

BATCH: Final = 8
"""Boards of a step: more of them give steadier steps, and each takes longer."""

COPIES: Final = 6
"""Augmented copies of every board that is calibrated on."""

SIZED: Final = 20
"""Pictures whose size is looked at for the card: more of them show rarer sizes."""


class CellTask:
    """Learning from boards, see ``trainer.Task``."""

    rate, warm_up, check = 4e-3, 0.2, 100

    def __init__(self, heads: Sequence[str], kind: str = SHARED) -> None:
        self.heads, self.kind = tuple(heads), kind
        self.sure: Mapping[str, tuple[float, float]] = dict.fromkeys(heads, SURE)

    def network(self, seed: int) -> BoardNetwork:
        return fresh(lambda: make_network(self.kind, self.heads), seed)

    def source(self, data: Sequence[Example], seed: int) -> BoardBatches:
        return BoardBatches(data, BATCH, seed)

    def held(self, data: Sequence[Example]) -> list[Batch]:
        return [collate([example]) for example in data]

    def trained(self, only: Sequence[str]) -> Tensor:
        """The numbers of the classifiers."""
        return torch.tensor([number for number, head in enumerate(self.heads) if not only or head in only])

    def judge(self, network: BoardNetwork, batch: Batch, trained: Tensor) -> Judged:
        boards, pooling, labels = batch
        logits = place_logits(network(boards), pooling)
        return Judged(loss_of(logits[:, trained], labels[:, trained]), logits, logits.new_empty(0))

    def by_head(self, values: Tensor, nothing: int) -> Tensor:
        """They are so already."""
        return values

    def answered(
        self, network: BoardNetwork, data: Sequence[Example], generator: Generator
    ) -> Iterator[tuple[Tensor, Tensor]]:
        for example in data:
            boards, pooling, labels = collate([example] * COPIES)
            yield place_logits(network(augment(boards, generator)), pooling), labels

    def part(self, data: Sequence[Example], numbers: Sequence[int]) -> Sequence[Example]:
        return [data[number] for number in numbers]

    def fingerprint(self, data: Sequence[Example]) -> str:
        return fingerprint(data)

    def positives(self, data: Sequence[Example]) -> dict[str, int]:
        return positives(self.heads, data)


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy in which, per head, the yes and the no labels of a batch weigh the same; both (N, heads, places)."""
    each = binary_cross_entropy_with_logits(logits, labels.clamp(min=0).float(), reduction="none")
    parts = []
    for value in (0, 1):
        chosen = (labels == value).float()  # (N, heads, places)
        number = chosen.sum((0, 2))
        parts.append(((each * chosen).sum((0, 2)) / number.clamp(min=1)).mean())
    return torch.stack(parts).sum()


class BoardBatches:
    """Augmented batches of boards of one shape: (N, 3, h, w), pooling (N, cells, places), labels (N, heads, places).

    Shapes are drawn in proportion to the number of their examples, examples without replacement until
    a shape is used up.
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

    def read(self, losses: Tensor) -> None:
        """The order does not depend on them."""

    def state(self) -> dict[str, Any]:
        """Nothing: drawing the batches again tells the rest."""
        return {}

    def restore(self, state: Mapping[str, Any], done: int) -> None:
        for _ in range(done):
            self.batch()


class CellStudy:
    """A domain of boards, see ``session.Study``; UnusableInput if the network to go on from cannot be used."""

    stage, unit = "drawing boards", "board"

    def __init__(self, domain: ImageDomain, settings: TrainingSettings) -> None:
        self._domain, self._settings = domain, settings
        self.start: StartingPoint[BoardNetwork] = StartingPoint()
        self.kept: Card | None = None
        kind = settings.network
        if settings.only is not None:
            taught = heads_of(domain, settings.only)
            base, self.kept = load(domain.visual, domain.name, settings.base, without=settings.only)
            check_alone(self.kept, f"--only {settings.only}")
            self.start, kind = StartingPoint(base, taught), base.kind
        self.task = CellTask(domain.visual.cell_heads(), kind)

    def data(self) -> list[Example]:
        """Images labelled by hand, then the boards of the domain, drawn or remembered."""
        domain, settings, side = self._domain, self._settings, KINDS[self.task.kind]
        by_hand = [] if settings.images is None else labelled_images(domain, settings.images, side)
        rng = np.random.default_rng(settings.seed)
        draw = partial(lessons, domain, rng, side, fewer=settings.fewer, workers=settings.workers)
        name = None if settings.cache is None else key(domain, settings.seed, side, settings.fewer)
        drawn = draw() if settings.cache is None or name is None else remembered(settings.cache, name, draw)
        return by_hand + drawn

    def picture(self, data: Sequence[Example]) -> None:
        """They may have any size."""

    def perception(
        self, network: BoardNetwork, card: Card, looks: LabelledLooks | None = None
    ) -> BoardPerception:
        visual, weights = self._domain.visual, weights_of(network)
        return BoardPerception(visual, weights, card, looks=looks, remembered=0, backend="torch")

    def compared(
        self, best: Trained[BoardNetwork, BoardPerception], data: Sequence[Example]
    ) -> tuple[LabelledLooks | None, Mapping[str, PerceptionScores]]:
        """The looks that a user's own pictures are compared with, and how well they are read then.

        None where there are too many looks, or pictures of the test are read worse or refused because of them: some things
        look otherwise there than in any picture that was learned from.
        """
        if self._settings.images is not None or not isinstance(self._domain, OwnEnvironment):
            return None, best.scores
        looks = learned_looks(data)
        if looks is None:
            return None, best.scores
        figures = {group: found.summary() for group, found in best.scores.items()}
        perception = self.perception(best.network, replace(best.card, figures=figures), looks)
        scores = evaluate_domain(self._domain, perception, examined=best.pictures)
        for group, before in best.scores.items():
            if scores[group].exact < before.exact or scores[group].wrong > before.wrong:
                return None, best.scores
        return looks, scores

    def figures(
        self, network: Classifiers, taught: Sequence[Example], held: Sequence[Example]
    ) -> dict[str, Any]:
        """Least and greatest height and width of a cell in pictures of a user's own; boards of ours have any size."""
        if not isinstance(self._domain, OwnEnvironment):
            return {}
        pictures = islice(self._domain.lessons(np.random.default_rng(self._settings.seed)), SIZED)
        shapes = [(one.draw(one.states[0]).shape, one.scene) for one in pictures]
        sizes = np.array([(high / scene.rows, wide / scene.columns) for (high, wide, _), scene in shapes])
        return {"cell_pixels": np.stack([sizes.min(0), sizes.max(0)], axis=1).round(2).tolist()}

    def doubts(self, perception: BoardPerception) -> list[str]:
        if self._settings.images is None:
            return []
        labels = read_labels(self._domain, self._settings.images, KINDS[self.task.kind])
        return doubts(perception, [told(self.task.heads, one) for one in labels])
