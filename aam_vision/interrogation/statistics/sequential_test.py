"""What a situation is, when every look at it may misread every atom: a sequential test, atom by atom.

Looks err independently of each other. So each adds to the log-odds of an atom what the rates of error say, and
once these exceed a threshold, the value that they favour is right with the probability that it stands for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.statistics.counts import Counts
from aam_vision.interrogation.statistics.error_rates import Misreading
from aam_vision.strips import Atom, Objects, State

MOST = 0.45
"""The highest rate of error that looks are weighed under: at one half they would tell nothing."""


class TestedState(NamedTuple):
    """What several looks at one situation say."""

    state: State
    """The likelier value of every atom; unknown is only what was never seen."""
    doubtful: frozenset[Atom]
    """Atoms whose log-odds do not reach the threshold."""
    certain: bool
    """Whether those of every atom do."""


class SequentialTest:
    """Several looks at one situation.

    Args:
        objects: what is there.
        sizes: how many atoms every predicate has with these objects.
    """

    def __init__(self, objects: Objects, sizes: Mapping[str, int]) -> None:
        self.looks = 0
        self._objects = objects
        self._sizes = sizes
        self._true: Counter[Atom] = Counter()
        self._hidden: Counter[Atom] = Counter()

    def add(self, state: State) -> None:
        """Take in what one look has shown."""
        self.looks += 1
        self._true.update(state.true)
        self._hidden.update(state.unknown)

    def read(self, misreadings: Mapping[str, Misreading], threshold: float) -> TestedState:
        """What follows under these rates of error."""
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
        """By predicate, how often each value of this state was seen as each; shape ``(2, 2)``."""
        counts = {name: np.zeros((2, 2), dtype=np.int64) for name in self._sizes}
        for name, size in self._sizes.items():
            counts[name][0, 0] = size * self.looks
        for atom in {**self._true, **self._hidden}:
            mine, hidden = counts[atom.predicate], self._hidden[atom]
            if len(set(atom.objects)) < len(atom.objects):
                continue  # none of those that were counted
            mine[0, 0] -= self.looks
            if hidden < self.looks:
                value = int(atom in state.true)
                mine[value] += (self.looks - hidden - self._true[atom], self._true[atom])
        return counts


def estimate(sightings: Sequence[SequentialTest], misreadings: Mapping[str, Misreading]) -> dict[str, Counts]:
    """How often values were seen as each, by predicate, every atom being what these rates make likelier."""
    counts = [one.confusion(one.read(misreadings, 0.0).state) for one in sightings]
    return {
        name: sum((one[name] for one in counts), np.zeros((2, 2), dtype=np.int64)) for name in misreadings
    }


def _weights(misreading: Misreading) -> tuple[float, float]:
    """How much one look speaks against an atom in which it was seen as false, and for one seen as true."""
    positive, negative = min(misreading.false_positive, MOST), min(misreading.false_negative, MOST)
    return float(np.log((1 - positive) / negative)), float(np.log((1 - negative) / positive))
