"""Walks: letting the agent act on its own, from where that is likely to show something new.

Walk steps are no questions, so they come first: diverse successes cut the candidates to nearly the true
preconditions. A walk starts where few have started, in a kind of situation that few have started from
(situations with the same number of true atoms of every predicate are of one kind).
"""

from __future__ import annotations

from bisect import insort
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import chain
from math import inf
from operator import itemgetter

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.queries.moves import Walk
from aam_vision.strips import Objects

LEAST_PATIENCE = 30
"""Steps that are always allowed, with or without news."""

Kind = tuple[str | int, ...]
"""Every predicate of which atoms are true, and how many are."""


@dataclass
class Walker:
    """Decides on the next walk, until walking no longer pays.

    Walking ends after ``limit`` steps (``per_action`` steps for every action, where these are more), or
    ``share`` times as many as there are pal tuples; or once nothing was learnt for ``patience`` times as many.
    """

    limit: int = 400
    per_action: int = 0
    share: float = inf
    patience: float = 1.0
    stride: int = 4
    steps: int = 0
    _fruitless: int = 0
    _version: int = -1
    _problems: dict[Objects, dict[Kind, list[Node]]] = field(default_factory=dict)
    _sorted: dict[Objects, list[tuple[Kind, list[Node]]]] = field(default_factory=lambda: defaultdict(list))
    _departures: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    _taken: int = 0

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Walk | None:
        """The next walk, or None once enough was walked."""
        version = evidence.hypotheses.version
        if version != self._version:
            self._version, self._fruitless = version, 0
        size = evidence.hypotheses.size
        patience = max(LEAST_PATIENCE, int(size * self.patience))
        limit = max(self.limit, self.per_action * len(evidence.hypotheses.actions))
        limit = int(min(limit, max(LEAST_PATIENCE, size * self.share)))
        if self.steps >= limit or self._fruitless >= patience:
            return None
        self._take_in(evidence)
        problems = list(self._problems)
        start = self._start(problems[int(rng.integers(len(problems)))], rng)
        steps = min(self.stride, limit - self.steps)
        self.steps += steps
        self._fruitless += steps
        return Walk(start, steps)

    def _take_in(self, evidence: Evidence) -> None:
        """Sort the situations that are new by problem and kind."""
        for node in evidence.nodes[self._taken :]:
            if node.situation is not None:
                objects = node.state.objects
                true = Counter(map(itemgetter(0), node.state.true))
                kind = tuple(chain.from_iterable(sorted(true.items())))
                kinds = self._problems.setdefault(objects, {})
                if kind not in kinds:
                    kinds[kind] = []
                    insort(self._sorted[objects], (kind, kinds[kind]))
                kinds[kind].append(node)
        self._taken = len(evidence.nodes)

    def _start(self, problem: Objects, rng: np.random.Generator) -> Node:
        kinds = [nodes for _, nodes in self._sorted[problem]]
        weights = np.array([1.0 / (1 + self._departures[nodes[0].number]) ** 2 for nodes in kinds])
        kind = kinds[int(rng.choice(len(kinds), p=weights / weights.sum()))]
        self._departures[kind[0].number] += 1
        return kind[int(rng.integers(len(kind)))]
