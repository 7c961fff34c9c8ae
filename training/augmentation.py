"""Worse images from good ones, so that the classifiers do not depend on the renderer's exact pixels.

Gain, brightness, shifts of single colour channels, blur and noise, as torchvision's transforms.v2 has
them. They are applied to resampled boards, where noise is harder to bear than on the full image. Every
strength is drawn from the generator passed in.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from aam_vision.training.torchvision_cure import cure_torchvision

NOISE = 0.3
"""Largest standard deviation of the noise; pixels are between 0 and 1."""
GAIN = 0.3
"""Largest relative change of brightness and of contrast."""
SHIFT = 0.2
"""Largest shift of one colour channel."""
BLUR = 1.5
"""Largest standard deviation of the blur, in pixels of the resampled board."""
CLEAN = 0.25
"""Share of the images that stay as they are."""


def augment(boards: Tensor, generator: Generator) -> Tensor:
    """Boards as a worse camera would have seen them.

    Args:
        boards: float32, (N, 3, height, width), between 0 and 1.
        generator: the source of all chance.

    Returns:
        The same shape; every board is changed in its own way, some not at all.
    """
    cure_torchvision()
    from torchvision.transforms.v2 import functional

    def uniform(*shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        return torch.rand(shape, generator=generator) * (high - low) + low

    changed = []
    for board in boards:
        if float(uniform()) < CLEAN:
            changed.append(board)
            continue
        brightness, contrast = uniform(2, low=1 - GAIN, high=1 + GAIN).tolist()
        board = functional.adjust_contrast(functional.adjust_brightness(board, brightness), contrast)
        board = (board + uniform(3, 1, 1, low=-SHIFT, high=SHIFT)).clamp_(0, 1)
        if float(uniform()) < 0.5:
            board = functional.gaussian_blur(board, [5, 5], [float(uniform(low=0.3, high=BLUR))])
        if float(uniform()) < 0.7:
            sigma = float(uniform(high=NOISE))
            board = (board + sigma * torch.randn(board.shape, generator=generator)).clamp_(0, 1)
        changed.append(board)
    return torch.stack(changed)
