"""The kinds of networks and their weights, for whatever runs them: nothing here needs torch.

- ``shared``: one small convolutional trunk for all classifiers, 16 pixels a cell. What is shipped.
- ``separate``: the same with half the channels, and one for every classifier: they share nothing at all.
- ``resnet18``: torchvision's ResNet-18, without weights of others, looks at every cell by itself, 64 pixels a
  cell. For images that are not boards, with objects given as ``Scene.boxes``: 45 MB of weights, and about a
  hundred times the work for every cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from numpy.typing import NDArray

from aam_vision.support.errors import UnusableInput

SHARED, SEPARATE, RESNET18 = "shared", "separate", "resnet18"

CAMERA: Final = "camera"
"""The network for pictures without cells; see ``camera``."""

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

SIZES: Final = ((5, 2, 2), (3, 1, 1), (2, 2, 0), (2, 2, 0))
"""Kernel, stride and padding of the convolutions of a small trunk; one of stride 1 is followed by a pooling by 2."""

LAYERS: Final = 4
"""Modules for every convolution of a small trunk: itself, its normalisation, a pooling or nothing, ReLU."""

FLAT: Final = 0.05
"""Added to the standard deviation of a board's colours, so that a blank board is not blown up."""


@dataclass(frozen=True)
class Weights:
    """A network as its file holds it.

    ``tensors`` are those of torch's ``state_dict``, by name; they have been checked only where ``shapes`` is known.
    """

    kind: str
    heads: tuple[str, ...]
    tensors: Mapping[str, NDArray[Any]]

    @property
    def cell_pixels(self) -> int:
        """Side of a cell, in pixels of the boards."""
        return KINDS[self.kind]


@dataclass(frozen=True)
class Convolution:
    """One convolution of a small trunk."""

    before: int
    after: int
    groups: int
    kernel: int
    stride: int
    padding: int


def trunk(kind: str, heads: Sequence[str]) -> tuple[Convolution, ...]:
    """The convolutions of a small trunk: ``groups`` of them side by side without a connection.

    The first ones all see the same board.
    """
    channels, groups = (CHANNELS, 1) if kind == SHARED else (OWN_CHANNELS, len(heads))
    widths = (3, *[groups * width for width in channels])
    return tuple(
        Convolution(before, after, groups if number else 1, *sizes)
        for number, ((before, after), sizes) in enumerate(zip(pairwise(widths), SIZES, strict=True))
    )


def shapes(kind: str, heads: Sequence[str]) -> dict[str, tuple[int, ...]] | None:
    """The shape of every tensor of a network; None of one that only torch knows."""
    if kind in (RESNET18, CAMERA):
        return None
    found: dict[str, tuple[int, ...]] = {}
    layers = trunk(kind, heads)
    for number, one in enumerate(layers):
        place = LAYERS * number
        found[f"trunk.{place}.weight"] = (one.after, one.before // one.groups, one.kernel, one.kernel)
        for name in ("weight", "bias", "running_mean", "running_var"):
            found[f"trunk.{place + 1}.{name}"] = (one.after,)
        found[f"trunk.{place + 1}.num_batches_tracked"] = ()
    features = layers[-1].after if kind == SHARED else OWN_CHANNELS[-1]
    return {**found, "head.weight": (len(heads), features, 1, 1), "head.bias": (len(heads),)}


def check_shapes(wanted: Mapping[str, tuple[int, ...]], found: Mapping[str, NDArray[Any]]) -> None:
    """Refuse tensors that are not exactly those of a network, by an ``UnusableInput`` that names the first difference."""
    for name in {**wanted, **found}:
        ours = wanted.get(name, "absent")
        theirs = tuple(found[name].shape) if name in found else "absent"
        if ours != theirs:
            raise UnusableInput(f"do not fit the network ({name}: {theirs} there, {ours} here)")
