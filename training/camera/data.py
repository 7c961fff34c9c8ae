"""The data set of a domain of pictures: what the network sees of each, with a label for every answer."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from aam_vision.classifiers.camera.atoms import SceneAtoms
from aam_vision.classifiers.camera.network import resized
from aam_vision.classifiers.camera.plan import CameraPlan, Size, seen_size
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.errors import UnusableInput
from aam_vision.training.camera.labels import row


@dataclass(frozen=True)
class Lessons:
    """Labelled pictures.

    Attributes:
        pictures: uint8, (N, 3, height, width), in the size in which the network sees them.
        labels: int8, (N, plan.size): 1, 0 or ``NO_LABEL``.
        taken: height and width of the pictures as they were taken.
    """

    pictures: Tensor
    labels: Tensor
    taken: Size

    def __len__(self) -> int:
        return len(self.pictures)

    def part(self, numbers: Sequence[int]) -> Lessons:
        """Some of the pictures."""
        chosen = torch.tensor(list(numbers), dtype=torch.long)
        return Lessons(self.pictures[chosen], self.labels[chosen], self.taken)

    def fingerprint(self) -> str:
        """The sha256 of all pictures and labels, in order."""
        digest = hashlib.sha256(repr(tuple(self.pictures.shape)).encode())
        for tensor in (self.pictures, self.labels):
            digest.update(tensor.contiguous().numpy().data)
        return digest.hexdigest()


def lessons(domain: ImageDomain, plan: CameraPlan, rng: np.random.Generator, fewer: int = 1) -> Lessons:
    """The labelled pictures of a domain, in random order.

    Raises:
        UnusableInput: there are none, or not all of them have the same size.
    """
    pictures: list[Tensor] = []
    labels: list[Tensor] = []
    taken: Size | None = None
    for one in domain.lessons(rng, fewer):
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
    if taken is None:
        raise UnusableInput(f"environment {domain.name} gives no pictures to learn from")
    order = torch.from_numpy(rng.permutation(len(pictures)))
    return Lessons(torch.stack(pictures)[order].contiguous(), torch.stack(labels)[order], taken)
