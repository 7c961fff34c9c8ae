"""Looks at one situation after the other, each repeated until every atom is certain.

Where an agent stands it can be looked at again, without a step. The rates of error decide how often is enough. They are
estimated from the first situations, each of which is looked at several times, and get better with every other one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.statistics.counts import Counts, Misreading, atom_counts, misreadings
from aam_vision.model.query import Situation
from aam_vision.model.strips import Atom, Objects, State, Vocabulary

ANSWERS = 1000
"""Answers among which the probability of a mistake is shared out that the confidence leaves: more of them make each answer
surer, and cost looks and repeated steps."""
FIRST_LOOKS = 12
"""Looks at every initial situation, before anything is known of the rates of error: more of them tell the rates better."""
FIRST_VALUES = 400
"""Values of atoms to see in these looks at least, so that small problems are looked at more often."""
MOST_LOOKS = 300
"""Looks at one situation, at most: what is not certain then stays unknown."""
ROUNDS = 10
"""Improvements of the first rates and the first states in turn: they hardly change any more after that."""

Look = Callable[[Situation], Situation]
"""One more look at a situation; the answer is where the next look begins."""


class RepeatedLooks:
    """Tells what is certain in a situation.

    Args:
        vocabulary: of the agent.
        confidence: how probable it is at least that all that is told is right, for ``ANSWERS`` situations.
        look: looks at a situation again. What it shows must not depend on what it showed before.
    """

    def __init__(self, vocabulary: Vocabulary, confidence: float, look: Look) -> None:
        self.allowed_error = (1 - confidence) / ANSWERS
        """Probability of a mistake that one answer may have."""
        self.confusion: dict[str, Counts] = {
            predicate.name: np.zeros((2, 2), dtype=np.int64) for predicate in vocabulary.predicates
        }
        """By predicate, what was seen of atoms whose value is certain by now: true value, seen value."""
        self.misreadings: dict[str, Misreading] = misreadings(self.confusion)
        self._vocabulary = vocabulary
        self._look = look
        self._known_atom_counts: dict[Objects, dict[str, int]] = {}

    @property
    def erred(self) -> bool:
        """Whether anything was misread."""
        return any(own[0, 1] or own[1, 0] for own in self.confusion.values())

    def begin(self, starts: Sequence[Situation]) -> list[Situation]:
        """What is certain in the first situations; the rates of error are estimated from them first."""
        seen = []
        for start in starts:
            atoms = self._atom_counts(start.state.objects)
            test = SequentialTest(start.state.objects, atoms)
            enough = max(FIRST_LOOKS, min(MOST_LOOKS, FIRST_VALUES // max(1, sum(atoms.values()))))
            at = start
            for _ in range(enough):
                at = self._look(at)
                test.add(at.state)
            seen.append((at, test))
        for _ in range(ROUNDS):
            self.misreadings = misreadings(estimate([test for _, test in seen], self.misreadings))
        return [self._settled(at, test) for at, test in seen]

    def settled(self, at: Situation) -> Situation:
        """What is certain in a situation that was looked at once; other atoms are unknown."""
        test = SequentialTest(at.state.objects, self._atom_counts(at.state.objects))
        test.add(at.state)
        return self._settled(at, test)

    def _settled(self, at: Situation, test: SequentialTest) -> Situation:
        atoms = self._atom_counts(at.state.objects)
        threshold = log(max(1, sum(atoms.values())) / self.allowed_error)
        while not (reading := test.read(self.misreadings, threshold)).certain:
            if test.looks >= MOST_LOOKS:
                break
            at = self._look(at)
            test.add(at.state)
        for name, counts in test.confusion(reading.state).items():
            self.confusion[name] += counts
        self.misreadings = misreadings(self.confusion)
        state, doubtful = reading.state, reading.doubtful
        return Situation(at.handle, State(state.true - doubtful, state.objects, state.unknown | doubtful))

    def _atom_counts(self, objects: Objects) -> dict[str, int]:
        if objects not in self._known_atom_counts:
            self._known_atom_counts[objects] = dict(atom_counts(self._vocabulary, objects))
        return self._known_atom_counts[objects]


# The state of a situation when every look at it may misread every atom: a sequential test, atom by atom.
#
# Looks err independently of each other. So each adds to the log-odds of an atom according to the error rates; once
# these exceed a threshold, the more probable value is right with the corresponding probability.

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
