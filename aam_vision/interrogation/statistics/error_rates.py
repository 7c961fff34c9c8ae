"""Error rates of the answers, estimated from the answers themselves.

The priors are pseudo-counts (errors, of how many): larger ones need more evidence to be overruled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.statistics.counts import Counts

POOLED = (0.5, 25.0)
"""Wrong values: the prior of the rate that all predicates have in common."""
OWN = 20.0
"""Weight of the common rate in that of one predicate, as a number of values seen."""
REFUSED = (0.5, 10.0)
"""Refused steps, of those that could be executed."""
EXECUTED = (0.02, 100.0)
"""Executed steps, of those that could not be."""


@dataclass(frozen=True)
class Misreading:
    """The error rates of one predicate's atoms."""

    false_positive: float
    """The probability that a false atom is seen as true."""
    false_negative: float
    """The probability that a true atom is seen as false."""

    @property
    def logarithms(self) -> NDArray[np.float64]:
        """Log-probabilities of seeing each true value as each value; shape ``(2, 2)``."""
        positive, negative = self.false_positive, self.false_negative
        return np.log([[1 - positive, positive], [negative, 1 - negative]])


@dataclass(frozen=True)
class ErrorRates:
    """The estimated rates of error.

    ``refusals`` is the probability that a step which could be executed is refused; ``executions``, that one which
    could not be is reported as executed.
    """

    misreadings: Mapping[str, Misreading]
    refusals: float
    executions: float
    surely: bool = False
    """Whether the agent's refusals are never a mistake (``query.refuses_surely``): then their rate means nothing."""


def misreadings(counts: Mapping[str, Counts]) -> dict[str, Misreading]:
    """The posterior mean of every predicate's rates, each shrunk to its kind of error, and that to all errors.

    ``counts`` are confusion matrices by predicate: true value, seen value.
    """
    total = sum(counts.values(), np.zeros((2, 2), dtype=np.int64))
    wrong, seen = POOLED
    overall = (wrong + total[0, 1] + total[1, 0]) / (seen + total.sum())
    kinds = [(OWN * overall + total[v, 1 - v]) / (OWN + total[v].sum()) for v in (0, 1)]
    return {
        name: Misreading(*(float((OWN * kinds[v] + own[v, 1 - v]) / (OWN + own[v].sum())) for v in (0, 1)))
        for name, own in counts.items()
    }


def posterior_mean(prior: tuple[float, float], happened: int, of: int) -> float:
    """The mean of a rate's posterior."""
    return (prior[0] + happened) / (prior[1] + of)
