"""What follows from noisy answers: a probability for every palm tuple, and the rates of error.

A function of the trials alone, whatever policy made them, so that a result can be checked against its transcript.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.evidence.entries import Entry
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.statistics.counts import ActionCounts, FrameCounts
from aam_vision.interrogation.statistics.effect_posterior import MODES, effects
from aam_vision.interrogation.statistics.error_rates import (
    EXECUTED,
    REFUSED,
    ErrorRates,
    misreadings,
    posterior_mean,
)
from aam_vision.interrogation.statistics.goodness_of_fit import (
    CHANCE,
    SUSPICIOUS,
    effect_chances,
    looks_missing,
    unfit_precondition,
    unfit_together,
)
from aam_vision.interrogation.statistics.precondition_posterior import (
    SIDES,
    Precondition,
    execution_rate,
    precondition,
    refusal_rate,
)
from aam_vision.interrogation.statistics.trials import Trial, trials
from aam_vision.strips import ActionHeader, Location, Mode, PalTuple, Vocabulary


@dataclass(frozen=True)
class ActionAssessment:
    """What is known of one action; ``required`` and ``effect`` are probabilities of shape ``(atoms, 3)``.

    Their columns are in the order of ``MODES``.
    """

    index: AtomIndex
    counts: ActionCounts
    precondition: Precondition
    required: NDArray[np.float64]
    effect: NDArray[np.float64]
    missing: NDArray[np.int64]
    """How often each atom has still to be seen after each value before; shape ``(atoms, 2)``."""
    unfit: tuple[str, ...]
    """What of it fits no STRIPS model, in words; every mode of it counts as equally probable."""

    @property
    def executed(self) -> int:
        """How many trials were executed."""
        return int(self.counts.executed.sum())

    @property
    def doubts(self) -> NDArray[np.float64]:
        """The probability that the best mode of each pal tuple is wrong; shape ``(2, atoms)``: pre, eff."""
        return np.stack([1 - self.required.max(axis=1), 1 - self.effect.max(axis=1)])


@dataclass(frozen=True)
class Assessment:
    """What is known of the whole agent."""

    rates: ErrorRates
    actions: Mapping[str, ActionAssessment]

    @property
    def unfit(self) -> list[str]:
        """What fits no STRIPS model, in words."""
        return [text for action in self.actions.values() for text in action.unfit]

    def sceptical(self, confidence: float) -> Assessment:
        """The same for when no trial settles what is in doubt: nothing is certain of an action of which anything is not.

        All that is believed of an action hangs together: where one literal is taken for required by mistake, trials of
        the others mislead.
        """
        actions = {}
        for name, action in self.actions.items():
            tables = action.required, action.effect
            if (action.doubts > 1 - confidence).any():
                tables = 0.9 * action.required + 0.1 / 3, 0.9 * action.effect + 0.1 / 3
            actions[name] = replace(action, required=tables[0], effect=tables[1])
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
        """The modes that are not ruled out, as the exact engine states them; ``blank`` is filled in.

        A pal tuple has one mode left where that is at least as probable as ``confidence``.
        """
        for name, assessed in self.actions.items():
            action = blank[name]
            required = _possible(assessed.required, confidence)
            action.positive, action.negative, action.absent = required
            action.adds, action.deletes, action.keeps = _possible(assessed.effect, confidence)
            action.successes = action.kinds_of_success = assessed.executed
            action.held = action.index.everything
            action.version += 1
        return blank


@dataclass
class Assessor:
    """Adds up trials, and assesses the agent from all of them so far."""

    vocabulary: Vocabulary
    headers: tuple[ActionHeader, ...]
    _tallies: dict[str, ActionCounts] = field(init=False)
    _frame: FrameCounts = field(init=False)

    def __post_init__(self) -> None:
        self._tallies = {
            header.name: ActionCounts(AtomIndex(self.vocabulary, header)) for header in self.headers
        }
        self._frame = FrameCounts(self.vocabulary)

    def take_in(self, entry: Entry) -> None:
        """Count the trials of one entry."""
        for trial in trials(entry):
            self.add(trial)

    def add(self, trial: Trial) -> None:
        """Count one trial."""
        self._tallies[trial.action.name].add(trial)
        self._frame.add(trial)

    def assess(self) -> Assessment:
        """What follows: the preconditions and the rates of refusals explain each other, so in turn."""
        refusals, executions = posterior_mean(REFUSED, 0, 0), posterior_mean(EXECUTED, 0, 0)
        found: dict[str, Precondition] = {}
        tables = {name: (tally.held, tally.executed) for name, tally in self._tallies.items()}
        for _ in range(SIDES):
            for name, (held, executed) in tables.items():
                found[name] = precondition(held, executed, refusals, executions)
            executed = np.concatenate([executed for _, executed in tables.values()])
            applicable = np.concatenate([found[name].applicable for name in tables])
            before = refusals, executions
            refusals, executions = refusal_rate(executed, applicable), execution_rate(executed, applicable)
            if np.allclose(before, (refusals, executions)):
                break
        rates = ErrorRates(misreadings(self._frame.counts), refusals, executions)
        actions = {name: _assessed(tally, found[name], rates) for name, tally in self._tallies.items()}
        return Assessment(rates, actions)


def assess(transcript: Transcript) -> Assessment:
    """What a whole transcript tells."""
    return assessor_of(transcript.vocabulary, transcript.headers, transcript.entries).assess()


def assessor_of(
    vocabulary: Vocabulary, headers: tuple[ActionHeader, ...], entries: Iterable[Entry]
) -> Assessor:
    """One that has taken in these entries."""
    assessor = Assessor(vocabulary, headers)
    for entry in entries:
        assessor.take_in(entry)
    return assessor


def _assessed(tally: ActionCounts, found: Precondition, rates: ErrorRates) -> ActionAssessment:
    index = tally.index
    size = len(index.atoms)
    probable = np.where(found.best, 1 - found.doubt, found.doubt)
    required = np.stack([probable[:size], probable[size:], np.zeros(size)], axis=1)
    required[:, 2] = np.clip(1 - required.sum(axis=1), 0, 1)
    required /= required.sum(axis=1, keepdims=True)
    logarithms = np.array([rates.misreadings[atom.predicate].logarithms for atom in index.atoms])
    effect = effects(tally.seen, logarithms.reshape(size, 2, 2))
    # adding what must be there, or deleting what must not, changes nothing: such a mode is read as absent
    certain = found.doubt < 0.5
    for column, literals in (
        (0, found.best[:size] & certain[:size]),
        (1, found.best[size:] & certain[size:]),
    ):
        effect[literals, 2] += effect[literals, column]
        effect[literals, column] = 0
    unfit = []
    if unfit_precondition(tally.executed, found.applicable, rates.refusals, rates.executions):
        unfit.append(f"when {index.header.name} can be executed")
        required[:] = 1 / 3
    misread = np.exp(logarithms.reshape(size, 2, 2)[:, (0, 1), (1, 0)])
    chances = effect_chances(tally.seen, effect, misread)
    suspicious, strange = chances < SUSPICIOUS, chances < CHANCE
    effect[suspicious] = 0.9 * effect[suspicious] + 0.1 / 3
    effect[strange] = 1 / 3
    for number in np.flatnonzero(strange):
        text = index.atoms[number].text(index.header.parameters)
        unfit.append(f"what {index.header.name} does to {text}")
    if unfit_together(tally.changes, effect, misread):
        unfit.append(f"what {index.header.name} does, now this and now that")
        effect[:] = 1 / 3
    missing = looks_missing(tally.seen, found.best.reshape(2, size), misread)
    return ActionAssessment(index, tally, found, required, effect, missing, tuple(unfit))


def _possible(table: NDArray[np.float64], confidence: float) -> tuple[int, int, int]:
    """Masks of the atoms for which each mode is not ruled out."""
    possible = table > (1 - confidence) / 2
    decided = table.max(axis=1) >= confidence
    possible[decided] = np.eye(3, dtype=np.bool_)[table[decided].argmax(axis=1)]
    positive, negative, absent = (
        sum(1 << int(number) for number in np.flatnonzero(column)) for column in possible.T
    )
    return positive, negative, absent
