"""The classifiers: one small convolutional trunk with one head per concept, the same for every cell.

Objects are places, so a concept is a map of logits over the board's cells and boards of every shape are
read by the same weights. Each halving of the resolution brings 16 pixels a cell down to one output a cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

CHANNELS = (16, 32, 64, 96)
"""Channels of the trunk, one convolution each; 2 ** len(CHANNELS) pixels (``CELL_PIXELS``) become one cell."""

FLAT = 0.05
"""Added to the standard deviation of a board's colours, so that a blank board is not blown up."""

Cells = Sequence[Sequence[int]]
"""Per place, the flat indices (row * columns + column) of the cells it covers."""


class BoardNetwork(nn.Module):
    """Boards in, one logit per classifier and cell out.

    A cell is judged by its own pixels and a few around it (23 x 23 of 16 x 16), so that nothing can depend
    on which things happened to be neighbours on the boards that were learned from.
    """

    def __init__(self, heads: Sequence[str]) -> None:
        super().__init__()
        sizes = ((5, 2, 2), (3, 1, 1), (2, 2, 0), (2, 2, 0))  # kernel, stride, padding
        layers: list[nn.Module] = []
        for (before, after), (kernel, stride, padding) in zip(pairwise((3, *CHANNELS)), sizes, strict=True):
            layers += [
                nn.Conv2d(before, after, kernel, stride, padding, bias=False),
                nn.BatchNorm2d(after),
                nn.MaxPool2d(2) if stride == 1 else nn.Identity(),  # before ReLU: the same, less work
                nn.ReLU(),
            ]
        self.heads = tuple(heads)
        self.trunk = nn.Sequential(*layers)
        self.head = nn.Conv2d(CHANNELS[-1], len(self.heads), 1)

    def forward(self, boards: Tensor) -> Tensor:
        """Logits for boards between 0 and 1.

        Args:
            boards: float32, (N, 3, CELL_PIXELS * rows, CELL_PIXELS * columns).

        Returns:
            float32, (N, heads, rows, columns).
        """
        return self.judge(normalised(boards))

    def judge(self, boards: Tensor) -> Tensor:
        """``forward`` for boards that are ``normalised`` already."""
        logits: Tensor = self.head(self.trunk(boards))
        return logits


def normalised(boards: Tensor) -> Tensor:
    """Every board with mean 0 and deviation 1 per colour channel: free of the light, the tint and the contrast."""
    mean = boards.mean((2, 3), keepdim=True)
    centred = boards - mean
    return centred / (centred.square().mean((2, 3), keepdim=True).sqrt() + FLAT)


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


def pooling_matrix(cells: Cells, size: int) -> Tensor:
    """The matrix that averages cells into places: float32, (size, places).

    ``size`` is the number of cells of the board. A place without cells gets a column of zeros.
    """
    matrix = torch.zeros(size, len(cells))
    for place, covered in enumerate(cells):
        for cell in covered:
            matrix[cell, place] = 1 / len(covered)
    return matrix


def place_logits(logits: Tensor, pooling: Tensor) -> Tensor:
    """Logits per place from logits per cell: (N, heads, rows, columns) -> (N, heads, places).

    A place of one cell keeps the logit of its cell; a room's logit is the mean over its cells, so that
    it can be learned from the label of the room alone.
    """
    return logits.flatten(2) @ pooling


def fused(network: BoardNetwork) -> BoardNetwork:
    """A copy for inference: batch normalisation folded into the convolutions, nothing copied, channels last."""
    quick = BoardNetwork(network.heads)
    layers: list[nn.Module] = []
    for convolution, normalisation, pool, _ in zip(*[iter(network.eval().trunk)] * 4, strict=True):
        assert isinstance(convolution, nn.Conv2d)
        assert isinstance(normalisation, nn.BatchNorm2d)
        layers.append(nn.utils.fuse_conv_bn_eval(convolution, normalisation))
        layers += [pool] * isinstance(pool, nn.MaxPool2d)
        layers.append(nn.ReLU(inplace=True))
    quick.trunk = nn.Sequential(*layers)
    quick.head.load_state_dict(network.head.state_dict())
    quick = quick.eval().requires_grad_(False)
    return quick.to(memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]
