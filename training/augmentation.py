"""Worse images from good ones, so that the classifiers do not depend on the renderer's exact pixels.

Every strength is drawn from a range, per image, from the generator passed in; a batch is changed at once, because single images would
cost as much time as the training itself.

Boards are resampled before they are changed. They are moved by a pixel at most, because another image size moves them by a part of
one. Noise and specks on a large image are averaged when the board is resampled: what is left of them is fainter noise, and a fading
towards grey, since they are clipped at black and white.

A camera, which sees pictures without cells, is moved, turned and zoomed a little; the light is stronger, weaker, of another colour,
falls off to one side, or leaves a part in shadow; something small is before the lens; the picture is blurred and noisy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
from torch import Generator, Tensor
from torch.nn.functional import affine_grid, conv2d, grid_sample, pad


@dataclass(frozen=True)
class Strengths:
    """How much images are changed at most; their values are between 0 and 1.

    Args:
        noise: standard deviation.
        gain: relative change of all values.
        fade: share of grey mixed in.
        shift: of all channels together, and of each one on top of it.
        blur: standard deviation, in pixels as the network sees them.
        cast: relative change of each colour by itself.
    """

    noise: float
    gain: float
    fade: float
    shift: float
    blur: float
    cast: float = 0.0


BOARD: Final = Strengths(noise=0.16, gain=0.4, fade=0.4, shift=0.15, blur=1.5)
CAMERA: Final = Strengths(noise=0.13, gain=0.35, fade=0.2, shift=0.12, blur=1.2, cast=0.22)

CLEAN: Final = 0.15
"""Share of the boards that stay as they are."""

TURN: Final = 0.05
"""Largest turn of a camera either way, in radians."""
ZOOM: Final = 0.05
"""Largest relative change of size."""
MOVE: Final = 0.05
"""Largest move either way, as a share of half the picture."""
FALL: Final = 0.35
"""Largest relative change of the light from the middle to the edge."""
SHADE: Final = 0.55
"""Largest share of light that a shadow takes."""
COVER: Final = 0.08
"""Largest side of what is before the lens, as a share of the picture."""

_HALF = 3  # of the blur's kernel


class _Chance:
    """Draws for a batch, one of each per image."""

    def __init__(self, number: int, generator: Generator) -> None:
        self._number, self._generator = number, generator

    def uniform(self, low: float, high: float, *shape: int) -> Tensor:
        shape = shape or (1, 1, 1)
        return torch.rand(self._number, *shape, generator=self._generator) * (high - low) + low

    def often(self, share: float) -> Tensor:
        return (torch.rand(self._number, 1, 1, 1, generator=self._generator) < share).float()


def augment(boards: Tensor, generator: Generator) -> Tensor:
    """Boards (N, 3, height, width) from 0 to 1 as a worse camera would have seen them: each in its own way, some just as they are."""
    chance, most = _Chance(len(boards), generator), BOARD
    down, right = (int(step) for step in torch.randint(-1, 2, (2,), generator=generator))
    boards = torch.roll(boards, (down, right), (2, 3))
    gain = 1 + chance.uniform(-most.gain, most.gain) * chance.often(0.7)
    fade = chance.uniform(0, most.fade) * chance.often(0.5)
    shift = chance.uniform(-most.shift, most.shift) + chance.uniform(-most.shift, most.shift, 3, 1, 1)
    changed = (boards * gain + shift * chance.often(0.8)).clamp_(0, 1)
    changed = torch.lerp(changed, torch.full_like(changed, 0.5), fade)
    noise = torch.randn(boards.shape, generator=generator)
    changed = changed + chance.uniform(0, most.noise) * chance.often(0.7) * noise
    # and the noise: resampling blurs it, too
    changed = _blurred(changed, chance.uniform(0, most.blur) * chance.often(0.5))
    further = chance.uniform(0, most.noise / 2) * chance.often(0.5)
    changed = (changed + further * noise.flip(3)).clamp_(0, 1)
    return torch.where(chance.often(CLEAN) > 0, boards, changed)


def retaken(pictures: Tensor, where: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
    """Pictures as another camera would have taken them, at another time, and where things are in them.

    Args:
        pictures: float32, (N, 3, height, width), between 0 and 1.
        where: float32, (N, looks, h, w): how much of every place shows a thing of each look.
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
    most = CAMERA
    gain = 1 + chance.uniform(-most.gain, most.gain) * chance.often(0.6)
    shift = chance.uniform(-most.shift, most.shift) + chance.uniform(-most.shift, most.shift, 3, 1, 1)
    cast = 1 + chance.uniform(-most.cast, most.cast, 3, 1, 1) * chance.often(0.5)
    changed = pictures * (_light(pictures, chance) * gain * cast) + shift * chance.often(0.7)
    changed = changed.clamp_(0, 1)
    fade = chance.uniform(0, most.fade) * chance.often(0.4)
    changed = torch.lerp(changed, torch.full_like(changed, 0.5), fade)
    sigma, some = chance.uniform(0, most.blur), chance.often(0.5).flatten() > 0
    if some.any():
        changed[some] = _blurred(changed[some], sigma[some])
    noise = torch.randn(pictures.shape, generator=generator)
    return (changed + chance.uniform(0, most.noise) * chance.often(0.6) * noise).clamp_(0, 1)


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


def _blurred(images: Tensor, sigma: Tensor) -> Tensor:
    """Gaussian blur of every image by its own sigma, (N, 1, 1, 1); none where it is 0."""
    number, channels = images.shape[:2]
    steps = torch.arange(-_HALF, _HALF + 1).float()
    kernels = torch.exp(-(steps**2) / (2 * sigma.flatten()[:, None].clamp(min=0.05) ** 2))  # (N, taps)
    kernels = (kernels / kernels.sum(1, keepdim=True)).repeat_interleave(channels, 0)[:, None, None]
    planes = pad(images, (_HALF,) * 4, mode="replicate").flatten(0, 1)[None]
    planes = conv2d(planes, kernels, groups=number * channels)
    planes = conv2d(planes, kernels.transpose(2, 3), groups=number * channels)
    return planes.view_as(images)
