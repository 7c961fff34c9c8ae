"""Intervals for probabilities that stay valid however often one looks, and whenever one stops.

*Method of mixtures* (Robbins, "Statistical methods related to the law of the iterated logarithm", 1970; with a beta mixture for
coin tosses: Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", 2021). If the
probability is p, the likelihood of all tosses so far under a mixture of other probabilities, divided by that under p, is a
nonnegative martingale that begins at one; by Ville's inequality it ever reaches 1/a with probability a at most. The interval is
all p for which it has not. That is exact for every number of tosses, and for all of them at once: neither looking after every
toss nor a choice of the next trial by what was seen spoils it. The mixture is Beta(c p, c (1 - p)), for each p another; c makes
the interval narrow when about as many tosses were made as the width that is wanted needs.

The price is width: about 1.5 times that of an interval for a number of tosses that was fixed in advance.

Evidence that something makes a difference comes from bets that pay if it does, valid in the same way. *Universal inference* (Wasserman, Ramdas, Balakrishnan, PNAS 2020): the probability of all outcomes so far under predictions that
were made before each of them, divided by their greatest likelihood under one frequency, is below the ratio for the true frequency, which
is a nonnegative martingale that begins at one. By Ville's inequality it ever reaches 1/a with probability a at most, for any frequency,
any choice of the next trial and any number of looks. Predictions made cell by cell (with a fact and without it, early and late, in each
phase of a cycle) make the ratio large where cells differ. Of several bets each has a weight, fixed in advance; these add up to one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import lgamma, log
from typing import NamedTuple

import numpy as np

ALPHA = 0.05
"""Probability that some interval of an action is wrong."""
_SPREAD = 8.0
"""Tosses at which the interval is narrowest, in units of the mixture's concentration: near the optimum at 95%."""
_STEPS = 40
"""Halvings that find a limit of an interval: to 1e-12."""
_EXACT = 1e-9
_HALVINGS = 50
"""That find by how much estimates are shifted: to 1e-15."""
Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
_SHRINKING = 4.0
"""Trials that the frequency of all trials counts for in the prediction of a cell."""


def concentration(within: float) -> float:
    """The mixture's c for intervals of a half width ``within``: for as many tosses as p = .2 needs."""
    return max(1.0, 1.5 / within**2 / _SPREAD)


def evidence(p: float, hits: int, tosses: int, c: float) -> float:
    """The logarithm of the martingale under p: evidence against p, at most log(1/a) with probability 1 - a for ever.

    Args:
        p: a probability, between 0 and 1 (both excluded).
        hits: how often it came true.
        tosses: of how many.
        c: concentration of the mixture.
    """
    return _evidence_of(hits, tosses, c)(p)


def _evidence_of(hits: int, tosses: int, c: float) -> Callable[[float], float]:
    """The evidence against p, as a function of p: limits are sought among forty of them."""
    misses, made, none = tosses - hits, lgamma(c + tosses), lgamma(c)

    def against(p: float) -> float:
        rest = 1 - p
        a, b = c * p, c * rest
        mixture = lgamma(a + hits) + lgamma(b + misses) - made - lgamma(a) - lgamma(b) + none
        return mixture - hits * log(p) - misses * log(rest)

    return against


@lru_cache(maxsize=50_000)
def interval(hits: int, tosses: int, alpha: float, c: float) -> tuple[float, float]:
    """All probabilities that ``hits`` of ``tosses`` do not contradict; wrong at any time with probability ``alpha`` at most.

    Args:
        hits: how often it came true.
        tosses: of how many; none give (0, 1).
        alpha: probability that the true one is outside at any time.
        c: concentration of the mixture (``concentration``), chosen before the first toss.
    """
    bound, against = log(1 / alpha), _evidence_of(hits, tosses, c)
    return _limits(hits, tosses, lambda p: against(p) < bound)


@lru_cache(maxsize=50_000)
def simultaneous(hits: int, tosses: int, alpha: float, c: float) -> tuple[float, float]:
    """The interval of one of several outcomes; with probability 1 - ``alpha`` all of them are right at all times.

    An outcome of probability p has p ``alpha`` of the error probability: its interval is all p against which the evidence is below
    log(1 / (p ``alpha``)). As the probabilities of all outcomes add up to one, so do their shares, however many outcomes there
    are, and whether they have been seen or not. (A share for each known outcome would hold only from when all are known.) For
    p = 1/2 it costs as much as an equal share for two outcomes.
    """
    bound, against = log(1 / alpha), _evidence_of(hits, tosses, c)
    return _limits(hits, tosses, lambda p: against(p) + log(p) < bound)


