"""Worse pictures from good ones, so that the classifiers do not depend on the renderer's exact pixels.

What happens to a camera: it is moved, turned and zoomed a little; the light is stronger, weaker, of another colour, falls off
to one side, or leaves a part in shadow; something small is before the lens; the picture is blurred and noisy. Every strength is
drawn from a range, per picture, from the generator passed in.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Generator, Tensor
from torch.nn.functional import affine_grid, conv2d, grid_sample, pad

TURN: Final = 0.05
"""Largest turn either way, in radians."""
ZOOM: Final = 0.05
"""Largest relative change of size."""
MOVE: Final = 0.05
"""Largest move either way, as a share of half the picture."""
FALL: Final = 0.35
"""Largest relative change of the light from the middle to the edge."""
SHADE: Final = 0.55
"""Largest share of light that a shadow takes."""
GAIN: Final = 0.35
"""Largest relative change of all values."""
SHIFT: Final = 0.12
"""Largest shift of all colours together, and of each on top of it."""
FADE: Final = 0.2
"""Largest share of grey mixed in."""
BLUR: Final = 1.2
"""Largest standard deviation of the blur, in pixels as the network sees them."""
NOISE: Final = 0.13
"""Largest standard deviation of the noise; values are between 0 and 1."""
COVER: Final = 0.08
"""Largest side of what is before the lens, as a share of the picture."""

_HALF = 3  # of the blur's kernel


class _Chance:
    """Draws for a batch, one of each per picture."""

    def __init__(self, number: int, generator: Generator) -> None:
        self._number = number
        self._generator = generator

    def uniform(self, low: float, high: float, *shape: int) -> Tensor:
        shape = shape or (1, 1, 1)
        return torch.rand(self._number, *shape, generator=self._generator) * (high - low) + low

    def often(self, share: float) -> Tensor:
        return (torch.rand(self._number, 1, 1, 1, generator=self._generator) < share).float()


def augment(pictures: Tensor, generator: Generator) -> Tensor:
    """Pictures as another camera would have taken them, at another time.

    Args:
        pictures: float32, (N, 3, height, width), between 0 and 1.
        generator: the source of all chance.

    Returns:
        The same shape.
    """
    return augmented(pictures, pictures[:, :0], generator)[0]


def augmented(pictures: Tensor, where: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
    """Pictures as ``augment`` makes them, and where things are in them.

    Args:
        pictures: float32, (N, 3, height, width), between 0 and 1.
        where: float32, (N, looks, h, w): how much of every place shows a thing.
        generator: the source of all chance.

    Returns:
        The same shapes. What comes into the picture from beyond its edge shows no thing.
    """
    chance = _Chance(len(pictures), generator)
    motion = _motion(chance)
    pictures = _covered(_moved(pictures, motion, "border"), chance)
    return _lit(pictures, chance, generator), _moved(where, motion, "zeros")


def _lit(pictures: Tensor, chance: _Chance, generator: Generator) -> Tensor:
    """Under another light, blurred and noisy."""
    gain = 1 + chance.uniform(-GAIN, GAIN) * chance.often(0.6)
    shift = chance.uniform(-SHIFT, SHIFT) + chance.uniform(-SHIFT, SHIFT, 3, 1, 1)
    changed = pictures * (_light(pictures, chance) * gain) + shift * chance.often(0.7)
    changed = changed.clamp_(0, 1)
    changed = torch.lerp(changed, torch.full_like(changed, 0.5), chance.uniform(0, FADE) * chance.often(0.4))
    sigma, blurred = chance.uniform(0, BLUR), chance.often(0.5).flatten() > 0
    if blurred.any():
        changed[blurred] = _blurred(changed[blurred], sigma[blurred])
    noise = torch.randn(pictures.shape, generator=generator)
    return (changed + chance.uniform(0, NOISE) * chance.often(0.6) * noise).clamp_(0, 1)


def _motion(chance: _Chance) -> Tensor:
    """How each picture is turned, zoomed and moved: (N, 2, 3)."""
    turn = chance.uniform(-TURN, TURN, 1)[:, 0]
    zoom = 1 + chance.uniform(-ZOOM, ZOOM, 1)[:, 0]
    move = chance.uniform(-MOVE, MOVE, 2)
    cosine, sine = zoom * turn.cos(), zoom * turn.sin()
    return torch.stack(
        [torch.stack([cosine, -sine, move[:, 0]], 1), torch.stack([sine, cosine, move[:, 1]], 1)], 1
    )


def _moved(pictures: Tensor, motion: Tensor, beyond: str) -> Tensor:
    """Each picture turned, zoomed and moved in its own way; ``beyond``: how its edges are continued."""
    if not pictures.shape[1]:
        return pictures
    grid = affine_grid(motion, list(pictures.shape), align_corners=False)
    return grid_sample(pictures, grid, padding_mode=beyond, align_corners=False)


def _covered(pictures: Tensor, chance: _Chance) -> Tensor:
    """Some with a small rectangle of one colour before the lens."""
    down, across = _coordinates(pictures)
    middle, half = chance.uniform(-1, 1, 2, 1, 1), chance.uniform(0, COVER, 2, 1, 1)
    inside = ((across - middle[:, :1]).abs() < half[:, :1]) & ((down - middle[:, 1:]).abs() < half[:, 1:])
    return torch.lerp(pictures, chance.uniform(0, 1, 3, 1, 1), inside.float() * chance.often(0.5))


def _light(pictures: Tensor, chance: _Chance) -> Tensor:
    """What all values are multiplied by: a light from one side, and a shadow with a straight edge."""
    down, across = _coordinates(pictures)
    side = chance.uniform(0, 2 * torch.pi)
    light = 1 + (across * side.cos() + down * side.sin()) * chance.uniform(0, FALL) * chance.often(0.5)
    side = chance.uniform(0, 2 * torch.pi)
    behind = across * side.cos() + down * side.sin() - chance.uniform(-0.8, 0.8)
    shade = torch.sigmoid(4 * behind / chance.uniform(0.02, 0.2))
    return light * (1 - chance.uniform(0.1, SHADE) * chance.often(0.4) * shade)


def _coordinates(pictures: Tensor) -> tuple[Tensor, Tensor]:
    """Down and across of every pixel, from -1 to 1."""
    height, width = pictures.shape[2:]
    return torch.linspace(-1, 1, height)[:, None], torch.linspace(-1, 1, width)[None]


def _blurred(pictures: Tensor, sigma: Tensor) -> Tensor:
    """Gaussian blur of every picture by its own sigma, (N, 1, 1, 1); none where it is 0."""
    number, channels = pictures.shape[:2]
    steps = torch.arange(-_HALF, _HALF + 1).float()
    kernels = torch.exp(-(steps**2) / (2 * sigma.flatten()[:, None].clamp(min=0.05) ** 2))
    kernels = (kernels / kernels.sum(1, keepdim=True)).repeat_interleave(channels, 0)[:, None, None]
    planes = pad(pictures, (_HALF,) * 4, mode="replicate").flatten(0, 1)[None]
    planes = conv2d(planes, kernels, groups=number * channels)
    planes = conv2d(planes, kernels.transpose(2, 3), groups=number * channels)
    return planes.view_as(pictures)
