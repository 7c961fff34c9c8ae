"""Samples of the precondition of an action that was never executed, by Gibbs sampling.

Every refusal says "one of these is required", and refusals overlap, so that literals are not independent;
nor can everything be required together. A sample is a set of literals that satisfies every clause. Each literal is
drawn in turn from its odds given all the others; the odds are scaled until samples have the expected size.
They only order questions: nothing is concluded from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.beliefs import constants
from aam_vision.interrogation.hypotheses.literals import Literals


def sample(
    prior: Mapping[Literals, float],
    clauses: Sequence[Literals],
    expected: Sequence[Literals],
    never_together: NDArray[np.bool_],
    size: float,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Sets of literals that satisfy the clauses: which literals each contains, shape ``(samples, literals)``.

    Args:
        prior: the literals, each with its probability regardless of the others.
        clauses: every sample has at least one literal of each.
        expected: the same, but samples without one are only rarer (``UNMET``).
        never_together: pairs of literals that are improbable together, shape ``(literals, literals)``.
        size: how many positive literals a sample should have on average, at least.
        rng: the source of all chance.
    """
    literals = list(prior)
    odds = np.array([log(chance / (1 - chance)) for chance in prior.values()], dtype=np.float64)
    positive = np.array([bool(literal.positive) for literal in literals], dtype=np.bool_)
    members = clause_members(literals, [*clauses, *expected])
    hard = np.arange(members.shape[1]) < len(clauses)
    chosen = rng.random((constants.POSTERIOR_SAMPLES, len(literals))) < _probability(odds)
    for inside in map(np.flatnonzero, members[:, hard].T):  # any start that satisfies the clauses will do
        weights = _probability(odds[inside])
        for lacking in np.flatnonzero(~chosen[:, inside].any(axis=1)):
            chosen[lacking, rng.choice(inside, p=weights / weights.sum())] = True
    counts = chosen.astype(np.int64) @ members.astype(np.int64)  # (samples, clauses)
    log_odds_together = never_together * log(constants.NEVER_TOGETHER)
    scale = 0.0
    for _ in range(constants.SWEEPS):
        for number, odds_alone in enumerate(odds):
            own = np.flatnonzero(members[number])
            counts[:, own] -= chosen[:, number, None]
            unmet = counts[:, own] == 0
            needed = unmet[:, hard[own]].any(axis=1)
            wanted = unmet[:, ~hard[own]].sum(axis=1)
            given = odds_alone + scale * positive[number] + chosen @ log_odds_together[number]
            given -= wanted * log(constants.UNMET)
            chosen[:, number] = needed | (rng.random(constants.POSTERIOR_SAMPLES) < _probability(given))
            counts[:, own] += chosen[:, number, None]
        mean = float(chosen[:, positive].sum(axis=1).mean())
        scale = min(
            constants.MAX_RAISE,
            max(0.0, scale + log(max(size, constants.MIN_SIZE) / max(mean, constants.MIN_SIZE))),
        )
    return chosen


def clause_members(literals: Sequence[Literals], clauses: Sequence[Literals]) -> NDArray[np.bool_]:
    """Which literals are in which clauses, shape ``(literals, clauses)``."""
    inside = np.zeros((len(literals), len(clauses)), dtype=np.bool_)
    for place, literal in enumerate(literals):
        inside[place] = [literal.within(clause) for clause in clauses]
    return inside


def _probability(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-odds))
