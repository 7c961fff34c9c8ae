"""Intervals for probabilities that stay valid however often one looks, and whenever one stops.

*Method of mixtures* (Robbins, "Statistical methods related to the law of the iterated logarithm", 1970; with a beta mixture for
coin tosses: Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", 2021). If the
probability is p, the likelihood of all tosses so far under a mixture of other probabilities, divided by that under p, is a
nonnegative martingale that begins at one; by Ville's inequality it ever reaches 1/a with probability a at most. The interval is
all p for which it has not. That is exact for every number of tosses, and for all of them at once: neither looking after every
toss nor a choice of the next trial by what was seen spoils it. The mixture is Beta(c p, c (1 - p)), for each p another; c makes
the interval narrow when about as many tosses were made as the width that is wanted needs.

The price is width: about 1.5 times that of an interval for a number of tosses that was fixed in advance.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import lgamma, log

_SPREAD = 8.0
"""Tosses at which the interval is narrowest, in units of the mixture's concentration: near the optimum at 95%."""
_STEPS = 40
"""Halvings that find a limit of an interval: to 1e-12."""


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
    a, b, misses = c * p, c * (1 - p), tosses - hits
    mixture = lgamma(a + hits) + lgamma(b + misses) - lgamma(c + tosses) - lgamma(a) - lgamma(b) + lgamma(c)
    return mixture - hits * log(p) - misses * log(1 - p)


@lru_cache(maxsize=50_000)
def interval(hits: int, tosses: int, alpha: float, c: float) -> tuple[float, float]:
    """All probabilities that ``hits`` of ``tosses`` do not contradict; wrong at any time with probability ``alpha`` at most.

    Args:
        hits: how often it came true.
        tosses: of how many; none give (0, 1).
        alpha: probability that the true one is outside at any time.
        c: concentration of the mixture (``concentration``), chosen before the first toss.
    """
    bound = log(1 / alpha)
    return _limits(hits, tosses, lambda p: evidence(p, hits, tosses, c) < bound)


@lru_cache(maxsize=50_000)
def simultaneous(hits: int, tosses: int, alpha: float, c: float) -> tuple[float, float]:
    """The interval of one of several outcomes; with probability 1 - ``alpha`` all of them are right at all times.

    An outcome of probability p has p ``alpha`` of the error probability: its interval is all p against which the evidence is below
    log(1 / (p ``alpha``)). As the probabilities of all outcomes add up to one, so do their shares, however many outcomes there
    are, and whether they have been seen or not. (A share for each known outcome would hold only from when all are known.) For
    p = 1/2 it costs as much as an equal share for two outcomes.
    """
    bound = log(1 / alpha)
    return _limits(hits, tosses, lambda p: evidence(p, hits, tosses, c) + log(p) < bound)


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
