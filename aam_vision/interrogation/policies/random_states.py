"""S, the random states that AIA's queries start from, collected by walks (paper, "Query Generation")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.queries.moves import Walk

STRIDE = 25
"""Steps of one walk from an initial situation."""
UNCOVERING_STEPS = 2
MAX_UNCOVERING = 3
"""Walks made from one situation to uncover an effect that is hidden there."""


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


def next_walk(evidence: Evidence, made: int, limit: int) -> Walk | None:
    """The walk after ``made`` of them, from the initial situations in turn; None after ``limit`` steps in all."""
    initial = [node for node in evidence.nodes if node.initial]
    steps = min(STRIDE, limit - made * STRIDE)
    if steps <= 0 or not initial:
        return None
    return Walk(initial[made % len(initial)], steps)


def uncovering_walk(evidence: Evidence, made: Sequence[int]) -> Walk | None:
    """A few steps on from where an effect is hidden, so that it may be seen after all.

    ``made``: the numbers of the situations that such walks started from.
    """
    for node in evidence.hidden_effects():
        if made.count(node.number) < MAX_UNCOVERING:
            return Walk(node, UNCOVERING_STEPS)
    return None
