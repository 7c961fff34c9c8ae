"""Whether a probability is the same in two versions of an agent, and by how much it differs; valid however long either was tried.

For a probability p of one version, ``intervals.evidence`` is a martingale that ever reaches 1/a with probability a at most. Two
versions whose chance is independent have two such martingales, and their product is one, too, in whatever order trials were made
and whenever each version's stopped. So the set of all pairs (p, q) against which the product has not reached 1/a has the true
pair at all times with probability 1 - a. What it leaves of p - q is the interval of the difference; if it has no pair with p = q,
the versions differ. (The least value of the product over all p = q is an *e-process* for the hypothesis that they are equal:
Ramdas, Grünwald, Vovk and Shafer, "Game-theoretic statistics and safe anytime-valid inference", 2023.)

Where both drew their chance from one seed, the martingales depend on each other, and the product may be none. There both have to
stay below 2/a, whatever the dependence; the price is about twice as many trials.

Of an action's outcomes, one of probabilities p and q has the share (p + q)/2 of the error probability: the shares add up to
one, however many outcomes there are. The actions have equal shares (Bonferroni).

In what trials of two versions have to agree to be compared: everything that seems to make a difference, whichever version made them.

Each run chooses its own situations, so two runs of one agent may be mixtures of other situations. What may be the reason is
looked for in all trials together, without regard to whose they are: a fact by which both versions' trials differ enough to feign a
difference between the versions differs itself by at least as much. Where versions do differ, what goes with them does, too: what would have
shown within a version and did not is not the reason. Trials are compared within the strata that result (Mantel and Haenszel). What was
found to matter within one version is among the reasons, where it comes again: the place in a cycle, what came right before. Trials of an
action that changes for good, or by spells, are not compared.

Two versions of an agent, each interrogated: for every action, what surely differs, what may, and by how much at most.

Preconditions follow from proofs: they differ if an atom cannot have the same mode in both versions, or if no precondition explains
the answers of both. Outcomes are those that explain the changes of both versions together, case by case of an action with conditional
effects; where these are certain, the trials of both that show all of them are counted, and each outcome is compared (``comparing``).
Where they are not certain, or the versions have other cases, the trials of one kind are compared with those of the same kind: those
before which the same of the action's atoms held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import exp, inf, log
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.chance.constancy import Split, Trial, circumstances, remaining
from aam_vision.interrogation.chance.intervals import Numbers, evidence
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.observations import Explanation, Observations, change, explain
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, bits
from aam_vision.interrogation.hypotheses.models import ActionHypotheses
from aam_vision.model.strips import Location, Mode
from aam_vision.support.errors import InconsistentAgent

ALPHA = 0.05
"""Probability that two equal versions are called different, or that any interval is wrong."""
CONCENTRATION = 16.0
"""Of the mixture: near the optimum where probabilities differ by .1 to .3 and that is found after 50 to 400 trials."""
_GRID = 1000
"""Probabilities that are looked at, evenly spread; limits are rounded outwards to them."""
_SIDE = (np.arange(_GRID) + 0.5) / _GRID
_COARSE = 64
_STEPS = 20
_GOLDEN = (5**0.5 - 1) / 2
_MATTERS = 4.0
"""Likelihood ratio (natural logarithm) of a circumstance from which trials have to agree in it.

