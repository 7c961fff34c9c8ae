"""The network for pictures: a convolutional trunk, where the things are, and classifiers of what is there.

Every look has a map over the picture, made by one vector that is learned for it. How strongly the map answers anywhere says
whether a thing of that look is there; its softmax says where. Position and features are means under that softmax, so that
places can be learned from the labels of predicates alone; where masks are known, they are learned from these as well. Further
maps that belong to no look find what else matters (a hand).
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from copy import deepcopy
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import grid_sample, interpolate

from aam_vision.classifiers.architecture import FLAT
from aam_vision.classifiers.camera.plan import CameraPlan, Size

CHANNELS: Final = (16, 32, 32, 40, 40)
"""Channels of the convolutions: the first two halve the resolution, the last two look further."""
NEAR: Final = 4
"""Convolutions before the maps: what a thing looks like is seen near it, and more of it cannot be mistaken for it."""
MARKS: Final = 2
"""Maps that belong to no look."""
HIDDEN: Final = 40
"""Width of the hidden layer of the classifiers."""

NOWHERE: Final = -5.0
"""What the map of a look answers everywhere before anything is learned: about one thing in a picture."""
SHRUNK: Final = 4
"""Pixels of the picture, across and down, for each place of a map."""

_LAYERS = 3  # modules of the trunk for every convolution


class Answers(NamedTuple):
    """What the network says about pictures.

    Attributes:
        logits: float32, (N, plan.size), in the order of ``CameraPlan``.
        positions: float32, (N, looks, 2): across and down, from -1 to 1.
        maps: float32, (N, looks, height, width): the log odds that each place shows a thing of each look.
    """

    logits: Tensor
    positions: Tensor
    maps: Tensor


class CameraNetwork(nn.Module):
    """Pictures in, the answers of all classifiers about all looks out.

    Args:
        plan: which classifiers.
    """

    def __init__(self, plan: CameraPlan) -> None:
        super().__init__()
        self.plan = plan
        layers: list[nn.Module] = []
        sizes = ((5, 2, 1), (3, 2, 1), (3, 1, 1), (3, 1, 2), (3, 1, 2))  # kernel, stride, dilation
        for before, after, (kernel, stride, far) in zip((3, *CHANNELS), CHANNELS, sizes, strict=False):
            padding = kernel // 2 * far
            layers += [
                nn.Conv2d(before, after, kernel, stride, padding, far, bias=False),
                nn.BatchNorm2d(after),
                nn.ReLU(),
            ]
        self.trunk = nn.Sequential(*layers)
        features, number = CHANNELS[-1], len(plan.looks)
        self.maps = nn.Conv2d(CHANNELS[NEAR - 1], number + MARKS, 1)
        assert self.maps.bias is not None
        nn.init.constant_(self.maps.bias[:number], NOWHERE)
        self.bias = nn.Parameter(torch.zeros(number))  # of whether a look is found
        self.looks = nn.Parameter(torch.zeros(number, features))  # what the features there add to that
        marks = MARKS * (features + 2)
        self.alone = _classifiers(marks, len(plan.alone))
        self.relation = _Relation(features)
        self.pairs = nn.Linear(HIDDEN, len(plan.pairs))
        self.single = _classifiers(features + 5 + marks + HIDDEN, len(plan.single))

    def forward(self, pictures: Tensor) -> Answers:
        """The answers about pictures, float32 (N, 3, height, width), between 0 and 1."""
        near = self.trunk[: NEAR * _LAYERS](normalised(pictures))
        features = self.trunk[NEAR * _LAYERS :](near)  # (N, C, h, w)
        height, width = features.shape[2:]
        maps = self.maps(near).flatten(2)  # (N, looks + MARKS, h * w)
        where = maps.softmax(2)
        grid = _grid(height, width).to(features)
        spots = where @ grid  # (N, looks + MARKS, 2)
        spread = ((where @ grid.square() - spots.square()).clamp(min=0) + 1e-6).sqrt()
        there = where @ features.flatten(2).transpose(1, 2)  # (N, looks + MARKS, C)
        looks = len(self.plan.looks)
        found = maps[:, :looks].logsumexp(2) - 1 + self.bias + (there[:, :looks] * self.looks).sum(2)
        marks, mark_spots = there[:, looks:], spots[:, looks:]
        alone = self.alone(torch.cat([marks, mark_spots], 2).flatten(1))
        about = [there[:, :looks], spots[:, :looks], spread[:, :looks] * 4, found[..., None] / 10]
        for mark in range(MARKS):
            about.append(marks[:, mark : mark + 1].expand(-1, looks, -1))
            about.append((spots[:, :looks] - mark_spots[:, mark : mark + 1]) * 4)
        relations = self.relation(
            features,
            torch.cat([there[:, :looks], 8 * spread[:, :looks], found[..., None] / 20], 2),
            spots[:, :looks],
        )
        about.append(self._met(relations, found))
        single = self.single(torch.cat(about, 2))
        logits = torch.cat([found, alone, single.flatten(1), self.pairs(relations).flatten(1)], 1)
        return Answers(logits, spots[:, :looks], maps[:, :looks].unflatten(2, (height, width)))

    @staticmethod
    def _met(relations: Tensor, found: Tensor) -> Tensor:
        """(N, looks, HIDDEN): the strongest of what relates any other thing that is found to each."""
        others = relations * found.sigmoid()[:, :, None, None]
        return (others * (1 - torch.eye(found.shape[1], device=found.device))[None, :, :, None]).amax(1)

    @property
    def outputs(self) -> Mapping[str, tuple[str, ...]]:
        """The layers of which each row belongs to one classifier, by name; all others are shared."""
        return {"alone.2": self.plan.alone, "single.2": self.plan.single, "pairs": self.plan.pairs}

    def freeze_shared(self, other: CameraNetwork) -> None:
        """Let training change only what belongs to single classifiers, and what another network of this kind lacks."""
        theirs = other.state_dict()
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(name.rpartition(".")[0] in self.outputs or name not in theirs)
        self.trunk.eval()  # nor its statistics

    def adopt(self, other: CameraNetwork, heads: Collection[str]) -> None:
        """Take over some classifiers of another network for the same looks bit by bit, and what all of them share.

        Args:
            other: may have other classifiers as well, and in another order.
            heads: the names of those to take over.
        """
        own, theirs = self.state_dict(), other.state_dict()
        with torch.no_grad():
            for name, tensor in own.items():
                layer = name.rpartition(".")[0]
                if layer not in self.outputs:
                    if name in theirs:
                        tensor.copy_(theirs[name])
                    continue
                for row, head in enumerate(self.outputs[layer]):
                    if head in heads:
                        tensor[row] = theirs[name][other.outputs[layer].index(head)]

    def shift(self, offsets: Mapping[str, float]) -> None:
        """Add to the logits of every classifier, in place."""
        plan = self.plan
        with torch.no_grad():
            self.bias.add_(torch.tensor([offsets[head] for head in plan.found]))
            self.pairs.bias.add_(torch.tensor([offsets[head] for head in plan.pairs]))
            for part, heads in ((self.alone, plan.alone), (self.single, plan.single)):
                if heads:
                    last = part[-1]
                    assert isinstance(last, nn.Linear)
                    last.bias.add_(torch.tensor([offsets[head] for head in heads]))


class _Relation(nn.Module):
    """The hidden layer of the classifiers of two things: from both, how they lie, and what is between them.

    It is a sum, so that what one thing adds is worked out once, not once for every pair.

    Args:
        features: what the trunk says about a place.
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        own = features + 5
        self.one = nn.Linear(own, HIDDEN)
        self.other = nn.Linear(own, HIDDEN, bias=False)
        self.between = nn.Linear(features, HIDDEN, bias=False)
        self.apart = nn.Linear(3, HIDDEN, bias=False)

    def forward(self, features: Tensor, about: Tensor, spots: Tensor) -> Tensor:
        """(N, looks, looks, HIDDEN).

        Args:
            features: (N, C, h, w).
            about: what is known of every look: (N, looks, C + 3).
            spots: where it is: (N, looks, 2).
        """
        one_end, other_end, pairs = (torch.from_numpy(numbers) for numbers in _both_ways(int(spots.shape[1])))
        apart = 5 * (spots[:, :, None] - spots[:, None])
        lies = self.apart(torch.cat([apart.abs(), apart.norm(dim=3, keepdim=True)], 3))
        middles = (spots[:, one_end] + spots[:, other_end]) / 2
        between = grid_sample(features, middles[:, :, None], align_corners=True)[..., 0].transpose(1, 2)
        own = torch.cat([about, 5 * spots], 2)
        one, other = self.one(own)[:, :, None], self.other(own)[:, None]
        whole: Tensor = one + other + self.between(between)[:, pairs] + lies
        return whole.relu()


