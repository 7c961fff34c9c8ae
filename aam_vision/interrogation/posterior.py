"""Which preconditions an action may have after refusals: samples of the posterior, by Gibbs sampling.

Every refusal says "one of these is required", and refusals overlap, so that literals are no longer
independent. A sample is a set of literals that satisfies every clause; samples are drawn one literal at a time
from its odds given all the others. They only order questions: nothing is concluded from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from aam_vision.interrogation.atoms import Literals, union

SAMPLES = 60
SWEEPS = 6


def sample(
    prior: Mapping[Literals, float], clauses: Sequence[Literals], rng: np.random.Generator
) -> dict[Literals, int]:
    """Sets of literals that satisfy the clauses, each with how often it was drawn (``SAMPLES`` in all)."""
    literals = list(prior)
    odds = np.array([prior[literal] for literal in literals])
    inside = np.array([[literal.within(clause) for clause in clauses] for literal in literals])
    chosen = rng.random((SAMPLES, len(literals))) < odds
    for clause in range(len(clauses)):  # any start that satisfies the clauses will do
        members = np.flatnonzero(inside[:, clause])
        weights = odds[members] / odds[members].sum()
        for lacking in np.flatnonzero(~chosen[:, members].any(axis=1)):
            chosen[lacking, rng.choice(members, p=weights)] = True
    satisfied = chosen.astype(np.int64) @ inside.astype(np.int64)
    for _ in range(SWEEPS):
        for number in range(len(literals)):
            without = satisfied - np.outer(chosen[:, number], inside[number])
            needed = (without[:, inside[number]] == 0).any(axis=1)
            chosen[:, number] = needed | (rng.random(SAMPLES) < odds[number])
            satisfied = without + np.outer(chosen[:, number], inside[number])
    sets = Counter(union(literals[int(i)] for i in np.flatnonzero(row)) for row in chosen)
    return dict(sorted(sets.items()))
