"""The backends that need torch: torch itself, and ONNX Runtime, whose graph torch makes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from aam_vision.classifiers.backends import Backend
from aam_vision.classifiers.networks import BoardNetwork, fused, normalised_pixels
from aam_vision.support.errors import UnusableInput

OPSET: Final = 17

_KEPT: Final = 30 * 2**20
"""Bytes. The GNU C library hands freed blocks back to the system, page by page, if they are larger than any that
was freed before (up to 32 MiB); to get them anew for every batch takes a sixth of the time."""

_CURE = "pip install 'aam-vision[onnx]', or use --backend torch"


def onnx_graph(network: BoardNetwork) -> bytes:
    """A network as an ONNX model for boards of every shape: input ``boards``, float32 from 0 to 1, output ``logits``.

    Raises:
        UnusableInput: the package onnx is not installed.
    """
    side = 4 * network.cell_pixels
    axes = {
        "boards": {0: "images", 2: "height", 3: "width"},
        "logits": {0: "images", 2: "rows", 3: "columns"},
    }
    return exported(fused(network), torch.zeros(1, 3, side, side), axes)


def exported(network: nn.Module, example: Tensor, axes: Mapping[str, Mapping[int, str]]) -> bytes:
    """A network of one input as an ONNX model.

    Args:
        network: ready for inference.
        example: of what it takes.
        axes: the names of the input and of all outputs, in order, each with its axes that may have any length.

    Raises:
        UnusableInput: the package onnx is not installed.
    """
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise UnusableInput(f"the package onnx is not installed: {_CURE}") from None
    given, *answers = axes
    with warnings.catch_warnings(), TemporaryDirectory() as folder:
        file = Path(folder) / "graph.onnx"
        warnings.simplefilter("ignore")  # of the exporter's, about its own future
        torch.onnx.export(
            network.to(memory_format=torch.contiguous_format),  # type: ignore[call-overload]
            (example,),
            file,
            input_names=[given],
            output_names=answers,
            dynamic_axes={name: dict(named) for name, named in axes.items()},
            opset_version=OPSET,
            dynamo=False,
        )
        return file.read_bytes()


def torch_logits(network: BoardNetwork) -> Backend:
    """A network that torch runs."""
    quick = fused(network)
    torch.empty(_KEPT, dtype=torch.uint8)  # and freed

    def logits(boards: NDArray[np.uint8]) -> NDArray[np.float32]:
        with torch.inference_mode():
            return quick.judge(normalised_pixels(torch.from_numpy(boards))).numpy()

    return logits


def onnx_logits(network: BoardNetwork) -> Backend:
    """A network that ONNX Runtime runs; UnusableInput if the packages onnx or onnxruntime are not installed."""
    session = onnx_session(onnx_graph(network))

    def logits(boards: NDArray[np.uint8]) -> NDArray[np.float32]:
        values = np.ascontiguousarray(boards).astype(np.float32) / np.float32(255)
        found: NDArray[np.float32] = session.run(None, {"boards": values})[0]
        return found

    return logits


def onnx_session(graph: bytes) -> Any:
    """ONNX Runtime with a model, on one thread; UnusableInput if the package onnxruntime is not installed."""
    try:
        import onnxruntime
    except ImportError:
        raise UnusableInput(f"the package onnxruntime is not installed: {_CURE}") from None
    options: Any = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # batches are shared among threads where there are several
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
