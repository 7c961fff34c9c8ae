"""The network for pictures, run by torch or by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import pad

from aam_vision.classifiers.architecture import CAMERA, Weights, check_shapes
from aam_vision.classifiers.backends import check_backend
from aam_vision.classifiers.camera.network import CameraNetwork, fused, new_network, resized
from aam_vision.classifiers.camera.peaks import with_peaks
from aam_vision.classifiers.camera.plan import CameraPlan, Size, seen_size
from aam_vision.classifiers.torch_backends import exported, onnx_session
from aam_vision.perception import Frame

VIEWS: Final = ((0, 0), (2, 1), (-1, -2))
"""Down and right in pixels: a picture is seen so often, moved a little, and the logits are averaged. More views are steadier,
and each takes as long as the first."""


def network_of(plan: CameraPlan, weights: Weights) -> CameraNetwork:
    """The network that has these weights.

    Raises:
        UnusableInput: the tensors are not those of such a network.
    """
    network = new_network(plan, 0)
    wanted = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    check_shapes(wanted, weights.tensors)
    network.load_state_dict({name: torch.tensor(tensor) for name, tensor in weights.tensors.items()})
    return network.eval()


def weights_of(network: CameraNetwork) -> Weights:
    """The weights of a network, for what runs or stores them."""
    tensors = {name: tensor.detach().cpu().numpy() for name, tensor in network.state_dict().items()}
    return Weights(CAMERA, network.plan.heads, tensors)


Run = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Pictures as the network sees them to logits, (N, plan.size), and positions, (N, looks, 2), from -1 to 1."""


def onnx_graph(network: CameraNetwork, trained: Size) -> bytes:
    """The network as an ONNX model: input ``pictures``, outputs ``logits`` and ``positions``; see ``Answers`` of ``network``.

    Args:
        network: the network.
        trained: height and width of the pictures that were learned from; the model takes those of ``seen_size``.

    Raises:
        UnusableInput: the package onnx is not installed.
    """
    height, width = seen_size(*trained)
    axes = {name: {0: "images"} for name in ("pictures", "logits", "positions")}
    return exported(_TwoAnswers(fused(network)), torch.zeros(1, 3, height, width), axes)


class _TwoAnswers(nn.Module):
    """What is asked of a network outside of training."""

    def __init__(self, network: CameraNetwork) -> None:
        super().__init__()
        self._network = network

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        answers = self._network(pictures)
        return answers.logits, answers.positions


def _by_onnx(graph: bytes) -> Run:
    """A network that ONNX Runtime runs."""
    session = onnx_session(graph)

    def run(pictures: Tensor) -> tuple[Tensor, Tensor]:
        logits, positions = session.run(None, {"pictures": pictures.contiguous().numpy()})
        return torch.from_numpy(logits), torch.from_numpy(positions)

    return run


class Runner:
    """A network, ready to be asked about pictures.

    Args:
        plan: its classifiers.
        weights: its tensors.
        trained: height and width of the pictures learned from.
        backend: what runs it, one of ``backends.BACKENDS``; torch does in the place of numpy, and in any case where
            things share a look.

    Raises:
        UnusableInput: the tensors are not those of such a network; or there is no such backend, or its packages are not
            installed.
    """

    def __init__(self, plan: CameraPlan, weights: Weights, trained: Size, backend: str = "torch") -> None:
        check_backend(backend)
        network = network_of(plan, weights)
        self._quick, self._size = fused(network), seen_size(*trained)
        self._run: Run = _TwoAnswers(self._quick)
        if backend == "onnx":
            self._run = _by_onnx(onnx_graph(network, trained))
        self._peaks: dict[tuple[int, ...], CameraNetwork] = {}

    def __call__(self, frames: Sequence[Frame]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Frames of one size to logits, (N, plan.size), and positions, (N, looks, 2), as shares of width and height."""
        with torch.inference_mode():
            seen = self._seen(frames)
            answers = [self._run(_moved(seen, *view)) for view in VIEWS]
            logits = torch.stack([logits for logits, _ in answers]).mean(0)
            positions = (answers[0][1] + 1) / 2
        return logits.numpy(), positions.numpy()

    def peaks(
        self, frame: Frame, numbers: tuple[int, ...]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The same about one frame, with so many peaks of each look in the place of the looks."""
        if numbers not in self._peaks:
            self._peaks[numbers] = with_peaks(self._quick, numbers)
        with torch.inference_mode():
            seen = self._seen([frame])
            answers = self._peaks[numbers](torch.cat([_moved(seen, *view) for view in VIEWS]))
        return answers.logits.mean(0).numpy(), (answers.positions[0].numpy() + 1) / 2

    def _seen(self, frames: Sequence[Frame]) -> Tensor:
        return resized(torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2), self._size)


def _moved(pictures: Tensor, down: int, right: int) -> Tensor:
    """Pictures moved by so many pixels; the edges are continued."""
    if not down and not right:
        return pictures
    edges = (max(right, 0), max(-right, 0), max(down, 0), max(-down, 0))
    height, width = pictures.shape[2:]
    wide = pad(pictures, edges, mode="replicate")
    moved = wide[:, :, edges[3] : edges[3] + height, edges[1] : edges[1] + width]
    return moved.contiguous(memory_format=torch.channels_last)
