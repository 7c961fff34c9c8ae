"""What an action that was never seen to succeed may require: samples of the posterior, by Gibbs sampling.

Every refusal says "one of these is required", and refusals overlap, so that literals are not independent;
nor can everything be required together. A sample is a set of literals that satisfies every clause; samples are
drawn one literal at a time from its odds given all the others, which are scaled until samples have the size
that is expected. They only order questions: nothing is concluded from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.beliefs.constants import (
    MAX_RAISE,
    MIN_SIZE,
    NEVER_TOGETHER,
    POSTERIOR_SAMPLES,
    SWEEPS,
    UNMET,
)
from aam_vision.interrogation.hypotheses.literals import Literals


def sample(
    prior: Mapping[Literals, float],
    clauses: Sequence[Literals],
    expected: Sequence[Literals],
    apart: NDArray[np.bool_],
    size: float,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Sets of literals that satisfy the clauses: what each contains, shape ``(POSTERIOR_SAMPLES, literals)``.

    Args:
        prior: the literals, and their probabilities alone.
        clauses: of each at least one literal is in every sample.
        expected: the same, but samples without one are only rarer (``UNMET``).
        apart: pairs of literals that are improbable together, shape ``(literals, literals)``.
        size: how many positive literals a sample should have on average, at least.
        rng: the source of all chance.
    """
    literals = list(prior)
    odds = np.array([log(chance / (1 - chance)) for chance in prior.values()], dtype=np.float64)
    positive = np.array([bool(literal.positive) for literal in literals], dtype=np.bool_)
    hard, soft = _members(literals, clauses), _members(literals, expected)
    chosen = rng.random((POSTERIOR_SAMPLES, len(literals))) < _probability(odds)
    for members in hard.T:  # any start that satisfies the clauses will do
        inside = np.flatnonzero(members)
        weights = _probability(odds[inside])
        for lacking in np.flatnonzero(~chosen[:, inside].any(axis=1)):
            chosen[lacking, rng.choice(inside, p=weights / weights.sum())] = True
    satisfied = chosen.astype(np.int64) @ hard.astype(np.int64)
    named = chosen.astype(np.int64) @ soft.astype(np.int64)
    against = apart.astype(np.float64) * log(NEVER_TOGETHER)
    scale = 0.0
    for _ in range(SWEEPS):
        for number in range(len(literals)):
            mine, own = np.flatnonzero(hard[number]), np.flatnonzero(soft[number])
            satisfied[:, mine] -= chosen[:, number, None]
            named[:, own] -= chosen[:, number, None]
            needed = (satisfied[:, mine] == 0).any(axis=1)
            wanted = (named[:, own] == 0).sum(axis=1)
            given = odds[number] + scale * positive[number] + chosen @ against[number] - wanted * log(UNMET)
            chosen[:, number] = needed | (rng.random(POSTERIOR_SAMPLES) < _probability(given))
            satisfied[:, mine] += chosen[:, number, None]
            named[:, own] += chosen[:, number, None]
        mean = float(chosen[:, positive].sum(axis=1).mean())
        scale = min(MAX_RAISE, max(0.0, scale + log(max(size, MIN_SIZE) / max(mean, MIN_SIZE))))
    return chosen


def _members(literals: Sequence[Literals], clauses: Sequence[Literals]) -> NDArray[np.bool_]:
    """Which literals are in which clauses, shape ``(literals, clauses)``."""
    inside = np.zeros((len(literals), len(clauses)), dtype=np.bool_)
    for place, literal in enumerate(literals):
        inside[place] = [literal.within(clause) for clause in clauses]
    return inside


def _probability(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-odds))
