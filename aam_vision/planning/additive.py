"""The additive heuristic (Bonet and Geffner, 2001): how far states are from the nearest goal, many at once.

Deletes are ignored, and what an operator requires is taken to be reached one thing after the other. That guides a search
through worlds in which a blind one ends at its limits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aam_vision.fact_tables import Mask, Numbers
from aam_vision.planning.numbered import Task

Costs = npt.NDArray[np.float32]

FAR = np.float32(1e6)
"""The cost of what cannot be reached."""
CELLS = 4_000_000
"""Costs that are worked out together. More: fewer operations of numpy, more memory."""


class AdditiveHeuristic:
    """Estimates the steps from states to the nearest goal; infinite where there is no way even without deletes."""

    def __init__(self, task: Task) -> None:
        self._size = task.states.shape[1]
        self._required = _columns(task.required, self._size)
        self._wanted = _columns(task.wanted, self._size)
        makers, made = np.nonzero(task.add)
        order = np.argsort(made, kind="stable")
        self._makers: Numbers = makers[order]
        """Steps, by the literal that they make true."""
        self._made, self._begin = np.unique(made[order], return_index=True)
        self._block = max(CELLS // max(len(task.required), len(makers), 1), 1)

    def __call__(self, states: Mask) -> Costs:
        """The estimate for each state; shapes (states, literals), (states,)."""
        parts = [self._estimated(states[i : i + self._block]) for i in range(0, len(states), self._block)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)

    def _estimated(self, states: Mask) -> Costs:
        costs = np.full((self._size + 1, len(states)), FAR, dtype=np.float32)
        costs[:-1][states.T] = 0
        costs[-1] = 0
        while len(self._made):
            reached = 1 + _summed(costs, self._required)
            cheapest = np.minimum.reduceat(reached[self._makers], self._begin, axis=0)
            known = costs[self._made]
            if not (cheapest < known).any():
                break
            costs[self._made] = np.minimum(cheapest, known)
        nearest: Costs = _summed(costs, self._wanted).min(axis=0)
        return np.where(nearest >= FAR, np.float32(np.inf), nearest)


def _columns(sets: Mask, size: int) -> Numbers:
    """The members of each set, one column after the other, filled up with the number ``size``."""
    rows, members = np.nonzero(sets)
    counts = np.bincount(rows, minlength=len(sets))
    columns = np.full((int(counts.max(initial=0)), len(sets)), size, dtype=np.int64)
    columns[np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows], rows] = members
    return columns


def _summed(costs: Costs, columns: Numbers) -> Costs:
    """The summed costs of the members of each set; shape (sets, states)."""
    total = np.zeros((columns.shape[1], costs.shape[1]), dtype=np.float32)
    for column in columns:
        total += costs[column]
    return total
