"""The networks of ``architecture`` in torch: features of every cell, and one linear classifier per concept over them.

Objects are places, so a concept is a map of logits over the board's cells and boards of every shape are
read by the same weights. What makes the features, the *trunk*, is a choice; nothing else needs to know which one was made.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Final, Self, TypeVar

import torch
from torch import Tensor, nn

from aam_vision.classifiers.architecture import (
    CHANNELS,
    CROP_PIXELS,
    FLAT,
    KINDS,
    OWN_CHANNELS,
    RESNET18,
    SEPARATE,
    SHARED,
    Weights,
    check_shapes,
    trunk,
)
from aam_vision.support.errors import UnusableInput


class Classifiers(nn.Module):
    """A network of named classifiers, as training needs to know it.

    Attributes:
        trunk: what makes the features.
        separate: whether every classifier has features of its own.
        biases: the parameters that are added to logits, by name, each with its classifiers.
    """

    trunk: nn.Module
    separate = False
    biases: Mapping[str, Sequence[str]]

    def __init__(self, kind: str, heads: Sequence[str]) -> None:
        super().__init__()
        self.kind, self.heads = kind, tuple(heads)

    @abstractmethod
    def owners(self, name: str, tensor: Tensor) -> Sequence[str] | None:
        """The classifiers to which the rows of a tensor belong, each as many of them; None where all share it."""

    def freeze_shared(self, other: Self) -> None:
        """Let training change only what belongs to single classifiers, and what another network of this kind lacks."""
        theirs = other.state_dict()
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(self.owners(name, parameter) is not None or name not in theirs)
        if not self.separate:
            self.trunk.eval()  # nor may its statistics change

    def adopt(self, other: Self, heads: Collection[str]) -> None:
        """Take over some classifiers of another network of this kind bit by bit, and what all of them share.

        Args:
            other: may have other classifiers as well, and in another order.
            heads: the names of those to take over.
        """
        theirs = other.state_dict()
        for name, tensor in self.state_dict().items():
            own, others = self.owners(name, tensor), other.owners(name, tensor)
            if own is None or others is None:
                if name in theirs:
                    tensor.copy_(theirs[name])
                continue
            for head in own:
                if head in heads:
                    _rows(tensor, own, head).copy_(_rows(theirs[name], others, head))

    def shift(self, offsets: Mapping[str, float]) -> None:
        """Add to the logits of every classifier, in place."""
        with torch.no_grad():
            for name, heads in self.biases.items():
                self.get_parameter(name).add_(torch.tensor([offsets[head] for head in heads]))


def _rows(tensor: Tensor, heads: Sequence[str], head: str) -> Tensor:
    """Those of one of the classifiers to which the rows of a tensor belong."""
    parts: Tensor = tensor.unflatten(0, (len(heads), -1))  # type: ignore[no-untyped-call]
    return parts[heads.index(head)]


class BoardNetwork(Classifiers):
    """Boards in, one logit per classifier and cell out.

    Args:
        kind: name of the network among ``KINDS``.
        heads: names of the classifiers.
        trunk: boards, (N, 3, height, width), to features, (N, features, rows, columns).
        features: of a cell, for every classifier. Those of ``SEPARATE`` networks have features of their own, one after the other
            in the trunk's output and made by rows of the trunk's tensors that are their own; otherwise all have the same.
    """

    def __init__(self, kind: str, heads: Sequence[str], trunk: nn.Module, features: int) -> None:
        super().__init__(kind, heads)
        self.cell_pixels, self.separate = KINDS[kind], kind == SEPARATE
        groups = len(heads) if self.separate else 1
        self.trunk = trunk
        self.head = nn.Conv2d(features * groups, len(self.heads), 1, groups=groups)
        self.biases = {"head.bias": self.heads}

    def forward(self, boards: Tensor) -> Tensor:
        """Logits for boards between 0 and 1.

        Args:
            boards: float32, (N, 3, cell_pixels * rows, cell_pixels * columns).

        Returns:
            float32, (N, heads, rows, columns).
        """
        return self.judge(normalised(boards))

    def judge(self, boards: Tensor) -> Tensor:
        """``forward`` for boards that are ``normalised`` already."""
        logits: Tensor = self.head(self.trunk(boards))
        return logits

    def owners(self, name: str, tensor: Tensor) -> Sequence[str] | None:
        shared = name.startswith("trunk") and (not self.separate or tensor.ndim == 0)
        return None if shared else self.heads


def normalised(images: Tensor, over: tuple[int, ...] = (2, 3)) -> Tensor:
    """Images with mean 0 per colour, and deviation 1 over some axes: free of the light and the contrast.

    By default the deviation is that of each colour by itself, so that they are free of the tint, too.
    """
    centred = images - images.mean((2, 3), keepdim=True)
    return centred / (centred.square().mean(over, keepdim=True).sqrt() + FLAT)


def normalised_pixels(pixels: Tensor) -> Tensor:
    """``normalised`` for whole bytes: the same up to rounding, in a third of the time, and channels last.

    Colours lie side by side there, so that sums and products run along whole rows of them.

    Args:
        pixels: uint8, (N, 3, height, width).

    Returns:
        float32, the same shape.
    """
    number, colours, height, width = pixels.shape
    rows = pixels.permute(0, 2, 3, 1).reshape(number, height, width * colours).float()
    size = 255 * height * width
    mean = rows.sum(1).view(number, width, colours).sum(1) / size
    square = (rows * rows).sum(1).view(number, width, colours).sum(1) / (255 * size)
    factor = 1 / ((square - mean.square()).clamp_(min=0).sqrt_() + FLAT)  # (N, colours)

    def along_a_row(values: Tensor) -> Tensor:
        return values[:, None].expand(number, width, colours).reshape(number, 1, width * colours)

    scaled = torch.addcmul(along_a_row(-mean * factor), rows, along_a_row(factor / 255))
    return scaled.view(number, height, width, colours).permute(0, 3, 1, 2)


def place_logits(logits: Tensor, pooling: Tensor) -> Tensor:
    """Logits per place from logits per cell: (N, heads, rows, columns) -> (N, heads, places).

    A place of one cell keeps the logit of its cell; a room's logit is the mean over its cells, so that
    it can be learned from the label of the room alone.
    """
    return logits.flatten(2) @ pooling


Network = TypeVar("Network", bound=Classifiers)


def make_network(kind: str, heads: Sequence[str]) -> BoardNetwork:
    """A network with fresh weights, drawn from torch's generator; UnusableInput if there is no such network."""
    if kind in (SHARED, SEPARATE):
        channels = CHANNELS if kind == SHARED else OWN_CHANNELS
        return BoardNetwork(kind, heads, _small_trunk(kind, heads), channels[-1])
    if kind == RESNET18:
        return BoardNetwork(kind, heads, _Crops(), _Crops.FEATURES)
    raise UnusableInput(f"no network {kind!r}: use one of {', '.join(KINDS)}")