def _both_ways(looks: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """The ends of all pairs, and the number of each pair, (looks, looks): what is between is the same both ways."""
    one, other = np.triu_indices(looks)
    pairs = np.zeros((looks, looks), np.intp)
    pairs[one, other] = pairs[other, one] = np.arange(len(one))
    return one, other, pairs


def new_network(plan: CameraPlan, seed: int) -> CameraNetwork:
    """A network with fresh weights that depend on the seed alone."""
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Initializing zero-element")  # where nothing is asked of pairs
        torch.manual_seed(seed)
        return CameraNetwork(plan)


def fused(network: CameraNetwork) -> CameraNetwork:
    """A copy for inference: batch normalisation folded into the convolutions, channels last."""
    quick = deepcopy(network).eval().requires_grad_(False)
    for number in range(0, len(quick.trunk), _LAYERS):
        convolution, normalisation = quick.trunk[number], quick.trunk[number + 1]
        assert isinstance(convolution, nn.Conv2d)
        assert isinstance(normalisation, nn.BatchNorm2d)
        quick.trunk[number] = nn.utils.fuse_conv_bn_eval(convolution, normalisation)
        quick.trunk[number + 1] = nn.Identity()
    return quick.to(memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]


def normalised(pictures: Tensor) -> Tensor:
    """Pictures with mean 0 per colour and deviation 1 over all: free of light and contrast; colours stay in proportion."""
    centred = pictures - pictures.mean((2, 3), keepdim=True)
    return centred / (centred.square().mean((1, 2, 3), keepdim=True).sqrt() + FLAT)


def resized(pictures: Tensor, size: Size) -> Tensor:
    """Pictures, uint8 (N, 3, height, width), as the network sees them: float32 of ``size``, between 0 and 1."""
    values = pictures.float() / 255
    if tuple(values.shape[2:]) != size:
        values = interpolate(values, size, mode="bilinear", antialias=True)
    return values.contiguous(memory_format=torch.channels_last)


def _classifiers(features: int, number: int) -> nn.Sequential:
    """The classifiers over some features, which share a hidden layer; nothing where there are none."""
    if not number:
        return nn.Sequential(_Nothing())
    return nn.Sequential(nn.Linear(features, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, number))


class _Nothing(nn.Module):
    """Features to no answers."""

    def forward(self, features: Tensor) -> Tensor:
        return features[..., :0]


def _grid(height: int, width: int) -> Tensor:
    """Across and down of every place of a map, from -1 to 1: (height * width, 2)."""
    down, across = torch.meshgrid(torch.linspace(-1, 1, height), torch.linspace(-1, 1, width), indexing="ij")
    return torch.stack([across.flatten(), down.flatten()], 1)
