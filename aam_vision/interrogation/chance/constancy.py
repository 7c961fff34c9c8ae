"""Whether how often an outcome comes is the same in all trials: early and late ones, in each phase of a cycle, with each object.

Each thing that may make a difference is known before the trial, and is a bet (``intervals``) with a weight of its own, so one may look at
any time. Trends and changes show in the first trials beside later ones; spells in what came just before; cycles of up to twenty
steps, of the action or of all, in the phase, and in what came k steps ago; a cold start and what tires in how long ago the agent was put
somewhere; what another step or a refusal leaves behind, and objects that want a pause, in what came right before; what the action does not
name in objects and in facts about others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import combinations
from math import log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aam_vision.interrogation.chance.intervals import (
    Numbers,
    Precision,
    against_constancy,
    constant,
    interval,
)
from aam_vision.interrogation.evidence.transcript import RIGHT_AFTER, Moment

if TYPE_CHECKING:
    from aam_vision.interrogation.chance.observations import Setting
    from aam_vision.model.strips import LiftedAtom

ACCUSING = 0.2
"""Share of the intervals' error probability with which an agent is wrongly said to depend on something."""
LONGEST = 20
"""Trials of a cycle at most."""
_FIRST, _SPLITS = 16, 16
"""Numbers of trials at which the first are compared with the rest: 16, 24, 32, 48, 64, ..., so many at most."""
_COUNTED = "attempts", "steps", "since", "turn"
"""What cycles are counted in, beside the steps of the action (``Moment``)."""
_STARTS = 6
"""Numbers of steps since the agent was put somewhere at which trials are divided: 1, 2, 4, ..., so many."""
_MOST = 60
"""Objects and facts that are looked at, each: those that were met first."""
_PAIRED = 8
"""Facts of which each two are looked at together: those that were met first."""
_WEIGHTS = {
    "first": 0.2, "before": 0.1, "after": 0.2, "phase": 0.1, "clock": 0.05, "begun": 0.05, "named": 0.1, "fact": 0.05, "pair": 0.05, "atom": 0.1
}  # fmt: skip
"""Shares of the error probability."""
_DOUBTFUL = 0.0
"""Evidence of a bet, its weight included, from which it is doubted that outcomes come equally often."""
_EXCLUDED = 1.96
"""Standard errors from an estimated drift to one that is excluded with 95%."""
_FARTHER = 1.28
"""The same with 90%, on one side, for a difference between situations."""
_BEGUN, _BEFORE = 3.0, 2.5
"""Standard errors from which a difference between early and late trials, or by what came before, is no longer expected by chance."""
_SOUGHT = RIGHT_AFTER.format("")
_FEW = 7
"""Trials with the same before them that are compared with the others, at least."""
_REMAINS = 4.0
"""Evidence (of a likelihood ratio) that has to remain within situations in which the same of the action's atoms holds."""
Mask = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
Counts = np.ndarray[tuple[int, ...], np.dtype[np.int_]]


class Trial(NamedTuple):
    """One trial: the atoms that held before it, the number of its outcome, in which setting it was made, and when."""

    held: int
    outcome: int
    setting: Setting | None = None
    place: int | None = None
    """How many steps of the action came before; if None, as many as trials."""
    when: Moment = Moment()


class Split(NamedTuple):
    """What tells two groups of trials apart: one of these."""

    atom: int | None = None
    """The atom that held before the one trials and not before the others."""
    first: int | None = None
    """How many earlier trials there are; the others are later."""
    after: tuple[int, int] | None = None
    """What came so many steps before: the outcome."""
    phase: tuple[int, int] | None = None
    """The length of a cycle, and the place in it, from 0."""
    counted: str | None = None
    """What the cycle is counted in (a field of ``Moment``); None: the steps of the action."""
    begun: int | None = None
    """How many steps at most the agent has taken since it was put somewhere, less one; the others are later."""
    before: str | None = None
    """What was so of what came right before (``Moment.before``)."""
    named: tuple[int, str] | None = None
    """The object that an argument was, with the number of that argument."""
    fact: str | None = None
    """What held that is no atom of the action."""

    def text(self, names: Sequence[str], atoms: Sequence[LiftedAtom]) -> str:
        """What is told apart, unless that is the order of trials; ``names`` are the parameters of the action."""
        if self.phase is not None:
            return f"the place in a cycle of {self.phase[0]}"
        if self.begun is not None:
            return "how long ago the agent was put where it began"
        if self.atom is not None:
            return atoms[self.atom].text(names)
        if self.named is not None:
            return f"the object ?{names[self.named[0]]}"
        fact = self.before or self.fact or ""
        for number, own in enumerate(names):
            fact = fact.replace(f"#{number}", f"?{own}")
        return fact

    @property
    def in_time(self) -> bool:
        """Whether that is when they were made."""
        return any(one is not None for one in (self.first, self.after, self.phase, self.begun, self.before))

    @property
    def comes_again(self) -> bool:
        """Whether it is a moment that comes again: a place in a cycle, so long after it was put somewhere, right after something."""
        return any(one is not None for one in (self.phase, self.begun, self.before))

    def holds(self, trial: Trial) -> bool:
        """Whether a trial is one of the former, for moments that come again."""
        if self.phase is not None:
            length, own = self.phase
            passed = trial.place if self.counted is None else getattr(trial.when, self.counted)
            return bool((passed or 0) % length == own)
        if self.begun is not None:
            return trial.when.since < self.begun
        return self.before in trial.when.before