Less cannot feign a difference between versions, which takes log(1/.05), and one to three for what is not known beforehand. Of dozens of
circumstances one or more have half of this by chance, and each that trials have to agree in takes most of the evidence of small strata.
"""
_MOST = 4
"""Circumstances in which they have to agree, at most."""
_STAKES = 1.0, 0.5
"""Strata are played with either of these in equal shares: all that is owned, which is best where each of them tells, or half, where most
are small."""

_FAINT = 0.25
"""Share of the evidence that was to be expected within versions below which a circumstance is not the reason."""


class Count(NamedTuple):
    """How often an outcome came, in how many trials; of ``lost`` more it is not known, and each may or may not have been it."""

    hits: int
    trials: int
    lost: int = 0

    @property
    def share(self) -> float:
        """The share of the trials; one half if there are none."""
        return self.hits / self.trials if self.trials else 0.5


@dataclass(frozen=True)
class Comparison:
    """An outcome in two versions; the intervals of all outcomes of all actions hold together, at all times, with 95%.

    Args:
        one: of how many trials it was the outcome in the one version. Which trials are made may depend on all earlier ones.
        other: the same in the other.
        actions: how many actions are compared.
        independent: whether the versions' chance is; else any dependence is allowed for.
    """

    one: Count
    other: Count
    actions: int
    independent: bool = True
    strata: tuple[tuple[Count, Count], ...] = ()
    """The same by situations, where trials are compared only with those of the other version in situations that are alike."""

    @cached_property
    def limits(self) -> tuple[float, float]:
        """How much more probable it is in the other version: the limits of an interval.

        Of a difference in the situations that show most of it; else in all of them.
        """
        pairs = self.strata or ((self.one, self.other),)
        alpha = ALPHA / self.actions / len(pairs)
        found = [difference_limits(*pair, alpha, independent=self.independent) for pair in pairs]
        if self.different:
            return min(found, key=lambda limits: limits[1] - limits[0])
        return min(low for low, _ in found), max(high for _, high in found)

    @cached_property
    def p_value(self) -> float:
        """How probable so much evidence at any time is at most if nothing differs; corrected for the number of comparisons."""
        pairs = self.strata or ((self.one, self.other),)
        stakes = _STAKES if len(pairs) > 1 else _STAKES[:1]
        found = [
            sum(against_equality(*pair, self.independent, len(pairs), stake) for pair in pairs)
            for stake in stakes
        ]
        mean = float(np.logaddexp.reduce(found)) - log(len(stakes))
        return min(1.0, self.actions * exp(-max(0.0, mean)))

    @property
    def different(self) -> bool:
        """Whether chance does not explain the difference."""
        return self.p_value <= ALPHA


@lru_cache(maxsize=10_000)
def against_equality(
    one: Count, other: Count, independent: bool = True, strata: int = 1, stake: float = 1.0
) -> float:
    """The logarithm of the evidence against an equal probability: ever at least log(1/a) with probability p a at most, if it is p.

    Of several ``strata`` the evidence is added up. There the share of an outcome is the geometric mean of its probabilities, which
    are less than one in all.

    ``stake``: the share of what is owned that is bet on the trials of the stratum; the rest is kept, so that it loses little where
    these are few.
    """

    def at(p: float) -> float:
        first, second = _against(p, one), _against(p, other)
        found = first + second if independent else max(first, second) - log(2)
        kept = found if stake == 1 else float(np.logaddexp(log(1 - stake), log(stake) + found))
        return kept + log(p) / strata

    places = [(number + 0.5) / _COARSE for number in range(_COARSE)]
    values = [at(p) for p in places]
    best = min(range(_COARSE), key=values.__getitem__)
    found = values[best]
    low, high = max(0.0, (best - 0.5) / _COARSE), min(1.0, (best + 1.5) / _COARSE)
    for _ in range(_STEPS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = at(left), at(right)
        found = min(found, at_left, at_right)
        low, high = (low, right) if at_left < at_right else (left, high)
    return found


@lru_cache(maxsize=10_000)
def difference_limits(
    one: Count, other: Count, alpha: float, *, independent: bool = True
) -> tuple[float, float]:
    """The limits of q - p over all pairs that the trials do not contradict, p of the one version and q of the other."""
    if not one.trials + one.lost and not other.trials + other.lost:
        return -1.0, 1.0
    first, second = _all_against(one)[:, None], _all_against(other)[None, :]
    joined = first + second if independent else np.maximum(first, second) - log(2)
    left = joined + np.log((_SIDE[:, None] + _SIDE[None, :]) / 2) < log(1 / alpha)
    rows, columns = np.nonzero(left)
    middle = other.share - one.share
    differences = (
        (columns - rows) / _GRID if len(rows) else np.array([middle])
    )  # or it is smaller than the grid
    low, high = float(differences.min()) - 1 / _GRID, float(differences.max()) + 1 / _GRID
    return max(-1.0, min(low, middle)), min(1.0, max(high, middle))


def against_claim(p: float, count: Count) -> float:
    """The logarithm of the evidence against a probability that is claimed, its share of the error probability included."""
    if p <= 0:
        return inf if count.hits else -inf
    if p >= 1:
        return inf if count.hits < count.trials else 0.0  # what was lost may have been it
    return _against(p, count) + log(p)


def _against(p: float, count: Count) -> float:
    """The evidence against a probability: the least for any number of hits among the trials that were lost."""
    made = count.trials + count.lost
    if not made:
        return 0.0
    near = int(p * made)
    hits = {min(max(one, count.hits), count.hits + count.lost) for one in (near, near + 1)}
    return min(evidence(p, one, made, CONCENTRATION) for one in hits)


@lru_cache(maxsize=1000)
def _all_against(count: Count) -> Numbers:
    """The evidence against every probability of the grid."""
    return np.array([_against(float(p), count) for p in _SIDE])


def strata(
    trials: Sequence[Trial], outcomes: int, atoms: int, *, first: int = 0, known: Sequence[Split] = ()
) -> tuple[list[Split], list[int]]:
    """The circumstances that seem to matter, and for every trial the number of its stratum: where all of these are the same.

    ``first``: how many of the trials, at the beginning, are the first version's. ``known``: circumstances in time that matter.
    """
    came = np.eye(outcomes)[[one.outcome for one in trials]]
    told = circumstances(trials, atoms)
    found = [*known]
    labels = [0] * len(trials)
    for split in known:
        labels = [2 * label + int(split.holds(one)) for label, one in zip(labels, trials, strict=True)]
    for _ in range(_MOST if outcomes > 1 else 0):
        ratios = [remaining(came, cell, labels) for _, cell in told]
        versions = [2 * label + int(place >= first) for place, label in enumerate(labels)]
        reasons = []
        for ratio, (split, cell) in zip(ratios, told, strict=True):
            if ratio >= _MATTERS:
                expected = ratio * _varied(cell, versions) / _varied(cell, labels)
                if expected < _MATTERS or remaining(came, cell, versions) >= _FAINT * expected:
                    reasons.append((ratio, split, cell))
        if not reasons:
            break
        _, split, cell = max(reasons, key=lambda one: one[0])
        found.append(split)
        labels = [2 * label + int(inside) for label, inside in zip(labels, cell, strict=True)]
    return found, labels


def _varied(cell: Numbers, strata: Sequence[int]) -> float:
    """How much a circumstance was varied within strata: what the evidence of a difference by it is proportional to."""
    own, found = np.array(strata), 0.0
    for stratum in dict.fromkeys(strata):
        inside = cell[own == stratum]
        found += float(inside.sum() * (1 - inside.mean()))
    return found


@dataclass(frozen=True)
class AtomDifference:
    """An atom that surely has another mode in the precondition of the other version."""

    bit: int
    one: tuple[Mode, ...]
    """The modes that it may have."""
    other: tuple[Mode, ...]


@dataclass(frozen=True)
class OutcomeDifference:
    """An outcome in two versions."""

    adds: int
    deletes: int
    kind: int | None
    """The atoms that held before the trials that are compared; None if all count that show every outcome."""
    condition: Literals
    """That of the case which is compared; empty if there is only one."""
    comparison: Comparison
    matched: tuple[Split, ...] = ()
    """In what trials agree that are compared, beside that."""


@dataclass(frozen=True)
class ActionDifferences:
    """One action in two versions."""

    one: ActionKnowledge
    other: ActionKnowledge
    atoms: tuple[AtomDifference, ...]
    """Where preconditions surely differ."""
    incompatible: bool
    """Whether no precondition explains the answers of both versions."""
    undecided: int
    """Atoms of the precondition of which at least one version's answers leave open whether it is needed."""
    outcomes: tuple[OutcomeDifference, ...]
    certain: bool
    """Whether the outcomes of both versions are certain, and they have the same cases."""
    moving: bool = False
    """Whether how often an outcome comes changes with time in one of them: then trials are not compared."""

    @property
    def different(self) -> bool:
        """Whether they surely differ, or chance does not explain the difference."""
        return self.incompatible or any(one.comparison.different for one in self.outcomes)

    @property
    def widest(self) -> float | None:
        """The most by which the probability of an outcome may differ; None where that cannot be told."""
        if not self.certain or not self.outcomes:
            return None
        return max(max(-low, high) for low, high in (one.comparison.limits for one in self.outcomes))


