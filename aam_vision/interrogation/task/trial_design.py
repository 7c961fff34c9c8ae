"""Which trial to make next: one about what is still doubtful, in a state that no trial was made in before.

An action that was never executed is tried with all its atoms true but for a few. Then every literal that may be
required is violated alone, again and again, until it is certain either way: those that are refuted show the
effects, too. What of the effects is still doubtful is looked at where the two likeliest modes differ. All that
does not matter is left to chance, so that no mistake is made twice in the same way. That includes atoms of other
objects: what a classifier misreads in one situation it misreads each time, so every trial ends in another one.

Where some refusal was a mistake, such mistakes may last for a while. So every required literal is refused at several
times, between which the action was executed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.hypotheses.models import ActionHypotheses
from aam_vision.interrogation.queries.first_success import left_false, with_atoms
from aam_vision.interrogation.statistics.assessment import MODES, ActionAssessment, Assessment
from aam_vision.model.strips import Atom, GroundAction, Mode, State

LEAST_ATTEMPTS = 150
"""Trials of one action that are always allowed. An action that is in doubt after them fits no STRIPS model, or answers with
nothing but noise: more trials would settle only very high rates of error."""
ATTEMPTS_PER_ATOM = 25
"""The same for every atom of an action, where that is more."""
SETTLED_EFFECT = 1 - 1e-9
"""Probability of an effect above which its atom's value before a trial is drawn by chance."""
MOST_LEFT_FALSE = 0.6
"""Largest share of an action's atoms left false while it was never executed: a larger one suits more negative
preconditions, and violates more positive ones."""
OTHERS = 3
"""Atoms of other objects that are changed until a trial is unlike all before it."""
ALIKE = 20
"""Times that such atoms are drawn, at most: in small problems all situations may have been seen."""
CHOICES = 20
"""Random problems in which arguments are looked for that are neither alike nor constants."""


class Proposal(NamedTuple):
    """A trial to make, and why."""

    start: State
    action: GroundAction
    why: str


def next_trial(
    assessment: Assessment, bases: Sequence[State], doubt: float, rng: np.random.Generator
) -> Proposal | None:
    """The next trial; None once nothing that can be tried is more doubtful than ``doubt``.

    ``bases`` are states to start from: one of every problem.
    """
    rates = assessment.rates
    times = ceil(log(doubt) / log(rates.refusals)) if rates.refusals_err else 0
    for name, action in assessment.actions.items():
        size = len(action.index.atoms)
        if action.counts.attempts >= max(LEAST_ATTEMPTS, ATTEMPTS_PER_ATOM * size):
            continue
        found = _atom_values(action, doubt, times, rng)
        where = _distinct_arguments(action, bases, rng)
        if found is None or where is None:
            continue
        values, why = found
        base, objects = where
        on = _mask(values)
        hypotheses = ActionHypotheses(action.index)
        state = with_atoms(base, hypotheses, objects, on, action.index.everything & ~on)
        return Proposal(_unlike_others(action, state, objects, rng), GroundAction(name, objects), why)
    return None


def _unlike_others(
    action: ActionAssessment, state: State, objects: tuple[str, ...], rng: np.random.Generator
) -> State:
    """The state with a few atoms changed that the action cannot change, if it was seen after such a step already."""
    named = {*objects, *action.index.constants}
    predicates = action.index.vocabulary.predicates
    other = state
    for _ in range(ALIKE):
        if action.counts.is_new(other, objects):
            return other
        changed: set[Atom] = set()
        for number in rng.integers(len(predicates), size=OTHERS):
            predicate = predicates[int(number)]
            drawn = [state.objects.of_type(kind) for kind in predicate.types]
            if not all(drawn):
                continue
            row = tuple(names[int(rng.integers(len(names)))] for names in drawn)
            if len(set(row)) == len(row) and not named.issuperset(row):
                changed.add(Atom(predicate.name, row))
        other = replace(state, true=state.true ^ changed)
    return other


def _atom_values(
    action: ActionAssessment, doubt: float, times: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], str] | None:
    """Values of the action's atoms for its next trial, and what it is for.

    ``times``: how many refusals that are no single mistake are to show every literal.
    """
    size = len(action.index.atoms)
    if not size:
        return None
    if not action.executed:
        return _values_for_first_success(action, rng), f"see {action.index.header.name} succeed"
    best, doubts = action.precondition.best, action.precondition.doubt
    possible = best | (doubts > doubt)
    values = _values_that_show_effects(action, rng)
    # what may be required stays as it mostly was where the action was executed
    needed = action.counts.held[action.counts.executed].mean(axis=0) >= 0.5
    values = np.where(possible[:size] | possible[size:], needed, values)
    doubtful = int(doubts.argmax())
    if doubts[doubtful] > doubt:
        sign, number = divmod(doubtful, size)
        values[number] = bool(sign)
        text = action.index.atoms[number].text(action.index.header.parameters)
        return values, f"test {'not ' * sign}{text}"
    if action.doubts[1].max(initial=0.0) > doubt:
        return values, f"see what {action.index.header.name} changes"
    if action.missing.any():
        return values, f"see what else {action.index.header.name} might change"
    if not times:
        return None
    refused = np.where(best, action.times_refused, times)
    if refused.min() >= times:
        return None
    if not action.counts.executed[-1]:
        return values, "see whether refusals go on"
    sign, number = divmod(int(refused.argmin()), size)
    values[number] = bool(sign)
    text = action.index.atoms[number].text(action.index.header.parameters)
    return values, f"test {'not ' * sign}{text} at another time"


def _values_for_first_success(action: ActionAssessment, rng: np.random.Generator) -> NDArray[np.bool_]:
    """All atoms true, twice; then all but a few; then all but more and more of them."""
    size, attempt = len(action.index.atoms), action.counts.attempts
    tried = [0, *left_false(ActionHypotheses(action.index))]
    if attempt < len(tried):
        return np.array([not tried[attempt] >> number & 1 for number in range(size)], dtype=np.bool_)
    return rng.random(size) > rng.uniform(0.0, MOST_LEFT_FALSE)


def _values_that_show_effects(action: ActionAssessment, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Random values before a step, but for atoms where one value shows more.

    That is the value that was seen too seldom, or the one under which the two likeliest effects differ.
    """
    missing = action.missing
    values = rng.random(len(action.index.atoms)) < 0.5
    values = np.where(missing.any(axis=1), missing[:, 1] > missing[:, 0], values)
    first, second = np.argsort(-action.effect, axis=1, kind="stable")[:, :2].T
    kept = MODES.index(Mode.ABSENT)
    for number, pair in enumerate(zip(first, second, strict=True)):
        if kept in pair and action.effect[number].max() < SETTLED_EFFECT:
            values[number] = MODES.index(Mode.NEGATIVE) in pair  # deleted or kept: only seen if it is there
    return values


def _distinct_arguments(
    action: ActionAssessment, bases: Sequence[State], rng: np.random.Generator
) -> tuple[State, tuple[str, ...]] | None:
    """A state to start from, and arguments that are neither alike nor constants; None if none are found."""
    types, constants = action.index.header.types, action.index.constants
    for number in rng.integers(len(bases), size=CHOICES):
        objects = bases[number].objects
        chosen: list[str] = []
        for kind in types:
            pool = [name for name in objects.of_type(kind) if name not in chosen and name not in constants]
            if not pool:
                break
            chosen.append(pool[int(rng.integers(len(pool)))])
        if len(chosen) == len(types):
            return bases[number], tuple(chosen)
    return None


def _mask(values: NDArray[np.bool_]) -> int:
    return sum(1 << int(number) for number in np.flatnonzero(values))
