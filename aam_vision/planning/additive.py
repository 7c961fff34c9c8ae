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
        self._required = task.required.columns(self._size)
        self._wanted = task.wanted.columns(self._size)
        self._needing = task.required.turned()
        """By literal, the steps that require it."""
        self._makes = task.add
        """By step, the literals that it makes true."""
        self._free: Numbers = np.flatnonzero(task.required.count(np.arange(len(task.required))) == 0)
        """Steps that require nothing."""
        self._block = max(CELLS // max(len(task.required), len(task.add.members), 1), 1)

    def __call__(self, states: Mask) -> Costs:
        """The estimate for each state; shapes (states, literals), (states,)."""
        parts = [self._estimated(states[i : i + self._block]) for i in range(0, len(states), self._block)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)

    def _estimated(self, states: Mask) -> Costs:
        """What became cheaper is passed on until nothing does: first all that is true, then what was reached last."""
        costs = np.full((self._size + 1, len(states)), FAR, dtype=np.float32)
        costs[:-1][states.T] = 0
        costs[-1] = 0
        cheaper = np.flatnonzero(states.any(axis=0))
        steps = self._different(np.concatenate([self._free, self._needing.of(cheaper)[1]]))
        while len(steps):
            reached = 1 + _summed(costs, self._required[:, steps])
            near = reached.min(axis=1) < FAR
            makers, made = self._makes.of(steps[near])
            order = np.argsort(made, kind="stable")
            made = made[order]
            begin = np.flatnonzero(np.diff(made, prepend=-1))
            literals = made[begin]
            if not len(literals):
                break
            cheapest = np.minimum.reduceat(reached[near][makers[order]], begin, axis=0)
            known = costs[literals]
            fell = (cheapest < known).any(axis=1)
            cheaper = literals[fell]
            costs[cheaper] = np.minimum(cheapest[fell], known[fell])
            steps = self._different(self._needing.of(cheaper)[1])
        nearest: Costs = _summed(costs, self._wanted).min(axis=0)
        return np.where(nearest >= FAR, np.float32(np.inf), nearest)

    def _different(self, steps: Numbers) -> Numbers:
        """The steps in order, each once: a mark for every step is faster than sorting them."""
        marks = np.zeros(self._required.shape[1], dtype=bool)
        marks[steps] = True
        return np.flatnonzero(marks)


def _summed(costs: Costs, columns: Numbers) -> Costs:
    """The summed costs of the members of each set; shape (sets, states)."""
    total = np.zeros((columns.shape[1], costs.shape[1]), dtype=np.float32)
    for column in columns:
        total += costs[column]
    return total
