"""Backends that run the network: numpy, torch, or ONNX Runtime, all from the same weights.

A backend turns boards into logits; everything before (cutting the board out) and after (places,
temperatures, reading) is the same. numpy needs nothing else, and reads a single image while torch is still being
imported; it knows the small networks only, and leaves others to torch. ``onnx`` needs the extra of that name; the
graph is made from the weights when it is wanted, so that there is no second file to go stale.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypedDict

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from aam_vision.classifiers.architecture import FLAT, LAYERS, SHARED, Convolution, Weights, shapes, trunk
from aam_vision.support.errors import UnusableInput
from aam_vision.support.products import product

Backend = Callable[[NDArray[np.uint8]], NDArray[np.float32]]
"""Boards, uint8 (N, 3, height, width), to logits, float32 (N, heads, rows, columns)."""

BACKENDS: Final = ("numpy", "torch", "onnx")


class Running(TypedDict, total=False):
    """How a perception asks its network: images whose answers are kept, and the backend."""

    remembered: int
    backend: str


def backend(name: str, weights: Weights) -> Backend:
    """A network, ready to be asked; UnusableInput if there is no such backend, or its packages are not installed."""
    check_backend(name)
    if name == "numpy" and shapes(weights.kind, weights.heads) is not None:
        return NumpyNetwork(weights).logits
    from aam_vision.classifiers.networks import network_of
    from aam_vision.classifiers.torch_backends import onnx_logits, torch_logits

    network = network_of(weights)
    return onnx_logits(network) if name == "onnx" else torch_logits(network)


def check_backend(name: str) -> None:
    """Refuse a backend that there is not; UnusableInput if it is none of ``BACKENDS``."""
    if name not in BACKENDS:
        raise UnusableInput(f"no backend {name!r}: use one of {', '.join(BACKENDS)}")


# The small networks in numpy: one image at a time is read as fast as in torch, and torch takes two seconds to load.
#
# The sums are those of torch in another order, so that logits differ by rounding only.


_EPSILON: Final = 1e-5
"""Torch adds it to the variance when it normalises a batch."""

Floats = NDArray[np.float32]


class NumpyNetwork:
    """A small network with batch normalisation folded into its convolutions."""

    def __init__(self, weights: Weights) -> None:
        tensors = weights.tensors
        self._layers: list[tuple[Convolution, Floats, Floats]] = []
        for number, layer in enumerate(trunk(weights.kind, weights.heads)):
            own, after = f"trunk.{LAYERS * number}.", f"trunk.{LAYERS * number + 1}."
            factor = tensors[after + "weight"] / np.sqrt(
                tensors[after + "running_var"] + np.float32(_EPSILON)
            )
            kernel = tensors[own + "weight"] * factor[:, None, None, None]
            bias = tensors[after + "bias"] - tensors[after + "running_mean"] * factor
            self._layers.append((layer, _matrices(kernel, layer.groups), bias.astype(np.float32)))
        head = tensors["head.weight"]
        groups = self._layers[-1][1].shape[0] if weights.kind != SHARED else 1
        self._head = _matrices(head, groups), np.asarray(tensors["head.bias"], np.float32)

    def logits(self, boards: NDArray[np.uint8]) -> Floats:
        """Logits, (N, heads, rows, columns), of boards, uint8 (N, 3, height, width)."""
        return np.stack([self._of_one(board) for board in boards])

    def _of_one(self, board: NDArray[np.uint8]) -> Floats:
        pixels = normalised(board)
        for layer, matrices, bias in self._layers:
            pixels = _convolved(pixels, layer, matrices)
            if layer.stride == 1:
                pixels = _pooled(pixels)
            pixels += bias
            np.maximum(pixels, 0, out=pixels)
        matrices, bias = self._head
        height, width, _ = pixels.shape
        found = _grouped(pixels.reshape(height * width, 1, -1), matrices).reshape(height, width, -1) + bias
        return found.transpose(2, 0, 1)


def normalised(board: NDArray[np.uint8]) -> Floats:
    """A board, uint8 (3, height, width), with mean 0 and deviation 1 per colour: float32 (height, width, 3)."""
    values = board.reshape(3, -1).astype(np.float32)
    mean = values.sum(1, dtype=np.float64) / values.shape[1] / 255
    square = (values * values).sum(1, dtype=np.float64) / values.shape[1] / 255**2
    factor = 1 / (np.sqrt(np.maximum(square - mean * mean, 0)) + FLAT)
    scaled = values.T * (factor / 255).astype(np.float32)
    scaled -= (mean * factor).astype(np.float32)
    return np.ascontiguousarray(scaled).reshape(*board.shape[1:], 3)


def _matrices(kernel: NDArray[Any], groups: int) -> Floats:
    """Kernels, (after, before, height, width), as one matrix per group: (groups, height * width * before, after)."""
    after, before, height, width = kernel.shape
    parts = kernel.reshape(groups, after // groups, before, height, width).transpose(0, 3, 4, 2, 1)
    return np.ascontiguousarray(parts, np.float32).reshape(groups, height * width * before, after // groups)


def _convolved(pixels: Floats, layer: Convolution, matrices: Floats) -> Floats:
    """(height, width, before) -> (rows, columns, after)."""
    if layer.padding:
        pad = (layer.padding, layer.padding)
        pixels = np.pad(pixels, (pad, pad, (0, 0)))
    height, width, before = pixels.shape
    rows, columns = ((size - layer.kernel) // layer.stride + 1 for size in (height, width))
    down, across, along = pixels.strides
    patches = as_strided(
        pixels,
        (rows, columns, layer.kernel, layer.kernel, before),
        (layer.stride * down, layer.stride * across, down, across, along),
        writeable=False,
    ).reshape(rows * columns, layer.kernel**2, before)
    return _grouped(patches, matrices).reshape(rows, columns, -1)


def _grouped(patches: Floats, matrices: Floats) -> Floats:
    """Patches, (N, pixels, before), times the matrix of each group: (N, after)."""
    number, pixels, before = patches.shape
    groups, size, _ = matrices.shape
    if groups == 1 or size == pixels * before:  # there all groups see the same
        return np.hstack([product(patches.reshape(number, -1), matrix) for matrix in matrices])
    own = before // groups
    parts = [patches[:, :, own * group : own * (group + 1)].reshape(number, -1) for group in range(groups)]
    return np.hstack([product(part, matrix) for part, matrix in zip(parts, matrices, strict=True)])


def _pooled(pixels: Floats) -> Floats:
    """The greatest of every 2 x 2 pixels."""
    height, width, channels = pixels.shape
    across = np.maximum(pixels[:, 0::2], pixels[:, 1::2])
    return np.maximum(across[0::2], across[1::2]).reshape(height // 2, width // 2, channels)


# What logits stand for.


def probabilities_of(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """The probabilities that logits stand for; no exponential overflows."""
    small = np.exp(-abs(logits))
    found: NDArray[np.float32] = np.where(logits >= 0, 1, small) / (1 + small)
    return found
