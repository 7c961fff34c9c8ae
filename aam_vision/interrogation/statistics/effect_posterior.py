"""The posterior of an action's effects when states may be misread."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.statistics.counts import Counts
from aam_vision.strips import Mode

MODES = (Mode.POSITIVE, Mode.NEGATIVE, Mode.ABSENT)
PRIOR = np.log([0.15, 0.15, 0.7])
"""Log-probability that an action adds, deletes or keeps an atom. Rarer changes: fewer false effects, more trials."""


def effects(seen: Counts, logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of every mode of every atom's effect; shape ``(atoms, 3)``, in the order of ``MODES``.

    Args:
        seen: values before an executed step and as seen after it; shape ``(atoms, 2, 2)``.
        logarithms: log-probabilities of seeing each true value as each value; shape ``(atoms, 2, 2)``.
    """
    after = seen.sum(axis=1)  # (atoms, 2)
    added = (after * logarithms[:, 1]).sum(axis=1)
    deleted = (after * logarithms[:, 0]).sum(axis=1)
    kept = (seen * logarithms).sum(axis=(1, 2))
    scores = np.stack([added, deleted, kept], axis=1) + PRIOR
    scores -= scores.max(axis=1, keepdims=True)
    likelihoods = np.exp(scores)
    probabilities: NDArray[np.float64] = likelihoods / likelihoods.sum(axis=1, keepdims=True)
    return probabilities
