"""What happens to images by a worse camera, screen or file: the conditions that perception is measured under.

Every corruption takes a frame as rendered and gives one of the same size; strengths are those of the classifiers' specification, applied at
full strength with random signs. To pictures of a camera in a room more happens than to boards on a screen: it shakes, the light comes from
another side, a shadow falls on the scene, something small is before the lens. Training never sees these functions: `augmentation` draws
from ranges, on images as the network sees them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Frame

Corrupt = Callable[[Frame, np.random.Generator], Frame]
"""A frame made worse, with all chance from the generator."""


@dataclass(frozen=True)
class Corruption:
    """One condition, and the share of whole states that must be read exactly under it."""

    corrupt: Corrupt
    least_exact: float


def noise(frame: Frame, rng: np.random.Generator, sigma: float) -> Frame:
    """Gaussian noise of standard deviation ``sigma`` (values are between 0 and 1) on every value, clipped."""
    return _frame(frame + 255 * sigma * rng.standard_normal(frame.shape, dtype=np.float32))


def blur(frame: Frame, rng: np.random.Generator, radius: float) -> Frame:
    """Pillow's Gaussian blur; its radius is the standard deviation, in pixels of the image."""
    from PIL import Image, ImageFilter

    return np.asarray(Image.fromarray(frame).filter(ImageFilter.GaussianBlur(radius)))


def brightness(frame: Frame, rng: np.random.Generator, shift: float) -> Frame:
    """All values lighter, or all darker, by ``shift``."""
    return _frame(frame.astype(np.float32) + np.float32(255 * shift * _sign(rng)))


def channels(frame: Frame, rng: np.random.Generator, shift: float) -> Frame:
    """Every colour channel lighter or darker by ``shift``, each with a sign of its own."""
    shifts = np.array([255 * shift * _sign(rng) for _ in range(3)], np.float32)
    return _frame(frame.astype(np.float32) + shifts)


def gain(frame: Frame, rng: np.random.Generator, change: float) -> Frame:
    """All values multiplied by 1 + ``change`` or 1 - ``change``."""
    return _frame(frame.astype(np.float32) * np.float32(1 + change * _sign(rng)))


def jpeg(frame: Frame, rng: np.random.Generator, quality: int) -> Frame:
    """Written as JPEG by Pillow and read again."""
    from PIL import Image

    file = BytesIO()
    Image.fromarray(frame).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file, formats=["JPEG"]))


def salt_and_pepper(frame: Frame, rng: np.random.Generator, share: float) -> Frame:
    """A share of the pixels black or white, one as likely as the other."""
    drawn = rng.random(frame.shape[:2], dtype=np.float32)
    worse = frame.copy()
    worse[drawn < share / 2] = 0
    worse[drawn > 1 - share / 2] = 255
    return worse


def shake(frame: Frame, rng: np.random.Generator, share: float, degrees: float) -> Frame:
    """Moved by up to ``share`` of the width and height, and turned by up to ``degrees``; edges are continued."""
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
    moved = Image.fromarray(wide).transform(size, Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR)
    return np.asarray(moved)[edge:-edge, edge:-edge]


def side_light(frame: Frame, rng: np.random.Generator, change: float) -> Frame:
    """Lighter towards one side and darker towards the other, by up to ``change``; the side is drawn."""
    return _scaled(frame, 1 + np.float32(change) * _ramp(frame, rng))


def shadow(frame: Frame, rng: np.random.Generator, share: float) -> Frame:
    """A shadow with a straight edge takes ``share`` of the light on one side of a line that is drawn."""
    behind = _ramp(frame, rng) > rng.uniform(-0.6, 0.6)
    return _scaled(frame, 1 - np.float32(share) * behind.astype(np.float32))


def texture(frame: Frame, rng: np.random.Generator, change: float) -> Frame:
    """A pattern of stripes over everything, lighter and darker by ``change``; width and direction are drawn."""
    waves = np.sin(_ramp(frame, rng) * rng.uniform(20, 60) + rng.uniform(0, 2 * np.pi))
    return _scaled(frame, 1 + np.float32(change) * waves.astype(np.float32))


def occlusion(frame: Frame, rng: np.random.Generator, share: float) -> Frame:
    """A rectangle of one colour, ``share`` of the width and height, anywhere before the lens."""
    height, width = frame.shape[:2]
    down, across = max(1, round(share * height)), max(1, round(share * width))
    top, left = int(rng.integers(height - down + 1)), int(rng.integers(width - across + 1))
    worse = frame.copy()
    worse[top : top + down, left : left + across] = rng.integers(0, 256, 3, dtype=np.uint8)
    return worse


CLEAN: Final = Corruption(lambda frame, rng: frame, 1.0)

CORRUPTIONS: Final[Mapping[str, Corruption]] = {
    "noise 0.1": Corruption(partial(noise, sigma=0.1), 0.999),
    "noise 0.2": Corruption(partial(noise, sigma=0.2), 0.99),
    "noise 0.3": Corruption(partial(noise, sigma=0.3), 0.97),
    "blur 2": Corruption(partial(blur, radius=2), 0.99),
    "brightness 0.2": Corruption(partial(brightness, shift=0.2), 0.99),
    "channels 0.2": Corruption(partial(channels, shift=0.2), 0.99),
    "gain 0.3": Corruption(partial(gain, change=0.3), 0.99),
    "jpeg 30": Corruption(partial(jpeg, quality=30), 0.99),
    "salt-pepper 5%": Corruption(partial(salt_and_pepper, share=0.05), 0.99),
}
"""Of boards."""

CAMERA_CORRUPTIONS: Final[Mapping[str, Corruption]] = {
    name: Corruption(corrupt, 0.97)
    for name, corrupt in {
        "noise 0.1": partial(noise, sigma=0.1),
        "blur 1": partial(blur, radius=1),
        "brightness 0.15": partial(brightness, shift=0.15),
        "channels 0.1": partial(channels, shift=0.1),
        "gain 0.3": partial(gain, change=0.3),
        "jpeg 50": partial(jpeg, quality=50),
        "salt-pepper 2%": partial(salt_and_pepper, share=0.02),
        "shake 2%, 2 degrees": partial(shake, share=0.02, degrees=2),
        "side light 0.3": partial(side_light, change=0.3),
        "shadow 0.4": partial(shadow, share=0.4),
        "texture 0.1": partial(texture, change=0.1),
        "occlusion 4%": partial(occlusion, share=0.04),
    }.items()
}
"""Of pictures without cells, which are small."""


def _sign(rng: np.random.Generator) -> int:
    return 1 if rng.random() < 0.5 else -1


def _ramp(frame: Frame, rng: np.random.Generator) -> NDArray[np.float32]:
    """From -1 at one side of the picture to 1 at the other; which side is drawn: (height, width)."""
    height, width = frame.shape[:2]
    direction = rng.uniform(0, 2 * np.pi)
    across, down = np.linspace(-1, 1, width), np.linspace(-1, 1, height)
    ramp = across[None] * np.cos(direction) + down[:, None] * np.sin(direction)
    clipped: NDArray[np.float32] = np.clip(ramp, -1, 1).astype(np.float32)
    return clipped


def _scaled(frame: Frame, light: NDArray[np.float32]) -> Frame:
    return _frame(frame * light[..., None])


def _frame(values: NDArray[np.float32]) -> Frame:
    return values.clip(0, 255).round().astype(np.uint8)
