"""Looks at one situation after the other, each repeated until every atom is certain.

Where an agent stands it can be looked at again, without a step. The rates of error decide how often is enough. They are
estimated from the first situations, each of which is looked at several times, and get better with every other one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log

import numpy as np

from aam_vision.interrogation.statistics.counts import Counts, atom_counts
from aam_vision.interrogation.statistics.error_rates import Misreading, misreadings
from aam_vision.interrogation.statistics.sequential_test import SequentialTest, estimate
from aam_vision.query import Situation
from aam_vision.strips import Objects, State, Vocabulary

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
