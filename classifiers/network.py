"""The common part of all networks: features of every cell, and one linear classifier per concept over them.

Objects are places, so a concept is a map of logits over the board's cells and boards of every shape are
read by the same weights. What makes the features, the *trunk*, is a choice of ``networks``; nothing else
needs to know which one was made.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Self

import torch
from torch import Tensor, nn

from aam_vision.classifiers.architecture import FLAT

Cells = Sequence[Sequence[int]]
"""Per place, the flat indices (row * columns + column) of the cells it covers."""


class Classifiers(nn.Module):
    """A network of named classifiers, as training needs to know it.

    Args:
        kind: of the network: one of ``networks.KINDS``, or ``camera``.
        heads: names of the classifiers.
    """

    def __init__(self, kind: str, heads: Sequence[str]) -> None:
        super().__init__()
        self.kind, self.heads = kind, tuple(heads)

    @abstractmethod
    def freeze_shared(self, other: Self) -> None:
        """Let training change only what belongs to single classifiers, and what another network of this kind lacks."""

    @abstractmethod
    def adopt(self, other: Self, heads: Collection[str]) -> None:
        """Take over some classifiers of another network of this kind bit by bit, and what all of them share.

        Args:
            other: may have other classifiers as well, and in another order.
            heads: the names of those to take over.
        """

    @abstractmethod
    def shift(self, offsets: Mapping[str, float]) -> None:
        """Add to the logits of every classifier, in place."""


class BoardNetwork(Classifiers):
    """Boards in, one logit per classifier and cell out.

    Args:
        kind: name of the network among ``networks.KINDS``.
        heads: names of the classifiers.
        trunk: boards, (N, 3, height, width), to features, (N, features, rows, columns).
        features: of a cell, for every classifier.
        cell_pixels: side of a cell, in pixels of the boards.
        separate: every classifier has features of its own, one after the other in the trunk's output and
            made by rows of the trunk's tensors that are its own; otherwise all have the same.
    """

    def __init__(
        self,
        kind: str,
        heads: Sequence[str],
        trunk: nn.Module,
        *,
        features: int,
        cell_pixels: int,
        separate: bool = False,
    ) -> None:
        super().__init__(kind, heads)
        groups = len(heads) if separate else 1
        self.cell_pixels, self.separate = cell_pixels, separate
        self.trunk = trunk
        self.head = nn.Conv2d(features * groups, len(self.heads), 1, groups=groups)

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

    def freeze_shared(self, other: Self) -> None:
        if not self.separate:
            self.trunk.requires_grad_(False).eval()  # nor may its statistics change

    def adopt(self, other: Self, heads: Collection[str]) -> None:
        own, theirs = self.state_dict(), other.state_dict()
        with torch.no_grad():
            for name, tensor in own.items():
                if name.startswith("trunk") and (not self.separate or tensor.ndim == 0):
                    tensor.copy_(theirs[name])
                    continue
                to = tensor.unflatten(0, (len(self.heads), -1))
                of = theirs[name].unflatten(0, (len(other.heads), -1))
                for head in heads:
                    to[self.heads.index(head)] = of[other.heads.index(head)]

    def shift(self, offsets: Mapping[str, float]) -> None:
        assert self.head.bias is not None
        with torch.no_grad():
            self.head.bias += torch.tensor([offsets[head] for head in self.heads])


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