class Difference(NamedTuple):
    """An outcome that is more frequent in some trials than in others: its number, and both intervals."""

    outcome: int
    by: Split
    one: tuple[float, float]
    other: tuple[float, float]
    sure: bool = True
    """Whether chance does not explain it; else that is doubted."""
    since: int | None = None
    """The first trial of those that tell how often it comes now, where that has changed."""


class _Bets(NamedTuple):
    """Ways to tell trials apart, with the logarithms of their weights."""

    splits: list[Split]
    weights: list[float]
    cells: list[Numbers]

    def add(self, kind: str, split: Split, cell: Numbers | Mask, share: float) -> None:
        """One more, if it tells any trials apart."""
        if cell.any() and not cell.all():
            self.splits.append(split)
            self.weights.append(log(_WEIGHTS[kind] * share))
            self.cells.append(cell.astype(float))

    def add_phases(self, kind: str, passed: Counts, length: int, share: float, counted: str | None) -> None:
        """The places in a cycle, as far as they tell any trials apart; each has this share."""
        cells = passed % length == np.arange(length)[:, None]
        telling = np.flatnonzero(cells.any(1) & ~cells.all(1))
        splits = _phases(length, counted)
        self.splits.extend(splits[phase] for phase in telling)
        self.weights.extend([log(_WEIGHTS[kind] * share)] * len(telling))
        self.cells.extend(cells[telling].astype(float))


@cache
def _phases(length: int, counted: str | None) -> tuple[Split, ...]:
    return tuple(Split(phase=(length, phase), counted=counted) for phase in range(length))


def difference(
    trials: Sequence[Trial],
    outcomes: int,
    atoms: int,
    precision: Precision,
    course: Sequence[int] | None = None,
    *,
    unexplained: bool = False,
) -> Difference | None:
    """What makes a difference to how often an outcome comes, surely or by doubt.

    Sure is wrong with a fifth of the intervals' error probability. Of what is sure, that is told for which there is the most evidence.
    Which of the action's own atoms hold when is not left to chance: a difference by anything else has to remain between trials before which
    the same of them held. A difference by an atom is told where it is ``unexplained`` by cases.

    ``course``: what came of every step of the action, those included that are no trials here; default of these trials.
    ``unexplained``: whether no cases explain on what the outcomes depend.
    """
    if outcomes < 2 or len(trials) < _FIRST:
        return None
    came = _one_hot(trials, outcomes)
    bets = _Bets([], [], [])
    _by_time(bets, len(trials))
    _by_course(bets, trials, [one.outcome for one in trials] if course is None else course)
    _by_moment(bets, trials)
    _by_setting(bets, trials)
    _by_atoms(bets, trials, atoms)
    if not bets.cells:
        return None
    cells, held = np.array(bets.cells).T, [one.held for one in trials]
    evidence = against_constancy(came, cells) + np.array(bets.weights)
    bound = log(1 / (precision.alpha * ACCUSING))
    for number in np.argsort(-evidence, kind="stable")[:LONGEST]:
        by, found = bets.splits[number], float(evidence[number])
        if found < _DOUBTFUL or (by.atom is not None and not unexplained):
            break  # or that is a matter of cases
        if by.atom is not None or not atoms or remaining(came, cells[:, number], held) >= _REMAINS:
            return _told(by, came, cells[:, number], precision, sure=found >= bound)
    return None


