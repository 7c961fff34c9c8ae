"""Evidence that something makes a difference: bets that pay if it does, valid however often one looks, and whenever one stops.

*Universal inference* (Wasserman, Ramdas, Balakrishnan, PNAS 2020): the probability of all outcomes so far under predictions that
were made before each of them, divided by their greatest likelihood under one frequency, is below the ratio for the true frequency, which
is a nonnegative martingale that begins at one. By Ville's inequality it ever reaches 1/a with probability a at most, for any frequency,
any choice of the next trial and any number of looks. Predictions made cell by cell (with a fact and without it, early and late, in each
phase of a cycle) make the ratio large where cells differ. Of several bets each has a weight, fixed in advance; these add up to one.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
_SHRINKING = 4.0
"""Trials that the frequency of all trials counts for in the prediction of a cell."""


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
        found = np.where(hits > 0, hits * np.log(share), 0.0) + np.where(
            hits < tried, (tried - hits) * np.log1p(-share), 0.0
        )
    plain: Numbers = np.nan_to_num(found)
    return plain


def against_one_frequency(hits: Numbers, tried: Numbers) -> Numbers:
    """The logarithm of the evidence that cells, along the first axis, have not all one frequency."""
    whole: Numbers = predicted(hits, tried).sum(0) - likeliest(hits.sum(0), tried.sum(0))
    return whole


def against_constancy(outcomes: Numbers, cells: Numbers) -> Numbers:
    """The logarithm of the evidence that outcomes come more often inside of some trials than outside of them.

    A cell is predicted by its own trials and by all: what is true of all trials is learned once.

    Args:
        outcomes: of every trial in its order, array (trials, outcomes) of 0 and 1.
        cells: for every trial and bet whether it is inside, known before the trial, array (trials, bets) of 0 and 1.
    """
    before = np.cumsum(cells, 0) - cells
    number = np.arange(len(cells))[:, None]
    made = np.where(cells > 0, before, number - before)
    own = np.zeros_like(before)
    for came in outcomes.T[:, :, None]:
        inside = np.cumsum(came * cells, 0) - came * cells
        own += came * np.where(cells > 0, inside, np.cumsum(came, 0) - came - inside)
    overall = _overall(outcomes)[:, None]
    bets: Numbers = np.log((own + _SHRINKING * overall) / (made + _SHRINKING)).sum(0) - constant(outcomes)
    return bets


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
