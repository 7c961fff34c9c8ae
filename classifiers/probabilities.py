"""What logits stand for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def probabilities_of(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """The probabilities that logits stand for; no exponential overflows."""
    small = np.exp(-abs(logits))
    found: NDArray[np.float32] = np.where(logits >= 0, 1, small) / (1 + small)
    return found
