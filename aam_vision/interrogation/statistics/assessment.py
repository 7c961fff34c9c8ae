"""Conclusions from noisy answers: a probability for every palm tuple, and the error rates.

They are a function of the trials alone, whatever policy made them, so a result can be checked against its transcript.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb, exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.evidence.moves import Entry
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.statistics.counts import (
    EXECUTED,
    REFUSED,
    ActionCounts,
    Counts,
    ErrorRates,
    FrameCounts,
    misreadings,
    posterior_mean,
    trials,
)
from aam_vision.model.strips import ActionHeader, Location, Mode, PalTuple, Vocabulary
from aam_vision.planning.fact_tables import distinct

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
    def times_refused(self) -> NDArray[np.int64]:
        """How many times, with an executed trial between them, the trials say that a literal of the best precondition is required.

        Shape ``(2 n,)``. Refusals in a row may all be one mistake that lasts.
        """
        counts, best = self.counts, self.precondition.best
        violated = np.concatenate([~counts.held, counts.held], axis=1) & best
        alone = ~counts.executed & (violated.sum(axis=1) == 1)
        times = np.cumsum(counts.executed)
        return np.array([len(set(times[alone & column])) for column in violated.T], dtype=np.int64)

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
        mistaken = bool((applicable & ~executed).any())
        rates = ErrorRates(misreadings(self._frame.counts), refusals, executions, refusals_err=mistaken)
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


# The posterior of an action's precondition when refusals and executions may be wrong.
#
# A precondition is a set of literals; a trial is probable under it if it was executed where all of them held, or
# refused where one did not. The posterior is taken over the sets within two changes of the best one: dropping, adding or
# exchanging a literal. Near misses test literals one by one, so sets farther away are less probable still.

Mask = NDArray[np.bool_]

POSITIVE, NEGATIVE = 0.2, 0.05
"""Prior probability of a literal of each sign. Lower: fewer false preconditions, more trials."""
IMPROBABLE = -25.0
"""Log-odds below which a literal is not considered any more. Higher: faster, less exact."""
ALTERNATIONS = 4
"""Alternations between estimating the rates and the preconditions, unless they converge before."""
LEAST_GAIN = 1e-9
"""Gain of log-posterior below which a set counts as the best: rounding errors stay below it."""


@dataclass(frozen=True)
class Precondition:
    """The posterior of one action's precondition over ``2 n`` literals: all positive ones, then all negative."""

    best: Mask
    """The most probable set; shape ``(2 n,)``."""
    doubt: NDArray[np.float64]
    """The probability that each literal is wrong in it if nothing else is; shape ``(2 n,)``."""
    applicable: Mask
    """In which trials all of the best set held; shape ``(trials,)``."""


def precondition(held: Mask, executed: Mask, refusals: float, executions: float) -> Precondition:
    """The posterior under given rates.

    Args:
        held: the atoms' values before every trial; shape ``(trials, n)``.
        executed: which trials were executed; shape ``(trials,)``.
        refusals: the probability that a step which could be executed is refused.
        executions: the probability that a step which could not be executed is reported as executed.
    """
    violated = np.concatenate([~held, held], axis=1)  # (trials, 2 n)
    size = held.shape[1]
    prior = np.log(np.repeat([POSITIVE / (1 - POSITIVE), NEGATIVE / (1 - NEGATIVE)], size))
    # how much more probable each trial is where all required literals held
    weight = np.where(executed, np.log((1 - refusals) / executions), np.log(refusals / (1 - executions)))
    against = violated[executed].sum(axis=0) * np.log((1 - refusals) / executions)
    live = np.flatnonzero(prior - against > IMPROBABLE)
    if not live.size:
        nothing = np.zeros(2 * size, dtype=np.bool_)
        return Precondition(nothing, np.zeros(2 * size), np.ones(len(held), dtype=np.bool_))
    first, number = distinct(violated[:, live])
    kinds = violated[first][:, live]
    weights = np.zeros(len(kinds))
    np.add.at(weights, number.ravel(), weight)

    def climb(chosen: Mask) -> tuple[float, Mask, NDArray[np.float64]]:
        """The score of the best set reached by two changes at a time, the set, and the gains of its neighbours."""
        while True:
            gains = _neighbours(kinds, weights, chosen, prior[live], live, size)
            first, second = np.unravel_index(int(gains.argmax()), gains.shape)
            if gains[first, second] <= LEAST_GAIN:
                score = weights @ ((kinds @ chosen.astype(np.int64)) == 0) + prior[live] @ chosen
                return float(score), chosen, gains
            chosen = chosen.copy()
            chosen[list({first, second})] ^= True

    # from the empty set, and from all literals that held whenever the action was executed
    starts: list[Mask] = [np.zeros(len(live), dtype=np.bool_)]
    if executed.any():
        starts.append(np.logical_not(violated[executed][:, live].any(axis=0)))
    _, found, gains = max(map(climb, starts), key=lambda climbed: climbed[0])
    best = np.zeros(2 * size, dtype=np.bool_)
    best[live] = found
    odds = np.full(2 * size, np.exp(IMPROBABLE))
    odds[live] += np.exp(np.minimum(gains, 0.0)).sum(axis=1)
    return Precondition(best, odds / (1 + odds), ~(violated @ best).astype(np.bool_))