def drift(trials: Sequence[Trial], outcomes: int, precision: Precision) -> Difference | None:
    """A steady change that trials do not exclude and that is too large for one interval to speak of all of them.

    Evidence that is valid however often one looks is slow: practice over hundreds of trials may not have shown when intervals are narrow
    enough. So it is doubted that nothing changes until a straight line through the outcomes, by least squares, excludes that the later half
    of the trials differs from all of them by more than the half width that is wanted. No agent is accused by this.
    """
    made, came = len(trials), _one_hot(trials, outcomes)
    time, share = np.arange(made) - (made - 1) / 2, came.mean(0)
    moved = np.abs(time @ came) + _EXCLUDED * sqrt(time @ time) * np.sqrt(share * (1 - share))
    if moved.max() * made / 4 <= precision.within * (time @ time):
        return None
    early = (time < 0).astype(float)
    return _told(Split(first=int(early.sum())), came, early, precision, sure=False)._replace(since=None)


def apart(
    trials: Sequence[Trial], outcomes: int, atoms: int, precision: Precision, *, objects: bool = True
) -> Difference | None:
    """An atom, an object that was named, a time since the agent was put somewhere or what came right before, for which one interval may be wrong.

    As with ``drift``: an atom that makes a small difference may not have shown when intervals are narrow enough, and then they hold for the
    mixture of both values only. So it is doubted that trials are alike until it is excluded, with 90%, that those with either value are farther
    from all than the half width that is wanted; or they are no farther than the farthest of so many is by chance. No agent is accused by this.

    Of what came before, those circumstances are looked at in which further trials can be made: what came right before.

    ``objects``: whether objects are looked at, too.
    """
    came = _one_hot(trials, outcomes)
    made, share = len(trials), came.mean(0)
    histories = _Bets([], [], [])
    _by_history(histories, trials)
    sides = [
        (by, cell, own)
        for by, cell in (*circumstances(trials, atoms), *zip(histories.splits, histories.cells, strict=True))
        if by.fact is None
        and (objects or by.named is None)
        and (not by.before or by.before.startswith(_SOUGHT))
        for own, least in (
            (cell, _FEW if by.in_time else _FIRST),
            (1 - cell, len(trials) if by.before else _FIRST),
        )
        if own.sum() >= least
    ]
    farthest, found = 0.0, None
    chance = sqrt(2 * log(max(1, sum(not by.in_time for by, _, _ in sides) / 2)))
    for by, cell, own in sides:
        error = np.sqrt(share * (1 - share) * (1 / own.sum() - 1 / made))
        moved = np.abs(own @ came / own.sum() - share)
        least = error * (_BEFORE if by.before else _BEGUN if by.begun else chance)
        far = (moved + _FARTHER * error)[moved > least].max(initial=0.0)
        if far > max(farthest, precision.within):
            farthest, found = float(far), (by, cell)
    return found and _told(found[0], came, found[1], precision, sure=False)


def _told(by: Split, came: Numbers, cell: Numbers, precision: Precision, *, sure: bool) -> Difference:
    """The outcome that differs most, with its intervals in both groups."""
    groups = came[cell > 0], came[cell == 0]
    shares = [group.mean(0) for group in groups]
    outcome = int(np.argmax(np.abs(shares[0] - shares[1])))
    limits = [
        interval(int(group[:, outcome].sum()), len(group), precision.alpha, precision.concentration)
        for group in groups
    ]
    return Difference(outcome, by, limits[0], limits[1], sure, by.first)


def _one_hot(trials: Sequence[Trial], outcomes: int) -> Numbers:
    """An array (trials, outcomes) of 0 and 1."""
    return np.eye(outcomes)[[one.outcome for one in trials]]


def remaining(came: Numbers, cell: Numbers, strata: Sequence[int]) -> float:
    """The likelihood ratio of a difference within strata, less what chance makes of it on average.

    Args:
        came: of every trial, array (trials, outcomes) of 0 and 1.
        cell: for every trial 0 or 1.
        strata: of every trial the number of its stratum.
    """
    own, ratio = np.array(strata), 0.0
    for stratum in dict.fromkeys(strata):
        among, inside = came[own == stratum], cell[own == stratum] > 0
        if inside.any() and not inside.all():
            ratio += constant(among[inside]) + constant(among[~inside]) - constant(among)
            ratio -= 0.5 * (came.shape[1] - 1)
    return ratio


