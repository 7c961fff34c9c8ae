"""Whether a probability is the same in two versions of an agent, and by how much it differs; valid however long either was tried.

For a probability p of one version, ``intervals.evidence`` is a martingale that ever reaches 1/a with probability a at most. Two
versions whose chance is independent have two such martingales, and their product is one, too, in whatever order trials were made
and whenever each version's stopped. So the set of all pairs (p, q) against which the product has not reached 1/a has the true
pair at all times with probability 1 - a. What it leaves of p - q is the interval of the difference; if it has no pair with p = q,
the versions differ. (The least value of the product over all p = q is an *e-process* for the hypothesis that they are equal:
Ramdas, Grünwald, Vovk and Shafer, "Game-theoretic statistics and safe anytime-valid inference", 2023.)

Where both drew their chance from one seed, the martingales depend on each other, and the product may be none. There both have to
stay below 2/a, whatever the dependence; the price is about twice as many trials.

Of an action's outcomes, one of probabilities p and q has the share (p + q)/2 of the error probability: the shares add up to
one, however many outcomes there are. The actions have equal shares (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import exp, inf, log
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.chance.intervals import evidence

ALPHA = 0.05
"""Probability that two equal versions are called different, or that any interval is wrong."""
CONCENTRATION = 16.0
"""Of the mixture: near the optimum where probabilities differ by .1 to .3 and that is found after 50 to 400 trials."""
_GRID = 1000
"""Probabilities that are looked at, evenly spread; limits are rounded outwards to them."""
_SIDE = (np.arange(_GRID) + 0.5) / _GRID
_COARSE = 64
_STEPS = 20
_GOLDEN = (5**0.5 - 1) / 2
Numbers = np.ndarray[tuple[int], np.dtype[np.float64]]


class Count(NamedTuple):
    """How often an outcome came, in how many trials; of ``lost`` more it is not known, and each may or may not have been it."""

    hits: int
    trials: int
    lost: int = 0

    @property
    def share(self) -> float:
        """The share of the trials; one half if there are none."""
        return self.hits / self.trials if self.trials else 0.5


@dataclass(frozen=True)
class Comparison:
    """An outcome in two versions; the intervals of all outcomes of all actions hold together, at all times, with 95%.

    Args:
        one: of how many trials it was the outcome in the one version. Which trials are made may depend on all earlier ones.
        other: the same in the other.
        actions: how many actions are compared.
        independent: whether the versions' chance is; else any dependence is allowed for.
    """

    one: Count
    other: Count
    actions: int
    independent: bool = True
    strata: tuple[tuple[Count, Count], ...] = ()
    """The same by situations, where trials are compared only with those of the other version in situations that are alike."""

    @cached_property
    def limits(self) -> tuple[float, float]:
        """How much more probable it is in the other version: the limits of an interval.

        Of a difference in the situations that show most of it; else in all of them.
        """
        pairs = self.strata or ((self.one, self.other),)
        alpha = ALPHA / self.actions / len(pairs)
        found = [difference_limits(*pair, alpha, independent=self.independent) for pair in pairs]
        if self.different:
            return min(found, key=lambda limits: limits[1] - limits[0])
        return min(low for low, _ in found), max(high for _, high in found)

    @cached_property
    def p_value(self) -> float:
        """How probable so much evidence at any time is at most if nothing differs; corrected for the number of comparisons."""
        pairs = self.strata or ((self.one, self.other),)
        found = sum(against_equality(*pair, independent=self.independent) for pair in pairs)
        return min(1.0, self.actions * exp(-max(0.0, found)))

    @property
    def different(self) -> bool:
        """Whether chance does not explain the difference."""
        return self.p_value <= ALPHA


@lru_cache(maxsize=10_000)
def against_equality(one: Count, other: Count, *, independent: bool = True) -> float:
    """The logarithm of the evidence against an equal probability: ever at least log(1/a) with probability p a at most, if it is p."""

    def at(p: float) -> float:
        first, second = _against(p, one), _against(p, other)
        return (first + second if independent else max(first, second) - log(2)) + log(p)

    places = [(number + 0.5) / _COARSE for number in range(_COARSE)]
    values = [at(p) for p in places]
    best = min(range(_COARSE), key=values.__getitem__)
    found = values[best]
    low, high = max(0.0, (best - 0.5) / _COARSE), min(1.0, (best + 1.5) / _COARSE)
    for _ in range(_STEPS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = at(left), at(right)
        found = min(found, at_left, at_right)
        low, high = (low, right) if at_left < at_right else (left, high)
    return found


@lru_cache(maxsize=10_000)
def difference_limits(
    one: Count, other: Count, alpha: float, *, independent: bool = True
) -> tuple[float, float]:
    """The limits of q - p over all pairs that the trials do not contradict, p of the one version and q of the other."""
    if not one.trials + one.lost and not other.trials + other.lost:
        return -1.0, 1.0
    first, second = _all_against(one)[:, None], _all_against(other)[None, :]
    joined = first + second if independent else np.maximum(first, second) - log(2)
    left = joined + np.log((_SIDE[:, None] + _SIDE[None, :]) / 2) < log(1 / alpha)
    rows, columns = np.nonzero(left)
    middle = other.share - one.share
    differences = (
        (columns - rows) / _GRID if len(rows) else np.array([middle])
    )  # or it is smaller than the grid
    low, high = float(differences.min()) - 1 / _GRID, float(differences.max()) + 1 / _GRID
    return max(-1.0, min(low, middle)), min(1.0, max(high, middle))


def against_claim(p: float, count: Count) -> float:
    """The logarithm of the evidence against a probability that is claimed, its share of the error probability included."""
    if p <= 0:
        return inf if count.hits else -inf
    if p >= 1:
        return inf if count.hits < count.trials else 0.0  # what was lost may have been it
    return _against(p, count) + log(p)


def _against(p: float, count: Count) -> float:
    """The evidence against a probability: the least for any number of hits among the trials that were lost."""
    made = count.trials + count.lost
    if not made:
        return 0.0
    near = int(p * made)
    hits = {min(max(one, count.hits), count.hits + count.lost) for one in (near, near + 1)}
    return min(evidence(p, one, made, CONCENTRATION) for one in hits)


@lru_cache(maxsize=1000)
def _all_against(count: Count) -> Numbers:
    """The evidence against every probability of the grid."""
    return np.array([_against(float(p), count) for p in _SIDE])
