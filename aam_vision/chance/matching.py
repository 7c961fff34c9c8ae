"""In what trials of two versions have to agree to be compared: everything that seems to make a difference, whichever version made them.

Each run chooses its own situations, so two runs of one agent may be mixtures of other situations. What may be the reason is
looked for in all trials together, without regard to whose they are: a fact by which both versions' trials differ enough to feign a
difference between the versions differs itself by at least as much. Trials are compared within the strata that result (Mantel and Haenszel).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aam_vision.chance.constancy import Split, Trial, circumstances, remaining

_MATTERS = 2.0
"""Likelihood ratio (natural logarithm) of a circumstance from which trials have to agree in it."""
_MOST = 4
"""Circumstances in which they have to agree, at most."""


def strata(trials: Sequence[Trial], outcomes: int, atoms: int) -> tuple[list[Split], list[int]]:
    """The circumstances that seem to matter, and for every trial the number of its stratum: where all of these are the same.

    Args:
        trials: of both versions.
        outcomes: how many there are.
        atoms: how many atoms the action has.
    """
    came = np.eye(outcomes)[[one.outcome for one in trials]]
    told = circumstances(trials, atoms)
    found: list[Split] = []
    labels = [0] * len(trials)
    for _ in range(_MOST if outcomes > 1 else 0):
        ratios = [remaining(came, cell, labels) for _, cell in told]
        if not ratios or max(ratios) < _MATTERS:
            break
        split, cell = told[int(np.argmax(ratios))]
        found.append(split)
        labels = [2 * label + int(inside) for label, inside in zip(labels, cell, strict=True)]
    return found, labels
