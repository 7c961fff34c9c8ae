"""How likely a surviving candidate is a precondition: the odds that order the questions.

A literal that holds nearly everywhere survives many successes by chance; one that rarely holds does not.
Its *base rate* b is how often it holds under random arguments in the situations seen; after m different
successes the odds that it is a precondition are those it started with, times (1/b)^m. The estimate only
orders questions and groups them: nothing is ever concluded from it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aam_vision.interrogation.evidence import Node
from aam_vision.interrogation.hypotheses import ActionHypotheses, Literals, bits
from aam_vision.strips import Objects

PRIOR_POSITIVE = 0.3
PRIOR_NEGATIVE = 0.02
SAMPLES = 200


class BaseRates:
    """How often each literal of one action holds under random arguments."""

    def __init__(self, hypotheses: ActionHypotheses, nodes: Sequence[Node], rng: np.random.Generator) -> None:
        index = hypotheses.index
        counts = dict.fromkeys(index.bit.values(), 0)
        samples = 0
        for _ in range(SAMPLES):
            state = nodes[int(rng.integers(len(nodes)))].state
            objects = _random_binding(state.objects, index.header.types, rng)
            if objects is None:
                continue
            samples += 1
            held, _ = index.values(state, objects)
            for bit in bits(held):
                counts[bit] += 1
        self.rates = {bit: (count + 0.5) / (samples + 1) for bit, count in counts.items()}

    def probability(self, literal: Literals, successes: int) -> float:
        """The probability that an undecided literal is a precondition, after that many successes."""
        if literal.positive:
            prior, rate = PRIOR_POSITIVE, self.rates[literal.positive]
        else:
            prior, rate = PRIOR_NEGATIVE, 1 - self.rates[literal.negative]
        chance = (1 - prior) * rate**successes
        return prior / (prior + chance)


def _random_binding(
    objects: Objects, types: Sequence[str], rng: np.random.Generator
) -> tuple[str, ...] | None:
    chosen: list[str] = []
    for kind in types:
        options = [name for name in objects.of_type(kind) if name not in chosen]
        if not options:
            return None
        chosen.append(options[int(rng.integers(len(options)))])
    return tuple(chosen)
