"""The data set of a domain of pictures: what the network sees of each, with a label for every answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import interpolate

from aam_vision.classifiers.camera.atoms import SceneAtoms
from aam_vision.classifiers.camera.network import SHRUNK, resized
from aam_vision.classifiers.camera.plan import CameraPlan, Size, seen_size
from aam_vision.envs.image_domain import ImageDomain, Pictures
from aam_vision.envs.labelled import Labelled
from aam_vision.errors import UnusableInput
from aam_vision.perception import Mask, Scene, VisualVocabulary
from aam_vision.strips import State
from aam_vision.training.camera.labels import row

UNKNOWN: Final = 255
"""Of a look: where its things are in a picture is not known."""


@dataclass(frozen=True)
class Lessons:
    """Labelled pictures.

    Attributes:
        pictures: uint8, (N, 3, height, width), in the size in which the network sees them.
        labels: int8, (N, plan.size): 1, 0 or ``NO_LABEL``.
        taken: height and width of the pictures as they were taken.
        where: uint8, (N, looks, h, w): how much of every place of the network's maps shows things of each look, of 254;
            ``UNKNOWN`` throughout where that is not known.
    """

    pictures: Tensor
    labels: Tensor
    taken: Size
    where: Tensor

    def __len__(self) -> int:
        return len(self.pictures)

    def part(self, numbers: Sequence[int]) -> Lessons:
        """Some of the pictures."""
        chosen = torch.tensor(list(numbers), dtype=torch.long)
        return Lessons(self.pictures[chosen], self.labels[chosen], self.taken, self.where[chosen])

    def fingerprint(self) -> str:
        """The sha256 of all pictures and labels, in order."""
        digest = hashlib.sha256(repr(tuple(self.pictures.shape)).encode())
        for tensor in (self.pictures, self.labels, self.where):
            digest.update(tensor.contiguous().numpy().data)
        return digest.hexdigest()


def lessons(
    domain: ImageDomain,
    plan: CameraPlan,
    rng: np.random.Generator,
    fewer: int = 1,
    more: Sequence[Pictures] = (),
) -> Lessons:
    """The labelled pictures of a domain, and more of them, in random order.

    Raises:
        UnusableInput: there are none, or not all of them have the same size.
    """
    pictures: list[Tensor] = []
    labels: list[Tensor] = []
    where: list[Tensor] = []
    taken: Size | None = None
    for one in chain(domain.lessons(rng, fewer), more):
        atoms = SceneAtoms(domain.visual, plan, one.scene)
        for state in one.states:
            frame = one.draw(state)
            size = (frame.shape[0], frame.shape[1])
            if taken is not None and size != taken:
                raise UnusableInput(
                    f"environment {domain.name}: pictures of {taken[1]}x{taken[0]} and of {size[1]}x{size[0]} "
                    f"pixels to learn from; let all have one size"
                )
            taken = size
            seen = resized(torch.from_numpy(frame).permute(2, 0, 1)[None], seen_size(*size))
            pictures.append((seen[0] * 255).round().to(torch.uint8))
            labels.append(torch.from_numpy(row(domain.visual, plan, atoms, one.scene, state)))
            where.append(places(plan, one.scene, one.masks(state), size))
    if taken is None:
        raise UnusableInput(f"environment {domain.name} gives no pictures to learn from")
    order = torch.from_numpy(rng.permutation(len(pictures)))
    return Lessons(
        torch.stack(pictures)[order].contiguous(),
        torch.stack(labels)[order],
        taken,
        torch.stack(where)[order].contiguous(),
    )


def lessons_of(vocabulary: VisualVocabulary, plan: CameraPlan, pictures: Sequence[Labelled]) -> Lessons:
    """Some labelled pictures of one size, at least one, in their order."""
    seen, labels, where = [], [], []
    for one in pictures:
        size = one.frame.shape[0], one.frame.shape[1]
        atoms, state = (
            SceneAtoms(vocabulary, plan, one.scene),
            State(one.true, one.scene.objects, one.unknown),
        )
        small = resized(torch.from_numpy(one.frame).permute(2, 0, 1)[None], seen_size(*size))
        seen.append((small[0] * 255).round().to(torch.uint8))
        labels.append(torch.from_numpy(row(vocabulary, plan, atoms, one.scene, state)))
        where.append(places(plan, one.scene, one.masks, size))
    return Lessons(torch.stack(seen).contiguous(), torch.stack(labels), size, torch.stack(where).contiguous())


def places(plan: CameraPlan, scene: Scene, masks: Mapping[str, Mask], size: Size) -> Tensor:
    """Where things of every look are, as the network's maps have places; see ``Lessons.where``.

    Args:
        plan: with the looks.
        scene: its things, of which those without a look do not count.
        masks: which pixels show each thing, for those of which it is known.
        size: height and width of the picture.

    Raises:
        UnusableInput: a mask has another size.
    """
    height, width = (side // SHRUNK for side in seen_size(*size))
    found = torch.full((len(plan.looks), height, width), UNKNOWN, dtype=torch.uint8)
    shows: dict[str, Mask] = {look: np.zeros(size, bool) for look in plan.looks} if masks else {}
    for thing, look in scene.looks.items():
        if thing not in masks:
            shows.pop(look, None)
        elif look in shows:
            if masks[thing].shape != size:
                raise UnusableInput(
                    f"mask of {thing} has shape {masks[thing].shape}, and its picture {size}: give one value per pixel"
                )
            shows[look] = shows[look] | masks[thing]
    for number, look in enumerate(plan.looks):
        if look in shows:
            known = torch.from_numpy(shows[look])[None, None]
            shares = interpolate(known.float(), (height, width), mode="bilinear", antialias=True)
            found[number] = (shares[0, 0] * (UNKNOWN - 1)).round().to(torch.uint8)
    return found