def differences(
    one: Sequence[ActionKnowledge],
    other: Sequence[ActionKnowledge],
    *,
    independent: bool,
    actions: int | None = None,
) -> list[ActionDifferences]:
    """What differs between two versions, action by action.

    ``independent``: whether the versions' chance is. ``actions``: how many are compared in all; default those that were executed in
    both.
    """
    others = {action.index.header.name: action for action in other}
    pairs = [(action, others[action.index.header.name]) for action in one]
    counted = actions or max(1, sum(bool(a.executed and b.executed) for a, b in pairs))
    return [_compared(a, b, counted, independent=independent) for a, b in pairs]


def _compared(
    one: ActionKnowledge, other: ActionKnowledge, actions: int, *, independent: bool
) -> ActionDifferences:
    atoms = tuple(_atoms(one, other))
    outcomes: tuple[OutcomeDifference, ...] = ()
    conditions = [case.condition for case in one.cases]
    same = conditions == [case.condition for case in other.cases]
    joint = (
        [_explained(*_within(one, other, condition), one.index.everything) for condition in conditions]
        if same
        else []
    )
    doubted = any(found.suspected or found.unexplained for found in (one.dependence, other.dependence))
    differing = [case.difference.by for case in (*one.cases, *other.cases) if case.difference is not None]
    moving = any(by.in_time and not by.comes_again for by in differing)
    known = tuple(dict.fromkeys(by for by in differing if by.in_time))
    certain = same and not (doubted or moving) and all(explanation.sure for explanation in joint)
    if one.executed and other.executed and not moving:
        found = (
            (
                difference
                for condition, explanation in zip(conditions, joint, strict=True)
                for difference in _of_outcomes(
                    *(one, other, condition, explanation, actions * len(conditions), known),
                    independent=independent,
                )
            )
            if certain
            else _of_kinds(one, other, actions, known, independent=independent)
        )
        outcomes = tuple(found)
    different = bool(atoms) or _incompatible(one, other)
    undecided = _undecided(one, other)
    return ActionDifferences(one, other, atoms, different, undecided, outcomes, certain, moving)


