"""Whether how often an outcome comes is the same in all trials: early and late ones, after each outcome, with each object.

Trials are put into two groups by something that is known before each of them, so the intervals of both groups are valid at all times;
intervals that do not meet tell the difference. Each has its share of the error probability, and one may look at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from aam_vision.chance.frequency import Precision
from aam_vision.chance.intervals import interval

ACCUSING = 0.2
"""Share of the intervals' error probability with which an agent is wrongly said to depend on something."""
_SPLITS = 16
"""Numbers of trials at which the first are compared with the rest, at most: 16, 32, 64, ..."""
_FIRST = 16


class Trial(NamedTuple):
    """One trial: the atoms that held before it, the number of its outcome, and the objects that its instruction named."""

    held: int
    outcome: int
    objects: tuple[str, ...] = ()


class Split(NamedTuple):
    """What tells two groups of trials apart: one of these."""

    atom: int | None = None
    """The atom that held before the one trials and not before the others."""
    first: int | None = None
    """How many earlier trials there are; the others are later."""
    after: int | None = None
    """The outcome of the trial before."""
    named: tuple[int, str] | None = None
    """The object that an argument was, with the number of that argument."""


class Difference(NamedTuple):
    """An outcome that is surely more frequent in some trials than in others: its number, and both intervals."""

    outcome: int
    by: Split
    one: tuple[float, float]
    other: tuple[float, float]


_Groups = tuple[float, Split, Sequence[Trial], Sequence[Trial]]
"""Two groups of trials, what tells them apart, and their share of the error probability."""


def changed(trials: Sequence[Trial], outcomes: int, precision: Precision) -> Difference | None:
    """Whether how often an outcome comes depends on time; wrong with a fifth of the intervals' error probability.

    The first 16, 32, 64, ... trials are compared with all later ones.

    Args:
        trials: in their order, in situations that show every outcome.
        outcomes: how many there are.
        precision: of the intervals.
    """
    return _found(_by_time(trials, 1.0), outcomes, precision)


def difference(trials: Sequence[Trial], outcomes: int, atoms: int, precision: Precision) -> Difference | None:
    """Whether how often an outcome comes depends on time, on the outcome of the trial before, on an object, or on an atom.

    Where it depends on atoms, trials are compared by anything else only with those before which the same atoms held: which atoms hold
    when is not left to chance. Wrong with a fifth of the intervals' error probability.

    Args:
        trials: in their order, in situations that show every outcome.
        outcomes: how many there are.
        atoms: how many atoms the action has, if it is to be said on which of them it depends; else 0.
        precision: of the intervals.
    """
    return _found(_groups(trials, outcomes, atoms), outcomes, precision)


def _found(groups: Iterator[_Groups], outcomes: int, precision: Precision) -> Difference | None:
    """The difference whose intervals are farthest apart: what it is by shows itself in others, too, but less."""
    found, widest = None, 0.0
    if outcomes < 2:
        return None
    for share, by, one, other in groups:
        if not one or not other:
            continue
        alpha = share * precision.alpha * ACCUSING / (2 * outcomes)
        for number in range(outcomes):
            limits = [
                interval(
                    sum(trial.outcome == number for trial in group),
                    len(group),
                    alpha,
                    precision.concentration,
                )
                for group in (one, other)
            ]
            gap = max(limits[1][0] - limits[0][1], limits[0][0] - limits[1][1])
            if gap > widest:
                found, widest = Difference(number, by, limits[0], limits[1]), gap
    return found


def _groups(trials: Sequence[Trial], outcomes: int, atoms: int) -> Iterator[_Groups]:
    if not atoms:
        yield from _by_what_is_not_named(trials, outcomes, 1.0)
        return
    contexts: dict[int, list[Trial]] = {}
    for trial in trials:
        contexts.setdefault(trial.held, []).append(trial)
    for place, same in enumerate(contexts.values(), 1):  # its place is fixed before its first trial
        yield from _by_what_is_not_named(same, outcomes, 0.5 / (place * (place + 1)))
    for atom in range(atoms):
        with_ = [trial for trial in trials if trial.held >> atom & 1]
        without = [trial for trial in trials if not trial.held >> atom & 1]
        yield 0.5 / atoms, Split(atom=atom), with_, without


def _by_what_is_not_named(trials: Sequence[Trial], outcomes: int, share: float) -> Iterator[_Groups]:
    yield from _by_time(trials, share / 2)
    pairs = list(pairwise(trials))
    for number in range(outcomes):
        after = [trial for before, trial in pairs if before.outcome == number]
        others = [trial for before, trial in pairs if before.outcome != number]
        yield share / 4 / outcomes, Split(after=number), after, others
    names = dict.fromkeys(named for trial in trials for named in enumerate(trial.objects))
    for place, (argument, name) in enumerate(
        names, 1
    ):  # its place is fixed before the first trial that names it
        with_ = [trial for trial in trials if trial.objects[argument] == name]
        others = [trial for trial in trials if trial.objects[argument] != name]
        yield share / 4 / (place * (place + 1)), Split(named=(argument, name)), with_, others


def _by_time(trials: Sequence[Trial], share: float) -> Iterator[_Groups]:
    for power in range(_SPLITS):
        first = _FIRST << power
        yield share / _SPLITS, Split(first=first), trials[:first], trials[first:]
