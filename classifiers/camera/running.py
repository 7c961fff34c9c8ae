"""The network for pictures, run by torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from aam_vision.classifiers.architecture import CAMERA, Weights, check_shapes
from aam_vision.classifiers.camera.network import CameraNetwork, fused, new_network, resized
from aam_vision.classifiers.camera.peaks import with_peaks
from aam_vision.classifiers.camera.plan import CameraPlan, Size, seen_size
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


class Runner:
    """A network, ready to be asked about pictures.

    Args:
        plan: its classifiers.
        weights: its tensors.
        trained: height and width of the pictures learned from.

    Raises:
        UnusableInput: the tensors are not those of such a network.
    """

    def __init__(self, plan: CameraPlan, weights: Weights, trained: Size) -> None:
        self._quick, self._size = fused(network_of(plan, weights)), seen_size(*trained)
        self._peaks: dict[tuple[int, ...], CameraNetwork] = {}

    def __call__(self, frames: Sequence[Frame]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Frames of one size to logits, (N, plan.size), and positions, (N, looks, 2), as shares of width and height."""
        with torch.inference_mode():
            seen = self._seen(frames)
            answers = [self._quick(_moved(seen, *view)) for view in VIEWS]
            logits = torch.stack([one.logits for one in answers]).mean(0)
        return logits.numpy(), (answers[0].positions.numpy() + 1) / 2

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
