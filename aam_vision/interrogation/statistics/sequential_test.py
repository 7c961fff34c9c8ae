"""The state of a situation when every look at it may misread every atom: a sequential test, atom by atom.

Looks err independently of each other. So each adds to the log-odds of an atom according to the error rates; once
these exceed a threshold, the more probable value is right with the corresponding probability.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.statistics.counts import Counts
from aam_vision.interrogation.statistics.error_rates import Misreading
from aam_vision.strips import Atom, Objects, State

MAX_RATE = 0.45
"""The highest error rate under which looks are weighed: at one half they would carry no information."""


class TestedState(NamedTuple):
    """The result of several looks at one situation."""

    state: State
    """The more probable value of every atom; only atoms that were never seen are unknown."""
    doubtful: frozenset[Atom]
    """Atoms whose log-odds do not reach the threshold."""
    certain: bool
    """Whether the log-odds of all atoms reach it."""


class SequentialTest:
    """Several looks at one situation.

    Args:
        objects: the situation's objects.
        sizes: how many atoms every predicate has with these objects.
    """

    def __init__(self, objects: Objects, sizes: Mapping[str, int]) -> None:
        self.looks = 0
        self._objects = objects
        self._sizes = sizes
        self._true: Counter[Atom] = Counter()
        self._hidden: Counter[Atom] = Counter()

    def add(self, state: State) -> None:
        """Add the state seen in one look."""
        self.looks += 1
        self._true.update(state.true)
        self._hidden.update(state.unknown)

    def read(self, misreadings: Mapping[str, Misreading], threshold: float) -> TestedState:
        """The result under these error rates."""
        true, unknown, doubtful = [], [], []
        weights = {name: _weights(misreading) for name, misreading in misreadings.items()}
        for atom in {**self._true, **self._hidden}:
            seen = self.looks - self._hidden[atom]
            if not seen:
                unknown.append(atom)
                continue
            against, favour = weights[atom.predicate]
            odds = self._true[atom] * favour - (seen - self._true[atom]) * against
            if odds > 0:
                true.append(atom)
            if abs(odds) < threshold:
                doubtful.append(atom)
        never = all(self.looks * weights[name][0] >= threshold for name, size in self._sizes.items() if size)
        state = State(frozenset(true), self._objects, frozenset(unknown))
        return TestedState(state, frozenset(doubtful), never and not doubtful)

    def confusion(self, state: State) -> dict[str, Counts]:
        """The confusion matrices of the looks, by predicate, if this is the true state."""
        counts = {name: np.zeros((2, 2), dtype=np.int64) for name in self._sizes}
        for name, size in self._sizes.items():
            counts[name][0, 0] = size * self.looks
        for atom in {**self._true, **self._hidden}:
            mine, hidden = counts[atom.predicate], self._hidden[atom]
            if len(set(atom.objects)) < len(atom.objects):
                continue  # ``sizes`` does not count it
            mine[0, 0] -= self.looks
            if hidden < self.looks:
                value = int(atom in state.true)
                mine[value] += (self.looks - hidden - self._true[atom], self._true[atom])
        return counts


def estimate(tests: Sequence[SequentialTest], misreadings: Mapping[str, Misreading]) -> dict[str, Counts]:
    """The confusion matrices, by predicate, if every atom has the value that is more probable under these rates."""
    counts = [one.confusion(one.read(misreadings, 0.0).state) for one in tests]
    return {
        name: sum((one[name] for one in counts), np.zeros((2, 2), dtype=np.int64)) for name in misreadings
    }


def _weights(misreading: Misreading) -> tuple[float, float]:
    """The log-odds that one look adds: against an atom seen as false, and for one seen as true."""
    positive, negative = min(misreading.false_positive, MAX_RATE), min(misreading.false_negative, MAX_RATE)
    return float(np.log((1 - positive) / negative)), float(np.log((1 - negative) / positive))
