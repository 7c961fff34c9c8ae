"""Conclusions from noisy answers: a probability for every palm tuple, and the error rates.

They are a function of the trials alone, whatever policy made them, so a result can be checked against its transcript.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.evidence.entries import Entry
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.statistics.counts import ActionCounts, FrameCounts
from aam_vision.interrogation.statistics.effect_posterior import MODES, effects
from aam_vision.interrogation.statistics.error_rates import ErrorRates, misreadings
from aam_vision.interrogation.statistics.goodness_of_fit import (
    CHANCE,
    SUSPICIOUS,
    effect_chances,
    looks_missing,
    unfit_precondition,
    unfit_together,
)
from aam_vision.interrogation.statistics.precondition_posterior import (
    ALTERNATIONS,
    Precondition,
    execution_rate,
    precondition,
    refusal_rate,
)
from aam_vision.interrogation.statistics.trials import trials
from aam_vision.strips import ActionHeader, Location, Mode, PalTuple, Vocabulary

DOUBT = 0.1
"""Weight of the uniform distribution where modes are suspicious. More: fewer wrong modes, fewer decided ones."""


@dataclass(frozen=True)
class ActionAssessment:
    """The posterior of one action; ``required`` and ``effect`` are probabilities of shape ``(atoms, 3)``.

    Their columns are in the order of ``MODES``.
    """

    index: AtomIndex
    counts: ActionCounts
    precondition: Precondition
    required: NDArray[np.float64]
    effect: NDArray[np.float64]
    missing: NDArray[np.int64]
    """The number of further looks that each atom needs, by its value before; shape ``(atoms, 2)``."""
    unfit: tuple[str, ...]
    """The parts that fit no STRIPS model, in words; all their modes count as equally probable."""

    @property
    def executed(self) -> int:
        """The number of executed trials."""
        return int(self.counts.executed.sum())

    @property
    def doubts(self) -> NDArray[np.float64]:
        """The probability that the best mode of each pal tuple is wrong; shape ``(2, atoms)``: pre, eff."""
        return np.stack([1 - self.required.max(axis=1), 1 - self.effect.max(axis=1)])


@dataclass(frozen=True)
class Assessment:
    """The posterior of all actions, and the error rates."""

    rates: ErrorRates
    actions: Mapping[str, ActionAssessment]

    @property
    def unfit(self) -> list[str]:
        """The parts that fit no STRIPS model, in words."""
        return [text for action in self.actions.values() for text in action.unfit]

    def sceptical(self, confidence: float) -> Assessment:
        """The same for when no trial can settle the doubts: no mode of an action with any doubt is certain.

        The conclusions about one action depend on each other: where one literal is wrongly taken for required, the
        trials of the others mislead.
        """
        actions = {
            name: replace(action, required=_smoothed(action.required), effect=_smoothed(action.effect))
            if (action.doubts > 1 - confidence).any()
            else action
            for name, action in self.actions.items()
        }
        return replace(self, actions=actions)

    def confidences(self) -> dict[PalTuple, tuple[Mode, float]]:
        """The most probable mode of every pal tuple, and its probability."""
        found = {}
        for name, action in self.actions.items():
            for location, table in ((Location.PRE, action.required), (Location.EFF, action.effect)):
                for number, atom in enumerate(action.index.atoms):
                    best = int(table[number].argmax())
                    found[PalTuple(atom, name, location)] = MODES[best], float(table[number, best])
        return found

    def hypotheses(self, confidence: float, blank: Hypotheses) -> Hypotheses:
        """The modes that are not ruled out, as hypotheses of the exact engine; ``blank`` is filled in.

        A pal tuple is decided where its best mode is at least as probable as ``confidence``.
        """
        for name, assessed in self.actions.items():
            action = blank[name]
            action.positive, action.negative, action.absent = _possible(assessed.required, confidence)
            action.adds, action.deletes, action.keeps = _possible(assessed.effect, confidence)
            action.successes = action.kinds_of_success = assessed.executed
            action.held = action.index.everything
            action.version += 1
        return blank


class Assessor:
    """Counts trials, and assesses the agent from all of them so far."""

    def __init__(self, vocabulary: Vocabulary, headers: Sequence[ActionHeader]) -> None:
        self._counts = {header.name: ActionCounts(AtomIndex(vocabulary, header)) for header in headers}
        self._frame = FrameCounts(vocabulary)

    def take_in(self, entry: Entry) -> None:
        """Count the trials of one entry."""
        for trial in trials(entry):
            self._counts[trial.action.name].add(trial)
            self._frame.add(trial)

    def assess(self) -> Assessment:
        """The posterior so far. Preconditions and rates of refusals depend on each other, so they alternate."""
        nothing = np.zeros(0, dtype=np.bool_)
        refusals, executions = refusal_rate(nothing, nothing), execution_rate(nothing, nothing)
        found: dict[str, Precondition] = {}
        tables = {name: (counts.held, counts.executed) for name, counts in self._counts.items()}
        for _ in range(ALTERNATIONS):
            for name, (held, executed) in tables.items():
                found[name] = precondition(held, executed, refusals, executions)
            executed = np.concatenate([executed for _, executed in tables.values()])
            applicable = np.concatenate([found[name].applicable for name in tables])
            before = refusals, executions
            refusals, executions = refusal_rate(executed, applicable), execution_rate(executed, applicable)
            if np.allclose(before, (refusals, executions)):
                break
        rates = ErrorRates(misreadings(self._frame.counts), refusals, executions)
        actions = {name: _assessed(counts, found[name], rates) for name, counts in self._counts.items()}
        return Assessment(rates, actions)


def assess(transcript: Transcript) -> Assessment:
    """The posterior from a whole transcript."""
    return assessor_of(transcript.vocabulary, transcript.headers, transcript.entries).assess()


def assessor_of(
    vocabulary: Vocabulary, headers: tuple[ActionHeader, ...], entries: Iterable[Entry]
) -> Assessor:
    """An assessor that has taken in these entries."""
    assessor = Assessor(vocabulary, headers)
    for entry in entries:
        assessor.take_in(entry)
    return assessor


def _assessed(counts: ActionCounts, found: Precondition, rates: ErrorRates) -> ActionAssessment:
    index, size = counts.index, len(counts.index.atoms)
    name, unfit = index.header.name, list[str]()
    required = _required(found)
    if unfit_precondition(counts.executed, found.applicable, rates.refusals, rates.executions):
        unfit.append(f"when {name} can be executed")
        required[:] = 1 / 3
    logarithms = np.array([rates.misreadings[atom.predicate].logarithms for atom in index.atoms])
    logarithms = logarithms.reshape(size, 2, 2)
    effect = effects(counts.seen, logarithms)
    # adding an atom that must hold, or deleting one that must not, changes nothing: such a mode is read as absent
    restated = (found.best & (found.doubt < 0.5)).reshape(2, size).T
    effect[:, 2] += np.where(restated, effect[:, :2], 0).sum(axis=1)
    effect[:, :2][restated] = 0
    misread = np.exp(logarithms[:, (0, 1), (1, 0)])
    chances = effect_chances(counts.seen, effect, misread)
    effect[chances < SUSPICIOUS] = _smoothed(effect[chances < SUSPICIOUS])
    effect[chances < CHANCE] = 1 / 3
    for number in np.flatnonzero(chances < CHANCE):
        unfit.append(f"what {name} does to {index.atoms[number].text(index.header.parameters)}")
    if unfit_together(counts.changes, effect, misread):
        unfit.append(f"what {name} does, now this and now that")
        effect[:] = 1 / 3
    missing = looks_missing(counts.seen, found.best.reshape(2, size), misread)
    return ActionAssessment(index, counts, found, required, effect, missing, tuple(unfit))


def _required(found: Precondition) -> NDArray[np.float64]:
    """The probability of every mode in the precondition; shape ``(atoms, 3)``."""
    positive, negative = np.where(found.best, 1 - found.doubt, found.doubt).reshape(2, -1)
    required = np.stack([positive, negative, np.clip(1 - (positive + negative), 0, 1)], axis=1)
    normalized: NDArray[np.float64] = required / required.sum(axis=1, keepdims=True)
    return normalized


def _smoothed(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities mixed with the uniform distribution, so that no mode is certain."""
    return (1 - DOUBT) * table + DOUBT / 3


def _possible(table: NDArray[np.float64], confidence: float) -> tuple[int, int, int]:
    """Masks of the atoms for which each mode is not ruled out."""
    possible = table > (1 - confidence) / 2
    decided = table.max(axis=1) >= confidence
    possible[decided] = np.eye(3, dtype=np.bool_)[table[decided].argmax(axis=1)]
    positive, negative, absent = (
        sum(1 << int(number) for number in np.flatnonzero(column)) for column in possible.T
    )
    return positive, negative, absent
