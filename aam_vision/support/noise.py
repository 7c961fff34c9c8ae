"""What a sensor's noise does to images of a scene in which nothing has happened."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

MOST_NOISE: Final = 8.0
"""Standard deviation of a sensor's noise, at most, of 255: more of it hides what happens."""
OUTLIER: Final = 7.0
"""Standard deviations that no single pixel differs by, of millions."""
BLOCK: Final = 8
"""Pixels of the side of the blocks whose means are compared: what happens changes neighbours alike."""
TOGETHER: Final = 10.0
"""Standard deviations, of independent pixels, that no block's mean differs by: neighbours in pictures of cameras are not quite independent."""


def only_noise(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> bool:
    """Whether two images, (height, width, 3), differ by no more than a sensor's noise: by little everywhere, and nowhere alike."""
    if one.shape != other.shape:
        return False
    apart = one.astype(np.float32) - other
    spread = float(apart.std())
    if spread > MOST_NOISE * 2**0.5 or np.abs(apart).max() > OUTLIER * spread + 1:
        return False
    high, wide = (min(BLOCK, side) for side in apart.shape[:2])
    rows, columns = apart.shape[0] // high, apart.shape[1] // wide
    blocks = apart[: rows * high, : columns * wide].reshape(rows, high, columns, wide, -1)
    return bool(np.abs(blocks.mean((1, 3))).max() <= TOGETHER * spread / (high * wide) ** 0.5)
