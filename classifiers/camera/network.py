"""The network for pictures: a convolutional trunk, where the things are, and classifiers of what is there.

Every look has a map over the picture, made by one vector that is learned for it. How strongly the map answers anywhere says
whether a thing of that look is there; its softmax says where. Position and features are means under that softmax, so that
places can be learned from the labels of predicates alone; where masks are known, they are learned from these as well. Further
maps that belong to no look find what else matters (a hand).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, grid_sample, interpolate, max_pool2d, pad

from aam_vision.agents.perception import Frame
from aam_vision.classifiers.architecture import CAMERA, Weights
from aam_vision.classifiers.backends import check_backend
from aam_vision.classifiers.camera.backdrop import cells_of
from aam_vision.classifiers.camera.plan import CameraPlan, Size, seen_size
from aam_vision.classifiers.networks import Classifiers, filled, fresh, fused, normalised
from aam_vision.classifiers.torch_backends import exported, onnx_session

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


class CameraNetwork(Classifiers):
    """Pictures in, the answers of all classifiers about all looks out."""

    trunk: nn.Sequential

    def __init__(self, plan: CameraPlan) -> None:
        super().__init__(CAMERA, plan.heads)
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
        outputs = {f"{layer}.bias": heads for layer, heads in self.outputs.items() if heads}
        self.biases = {"bias": plan.found, **outputs}

    def forward(self, pictures: Tensor) -> Answers:
        """The answers about pictures, float32 (N, 3, height, width), between 0 and 1."""
        seen = normalised(pictures, (1, 2, 3))  # colours stay in proportion
        near = self.trunk[: NEAR * _LAYERS](seen)
        features = self.trunk[NEAR * _LAYERS :](near)  # (N, C, h, w)
        height, width = features.shape[2:]
        maps = self.maps(near).flatten(2)  # (N, looks + MARKS, h * w)
        where = maps.softmax(2)
        sides = torch.linspace(-1, 1, height), torch.linspace(-1, 1, width)
        down, across = torch.meshgrid(*sides, indexing="ij")
        grid = torch.stack([across.flatten(), down.flatten()], 1).to(features)  # (h * w, 2)
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
        # the strongest of what relates any other thing that is found to each, (N, looks, HIDDEN)
        others = relations * found.sigmoid()[:, :, None, None]
        about.append((others * (1 - torch.eye(looks, device=found.device))[None, :, :, None]).amax(1))
        single = self.single(torch.cat(about, 2))
        logits = torch.cat([found, alone, single.flatten(1), self.pairs(relations).flatten(1)], 1)
        return Answers(logits, spots[:, :looks], maps[:, :looks].unflatten(2, (height, width)))

    @property
    def outputs(self) -> Mapping[str, tuple[str, ...]]:
        """The layers of which each row belongs to one classifier, by name; all others are shared."""
        return {"alone.2": self.plan.alone, "single.2": self.plan.single, "pairs": self.plan.pairs}

    def owners(self, name: str, tensor: Tensor) -> Sequence[str] | None:
        return self.outputs.get(name.rpartition(".")[0])


class _Relation(nn.Module):
    """The hidden layer of the classifiers of two things: from both, how they lie, and what is between them.

    It is a sum, so that what one thing adds is worked out once, not once for every pair.
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
        looks = int(spots.shape[1])
        one_end, other_end = np.triu_indices(looks)
        pairs = np.zeros((looks, looks), np.intp)  # what is between is the same both ways
        pairs[one_end, other_end] = pairs[other_end, one_end] = np.arange(len(one_end))
        apart = 5 * (spots[:, :, None] - spots[:, None])
        lies = self.apart(torch.cat([apart.abs(), apart.norm(dim=3, keepdim=True)], 3))
        middles = (spots[:, torch.from_numpy(one_end)] + spots[:, torch.from_numpy(other_end)]) / 2
        between = grid_sample(features, middles[:, :, None], align_corners=True)[..., 0].transpose(1, 2)
        own = torch.cat([about, 5 * spots], 2)
        one, other = self.one(own)[:, :, None], self.other(own)[:, None]
        whole: Tensor = one + other + self.between(between)[:, torch.from_numpy(pairs)] + lies
        return whole.relu()


