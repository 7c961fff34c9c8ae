"""Trials, their counts, and the error rates of the answers that are estimated from the counts.

Trials are single steps from states that are known for certain. Under ``settable`` access the state that a query starts
from is known exactly, whatever is misread later. So the first step of every query and walk is a trial; all other steps
are left out. Counts of trials are the sufficient statistics for the posteriors of each action, and for the error rates.

The priors are pseudo-counts (errors, of how many): larger ones need more evidence to be overruled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import perm

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.evidence.moves import Asked, Entry
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.strips import Atom, GroundAction, Objects, State, Vocabulary


@dataclass(frozen=True)
class Trial:
    """A step that was attempted in a known state; ``seen`` is the state seen next, None if not observed."""

    start: State
    action: GroundAction
    executed: bool
    seen: State | None


def trials(entry: Entry) -> Iterator[Trial]:
    """The trials of one entry of a transcript under settable access."""
    if isinstance(entry, Asked):
        if entry.query.plan:
            executed = entry.response.executed
            seen = entry.response.final.state if executed <= 1 else None
            yield Trial(entry.query.initial.state, entry.query.plan[0], executed > 0, seen)
    elif entry.steps:
        step = entry.steps[0]
        yield Trial(step.before.state, step.action, True, step.after.state)


Counts = NDArray[np.int64]
_Surroundings = tuple[tuple[str, ...], frozenset[tuple[str, tuple[str, ...]]]]


class ActionCounts:
    """The trials of one action.

    ``seen`` counts, for every atom of the action, its values before an executed step and as they were seen after it;
    shape ``(atoms, 2, 2)``. What may be one situation is counted once: a classifier misreads it the same way each
    time, so that no number of looks at it makes certain what it shows.
    """

    def __init__(self, index: AtomIndex) -> None:
        self.index = index
        self.seen: Counts = np.zeros((len(index.atoms), 2, 2), dtype=np.int64)
        self._held: list[int] = []
        self._executed: list[bool] = []
        self._changes: list[tuple[int, int]] = []
        self._looked_at: set[_Surroundings] = set()

    @property
    def attempts(self) -> int:
        return len(self._held)

    @property
    def executed(self) -> NDArray[np.bool_]:
        """Which trials were executed; shape ``(trials,)``."""
        return np.array(self._executed, dtype=np.bool_)

    @property
    def held(self) -> NDArray[np.bool_]:
        """The atoms' values before each trial; shape ``(trials, atoms)``."""
        return np.array([self._values(mask) for mask in self._held], dtype=np.bool_).reshape(
            len(self._held), len(self.index.atoms)
        )

    @property
    def changes(self) -> NDArray[np.bool_]:
        """The atoms' values before, and as seen after, every executed step; shape ``(steps, 2, atoms)``."""
        values = [[self._values(held), self._values(now)] for held, now in self._changes]
        return np.array(values, dtype=np.bool_).reshape(len(values), 2, len(self.index.atoms))

    def add(self, trial: Trial) -> None:
        """Count a trial, unless two atoms of the action are one under its arguments."""
        objects = trial.action.objects
        if self.index.coinciding(objects):
            return
        held, _ = self.index.values(trial.start, objects)
        self._held.append(held)
        self._executed.append(trial.executed)
        surroundings = self._surroundings(trial.start, objects)
        if trial.executed and trial.seen is not None and surroundings not in self._looked_at:
            self._looked_at.add(surroundings)
            now, _ = self.index.values(trial.seen, objects)
            self._changes.append((held, now))
            numbers = np.arange(len(self.index.atoms))
            self.seen[numbers, self._values(held), self._values(now)] += 1

    def is_new(self, start: State, objects: tuple[str, ...]) -> bool:
        """Whether the situation after a step with these arguments was certainly not seen yet."""
        return self._surroundings(start, objects) not in self._looked_at

    def _surroundings(self, start: State, objects: tuple[str, ...]) -> _Surroundings:
        """The arguments, and all that the action cannot change: after steps with other ones the situation is another."""
        named = {*objects, *self.index.constants}
        return objects, frozenset(atom for atom in start.true if not named.issuperset(atom[1]))

    def _values(self, mask: int) -> list[int]:
        return [mask >> number & 1 for number in range(len(self.index.atoms))]