def network_of(weights: Weights) -> BoardNetwork:
    """The network that has these weights, of whatever kind; UnusableInput if the tensors are not those of such a network."""
    return filled(make_network(weights.kind, weights.heads), weights)


def fresh(make: Callable[[], Network], seed: int) -> Network:
    """A network whose weights depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


def filled(network: Network, weights: Weights) -> Network:
    """The network with these weights, ready to be asked; UnusableInput if the tensors are not those of such a network."""
    wanted = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    check_shapes(wanted, weights.tensors)
    network.load_state_dict({name: torch.tensor(tensor) for name, tensor in weights.tensors.items()})
    return network.eval()


def weights_of(network: Classifiers) -> Weights:
    """The weights of a network, for what runs or stores them without torch."""
    tensors = {name: tensor.detach().cpu().numpy() for name, tensor in network.state_dict().items()}
    return Weights(network.kind, network.heads, tensors)


def fused(network: Network) -> Network:
    """A copy for inference: batch normalisation folded into the convolutions, nothing copied, channels last."""
    quick = deepcopy(network).eval().requires_grad_(False)
    layers = quick.trunk if isinstance(quick.trunk, nn.Sequential) else nn.Sequential()
    for number, (layer, after) in enumerate(pairwise(layers)):
        if isinstance(layer, nn.Conv2d) and isinstance(after, nn.BatchNorm2d):
            layers[number] = nn.utils.fuse_conv_bn_eval(layer, after)
            layers[number + 1] = nn.Identity()
    for layer in layers:
        if isinstance(layer, nn.ReLU):
            layer.inplace = True
    return quick.to(memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]


def _small_trunk(kind: str, heads: Sequence[str]) -> nn.Sequential:
    """Convolutions that each halve the resolution.

    A cell is judged by its own pixels and a few around it (23 x 23 of 16 x 16), so that nothing can depend
    on which things happened to be neighbours on the boards that were learned from.
    """
    layers: list[nn.Module] = []
    for one in trunk(kind, heads):
        layers += [
            nn.Conv2d(
                one.before, one.after, one.kernel, one.stride, one.padding, groups=one.groups, bias=False
            ),
            nn.BatchNorm2d(one.after),
            nn.MaxPool2d(2) if one.stride == 1 else nn.Identity(),  # before ReLU: the same, less work
            nn.ReLU(),
        ]
    return nn.Sequential(*layers)


class _Crops(nn.Module):
    """ResNet-18 on every cell by itself: what lies beside it is not seen, so cells may be any parts of an image."""

    FEATURES: Final = 512

    def __init__(self) -> None:
        super().__init__()
        from aam_vision.classifiers.torchvision_cure import cure_torchvision

        cure_torchvision()
        from torchvision.models import resnet18

        self.body = resnet18(weights=None)
        self.body.fc = nn.Identity()

    def forward(self, boards: Tensor) -> Tensor:
        """(N, 3, CROP_PIXELS * rows, CROP_PIXELS * columns) -> (N, FEATURES, rows, columns)."""
        number, colours, height, width = boards.shape
        rows, columns, side = height // CROP_PIXELS, width // CROP_PIXELS, CROP_PIXELS
        crops = boards.reshape(number, colours, rows, side, columns, side).permute(0, 2, 4, 1, 3, 5)
        features: Tensor = self.body(crops.reshape(-1, colours, side, side))
        return features.view(number, rows, columns, self.FEATURES).permute(0, 3, 1, 2)
