"""Backends that run the network: torch, or ONNX Runtime from the same weights.

A backend turns boards into logits; everything before (cutting the board out) and after (places,
temperatures, reading) is the same. ``onnx`` needs the extra of that name; the graph is made from the
weights when it is wanted, so that there is no second file to go stale.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import torch
from torch import Tensor

from aam_vision.classifiers.network import BoardNetwork, normalised_pixels
from aam_vision.classifiers.networks import fused
from aam_vision.errors import UnusableInput

Backend = Callable[[Tensor], Tensor]
"""Boards, uint8 (N, 3, height, width), to logits, float32 (N, heads, rows, columns)."""

BACKENDS: Final = ("torch", "onnx")

OPSET: Final = 17

_KEPT: Final = 30 * 2**20
"""Bytes. The GNU C library hands freed blocks back to the system, page by page, if they are larger than any that
was freed before (up to 32 MiB); to get them anew for every batch takes a sixth of the time."""

_CURE = "pip install 'aam-vision[onnx]', or use --backend torch"


def backend(name: str, network: BoardNetwork) -> Backend:
    """A network, ready to be asked.

    Args:
        name: one of ``BACKENDS``.
        network: with its trained weights.

    Raises:
        UnusableInput: there is no such backend, or its packages are not installed.
    """
    if name not in BACKENDS:
        raise UnusableInput(f"no backend {name!r}: use one of {', '.join(BACKENDS)}")
    return _torch(network) if name == "torch" else _onnx(network)


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


def _torch(network: BoardNetwork) -> Backend:
    quick = fused(network)
    torch.empty(_KEPT, dtype=torch.uint8)  # and freed

    def logits(boards: Tensor) -> Tensor:
        with torch.inference_mode():
            return quick.judge(normalised_pixels(boards))

    return logits


def _onnx(network: BoardNetwork) -> Backend:
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

    def logits(boards: Tensor) -> Tensor:
        values = boards.contiguous().float().div_(255)
        return torch.from_numpy(session.run(None, {"boards": values.numpy()})[0])

    return logits
