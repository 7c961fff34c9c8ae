"""In what trials of two versions have to agree to be compared: everything that seems to make a difference, whichever version made them.

Each run chooses its own situations, so two runs of one agent may be mixtures of other situations. What may be the reason is
looked for in all trials together, without regard to whose they are: a fact by which both versions' trials differ enough to feign a
difference between the versions differs itself by at least as much. Where versions do differ, what goes with them does, too: what would have
shown within a version and did not is not the reason. Trials are compared within the strata that result (Mantel and Haenszel).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aam_vision.interrogation.chance.betting import Numbers
from aam_vision.interrogation.chance.constancy import Split, Trial, circumstances, remaining

_MATTERS = 4.0
"""Likelihood ratio (natural logarithm) of a circumstance from which trials have to agree in it.

Less cannot feign a difference between versions, which takes log(1/.05), and one to three for what is not known beforehand. Of dozens of
circumstances one or more have half of this by chance, and each that trials have to agree in takes most of the evidence of small strata.
"""
_MOST = 4
"""Circumstances in which they have to agree, at most."""


_FAINT = 0.25
"""Share of the evidence that was to be expected within versions below which a circumstance is not the reason."""


def strata(
    trials: Sequence[Trial], outcomes: int, atoms: int, *, first: int = 0
) -> tuple[list[Split], list[int]]:
    """The circumstances that seem to matter, and for every trial the number of its stratum: where all of these are the same.

    Args:
        trials: of both versions.
        outcomes: how many there are.
        atoms: how many atoms the action has.
        first: how many of the trials, at the beginning, are the first version's.
    """
    came = np.eye(outcomes)[[one.outcome for one in trials]]
    told = circumstances(trials, atoms)
    found: list[Split] = []
    labels = [0] * len(trials)
    for _ in range(_MOST if outcomes > 1 else 0):
        ratios = [remaining(came, cell, labels) for _, cell in told]
        versions = [2 * label + int(place >= first) for place, label in enumerate(labels)]
        reasons = []
        for ratio, (split, cell) in zip(ratios, told, strict=True):
            if ratio >= _MATTERS:
                expected = ratio * _varied(cell, versions) / _varied(cell, labels)
                if expected < _MATTERS or remaining(came, cell, versions) >= _FAINT * expected:
                    reasons.append((ratio, split, cell))
        if not reasons:
            break
        _, split, cell = max(reasons, key=lambda one: one[0])
        found.append(split)
        labels = [2 * label + int(inside) for label, inside in zip(labels, cell, strict=True)]
    return found, labels


def _varied(cell: Numbers, strata: Sequence[int]) -> float:
    """How much a circumstance was varied within strata: what the evidence of a difference by it is proportional to."""
    own, found = np.array(strata), 0.0
    for stratum in dict.fromkeys(strata):
        inside = cell[own == stratum]
        found += float(inside.sum() * (1 - inside.mean()))
    return found