def new_network(plan: CameraPlan, seed: int) -> CameraNetwork:
    """A network with fresh weights that depend on the seed alone."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Initializing zero-element")  # where nothing is asked of pairs
        return fresh(lambda: CameraNetwork(plan), seed)


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


# The network for pictures, run by torch or by ONNX Runtime.


VIEWS: Final = ((0, 0), (2, 1), (-1, -2))
"""Down and right in pixels: a picture is seen so often, moved a little, and the logits are averaged. More views are steadier,
and each takes as long as the first."""


def network_of(plan: CameraPlan, weights: Weights) -> CameraNetwork:
    """The network that has these weights; UnusableInput if the tensors are not those of such a network."""
    return filled(new_network(plan, 0), weights)


Run = Callable[[Tensor], Answers]
"""Pictures as the network sees them to what it says about them."""


def onnx_graph(network: CameraNetwork, trained: Size) -> bytes:
    """The network as an ONNX model: input ``pictures``, outputs ``logits``, ``positions`` and ``maps``; see ``Answers``.

    Args:
        network: the network.
        trained: height and width of the pictures that were learned from; the model takes those of ``seen_size``.

    Raises:
        UnusableInput: the package onnx is not installed.
    """
    height, width = seen_size(*trained)
    axes = {name: {0: "images"} for name in ("pictures", *Answers._fields)}
    return exported(fused(network), torch.zeros(1, 3, height, width), axes)


class Raw(NamedTuple):
    """What is read of one picture.

    Attributes:
        logits: in the order of ``CameraPlan``.
        positions: (looks, 2), where each look is, as shares of width and height.
        cells: of the picture, see ``backdrop``.
        twice: (looks,), which looks show in two places, see ``shown_twice``.
    """

    logits: NDArray[np.float32]
    positions: NDArray[np.float32]
    cells: NDArray[np.uint8]
    twice: NDArray[np.bool_]


class Runner:
    """A network, ready to be asked about pictures.

    Args:
        plan: its classifiers.
        weights: its tensors.
        trained: height and width of the pictures learned from.
        backend: what runs it, one of ``backends.BACKENDS``; torch does in the place of numpy, and in any case where
            things share a look.
        reach: (looks, 2), how far from where it is found a thing of each look may show, as shares of width and height.
        prepared: what is done to pictures, (N, 3, height, width) from 0 to 1, before the network sees them.

    Raises:
        UnusableInput: the tensors are not those of such a network; or there is no such backend, or its packages are not
            installed.
    """

    def __init__(
        self,
        plan: CameraPlan,
        weights: Weights,
        trained: Size,
        reach: NDArray[np.float32],
        prepared: Callable[[Tensor], Tensor],
        backend: str = "torch",
    ) -> None:
        check_backend(backend)
        self._prepared, self._reach = prepared, reach
        network = network_of(plan, weights)
        self._quick, self._size = fused(network), seen_size(*trained)
        self._run: Run = self._quick
        if backend == "onnx":
            session = onnx_session(onnx_graph(network, trained))

            def run(pictures: Tensor) -> Answers:
                said = session.run(None, {"pictures": pictures.contiguous().numpy()})
                return Answers(*map(torch.from_numpy, said))

            self._run = run
        self._peaks: dict[tuple[int, ...], CameraNetwork] = {}

    def __call__(self, frames: Sequence[Frame]) -> list[Raw]:
        """What is read of frames of one size."""
        with torch.inference_mode():
            seen = self._seen(frames)
            answers = [self._run(_moved(seen, *view)) for view in VIEWS]
            logits = torch.stack([one.logits for one in answers]).mean(0)
            positions = (answers[0].positions + 1) / 2
            twice = [shown_twice(maps, self._reach) for maps in answers[0].maps.numpy()]
            said = logits.numpy(), positions.numpy(), cells_of(seen), twice
            return [Raw(*one) for one in zip(*said, strict=True)]

    def peaks(self, frame: Frame, numbers: tuple[int, ...]) -> Raw:
        """The same about one frame, with so many peaks of each look in the place of the looks."""
        if numbers not in self._peaks:
            self._peaks[numbers] = with_peaks(self._quick, numbers)
        with torch.inference_mode():
            seen = self._seen([frame])
            answers = self._peaks[numbers](torch.cat([_moved(seen, *view) for view in VIEWS]))
            positions = (answers.positions[0].numpy() + 1) / 2
            reach = np.repeat(self._reach, numbers, axis=0)
            twice = shown_twice(answers.maps[0].numpy(), reach)
            return Raw(answers.logits.mean(0).numpy(), positions, cells_of(seen)[0], twice)

    def _seen(self, frames: Sequence[Frame]) -> Tensor:
        return self._prepared(resized(torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2), self._size))


def _moved(pictures: Tensor, down: int, right: int) -> Tensor:
    """Pictures moved by so many pixels; the edges are continued."""
    if not down and not right:
        return pictures
    edges = (max(right, 0), max(-right, 0), max(down, 0), max(-down, 0))
    height, width = pictures.shape[2:]
    wide = pad(pictures, edges, mode="replicate")
    moved = wide[:, :, edges[3] : edges[3] + height, edges[1] : edges[1] + width]
    return moved.contiguous(memory_format=torch.channels_last)


# A network that answers about every peak of the maps of some looks, as if each were the only thing of its look.


LEAST: Final = -1.0
"""The least height of a peak, in the mean of a place and its neighbours: what is lower is the background's."""

