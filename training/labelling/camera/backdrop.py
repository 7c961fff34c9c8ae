"""What a fixed camera sees apart from the things: the median of many pictures, which needs no label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.perception import Frame

MOST: Final = 120
"""Pictures that the median is taken of, at most: more of them are steadier, and take memory."""

DIFFERS: Final = 8
"""Of 255: how much a pixel differs from the backdrop, in its most different colour, where something else shows or casts a shadow."""


def backdrop_of(frames: Sequence[Frame]) -> Frame:
    """The median of pictures of one camera, pixel by pixel.

    Where one thing stands in more than half of the pictures, it is taken for a part of the backdrop.
    """
    chosen = np.linspace(0, len(frames) - 1, min(MOST, len(frames))).round().astype(int)
    found: Frame = np.median(np.stack([frames[number] for number in chosen]), axis=0).astype(np.uint8)
    return found


def differs(frame: Frame, backdrop: Frame) -> NDArray[np.bool_]:
    """(height, width): where a picture differs from the backdrop."""
    apart = np.abs(frame.astype(np.int16) - backdrop).max(2)
    found: NDArray[np.bool_] = apart > DIFFERS
    return found
