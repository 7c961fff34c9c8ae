"""S, the random states that AIA's queries start from, collected by walks (paper, "Query Generation")."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Walk
from aam_vision.interrogation.evidence.nodes import Node

STRIDE = 25
"""Steps of one walk from an initial situation."""


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


def walks(evidence: Evidence, rng: np.random.Generator, limit: int) -> Iterator[Walk]:
    """Walks from the initial situations in turn, ``limit`` steps in all."""
    initial = [node for node in evidence.nodes if node.initial]
    turn = 0
    while limit > 0 and initial:
        steps = min(STRIDE, limit)
        yield Walk(initial[turn % len(initial)], steps)
        limit -= steps
        turn += 1
