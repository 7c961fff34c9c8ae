"""The expected value of a step: its chance of success times the gain from that, and a little for a refusal.

The printed model is the cautious one, so it is a *success* that mends it: every positive candidate that did not
hold is gone, and every effect that shows is known. A refusal only leaves a clause, or proves what the model says
already, so it counts for little.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.beliefs.constants import PROOF

Array = NDArray[np.float64]


def expected_value(success: Array, gain: Array | float, violated: Array | NDArray[np.int64]) -> Array:
    """The value of steps; zero where a step must fail, or where its success would tell nothing.

    Args:
        success: the probability of each step's success.
        gain: the value of its success.
        violated: how many candidates it violates, which are the possible reasons of a refusal.
    """
    refusal = (1 - success) * PROOF / np.maximum(violated, 1)
    return np.where((success > 0) & (np.asarray(gain) > 0), success * gain + refusal, 0.0)
