"""How often each outcome of an action came, with intervals that hold together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from aam_vision.interrogation.chance.intervals import interval, simultaneous

_EXACT = 1e-9
_HALVINGS = 50
"""That find by how much estimates are shifted: to 1e-15."""


class Precision(NamedTuple):
    """How sure the figures are to be: the error probability of an action's intervals, and their half width."""

    alpha: float
    within: float
    concentration: float


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
    read = _limits(hits, trials, [0] * size, precision)
    limits = _limits(hits, trials, unread, precision) if any(unread) else read
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


def _limits(
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
