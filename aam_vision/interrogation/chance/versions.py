"""Two versions of an agent, each interrogated: for every action, what surely differs, what may, and by how much at most.

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

from aam_vision.interrogation.chance.comparing import Comparison, Count
from aam_vision.interrogation.chance.constancy import Split, Trial
from aam_vision.interrogation.chance.explaining import Explanation, change, explain
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.matching import strata
from aam_vision.interrogation.chance.observations import Observations
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, bits
from aam_vision.model.strips import Location, Mode
from aam_vision.support.errors import InconsistentAgent


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

    Args:
        one: what is known of the actions of the one version.
        other: of the other; headers and vocabulary are the same.
        independent: whether the versions' chance is.
        actions: how many are compared in all; default those that were executed in both.
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
    moving = any(
        case.difference is not None and case.difference.by.in_time for case in (*one.cases, *other.cases)
    )
    certain = same and not (doubted or moving) and all(explanation.sure for explanation in joint)
    if one.executed and other.executed and not moving:
        found = (
            (
                difference
                for condition, explanation in zip(conditions, joint, strict=True)
                for difference in _of_outcomes(
                    one, other, condition, explanation, actions * len(conditions), independent=independent
                )
            )
            if certain
            else _of_kinds(one, other, actions, independent=independent)
        )
        outcomes = tuple(found)
    different = bool(atoms) or _incompatible(one, other)
    return ActionDifferences(one, other, atoms, different, _undecided(one, other), outcomes, certain)


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
    """Whether no precondition explains the answers of both."""
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
                own.append(Trial(step.held, after.index(step.now), step.setting))
    atoms = len(one.index.atoms)
    compared = _matched(trials, len(joint.outcomes), atoms, lost, comparisons, independent=independent)
    for number, outcome in enumerate(joint.outcomes):
        yield OutcomeDifference(outcome.adds, outcome.deletes, None, condition, *compared(number))


def _matched(
    trials: Sequence[Sequence[Trial]],
    outcomes: int,
    atoms: int,
    lost: Sequence[int],
    comparisons: int,
    *,
    independent: bool,
) -> Callable[[int], tuple[Comparison, tuple[Split, ...]]]:
    """Of an outcome how often it came in both versions, in situations that are alike in all that seems to matter; and what that is."""
    every = [*trials[0], *trials[1]]
    size = len(trials[0])
    splits, labels = strata(every, outcomes, atoms, first=size)
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
    one: ActionKnowledge, other: ActionKnowledge, actions: int, *, independent: bool
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
                Trial(held, came.index(step.now), step.setting)
                for step in version.steps.course
                if step.held == held
            ]
            for version in (one, other)
        ]
        lost = [version.lost.get(held, 0) for version in (one, other)]
        share = actions * number * (number + 1)
        compared = _matched(trials, len(came), 0, lost, share, independent=independent)
        for place, now in enumerate(came):
            yield OutcomeDifference(now & ~held, held & ~now, held, NOTHING, *compared(place))
