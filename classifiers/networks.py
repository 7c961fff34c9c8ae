"""The networks there are, by name: the one place that chooses between them.

- ``shared``: one small convolutional trunk for all classifiers, 16 pixels a cell. What is shipped.
- ``separate``: the same with half the channels, and one for every classifier: they share nothing at all.
- ``resnet18``: torchvision's ResNet-18, without weights of others, looks at every cell by itself, 64 pixels a
  cell. For images that are not boards, with objects given as ``Scene.boxes``: 45 MB of weights, and about a
  hundred times the work for every cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Final

import torch
from torch import Tensor, nn

from aam_vision.classifiers.network import BoardNetwork
from aam_vision.errors import UnusableInput

SHARED, SEPARATE, RESNET18 = "shared", "separate", "resnet18"

CELL_PIXELS: Final = 16
"""Side of a cell for the small trunks."""

CROP_PIXELS: Final = 64
"""Side of a cell for ResNet-18."""

KINDS: Final[Mapping[str, int]] = {SHARED: CELL_PIXELS, SEPARATE: CELL_PIXELS, RESNET18: CROP_PIXELS}
"""Every network, with the side of a cell on the boards that it takes."""

CHANNELS: Final = (16, 32, 64, 96)
"""Channels of the small trunk, one convolution each; 2 ** len(CHANNELS) pixels (``CELL_PIXELS``) become one cell."""

OWN_CHANNELS: Final = (8, 16, 32, 48)
"""The same for the trunk of a single classifier."""

_SIZES: Final = ((5, 2, 2), (3, 1, 1), (2, 2, 0), (2, 2, 0))  # kernel, stride, padding


def make_network(kind: str, heads: Sequence[str]) -> BoardNetwork:
    """A network with fresh weights, drawn from torch's generator.

    Args:
        kind: one of ``KINDS``.
        heads: names of the classifiers.

    Raises:
        UnusableInput: there is no such network.
    """
    if kind == SHARED:
        trunk = _small_trunk(CHANNELS, 1)
        return BoardNetwork(kind, heads, trunk, features=CHANNELS[-1], cell_pixels=CELL_PIXELS)
    if kind == SEPARATE:
        trunk = _small_trunk(OWN_CHANNELS, len(heads))
        return BoardNetwork(
            kind, heads, trunk, features=OWN_CHANNELS[-1], cell_pixels=CELL_PIXELS, separate=True
        )
    if kind == RESNET18:
        return BoardNetwork(kind, heads, _Crops(), features=_Crops.FEATURES, cell_pixels=CROP_PIXELS)
    raise UnusableInput(f"no network {kind!r}: use one of {', '.join(KINDS)}")


def fused(network: BoardNetwork) -> BoardNetwork:
    """A copy for inference: batch normalisation folded into the convolutions, nothing copied, channels last."""
    quick = deepcopy(network).eval().requires_grad_(False)
    if isinstance(quick.trunk, nn.Sequential):
        quick.trunk = _folded(quick.trunk)
    return quick.to(memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]


def _small_trunk(channels: Sequence[int], groups: int) -> nn.Sequential:
    """Convolutions that each halve the resolution, ``groups`` of them side by side without a connection.

    A cell is judged by its own pixels and a few around it (23 x 23 of 16 x 16), so that nothing can depend
    on which things happened to be neighbours on the boards that were learned from.
    """
    layers: list[nn.Module] = []
    widths = (3, *[groups * width for width in channels])
    for (before, after), (kernel, stride, padding) in zip(pairwise(widths), _SIZES, strict=True):
        parts = groups if layers else 1  # the first ones all see the same board
        layers += [
            nn.Conv2d(before, after, kernel, stride, padding, groups=parts, bias=False),
            nn.BatchNorm2d(after),
            nn.MaxPool2d(2) if stride == 1 else nn.Identity(),  # before ReLU: the same, less work
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
