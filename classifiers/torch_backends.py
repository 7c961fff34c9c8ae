"""The backends that need torch: torch itself, and ONNX Runtime, whose graph torch makes."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from aam_vision.classifiers.backends import Backend
from aam_vision.classifiers.network import BoardNetwork, normalised_pixels
from aam_vision.classifiers.networks import fused
from aam_vision.errors import UnusableInput

OPSET: Final = 17

_KEPT: Final = 30 * 2**20
"""Bytes. The GNU C library hands freed blocks back to the system, page by page, if they are larger than any that
was freed before (up to 32 MiB); to get them anew for every batch takes a sixth of the time."""

_CURE = "pip install 'aam-vision[onnx]', or use --backend numpy"


def onnx_graph(network: BoardNetwork) -> bytes:
    """A network as an ONNX model for boards of every shape: input ``boards``, float32 from 0 to 1, output ``logits``.

    Raises:
        UnusableInput: the package onnx is not installed.
    """
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise UnusableInput(f"the package onnx is not installed: {_CURE}") from None
    boards = torch.zeros(1, 3, 4 * network.cell_pixels, 4 * network.cell_pixels)
    with warnings.catch_warnings(), TemporaryDirectory() as folder:
        file = Path(folder) / "graph.onnx"
        warnings.simplefilter("ignore")  # of the exporter's, about its own future
        torch.onnx.export(
            fused(network).to(memory_format=torch.contiguous_format),  # type: ignore[call-overload]
            (boards,),
            file,
            input_names=["boards"],
            output_names=["logits"],
            dynamic_axes={
                "boards": {0: "images", 2: "height", 3: "width"},
                "logits": {0: "images", 2: "rows", 3: "columns"},
            },
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
            found: NDArray[np.float32] = quick.judge(normalised_pixels(torch.from_numpy(boards))).numpy()
            return found

    return logits


def onnx_logits(network: BoardNetwork) -> Backend:
    """A network that ONNX Runtime runs.

    Raises:
        UnusableInput: the packages onnx or onnxruntime are not installed.
    """
    try:
        import onnxruntime
    except ImportError:
        raise UnusableInput(f"the package onnxruntime is not installed: {_CURE}") from None
    options: Any = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # batches are shared among threads where there are several
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session: Any = onnxruntime.InferenceSession(
        onnx_graph(network), options, providers=["CPUExecutionProvider"]
    )

    def logits(boards: NDArray[np.uint8]) -> NDArray[np.float32]:
        values = np.ascontiguousarray(boards).astype(np.float32) / np.float32(255)
        found: NDArray[np.float32] = session.run(None, {"boards": values})[0]
        return found

    return logits