def _within(
    one: ActionKnowledge, other: ActionKnowledge, condition: Literals
) -> tuple[Observations, Observations]:
    """The steps of both versions before which a condition held."""
    return one.steps.within(condition), other.steps.within(condition)


# --- preconditions ------------------------------------------------------------------------------


def _atoms(one: ActionKnowledge, other: ActionKnowledge) -> Iterator[AtomDifference]:
    for bit in bits(one.index.everything):
        own, others = (modes(version, bit) for version in (one, other))
        if not set(own) & set(others):
            yield AtomDifference(bit, own, others)


def modes(version: ActionKnowledge, bit: int) -> tuple[Mode, ...]:
    """The modes that an atom may have in the precondition."""
    masks = version.precondition.masks(Location.PRE)
    return tuple(mode for mode, mask in zip(Mode, masks, strict=True) if mask & bit)


def _undecided(one: ActionKnowledge, other: ActionKnowledge) -> int:
    found = 0
    for version in (one, other):
        undecided = version.precondition.undecided
        found |= undecided.positive | undecided.negative
    return found.bit_count()


def _incompatible(one: ActionKnowledge, other: ActionKnowledge) -> bool:
    """Whether no precondition explains the answers of both, though one explains those of each."""
    if one.given_up and other.given_up:
        return False
    both = ActionHypotheses(one.index)
    try:
        for version in (one, other):
            for held in version.seen:
                both.succeeded(held, 0)
        for version in (one, other):
            for held in version.refusals:
                both.failed(held, 0)
    except InconsistentAgent:
        return True
    return False