def _limits(hits: int, tosses: int, inside: Callable[[float], bool]) -> tuple[float, float]:
    """The limits of the probabilities around the estimate that are inside; all of those are one interval."""
    if tosses == 0:
        return 0.0, 1.0

    def limit(outer: float) -> float:
        """Where that ends, between the estimate and 0 or 1."""
        near, far = hits / tosses, outer
        for _ in range(_STEPS):
            middle = (near + far) / 2
            if not 0 < middle < 1 or inside(middle):
                near = middle
            else:
                far = middle
        return far

    return 0.0 if hits == 0 else limit(0.0), 1.0 if hits == tosses else limit(1.0)


@lru_cache(maxsize=10_000)
def unseen(tosses: int, alpha: float) -> float:
    """The x such that every outcome of a probability above x has been seen, with probability 1 - ``alpha`` at all times at once.

    x solves (1 - x)^n = alpha x. For an outcome of probability p, let n be the first number of tosses with x below p: it was not
    seen in these with probability (1 - p)^n < alpha p. The p of all outcomes add up to one, so no stopping rule and no number of
    outcomes makes it likelier than ``alpha`` that one is missing.
    """
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle <= 0 or (middle < 1 and tosses * log(1 - middle) > log(alpha * middle)):
            low = middle
        else:
            high = middle
    return high


class Precision(NamedTuple):
    """How sure the figures are to be: the error probability of an action's intervals, and their half width."""

    alpha: float
    within: float
    concentration: float

    @property
    def twice(self) -> float:
        """Trials of which two groups have narrow intervals each: one takes about 2 / within**2."""
        return 4 / self.within**2


def precision_of(within: float, alpha: float = ALPHA) -> Precision:
    """The precision of intervals of this half width."""
    return Precision(alpha, within, concentration(within))


class Frequency(NamedTuple):
    """How often one outcome came: of the trials in whose situations it is told from all others.

    The interval is right whatever came of the trials whose end could not be read.
    """

    hits: int
    trials: int
    probability: float
    low: float
    high: float
    width: float
    """Of the interval, if all trials had been read: more trials make it narrower."""


def frequencies(
    hits: Sequence[int], trials: Sequence[int], unread: Sequence[int], precision: Precision
) -> tuple[Frequency, ...]:
    """The frequencies of all outcomes of an action; estimates add up to one, and each is within its interval.

    Where all intervals hold, none of the probabilities can be above what the least ones of the others leave. Where outcomes have
    trials of their own, shares of them need not add up to one: all are shifted by as much, as far as their intervals allow. An outcome
    without trials begins with an equal share.

    Args:
        hits: how often each outcome came.
        trials: of how many trials that were read to the end.
        unread: further trials, of which it is not known what came of them: each may have been this outcome, or another.
        precision: of the intervals.
    """
    size = len(hits)
    shares = [hit / tried if tried else 1 / size for hit, tried in zip(hits, trials, strict=True)]
    read = _intervals(hits, trials, [0] * size, precision)
    limits = _intervals(hits, trials, unread, precision) if any(unread) else read
    estimates = _adding_up(shares, limits)
    return tuple(
        Frequency(hit, tried, share, min(low, share), max(high, share), own[1] - own[0])
        for hit, tried, share, (low, high), own in zip(hits, trials, estimates, limits, read, strict=True)
    )


def _adding_up(shares: Sequence[float], limits: Sequence[tuple[float, float]]) -> list[float]:
    """Estimates that add up to one, within the limits if these allow that (else what they are is no explanation)."""
    whole = sum(shares)
    if abs(whole - 1) < _EXACT and all(
        low <= share <= high for share, (low, high) in zip(shares, limits, strict=True)
    ):
        return [share / whole for share in shares]

    def shifted(by: float) -> list[float]:
        return [max(low, min(high, share + by)) for share, (low, high) in zip(shares, limits, strict=True)]

    below, above = -1.0, 1.0
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        below, above = (middle, above) if sum(shifted(middle)) < 1 else (below, middle)
    found = shifted(above)
    whole = sum(found) or 1.0
    return [share / whole for share in found]


