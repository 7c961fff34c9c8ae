"""Walks: letting the agent act on its own, from where that is likely to show something new.

Walk steps are no questions, so they come first: diverse successes cut the candidates to nearly the true
preconditions. A walk starts where few have started, in a kind of situation that few have started from
(situations with the same number of true atoms of every predicate are of one kind).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import inf

import numpy as np

from aam_vision.interrogation.evidence import Evidence, Node
from aam_vision.interrogation.moves import Walk
from aam_vision.interrogation.paths import by_problem

LEAST_PATIENCE = 30
"""Steps that are always allowed, with or without news."""

Kind = tuple[int, tuple[tuple[str, int], ...]]


@dataclass
class Walker:
    """Decides on the next walk, until walking no longer pays.

    Walking ends after ``limit`` steps, or ``share`` times as many as there are pal tuples; or once nothing was
    learnt for ``patience`` times as many.
    """

    limit: int = 400
    share: float = inf
    patience: float = 1.0
    stride: int = 4
    steps: int = 0
    _fruitless: int = 0
    _version: int = -1
    _departures: dict[Kind, int] = field(default_factory=lambda: defaultdict(int))
    _kinds: dict[int, Kind] = field(default_factory=dict)

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Walk | None:
        """The next walk, or None once enough was walked."""
        version = evidence.hypotheses.version
        if version != self._version:
            self._version, self._fruitless = version, 0
        size = evidence.hypotheses.size
        patience = max(LEAST_PATIENCE, int(size * self.patience))
        limit = int(min(self.limit, max(LEAST_PATIENCE, size * self.share)))
        if self.steps >= limit or self._fruitless >= patience:
            return None
        groups = by_problem(evidence)
        start = self._start(groups[int(rng.integers(len(groups)))], rng)
        steps = min(self.stride, limit - self.steps)
        self.steps += steps
        self._fruitless += steps
        return Walk(start, steps)

    def _start(self, nodes: list[Node], rng: np.random.Generator) -> Node:
        kinds: dict[Kind, list[Node]] = defaultdict(list)
        for node in nodes:
            if node.number not in self._kinds:
                counts = sorted((predicate, len(rows)) for predicate, rows in node.index.rows.items())
                self._kinds[node.number] = (nodes[0].number, tuple(counts))
            kinds[self._kinds[node.number]].append(node)
        names = sorted(kinds)
        weights = np.array([1.0 / (1 + self._departures[name]) ** 2 for name in names])
        kind = names[int(rng.choice(len(names), p=weights / weights.sum()))]
        self._departures[kind] += 1
        return kinds[kind][int(rng.integers(len(kinds[kind])))]
