"""Whether answers fit any STRIPS model at all, when some of them are wrong by chance.

Chance errors have the same rate everywhere. Where an atom contradicts its best mode far more often than its predicate
is misread, or an applicable action is refused far more often than others, the outcome depends on something that the
model does not express.
"""

from __future__ import annotations

from math import comb, exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.statistics.counts import Counts

CHANCE = 1e-4
"""Tail probability below which no model fits. Higher: misfits are found sooner, and more good fits are rejected."""
SUSPICIOUS = 0.02
"""Tail probability below which a mode stays in doubt. Higher: fewer wrong modes, more trials."""
SLACK = (1.5, 0.005)
"""Factor and constant by which an estimated rate may be too low. More: fewer false alarms, later true ones."""
MAX_RATE = 0.99
"""The highest rate after that, so that its complement has a logarithm."""
MARGIN = 1.5
"""Factor for the looks that show an effect: some of them may be misread. More: more trials, fewer missed effects."""


def tail(happened: int, of: int, rate: float) -> float:
    """A Chernoff bound on the probability of at least ``happened`` events; 1 where that is not more than expected."""
    rate = min(SLACK[0] * rate + SLACK[1], MAX_RATE)
    share = happened / of if of else 0.0
    if share <= rate:
        return 1.0
    divergence = share * log(share / rate)
    if share < 1:
        divergence += (1 - share) * log((1 - share) / (1 - rate))
    return exp(-of * divergence)


def effect_chances(
    seen: Counts, effect: NDArray[np.float64], misread: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The tail probability of each atom's values that contradict its best mode; shape ``(n,)``.

    Args:
        seen: values before an executed step and as seen after it; shape ``(n, 2, 2)``.
        effect: the probability of every mode: added, deleted, kept; shape ``(n, 3)``.
        misread: the rates at which false and true values are misread; shape ``(n, 2)``.
    """
    chances = np.ones(len(seen))
    for number, best in enumerate(effect.argmax(axis=1)):
        for before in (0, 1):
            value = (1, 0, before)[int(best)]
            wrong, total = int(seen[number, before, 1 - value]), int(seen[number, before].sum())
            chances[number] = min(chances[number], tail(wrong, total, float(misread[number, value])))
    return chances


def unfit_together(
    changes: NDArray[np.bool_], effect: NDArray[np.float64], misread: NDArray[np.float64]
) -> bool:
    """Whether atoms contradict their best modes together, as when a step sometimes has other effects.

    Misreadings are independent of each other, so few of a step's atoms are misread at once. The bound holds for any
    number of the least probable steps, and for testing again after every one of them.

    Args:
        changes: values before an executed step and as seen after it; shape ``(steps, 2, n)``.
        effect: as for ``effect_chances``; shape ``(n, 3)``.
        misread: likewise; shape ``(n, 2)``.
    """
    if not changes.size:
        return False
    best = effect.argmax(axis=1)
    expected = np.where(best == 2, changes[:, 0], best == 0)
    rates = np.where(expected, misread[:, 1], misread[:, 0]).mean(axis=1)
    wrong, size = (changes[:, 1] != expected).sum(axis=1), changes.shape[2]
    tails = sorted(tail(int(one), size, float(rate)) for one, rate in zip(wrong, rates, strict=True))
    allowed, surprise = log(CHANCE) - 2 * log(len(tails)), 0.0
    for number, chance in enumerate(tails, 1):
        surprise -= log(chance)
        if not surprise:
            break
        # Fisher's method: so many uniform numbers have a product this small; Bonferroni for the choice of steps
        terms = sum(exp(k * log(surprise) - lgamma(k + 1)) for k in range(number))
        if log(comb(len(tails), number)) - surprise + log(terms) < allowed:
            return True
    return False


def looks_missing(
    seen: Counts, required: NDArray[np.bool_], misread: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The number of further looks at each atom, by its value before, so that another effect would show.

    Shape ``(n, 2)``, as ``misread``. An atom that is ``required`` to hold, or not to (shape ``(2, n)``), has one value.
    """
    rates = np.minimum(SLACK[0] * misread.max(axis=1) + SLACK[1], MAX_RATE)
    needed = np.ceil(MARGIN * np.log(CHANCE) / np.log(rates)).astype(np.int64)
    missing: NDArray[np.int64] = np.maximum(needed[:, None] - seen.sum(axis=2), 0)
    missing[required.any(axis=0)] = 0
    return missing


def unfit_precondition(
    executed: NDArray[np.bool_], applicable: NDArray[np.bool_], refusals: float, executions: float
) -> bool:
    """Whether the best precondition of an action fits its trials badly; both masks have the shape ``(trials,)``.

    ``refusals`` and ``executions`` are the rates of all actions together.
    """
    refused, wrong = int((applicable & ~executed).sum()), int((~applicable & executed).sum())
    return (
        tail(refused, int(applicable.sum()), refusals) < CHANCE
        or tail(wrong, int((~applicable).sum()), executions) < CHANCE
        or bool(executed.any() and not (applicable & executed).any())
    )
