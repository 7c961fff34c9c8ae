"""The networks of ``architecture`` in torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Final, TypeVar

import torch
from torch import Tensor, nn

from aam_vision.classifiers.architecture import (
    CELL_PIXELS,
    CHANNELS,
    CROP_PIXELS,
    KINDS,
    OWN_CHANNELS,
    RESNET18,
    SEPARATE,
    SHARED,
    Weights,
    check_shapes,
    trunk,
)
from aam_vision.classifiers.network import BoardNetwork, Classifiers
from aam_vision.errors import UnusableInput

Network = TypeVar("Network", bound=Classifiers)


def make_network(kind: str, heads: Sequence[str]) -> BoardNetwork:
    """A network with fresh weights, drawn from torch's generator.

    Args:
        kind: one of ``KINDS``.
        heads: names of the classifiers.

    Raises:
        UnusableInput: there is no such network.
    """
    if kind == SHARED:
        layers = _small_trunk(kind, heads)
        return BoardNetwork(kind, heads, layers, features=CHANNELS[-1], cell_pixels=CELL_PIXELS)
    if kind == SEPARATE:
        layers = _small_trunk(kind, heads)
        return BoardNetwork(
            kind, heads, layers, features=OWN_CHANNELS[-1], cell_pixels=CELL_PIXELS, separate=True
        )
    if kind == RESNET18:
        return BoardNetwork(kind, heads, _Crops(), features=_Crops.FEATURES, cell_pixels=CROP_PIXELS)
    raise UnusableInput(f"no network {kind!r}: use one of {', '.join(KINDS)}")


def network_of(weights: Weights) -> BoardNetwork:
    """The network that has these weights, of whatever kind.

    Raises:
        UnusableInput: the tensors are not those of such a network.
    """
    return filled(make_network(weights.kind, weights.heads), weights)


def fresh(make: Callable[[], Network], seed: int) -> Network:
    """A network whose weights depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


def filled(network: Network, weights: Weights) -> Network:
    """The network with these weights, ready to be asked.

    Raises:
        UnusableInput: the tensors are not those of such a network.
    """
    wanted = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    check_shapes(wanted, weights.tensors)
    network.load_state_dict({name: torch.tensor(tensor) for name, tensor in weights.tensors.items()})
    return network.eval()


def weights_of(network: Classifiers) -> Weights:
    """The weights of a network, for what runs or stores them without torch."""
    tensors = {name: tensor.detach().cpu().numpy() for name, tensor in network.state_dict().items()}
    return Weights(network.kind, network.heads, tensors)


def fused(network: BoardNetwork) -> BoardNetwork:
    """A copy for inference: batch normalisation folded into the convolutions, nothing copied, channels last."""
    quick = deepcopy(network).eval().requires_grad_(False)
    if isinstance(quick.trunk, nn.Sequential):
        quick.trunk = _folded(quick.trunk)
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


def _folded(trunk: nn.Sequential) -> nn.Sequential:
    """A small trunk with its batch normalisations made part of the convolutions."""
    layers: list[nn.Module] = []
    for convolution, normalisation, pool, _ in zip(*[iter(trunk)] * 4, strict=True):
        assert isinstance(convolution, nn.Conv2d)
        assert isinstance(normalisation, nn.BatchNorm2d)
        layers.append(nn.utils.fuse_conv_bn_eval(convolution, normalisation))
        layers += [pool] * isinstance(pool, nn.MaxPool2d)
        layers.append(nn.ReLU(inplace=True))
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
