"""Worse boards from good ones, so that the classifiers do not depend on the renderer's exact pixels.

Gain, fading, brightness, shifts of single colour channels, blur and noise, applied to resampled boards,
which are also moved by a pixel at most, because another image size moves them by a part of one.
Every strength is drawn from a range, per board, from the generator passed in; a batch is changed at once,
because single boards would cost as much time as the training itself.

Noise and specks on a large image are averaged when the board is resampled: what is left of them is fainter
noise, and a fading towards grey, since they are clipped at black and white.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor
from torch.nn.functional import conv2d, pad

NOISE = 0.16
"""Largest standard deviation of the noise; pixels are between 0 and 1."""
GAIN = 0.4
"""Largest relative change of all values."""
FADE = 0.4
"""Largest share of grey mixed in."""
SHIFT = 0.15
"""Largest shift of all channels together, and of each one on top of it."""
BLUR = 1.5
"""Largest standard deviation of the blur, in pixels of the resampled board."""
CLEAN = 0.15
"""Share of the boards that stay as they are."""

_HALF = 3  # of the blur's kernel


def augment(boards: Tensor, generator: Generator) -> Tensor:
    """Boards as a worse camera would have seen them.

    Args:
        boards: float32, (N, 3, height, width), between 0 and 1.
        generator: the source of all chance.

    Returns:
        The same shape; every board is changed in its own way, some not at all.
    """
    number = len(boards)

    def uniform(low: float, high: float, channels: int = 1) -> Tensor:
        return torch.rand(number, channels, 1, 1, generator=generator) * (high - low) + low

    def often(share: float) -> Tensor:
        return (torch.rand(number, 1, 1, 1, generator=generator) < share).float()

    down, right = (int(step) for step in torch.randint(-1, 2, (2,), generator=generator))
    boards = torch.roll(boards, (down, right), (2, 3))
    gain = 1 + uniform(-GAIN, GAIN) * often(0.7)
    fade = uniform(0, FADE) * often(0.5)
    shift = uniform(-SHIFT, SHIFT) + uniform(-SHIFT, SHIFT, 3)
    changed = (boards * gain + shift * often(0.8)).clamp_(0, 1)
    changed = torch.lerp(changed, torch.full_like(changed, 0.5), fade)
    noise = torch.randn(boards.shape, generator=generator)
    changed = changed + uniform(0, NOISE) * often(0.7) * noise
    changed = blurred(changed, uniform(0, BLUR) * often(0.5))  # and the noise: resampling blurs it, too
    changed = (changed + uniform(0, NOISE / 2) * often(0.5) * noise.flip(3)).clamp_(0, 1)
    return torch.where(often(CLEAN) > 0, boards, changed)


def blurred(boards: Tensor, sigma: Tensor) -> Tensor:
    """Gaussian blur of every board or picture by its own sigma, (N, 1, 1, 1); none where it is 0."""
    number, channels = boards.shape[:2]
    steps = torch.arange(-_HALF, _HALF + 1).float()
    kernels = torch.exp(-(steps**2) / (2 * sigma.flatten()[:, None].clamp(min=0.05) ** 2))  # (N, taps)
    kernels = (kernels / kernels.sum(1, keepdim=True)).repeat_interleave(channels, 0)[:, None, None]
    planes = pad(boards, (_HALF,) * 4, mode="replicate").flatten(0, 1)[None]
    planes = conv2d(planes, kernels, groups=number * channels)
    planes = conv2d(planes, kernels.transpose(2, 3), groups=number * channels)
    return planes.view_as(boards)