def _intervals(
    hits: Sequence[int], trials: Sequence[int], unread: Sequence[int], precision: Precision
) -> list[tuple[float, float]]:
    """The intervals of all outcomes, whatever came of the trials that were not read."""

    def simply(hit: int, tried: int) -> tuple[float, float]:
        return simultaneous(hit, tried, precision.alpha, precision.concentration)

    limits = [
        (simply(hit, tried + lost)[0], simply(hit + lost, tried + lost)[1])
        for hit, tried, lost in zip(hits, trials, unread, strict=True)
    ]
    least = sum(low for low, _ in limits)
    return [(low, min(high, 1 - (least - low))) for low, high in limits]


def single(hits: int, trials: int, precision: Precision) -> float:
    """Half the width of the interval that one outcome has by itself."""
    low, high = interval(hits, trials, precision.alpha, precision.concentration)
    return (high - low) / 2


@lru_cache(maxsize=32)
def _tables(size: int) -> tuple[Numbers, Numbers]:
    """The logarithms of Gamma(n + 1/2) / Gamma(1/2) and of n!, for n below a size."""
    counts = np.arange(size)
    return np.concatenate([[0.0], np.cumsum(np.log(counts + 0.5))]), np.concatenate(
        [[0.0], np.cumsum(np.log(counts + 1.0))]
    )


def predicted(hits: Numbers, tried: Numbers) -> Numbers:
    """The logarithm of the probability of so many hits in their order, under a Beta(1/2, 1/2) mixture (Krichevsky, Trofimov)."""
    halves, whole = _tables(1 << int(tried.max(initial=1)).bit_length())
    hit, made = hits.astype(np.int64), tried.astype(np.int64)
    found: Numbers = halves[hit] + halves[made - hit] - whole[made]
    return found


def likeliest(hits: Numbers, tried: Numbers) -> Numbers:
    """The logarithm of their greatest probability under one frequency."""
    share = hits / np.maximum(tried, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Numbers = np.where(hits > 0, hits * np.log(share), 0.0) + np.where(
            hits < tried, (tried - hits) * np.log1p(-share), 0.0
        )
    return found


def against_one_frequency(hits: Numbers, tried: Numbers) -> Numbers:
    """The logarithm of the evidence that cells, along the first axis, have not all one frequency."""
    whole: Numbers = predicted(hits, tried).sum(0) - likeliest(hits.sum(0), tried.sum(0))
    return whole


def against_constancy(outcomes: Numbers, cells: Numbers) -> Numbers:
    """The logarithm of the evidence that outcomes come more often inside of some trials than outside of them.

    A cell is predicted by its own trials and by all: what is true of all trials is learned once.

    Args:
        outcomes: of every trial in its order, array (trials, outcomes) with one 1 in each row.
        cells: for every trial and bet whether it is inside, known before the trial, array (trials, bets) of 0 and 1.
    """
    made = _before_alike(cells)
    own = np.zeros_like(made)
    for came in outcomes.T > 0:
        own[came] = _before_alike(cells[came])
    overall = _overall(outcomes)[:, None]
    bets: Numbers = np.log((own + _SHRINKING * overall) / (made + _SHRINKING)).sum(0) - constant(outcomes)
    return bets


def _before_alike(cells: Numbers) -> Numbers:
    """For every trial and bet, how many trials before it are inside if it is, or outside if it is not."""
    before = np.cumsum(cells, 0) - cells
    found: Numbers = np.where(cells > 0, before, np.arange(len(cells))[:, None] - before)
    return found


def _overall(outcomes: Numbers) -> Numbers:
    """The probability of each outcome that came, predicted by all trials before it."""
    before = np.cumsum(outcomes, 0) - outcomes
    kinds = outcomes.shape[1] + 1  # one is kept for what has not come yet
    found: Numbers = ((before * outcomes).sum(1) + 0.5) / (np.arange(len(outcomes)) + 0.5 * kinds)
    return found


def constant(outcomes: Numbers) -> float:
    """The greatest log-likelihood of outcomes under constant frequencies."""
    counts = outcomes.sum(0)
    return float((counts[counts > 0] * np.log(counts[counts > 0] / len(outcomes))).sum())
