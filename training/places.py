"""Pictures without cells: how the network for them learns, and what a session has to know of a domain of such pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from aam_vision.agents.perception import NO_LABEL
from aam_vision.classifiers.architecture import SHARED
from aam_vision.classifiers.camera.network import CameraNetwork, network_of, new_network
from aam_vision.classifiers.camera.perception import CameraPerception, picture_of
from aam_vision.classifiers.camera.plan import CameraPlan, Size, plan_of
from aam_vision.classifiers.networks import weights_of
from aam_vision.classifiers.store import BACKDROP, Card, describe, read
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.envs.labelled import Labelled
from aam_vision.support.errors import UnusableInput
from aam_vision.training.assessment import PerceptionScores
from aam_vision.training.augmentation import retaken
from aam_vision.training.camera import UNKNOWN, Lessons, backdrop_facts, lessons, lessons_of
from aam_vision.training.folder import Line, doubts
from aam_vision.training.pictures import PictureFolder, labelled, read_pictures, told
from aam_vision.training.settings import TrainingSettings, heads_of
from aam_vision.training.trainer import Batch, Judged, StartingPoint

if TYPE_CHECKING:
    from aam_vision.training.session import Trained

BATCH: Final = 16
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
COPIES: Final = 3
"""Augmented copies of every picture that is calibrated on."""

SURE: Final = (0.02, 0.98)
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
            head: FOUND if head in plan.found else SURE for head in plan.heads
        }

    def network(self, seed: int) -> CameraNetwork:
        return new_network(self.plan, seed)

    def source(self, data: Lessons, seed: int) -> PictureBatches:
        return PictureBatches(data, seed)

    def held(self, data: Lessons) -> list[Batch]:
        return list(
            zip(torch.split(data.pictures, TOGETHER), torch.split(data.labels, TOGETHER), strict=True)
        )

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
        loss, each = loss_of(self.plan, answers.logits, wanted)
        if located and trained.all():
            loss = loss + WHERE * loss_of_places(answers.maps, *located)
        return Judged(loss, answers.logits, each)

    def by_head(self, values: Tensor, nothing: int) -> Tensor:
        found = values.new_full(
            (len(values), len(self.plan.places), max(map(len, self.plan.places.values()))), nothing
        )
        for number, own in enumerate(self.plan.places.values()):
            found[:, number, : len(own)] = values[:, own]
        return found

    def answered(
        self, network: CameraNetwork, data: Lessons, generator: Generator
    ) -> Iterator[tuple[Tensor, Tensor]]:
        for pictures, labels in self.held(data) * COPIES:
            seen, _ = retaken(pictures.float() / 255, pictures[:, :0], generator)
            yield self.by_head(network(seen).logits, 0), self.by_head(labels, NO_LABEL)

    def part(self, data: Lessons, numbers: Sequence[int]) -> Lessons:
        return data.part(numbers)

    def fingerprint(self, data: Lessons) -> str:
        return data.fingerprint()

    def positives(self, data: Lessons) -> dict[str, int]:
        yes = (data.labels == 1).sum(0)
        return {head: int(yes[own].sum()) for head, own in self.plan.places.items()}


def loss_of(plan: CameraPlan, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
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


class PictureBatches:
    """Augmented pictures, (N, 3, height, width), with where things are, and where that is known, as ``loss_of_places`` has them.

    All are learned from in random order, then the harder ones, and so on by turns.
    """

    def __init__(self, data: Lessons, seed: int) -> None:
        self._data, self._generator = data, Generator().manual_seed(seed)
        self._losses = torch.full((len(data),), torch.inf)
        self._left, self._numbers = torch.empty(0, dtype=torch.long), torch.empty(0, dtype=torch.long)
        self._all = False

    def batch(self) -> Batch:
        while len(self._left) < BATCH:
            self._all = not self._all
            order = torch.randperm(len(self._losses), generator=self._generator)
            if not self._all:
                order = order[self._losses[order] > self._losses.quantile(EASY)]
            self._left = torch.cat([self._left, order])
        numbers, self._left = self._left[:BATCH], self._left[BATCH:]
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


class PlaceStudy:
    """A domain of pictures without cells, see ``session.Study``.

    Raises:
        UnusableInput: the settings ask for what only boards have; or there is no network to go on from, or not all that is needed of
            it can be kept.
    """

    stage, unit = "taking pictures", "picture"

    def __init__(self, domain: ImageDomain, settings: TrainingSettings) -> None:
        if settings.network != SHARED:
            raise UnusableInput(
                "--trunk and --backbone are for boards, and these are pictures without cells: leave them out"
            )
        self._domain, self._settings = domain, settings
        self.task = PlaceTask(plan := plan_of(describe(domain.visual)))
        self.start: StartingPoint[CameraNetwork] = StartingPoint()
        self.kept: Card | None = None
        self._by_hand: list[Line] = []
        if settings.only is None:
            return
        heads = heads_of(domain, settings.only)
        if set(heads) & set(plan.found):
            raise UnusableInput(
                f"--only {settings.only}: all other classifiers build on which things are found; train all of them"
            )
        weights, self.kept = read(domain.visual, domain.name, settings.base, without=settings.only)
        known = plan_of(self.kept.vocabulary)
        if known.looks != plan.looks:
            raise UnusableInput(
                f"--only {settings.only}: the weights are for the looks {', '.join(known.looks)}, and the environment has "
                f"{', '.join(plan.looks)}; train all classifiers"
            )
        self.start = StartingPoint(network_of(known, weights), heads)

    def data(self) -> Lessons:
        domain, settings = self._domain, self._settings
        more: list[Labelled] = []
        if isinstance(domain, PictureFolder):  # its pictures are all that there is
            self._by_hand = domain.lines
        elif settings.images is not None:
            self._by_hand = read_pictures(domain, self.task.plan, settings.images)
            more = [labelled(line) for line in self._by_hand]
        rng = np.random.default_rng(settings.seed)
        data = lessons(domain, self.task.plan, rng, settings.fewer, more)
        if self.kept is not None and self.kept.picture != data.taken:
            (height, width), (high, wide) = data.taken, picture_of(self.kept)
            raise UnusableInput(
                f"pictures of {width}x{height} pixels: the weights to go on from were trained on pictures of {wide}x{high}; "
                f"train all classifiers"
            )
        return data

    def picture(self, data: Lessons) -> Size:
        return data.taken

    def perception(self, network: CameraNetwork, card: Card) -> CameraPerception:
        return CameraPerception(self._domain.visual, weights_of(network), card, remembered=0)

    def compared(
        self, best: Trained[CameraNetwork, CameraPerception], data: Lessons
    ) -> tuple[None, Mapping[str, PerceptionScores]]:
        """Looks are compared on boards alone."""
        return None, best.scores

    def figures(self, network: CameraNetwork, taught: Lessons, held: Lessons) -> dict[str, Any]:
        """What their camera sees apart from the things."""
        if isinstance(self._domain, PictureFolder):  # others are made of these, and show strange things, too
            own = lessons_of(self._domain.visual, self.task.plan, [labelled(line) for line in self._by_hand])
            return {BACKDROP: backdrop_facts(network, own)}
        return {BACKDROP: backdrop_facts(network, taught, held)}

    def doubts(self, perception: CameraPerception) -> list[str]:
        visual, plan = self._domain.visual, self.task.plan
        return doubts(perception, [told(visual, plan, line) for line in self._by_hand])
