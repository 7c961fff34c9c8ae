"""The additive heuristic (Bonet and Geffner, 2001) over numbered operators: how far a state is from the goal.

Deletes are ignored, and what an operator requires is taken to be reached one thing after the other. That guides a search
through worlds in which a blind one ends at its limits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aam_vision.fact_tables import Numbers
from aam_vision.planning.bitmasks import numbers_in
from aam_vision.planning.numbered import Task

FAR = 1e9
"""The cost of what cannot be reached."""


class AdditiveHeuristic:
    """Estimates the steps from a search node's state to the goal; infinite where there is no way even without deletes."""

    def __init__(self, task: Task) -> None:
        operators = task.operators
        required = [list(numbers_in(operator.required)) for operator in operators]
        added = [(bit, place) for place, one in enumerate(operators) for bit in numbers_in(one.add)]
        self._goal = next(numbers_in(task.reached))
        self._size = 1 + max(
            [self._goal, *(bit for some in required for bit in some), *(b for b, _ in added)]
        )
        width = max(map(len, required), default=0)
        self._required: Numbers = np.full((len(operators), width), self._size, dtype=np.int64)
        """The bits that each operator requires; filled up with one that is always true."""
        for row, some in zip(self._required, required, strict=True):
            row[: len(some)] = some
        order = np.array(sorted(added), dtype=np.int64).reshape(len(added), 2)
        self._makers = order[:, 1]
        """Operators, by the bit that they add."""
        self._made, self._begin = np.unique(order[:, 0], return_index=True)

    def __call__(self, node: Any) -> float:
        """The estimate of one of pyperplan's search nodes."""
        bits: int = node.state.bits
        if not bits:
            return 0.0  # no start is chosen yet
        cost = np.full(self._size + 1, FAR)
        cost[self._size] = 0
        cost[[bit for bit in numbers_in(bits) if bit < self._size]] = 0
        while True:
            reached = 1 + cost[self._required].sum(axis=1)
            cheapest = np.minimum.reduceat(reached[self._makers], self._begin)
            better = cheapest < cost[self._made]
            if not better.any():
                break
            cost[self._made] = np.where(better, cheapest, cost[self._made])
        return float("inf") if cost[self._goal] >= FAR else float(cost[self._goal])