def _by_time(bets: _Bets, made: int) -> None:
    for power in range(_SPLITS):
        first = (_FIRST << power // 2) * (3 if power % 2 else 2) // 2
        if first < made:
            bets.add("first", Split(first=first), np.arange(made) < first, 1 / _SPLITS)


def _by_course(bets: _Bets, trials: Sequence[Trial], course: Sequence[int]) -> None:
    """By what came k steps of the action ago, and by the place in a cycle of k steps."""
    places = np.array([number if one.place is None else one.place for number, one in enumerate(trials)])
    came = np.array(course)
    kinds = sorted(set(course) - {-1})
    for k in range(1, LONGEST + 1):
        before = np.where(places >= k, came[np.maximum(places - k, 0)], -1)
        for kind in kinds if len(kinds) > 2 else kinds[:1]:
            bets.add("after", Split(after=(k, kind)), before == kind, 1 / (LONGEST * len(kinds)))
        if k > 1:
            bets.add_phases("phase", places, k, 1 / ((LONGEST - 1) * k), None)


def _by_moment(bets: _Bets, trials: Sequence[Trial]) -> None:
    """By the place in a cycle of k steps of all actions, or of one with the same objects, and by what came before."""
    for counted in _COUNTED:
        passed = np.array([getattr(one.when, counted) for one in trials])
        for k in range(2, LONGEST + 1):
            bets.add_phases("clock", passed, k, 1 / (len(_COUNTED) * (LONGEST - 1) * k), counted)
    _by_history(bets, trials)


def _by_history(bets: _Bets, trials: Sequence[Trial]) -> None:
    """By how long ago the agent was put somewhere, and by what came right before."""
    since = np.array([one.when.since for one in trials])
    for power in range(_STARTS):
        bets.add("begun", Split(begun=1 << power), since < 1 << power, 1 / _STARTS)
    met = dict.fromkeys(clause for one in trials for clause in one.when.before)
    for place, clause in enumerate(list(met)[:_MOST], 1):
        cell = np.array([clause in one.when.before for one in trials], float)
        bets.add("before", Split(before=clause), cell, 1 / (place * (place + 1)))


def circumstances(trials: Sequence[Trial], atoms: int) -> list[tuple[Split, Numbers]]:
    """All by which the situations of trials are told apart, with a 1 for every trial that is inside: facts, objects and atoms."""
    bets = _Bets([], [], [])
    _by_setting(bets, trials)
    _by_atoms(bets, trials, atoms)
    return list(zip(bets.splits, bets.cells, strict=True))


def _by_atoms(bets: _Bets, trials: Sequence[Trial], atoms: int) -> None:
    for atom in range(atoms):
        cell = np.array([one.held >> atom & 1 for one in trials], float)
        bets.add("atom", Split(atom=atom), cell, 1 / atoms)


def _by_setting(bets: _Bets, trials: Sequence[Trial]) -> None:
    """By the objects that were named, and by facts that are no atoms of the action: of others, and whether there is another one."""
    settings = [one.setting for one in trials]
    if None in settings:
        return
    known = {id(one): one for one in settings if one is not None}
    number = {key: place for place, key in enumerate(known)}
    which = np.array([number[id(one)] for one in settings])
    objects = dict.fromkeys(named for one in known.values() for named in enumerate(one.named))
    held = [_facts(one) for one in known.values()]
    facts = {fact: None for own in held for fact in own}
    for place, (argument, name) in enumerate(list(objects)[:_MOST], 1):
        cell = np.array([one.named[argument] == name for one in known.values()], float)[which]
        bets.add("named", Split(named=(argument, name)), cell, 1 / (place * (place + 1)))
    told = [(fact, np.array([fact in own for own in held], float)[which]) for fact in list(facts)[:_MOST]]
    for place, (fact, cell) in enumerate(told, 1):
        bets.add("fact", Split(fact=fact), cell, 1 / (place * (place + 1)))
    varied = [(fact, cell) for fact, cell in told if 0 < cell.sum() < len(cell) and "other" not in fact][
        :_PAIRED
    ]
    for place, ((fact, first), (other, second)) in enumerate(combinations(varied, 2), 1):
        both = Split(fact=f"exactly one of {fact} and {other}")
        bets.add("pair", both, first != second, 1 / (place * (place + 1)))


@lru_cache(maxsize=10_000)
def _facts(setting: Setting) -> dict[str, None]:
    """What holds there of objects that are not named, in an order that depends on it alone; arguments by their places."""
    places, found = {name: f"#{place}" for place, name in enumerate(setting.named)}, list[str]()
    for atom in sorted(setting.others):
        own = [places.get(name) for name in atom.objects]
        more = [one or "another" for one in own] if any(own) else ["any other"] * len(own)
        found += [str(atom), f"{atom.predicate}({', '.join(more)})"]
    return dict.fromkeys(found)