APART: Final = 1.3
"""So many times its reach away from the highest place of its map a thing does not show."""

ELSEWHERE: Final = -40.0
"""What a map is given outside the part of a peak: its softmax is zero there."""


def shown_twice(maps: NDArray[np.float32], reach: NDArray[np.float32]) -> NDArray[np.bool_]:
    """(looks,): whether a look shows in two places that do not hang together, farther apart than one thing reaches.

    Args:
        maps: (looks, height, width), see ``Answers``.
        reach: (looks, 2), see ``Runner``.
    """
    from scipy.ndimage import label

    twice = np.zeros(len(maps), bool)
    for look, (own, (wide, high)) in enumerate(zip(maps, reach, strict=True)):
        parts, number = label(own > LEAST, np.ones((3, 3)))
        if number > 1:  # what is long is high in many places, but these hang together
            height, width = own.shape
            row, column = np.unravel_index(own.argmax(), own.shape)
            rows, columns = np.nonzero((parts > 0) & (parts != parts[row, column]))
            far = np.abs(rows - row) > APART * high * height
            far |= np.abs(columns - column) > APART * wide * width
            twice[look] = far.any()
    return twice


def with_peaks(network: CameraNetwork, numbers: Sequence[int]) -> CameraNetwork:
    """A copy of a network that is fused, whose looks are so many highest peaks of every look of the plan's.

    Pictures that are given together are taken for views of one: where the peaks are is decided in the first of them.

    Args:
        network: to copy.
        numbers: per look, the number of peaks; 1 leaves the look as it is.
    """
    copy, plan = deepcopy(network), network.plan
    looks = [look for look, number in enumerate(numbers) for _ in range(number)]
    names = tuple(f"{plan.looks[look]}/{row}" for row, look in enumerate(looks))
    found = tuple(plan.found[look] for look in looks)
    copy.plan = CameraPlan(names, found, plan.alone, plan.single, plan.pairs)
    copy.heads = copy.plan.heads
    copy.maps = _Peaks(network.maps, numbers)  # type: ignore[assignment]
    for name in ("bias", "looks"):  # what the network has for every look
        setattr(copy, name, nn.Parameter(getattr(network, name)[looks], requires_grad=False))
    return copy


class _Peaks(nn.Module):
    """The maps of the looks, one for every peak, and the other maps behind them."""

    def __init__(self, maps: nn.Module, numbers: Sequence[int]) -> None:
        super().__init__()
        self._maps, self._numbers = maps, tuple(numbers)

    def forward(self, near: Tensor) -> Tensor:
        maps = self._maps(near)
        parts = []
        for look, number in enumerate(self._numbers):
            own = maps[:, look]
            parts.append(own[:, None] if number == 1 else _apart(own, number))
        return torch.cat([*parts, maps[:, len(self._numbers) :]], 1)


def _apart(own: Tensor, number: int) -> Tensor:
    """(N, h, w) to (N, number, h, w): each peak with all that is nearer to it than to the others; the highest first."""
    # places by themselves have peaks within a thing, too; with their neighbours two that touch may have one in common
    smooth = avg_pool2d(own[:1], 3, 1, 1)
    peaks = torch.nonzero((smooth == max_pool2d(smooth, 3, 1, 1))[0] & (smooth[0] > LEAST))  # (P, 2)
    heights = smooth[0][peaks[:, 0], peaks[:, 1]]
    peaks = peaks[heights.argsort(descending=True, stable=True)[:number]]
    parts = own.new_full((own.shape[0], number, *own.shape[1:]), ELSEWHERE)
    if not len(peaks):
        return parts
    down = torch.arange(own.shape[1])[:, None]
    across = torch.arange(own.shape[2])[None]
    nearest = torch.stack([(down - peak[0]) ** 2 + (across - peak[1]) ** 2 for peak in peaks]).argmin(0)
    for row in range(len(peaks)):
        parts[:, row] = torch.where(nearest == row, own, parts[:, row])
    return parts
