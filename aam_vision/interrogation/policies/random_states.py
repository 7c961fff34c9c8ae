"""S, the random states that AIA's queries start from, collected by walks (paper, "Query Generation")."""

from __future__ import annotations

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Walk
from aam_vision.interrogation.evidence.nodes import Node

STRIDE = 25
"""Steps of one walk from an initial situation."""
COLLECT = "collect states"
"""Why the walks are made that collect S."""


def random_states(evidence: Evidence, rng: np.random.Generator, count: int) -> list[Node]:
    """S: the initial situations, one situation in which each action was executed, and random others."""
    chosen = {node.number: node for node in evidence.nodes if node.initial}
    executed: set[str] = set()
    for edge in evidence.edges:
        if edge.action.name not in executed:
            executed.add(edge.action.name)
            chosen.setdefault(edge.before.number, edge.before)
    for number in rng.permutation(len(evidence.nodes)):
        chosen.setdefault(int(number), evidence.nodes[int(number)])
    return list(chosen.values())[:count]


def next_walk(evidence: Evidence, limit: int) -> Walk | None:
    """The next walk that collects S, from the initial situations in turn; None after ``limit`` steps in all."""
    made = sum(
        isinstance(exchange.move, Walk) and exchange.move.why == COLLECT for exchange in evidence.exchanges
    )
    initial = [node for node in evidence.nodes if node.initial]
    steps = min(STRIDE, limit - made * STRIDE)
    if steps <= 0 or not initial:
        return None
    return Walk(initial[made % len(initial)], steps, COLLECT)
