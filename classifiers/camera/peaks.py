"""A network that answers about every peak of the maps of some looks, as if each were the only thing of its look."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, max_pool2d

from aam_vision.classifiers.camera.network import CameraNetwork, new_network
from aam_vision.classifiers.camera.plan import CameraPlan

LEAST: Final = -1.0
"""The least height of a peak, in the mean of a place and its neighbours: what is lower is the background's."""

ELSEWHERE: Final = -40.0
"""What a map is given outside the part of a peak: its softmax is zero there."""


def with_peaks(network: CameraNetwork, numbers: Sequence[int]) -> CameraNetwork:
    """A copy of a network that is fused, whose looks are so many highest peaks of every look of the plan's.

    Pictures that are given together are taken for views of one: where the peaks are is decided in the first of them.

    Args:
        network: to copy.
        numbers: per look, the number of peaks; 1 leaves the look as it is.
    """
    copy, plan = deepcopy(network), network.plan
    looks = [look for look, number in enumerate(numbers) for _ in range(number)]
    names = tuple(f"{plan.looks[look]}/{row}" for row, look in enumerate(looks))
    found = tuple(plan.found[look] for look in looks)
    copy.plan = CameraPlan(names, found, plan.alone, plan.single, plan.pairs)
    copy.maps = _Peaks(network.maps, numbers)  # type: ignore[assignment]
    copy.relation = new_network(copy.plan, 0).relation  # it knows how many looks there are
    copy.relation.load_state_dict(network.relation.state_dict())
    for name in ("bias", "looks"):  # what the network has for every look
        setattr(copy, name, nn.Parameter(getattr(network, name)[looks], requires_grad=False))
    return copy


class _Peaks(nn.Module):
    """The maps of the looks, one for every peak, and the other maps behind them."""

    def __init__(self, maps: nn.Module, numbers: Sequence[int]) -> None:
        super().__init__()
        self._maps, self._numbers = maps, tuple(numbers)

    def forward(self, near: Tensor) -> Tensor:
        maps = self._maps(near)
        parts = []
        for look, number in enumerate(self._numbers):
            own = maps[:, look]
            parts.append(own[:, None] if number == 1 else _apart(own, number))
        return torch.cat([*parts, maps[:, len(self._numbers) :]], 1)


def _apart(own: Tensor, number: int) -> Tensor:
    """(N, h, w) to (N, number, h, w): each peak with all that is nearer to it than to the others; the highest first."""
    # places by themselves have peaks within a thing, too; with their neighbours two that touch may have one in common
    smooth = avg_pool2d(own[:1], 3, 1, 1)
    peaks = torch.nonzero((smooth == max_pool2d(smooth, 3, 1, 1))[0] & (smooth[0] > LEAST))  # (P, 2)
    heights = smooth[0][peaks[:, 0], peaks[:, 1]]
    peaks = peaks[heights.argsort(descending=True, stable=True)[:number]]
    parts = own.new_full((own.shape[0], number, *own.shape[1:]), ELSEWHERE)
    if not len(peaks):
        return parts
    down = torch.arange(own.shape[1])[:, None]
    across = torch.arange(own.shape[2])[None]
    nearest = torch.stack([(down - peak[0]) ** 2 + (across - peak[1]) ** 2 for peak in peaks]).argmin(0)
    for row in range(len(peaks)):
        parts[:, row] = torch.where(nearest == row, own, parts[:, row])
    return parts