def _neighbours(
    kinds: Mask,
    weights: NDArray[np.float64],
    best: Mask,
    prior: NDArray[np.float64],
    live: NDArray[np.intp],
    size: int,
) -> NDArray[np.float64]:
    """The gain of log-posterior from toggling literals i and j (on the diagonal, i alone)."""
    count = kinds @ best.astype(np.int64)  # how many of the best set each kind of trial violates
    change = kinds * np.where(best, -1, 1)  # (kinds, live)
    after = count[:, None, None] + change[:, :, None] + change[:, None, :]
    single = np.arange(len(best))
    after[:, single, single] = count[:, None] + change
    gains: NDArray[np.float64] = np.tensordot(weights, after == 0, axes=1) - weights @ (count == 0)
    own = prior * np.where(best, -1, 1)
    gains += own[:, None] + own[None, :]
    gains[single, single] -= own
    # no atom is required both to hold and not to
    sign, atom = np.divmod(live, size)
    chosen = np.zeros((2, size), dtype=np.int64)
    chosen[sign, atom] = best
    both = (atom[:, None] == atom[None, :]) & (sign[:, None] != sign[None, :])
    opposed = ~best & (chosen[1 - sign, atom] > 0)  # adding this needs the opposite one to go
    forbidden = opposed[:, None] | opposed[None, :]
    forbidden &= ~(both & (best[:, None] ^ best[None, :]))
    forbidden |= both & ~best[:, None] & ~best[None, :]
    gains[forbidden] = -np.inf
    return gains


def refusal_rate(executed: Mask, applicable: Mask) -> float:
    """The share of steps refused that could be executed."""
    return posterior_mean(REFUSED, int((applicable & ~executed).sum()), int(applicable.sum()))


def execution_rate(executed: Mask, applicable: Mask) -> float:
    """The share of steps executed that could not be."""
    return posterior_mean(EXECUTED, int((~applicable & executed).sum()), int((~applicable).sum()))


# Whether answers fit any STRIPS model at all, when some of them are wrong by chance.
#
# Chance errors have the same rate everywhere. Where an atom contradicts its best mode far more often than its predicate
# is misread, or an applicable action is refused far more often than others, the outcome depends on something that the
# model does not express.

CHANCE = 1e-4
"""Tail probability below which no model fits. Higher: misfits are found sooner, and more good fits are rejected."""
SUSPICIOUS = 0.02
"""Tail probability below which a mode stays in doubt. Higher: fewer wrong modes, more trials."""
SLACK = (1.5, 0.005)
"""Factor and constant by which an estimated rate may be too low. More: fewer false alarms, later true ones."""
MAX_RATE = 0.99
"""The highest rate after that, so that its complement has a logarithm."""
MARGIN = 1.5
"""Factor for the looks that show an effect: some of them may be misread. More: more trials, fewer missed effects."""


def tail(happened: int, of: int, rate: float) -> float:
    """A Chernoff bound on the probability of at least ``happened`` events; 1 where that is not more than expected."""
    rate = min(SLACK[0] * rate + SLACK[1], MAX_RATE)
    share = happened / of if of else 0.0
    if share <= rate:
        return 1.0
    divergence = share * log(share / rate)
    if share < 1:
        divergence += (1 - share) * log((1 - share) / (1 - rate))
    return exp(-of * divergence)