# --- outcomes -----------------------------------------------------------------------------------


def _explained(one: Observations, other: Observations, everything: int) -> Explanation:
    """The outcomes that explain the changes of both versions; ``everything``: all atoms of the action."""
    return explain(
        change(held, now, everything)
        for steps in (one, other)
        for held, afters in steps.contexts.items()
        for now in afters
    )


def _of_outcomes(
    one: ActionKnowledge,
    other: ActionKnowledge,
    condition: Literals,
    joint: Explanation,
    comparisons: int,
    known: Sequence[Split],
    *,
    independent: bool,
) -> Iterator[OutcomeDifference]:
    """Every outcome of a case, in the trials that show all of them."""
    sides = _within(one, other, condition)
    lost = [sum(n for held, n in steps.unread.items() if joint.revealing(held)) for steps in sides]
    trials: list[list[Trial]] = [[], []]
    for steps, own in zip(sides, trials, strict=True):
        for step in steps.course:
            if joint.revealing(step.held):
                after = [(step.held | outcome.adds) & ~outcome.deletes for outcome in joint.outcomes]
                came = after.index(step.now)
                own.append(Trial(step.held, came, step.setting, step.place, step.when))
    atoms = len(one.index.atoms)
    compared = _matched(trials, len(joint.outcomes), atoms, lost, comparisons, known, independent=independent)
    for number, outcome in enumerate(joint.outcomes):
        yield OutcomeDifference(outcome.adds, outcome.deletes, None, condition, *compared(number))


def _matched(
    trials: Sequence[Sequence[Trial]],
    outcomes: int,
    atoms: int,
    lost: Sequence[int],
    comparisons: int,
    known: Sequence[Split],
    *,
    independent: bool,
) -> Callable[[int], tuple[Comparison, tuple[Split, ...]]]:
    """Of an outcome how often it came in both versions, in situations that are alike in all that seems to matter; and what that is."""
    every = [*trials[0], *trials[1]]
    size = len(trials[0])
    splits, labels = strata(every, outcomes, atoms, first=size, known=known)
    groups: dict[int, tuple[Counter[int], Counter[int]]] = {}
    for place, (trial, label) in enumerate(zip(every, labels, strict=True)):
        groups.setdefault(label, (Counter(), Counter()))[place >= size][trial.outcome] += 1

    def compared(number: int) -> tuple[Comparison, tuple[Split, ...]]:
        counts = [
            tuple(Count(side[number], side.total(), left) for side, left in zip(pair, lost, strict=True))
            for pair in groups.values()
            if splits and all(side.total() for side in pair)
        ]
        a, b = (
            Count(sum(one.outcome == number for one in own), len(own), left)
            for own, left in zip(trials, lost, strict=True)
        )
        pairs = tuple((first, second) for first, second in counts)
        if splits and not pairs:  # no situations are alike: nothing can be said
            pairs = ((Count(0, 0), Count(0, 0)),)
        return Comparison(a, b, comparisons, independent, pairs), tuple(splits)

    return compared


def _of_kinds(
    one: ActionKnowledge,
    other: ActionKnowledge,
    actions: int,
    known: Sequence[Split],
    *,
    independent: bool,
) -> Iterator[OutcomeDifference]:
    """What came of the trials of each kind that both versions have.

    The n-th kind that the one version met has a share of 1/n(n+1) of the error probability: it is fixed before that kind's first
    trial, and the shares add up to one.
    """
    for number, (held, afters) in enumerate(one.seen.items(), 1):
        others = other.seen.get(held, {})
        if not others:
            continue
        came = sorted({*afters, *others})
        trials = [
            [
                Trial(held, came.index(step.now), step.setting, step.place, step.when)
                for step in version.steps.course
                if step.held == held
            ]
            for version in (one, other)
        ]
        lost = [version.lost.get(held, 0) for version in (one, other)]
        share = actions * number * (number + 1)
        compared = _matched(trials, len(came), 0, lost, share, known, independent=independent)
        for place, now in enumerate(came):
            yield OutcomeDifference(now & ~held, held & ~now, held, NOTHING, *compared(place))
