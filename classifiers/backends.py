"""Backends that run the network: numpy, torch, or ONNX Runtime, all from the same weights.

A backend turns boards into logits; everything before (cutting the board out) and after (places,
temperatures, reading) is the same. numpy needs nothing else, and reads a single image while torch is still being
imported; it knows the small networks only, and leaves others to torch. ``onnx`` needs the extra of that name; the
graph is made from the weights when it is wanted, so that there is no second file to go stale.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.architecture import Weights, shapes
from aam_vision.classifiers.numpy_network import NumpyNetwork
from aam_vision.errors import UnusableInput

Backend = Callable[[NDArray[np.uint8]], NDArray[np.float32]]
"""Boards, uint8 (N, 3, height, width), to logits, float32 (N, heads, rows, columns)."""

BACKENDS: Final = ("numpy", "torch", "onnx")


def backend(name: str, weights: Weights) -> Backend:
    """A network, ready to be asked.

    Args:
        name: one of ``BACKENDS``.
        weights: of the network.

    Raises:
        UnusableInput: there is no such backend, or its packages are not installed.
    """
    check_backend(name)
    if name == "numpy" and shapes(weights.kind, weights.heads) is not None:
        return NumpyNetwork(weights).logits
    from aam_vision.classifiers.networks import network_of
    from aam_vision.classifiers.torch_backends import onnx_logits, torch_logits

    network = network_of(weights)
    return onnx_logits(network) if name == "onnx" else torch_logits(network)


def check_backend(name: str) -> None:
    """Refuse a backend that there is not.

    Raises:
        UnusableInput: it is none of ``BACKENDS``.
    """
    if name not in BACKENDS:
        raise UnusableInput(f"no backend {name!r}: use one of {', '.join(BACKENDS)}")