def effect_chances(
    seen: Counts, effect: NDArray[np.float64], misread: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The tail probability of each atom's values that contradict its best mode; shape ``(n,)``.

    Args:
        seen: values before an executed step and as seen after it; shape ``(n, 2, 2)``.
        effect: the probability of every mode: added, deleted, kept; shape ``(n, 3)``.
        misread: the rates at which false and true values are misread; shape ``(n, 2)``.
    """
    chances = np.ones(len(seen))
    for number, best in enumerate(effect.argmax(axis=1)):
        for before in (0, 1):
            value = (1, 0, before)[int(best)]
            wrong, total = int(seen[number, before, 1 - value]), int(seen[number, before].sum())
            chances[number] = min(chances[number], tail(wrong, total, float(misread[number, value])))
    return chances


def unfit_together(
    changes: NDArray[np.bool_], effect: NDArray[np.float64], misread: NDArray[np.float64]
) -> bool:
    """Whether atoms contradict their best modes together, as when a step sometimes has other effects.

    Misreadings are independent of each other, so few of a step's atoms are misread at once. The bound holds for any
    number of the least probable steps, and for testing again after every one of them.

    Args:
        changes: values before an executed step and as seen after it; shape ``(steps, 2, n)``.
        effect: as for ``effect_chances``; shape ``(n, 3)``.
        misread: likewise; shape ``(n, 2)``.
    """
    if not changes.size:
        return False
    best = effect.argmax(axis=1)
    expected = np.where(best == 2, changes[:, 0], best == 0)
    rates = np.where(expected, misread[:, 1], misread[:, 0]).mean(axis=1)
    wrong, size = (changes[:, 1] != expected).sum(axis=1), changes.shape[2]
    tails = sorted(tail(int(one), size, float(rate)) for one, rate in zip(wrong, rates, strict=True))
    allowed, surprise = log(CHANCE) - 2 * log(len(tails)), 0.0
    for number, chance in enumerate(tails, 1):
        surprise -= log(chance)
        if not surprise:
            break
        # Fisher's method: so many uniform numbers have a product this small; Bonferroni for the choice of steps
        terms = sum(exp(k * log(surprise) - lgamma(k + 1)) for k in range(number))
        if log(comb(len(tails), number)) - surprise + log(terms) < allowed:
            return True
    return False


def looks_missing(
    seen: Counts, required: NDArray[np.bool_], misread: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The number of further looks at each atom, by its value before, so that another effect would show.

    Shape ``(n, 2)``, as ``misread``. An atom that is ``required`` to hold, or not to (shape ``(2, n)``), has one value.
    """
    rates = np.minimum(SLACK[0] * misread.max(axis=1) + SLACK[1], MAX_RATE)
    needed = np.ceil(MARGIN * np.log(CHANCE) / np.log(rates)).astype(np.int64)
    missing: NDArray[np.int64] = np.maximum(needed[:, None] - seen.sum(axis=2), 0)
    missing[required.any(axis=0)] = 0
    return missing


def unfit_precondition(
    executed: NDArray[np.bool_], applicable: NDArray[np.bool_], refusals: float, executions: float
) -> bool:
    """Whether the best precondition of an action fits its trials badly; both masks have the shape ``(trials,)``.

    ``refusals`` and ``executions`` are the rates of all actions together.
    """
    refused, wrong = int((applicable & ~executed).sum()), int((~applicable & executed).sum())
    return (
        tail(refused, int(applicable.sum()), refusals) < CHANCE
        or tail(wrong, int((~applicable).sum()), executions) < CHANCE
        or bool(executed.any() and not (applicable & executed).any())
    )


# The posterior of an action's effects when states may be misread.

MODES = (Mode.POSITIVE, Mode.NEGATIVE, Mode.ABSENT)
PRIOR = np.log([0.15, 0.15, 0.7])
"""Log-probability that an action adds, deletes or keeps an atom. Rarer changes: fewer false effects, more trials."""


def effects(seen: Counts, logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of every mode of every atom's effect; shape ``(atoms, 3)``, in the order of ``MODES``.

    Args:
        seen: values before an executed step and as seen after it; shape ``(atoms, 2, 2)``.
        logarithms: log-probabilities of seeing each true value as each value; shape ``(atoms, 2, 2)``.
    """
    after = seen.sum(axis=1)  # (atoms, 2)
    added = (after * logarithms[:, 1]).sum(axis=1)
    deleted = (after * logarithms[:, 0]).sum(axis=1)
    kept = (seen * logarithms).sum(axis=(1, 2))
    scores = np.stack([added, deleted, kept], axis=1) + PRIOR
    scores -= scores.max(axis=1, keepdims=True)
    likelihoods = np.exp(scores)
    probabilities: NDArray[np.float64] = likelihoods / likelihoods.sum(axis=1, keepdims=True)
    return probabilities
