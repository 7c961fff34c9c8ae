"""What happens to pictures from a camera: the conditions that perception of scenes without cells is measured under.

Those of ``training.corruptions`` at strengths for small pictures, and what a camera in a room meets besides: it shakes, the
light comes from another side, a shadow falls on the scene, something small is before the lens. Training never sees these
functions: ``augmentation`` draws from ranges, on pictures as the network sees them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.perception import Frame
from aam_vision.training import corruptions as screen
from aam_vision.training.corruptions import Corrupt, Corruption

LEAST: Final = 0.97
"""Share of whole states that must be read exactly under each condition."""


def shake(share: float, degrees: float) -> Corrupt:
    """Moved by up to ``share`` of the width and height, and turned by up to ``degrees``; edges are continued."""

    def corrupt(frame: Frame, rng: np.random.Generator) -> Frame:
        from PIL import Image

        height, width = frame.shape[:2]
        right, down = rng.uniform(-share, share, 2) * (width, height)
        turn = np.deg2rad(rng.uniform(-degrees, degrees))
        cosine, sine = float(np.cos(turn)), float(np.sin(turn))
        edge = max(height, width) // 4
        wide = np.pad(frame, ((edge, edge), (edge, edge), (0, 0)), mode="edge")
        x, y = width / 2 + edge, height / 2 + edge
        matrix = (
            *(cosine, -sine, x - cosine * x + sine * y + right),
            *(sine, cosine, y - sine * x - cosine * y + down),
        )
        size = (wide.shape[1], wide.shape[0])
        moved = Image.fromarray(wide).transform(
            size, Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR
        )
        return np.asarray(moved)[edge:-edge, edge:-edge]

    return corrupt


def side_light(change: float) -> Corrupt:
    """Lighter towards one side and darker towards the other, by up to ``change``; the side is drawn."""

    def corrupt(frame: Frame, rng: np.random.Generator) -> Frame:
        return _scaled(frame, 1 + np.float32(change) * _ramp(frame, rng))

    return corrupt


def shadow(share: float) -> Corrupt:
    """A shadow with a straight edge takes ``share`` of the light on one side of a line that is drawn."""

    def corrupt(frame: Frame, rng: np.random.Generator) -> Frame:
        behind = _ramp(frame, rng) > rng.uniform(-0.6, 0.6)
        return _scaled(frame, 1 - np.float32(share) * behind.astype(np.float32))

    return corrupt


def texture(change: float) -> Corrupt:
    """A pattern of stripes over everything, lighter and darker by ``change``; width and direction are drawn."""

    def corrupt(frame: Frame, rng: np.random.Generator) -> Frame:
        waves = np.sin(_ramp(frame, rng) * rng.uniform(20, 60) + rng.uniform(0, 2 * np.pi))
        return _scaled(frame, 1 + np.float32(change) * waves.astype(np.float32))

    return corrupt


def occlusion(share: float) -> Corrupt:
    """A rectangle of one colour, ``share`` of the width and height, anywhere before the lens."""

    def corrupt(frame: Frame, rng: np.random.Generator) -> Frame:
        height, width = frame.shape[:2]
        down, across = max(1, round(share * height)), max(1, round(share * width))
        top, left = int(rng.integers(height - down + 1)), int(rng.integers(width - across + 1))
        worse = frame.copy()
        worse[top : top + down, left : left + across] = rng.integers(0, 256, 3, dtype=np.uint8)
        return worse

    return corrupt


CORRUPTIONS: Final[Mapping[str, Corruption]] = {
    "noise 0.1": Corruption(screen.noise(0.1), LEAST),
    "blur 1": Corruption(screen.blur(1), LEAST),
    "brightness 0.15": Corruption(screen.brightness(0.15), LEAST),
    "channels 0.1": Corruption(screen.channels(0.1), LEAST),
    "gain 0.3": Corruption(screen.gain(0.3), LEAST),
    "jpeg 50": Corruption(screen.jpeg(50), LEAST),
    "salt-pepper 2%": Corruption(screen.salt_and_pepper(0.02), LEAST),
    "shake 2%, 2 degrees": Corruption(shake(0.02, 2), LEAST),
    "side light 0.3": Corruption(side_light(0.3), LEAST),
    "shadow 0.4": Corruption(shadow(0.4), LEAST),
    "texture 0.1": Corruption(texture(0.1), LEAST),
    "occlusion 4%": Corruption(occlusion(0.04), LEAST),
}


def _ramp(frame: Frame, rng: np.random.Generator) -> NDArray[np.float32]:
    """From -1 at one side of the picture to 1 at the other; which side is drawn: (height, width)."""
    height, width = frame.shape[:2]
    direction = rng.uniform(0, 2 * np.pi)
    across, down = np.linspace(-1, 1, width), np.linspace(-1, 1, height)
    ramp = across[None] * np.cos(direction) + down[:, None] * np.sin(direction)
    clipped: NDArray[np.float32] = np.clip(ramp, -1, 1).astype(np.float32)
    return clipped


def _scaled(frame: Frame, light: NDArray[np.float32]) -> Frame:
    return (frame * light[..., None]).clip(0, 255).round().astype(np.uint8)