class FrameCounts:
    """Confusion matrices of the atoms that no step can have changed, by predicate: true value, seen value."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.counts: dict[str, Counts] = {
            predicate.name: np.zeros((2, 2), dtype=np.int64) for predicate in vocabulary.predicates
        }
        self._vocabulary = vocabulary
        self._sizes: dict[Objects, Counter[str]] = {}
        self._looked_at: set[tuple[State, GroundAction | None]] = set()

    def add(self, trial: Trial) -> None:
        """Count the atoms that had to keep their values, once for each situation. A refused step changes nothing."""
        situation = trial.start, trial.action if trial.executed else None
        if trial.seen is None or situation in self._looked_at:
            return
        self._looked_at.add(situation)
        start, seen, objects = trial.start.true, trial.seen.true, trial.start.objects
        if objects not in self._sizes:
            self._sizes[objects] = atom_counts(self._vocabulary, objects)
        kept = Counter(self._sizes[objects])
        names = {*trial.action.objects, *self._vocabulary.constants} if trial.executed else None
        if names is not None:
            kept.subtract(atom_counts(self._vocabulary, objects, names))
        for values, atoms in (((1, 1), start & seen), ((1, 0), start - seen), ((0, 1), seen - start)):
            for predicate, number in Counter(
                atom.predicate
                for atom in map(Atom._make, atoms)
                if len(set(atom.objects)) == len(atom.objects)
                and (names is None or not names.issuperset(atom.objects))
            ).items():
                self.counts[predicate][values] += number
                kept[predicate] -= number
        for predicate, number in kept.items():
            self.counts[predicate][0, 0] += number


def atom_counts(
    vocabulary: Vocabulary, objects: Objects, names: Collection[str] | None = None
) -> Counter[str]:
    """The number of atoms without a repeated object by predicate; only over these names, if any are given."""
    chosen = objects if names is None else names
    return Counter(
        {
            predicate.name: _injections(
                [objects.members(kind).intersection(chosen) for kind in predicate.types]
            )
            for predicate in vocabulary.predicates
        }
    )


def _injections(choices: list[frozenset[str]]) -> int:
    """The number of ways to choose one member of every set, no object twice."""
    if all(choice == choices[0] for choice in choices):
        return perm(len(choices[0]), len(choices)) if choices else 1
    first, *rest = choices
    return sum(_injections([choice - {name} for choice in rest]) for name in first)


POOLED = (0.5, 25.0)
"""Wrong values: the prior of the rate that all predicates have in common."""
OWN = 20.0
"""Weight of the common rate in that of one predicate, as a number of values seen."""
REFUSED = (0.5, 10.0)
"""Refused steps, of those that could be executed."""
EXECUTED = (0.02, 100.0)
"""Executed steps, of those that could not be."""


@dataclass(frozen=True)
class Misreading:
    """The error rates of one predicate's atoms."""

    false_positive: float
    """The probability that a false atom is seen as true."""
    false_negative: float
    """The probability that a true atom is seen as false."""

    @property
    def logarithms(self) -> NDArray[np.float64]:
        """Log-probabilities of seeing each true value as each value; shape ``(2, 2)``."""
        positive, negative = self.false_positive, self.false_negative
        return np.log([[1 - positive, positive], [negative, 1 - negative]])


@dataclass(frozen=True)
class ErrorRates:
    """The estimated rates of error.

    ``refusals`` is the probability that a step which could be executed is refused; ``executions``, that one which
    could not be is reported as executed.
    """

    misreadings: Mapping[str, Misreading]
    refusals: float
    executions: float
    surely: bool = False
    """Whether the agent's refusals are never a mistake (``query.refuses_surely``): then their rate means nothing."""
    looks_err: bool = False
    """Whether looks at one situation have differed, where each was looked at until it was certain."""
    refusals_err: bool = False
    """Whether steps were refused that could be executed."""


def misreadings(counts: Mapping[str, Counts]) -> dict[str, Misreading]:
    """The posterior mean of every predicate's rates, each shrunk to its kind of error, and that to all errors.

    ``counts`` are confusion matrices by predicate: true value, seen value.
    """
    total = sum(counts.values(), np.zeros((2, 2), dtype=np.int64))
    wrong, seen = POOLED
    overall = (wrong + total[0, 1] + total[1, 0]) / (seen + total.sum())
    kinds = [(OWN * overall + total[v, 1 - v]) / (OWN + total[v].sum()) for v in (0, 1)]
    return {
        name: Misreading(*(float((OWN * kinds[v] + own[v, 1 - v]) / (OWN + own[v].sum())) for v in (0, 1)))
        for name, own in counts.items()
    }


def posterior_mean(prior: tuple[float, float], happened: int, of: int) -> float:
    """The mean of a rate's posterior."""
    return (prior[0] + happened) / (prior[1] + of)
