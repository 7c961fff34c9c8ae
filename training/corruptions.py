"""Effects of a worse camera, screen or file on images: the conditions that perception is measured under.

Every corruption takes a frame as rendered and gives one of the same size; strengths are those of the
classifiers' specification, applied at full strength with random signs. Training never sees these
functions: `augmentation` draws from ranges, on resampled boards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.perception import Frame

Corrupt = Callable[[Frame, np.random.Generator], Frame]
"""A frame made worse, with all chance from the generator."""


@dataclass(frozen=True)
class Corruption:
    """One condition, and the share of whole states that must be read exactly under it."""

    corrupt: Corrupt
    least_exact: float


def noise(sigma: float) -> Corrupt:
    """Gaussian noise of standard deviation ``sigma`` (values are between 0 and 1) on every value, clipped."""

    def corrupt(frame: Frame, rng: np.random.Generator) -> Frame:
        return _frame(frame + 255 * sigma * rng.standard_normal(frame.shape, dtype=np.float32))

    return corrupt


def blur(radius: float) -> Corrupt:
    """Pillow's Gaussian blur; its radius is the standard deviation, in pixels of the image."""

    def corrupt(frame: Frame, rng: np.random.Generator) -> Frame:
        from PIL import Image, ImageFilter

        return np.asarray(Image.fromarray(frame).filter(ImageFilter.GaussianBlur(radius)))

    return corrupt


def brightness(shift: float) -> Corrupt:
    """All values lighter, or all darker, by ``shift``."""

    def corrupt(frame: Frame, rng: np.random.Generator) -> Frame:
        return _frame(frame.astype(np.float32) + np.float32(255 * shift * _sign(rng)))

    return corrupt


def channels(shift: float) -> Corrupt:
    """Every colour channel lighter or darker by ``shift``, each with a sign of its own."""

    def corrupt(frame: Frame, rng: np.random.Generator) -> Frame:
        return _frame(
            frame.astype(np.float32) + np.array([255 * shift * _sign(rng) for _ in range(3)], np.float32)
        )

    return corrupt


def gain(change: float) -> Corrupt:
    """All values multiplied by 1 + ``change`` or 1 - ``change``."""

    def corrupt(frame: Frame, rng: np.random.Generator) -> Frame:
        return _frame(frame.astype(np.float32) * np.float32(1 + change * _sign(rng)))

    return corrupt


def jpeg(quality: int) -> Corrupt:
    """Written as JPEG by Pillow and read again."""

    def corrupt(frame: Frame, rng: np.random.Generator) -> Frame:
        from PIL import Image

        file = BytesIO()
        Image.fromarray(frame).save(file, "JPEG", quality=quality)
        return np.asarray(Image.open(file, formats=["JPEG"]))

    return corrupt


def salt_and_pepper(share: float) -> Corrupt:
    """A share of the pixels black or white, one as likely as the other."""

    def corrupt(frame: Frame, rng: np.random.Generator) -> Frame:
        drawn = rng.random(frame.shape[:2], dtype=np.float32)
        worse = frame.copy()
        worse[drawn < share / 2] = 0
        worse[drawn > 1 - share / 2] = 255
        return worse

    return corrupt


CLEAN: Final = Corruption(lambda frame, rng: frame, 1.0)

CORRUPTIONS: Final[Mapping[str, Corruption]] = {
    "noise 0.1": Corruption(noise(0.1), 0.999),
    "noise 0.2": Corruption(noise(0.2), 0.99),
    "noise 0.3": Corruption(noise(0.3), 0.97),
    "blur 2": Corruption(blur(2), 0.99),
    "brightness 0.2": Corruption(brightness(0.2), 0.99),
    "channels 0.2": Corruption(channels(0.2), 0.99),
    "gain 0.3": Corruption(gain(0.3), 0.99),
    "jpeg 30": Corruption(jpeg(30), 0.99),
    "salt-pepper 5%": Corruption(salt_and_pepper(0.05), 0.99),
}


def _sign(rng: np.random.Generator) -> int:
    return 1 if rng.random() < 0.5 else -1


def _frame(values: NDArray[np.float32]) -> Frame:
    return values.clip(0, 255).round().astype(np.uint8)
