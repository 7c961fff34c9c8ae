"""Whether a policy can do what it should, and whether its new version has lost anything.

Two versions pursue the same objectives from the same starts, with the same luck. Only how often a pursuit succeeds with one version and
not with the other counts, so that easy and hard starts are no matter. The interval of the difference is looked at after every pair, and
no more are made as soon as it tells: it holds at all times at once (a mixture of bets, as in Waudby-Smith and Ramdas, "Estimating means of
bounded random variables by betting", 2024).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import sqrt
from typing import Any, Final, NamedTuple

import numpy as np

from aam_vision.agents.perception import Frame
from aam_vision.envs.policies import Ended, Objective, Told
from aam_vision.interrogation.chance.intervals import concentration, interval
from aam_vision.interrogation.task.result import aligned
from aam_vision.model.strips import ActionHeader, GroundAction, State
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted, some

LOST, KEPT, UNSURE = "lost", "not lost", "not sure"
MARGIN, MOST, ALPHA = 0.05, 2000, 0.05
_WITHIN: Final = 0.05
"""Half width for which intervals of rates are narrowest."""
_TRIES: Final = 200
"""Draws of a start and an objective that does not hold there yet."""
_REPLAYED: Final = 5
"""Pairs that are made once more, at most, until one shows the loss again."""
_FURTHER, _FEW = 300, 3
"""Pairs that are made, at most, to confirm where something is lost; and of each side of a fact before it is supposed to tell."""
_STEP: Final = 0.0025
_GRID: Final = np.linspace(-1, 1, 801)
"""Differences that are held against what was seen."""
_STAKES: Final = np.array([0.03, 0.1, 0.25, 0.55, 0.98])
"""Shares of the capital that are put on a greater, or a smaller, difference ..."""
_PARTS: Final = np.array([0.1, 0.1, 0.1, 0.2, 0.5])
"""... and how a unit is parted among them: with equal luck a new version that lost something hardly ever gains, and large stakes win most."""
Numbers = np.ndarray[Any, np.dtype[np.float64]]
Record = Callable[[str, object], None]
"""Takes a figure by its name, as pytest's ``record_property`` does."""
Facts = frozenset[str]


def around(state: State, step: GroundAction, header: ActionHeader) -> Facts:
    """The facts of a state by what they say of the objects of an objective, and which these are.

    ``clear(?block2)``, ``on(another block, ?block1)``, ``?block1 is a``.
    """
    names = {name: f"?{parameter}" for name, parameter in zip(step.objects, header.parameters, strict=True)}
    told = {name: names.get(name, f"another {state.objects[name]}") for name in state.objects}
    facts = {f"{one.predicate}({', '.join(told[name] for name in one.objects)})" for one in state.true}
    return frozenset(facts | {f"{parameter} is {name}" for name, parameter in names.items()})


def _said(fact: str, holds: bool) -> str:
    """That a fact holds where a pursuit begins, or that it does not."""
    if " is " in fact:
        return fact if holds else fact.replace(" is ", " is not ")
    return f"{fact} {'holds' if holds else 'does not hold'}"


class Draws:
    """Starts and objectives at random, of those that do not hold there yet."""

    def __init__(self, agent: Told, rng: np.random.Generator) -> None:
        self._agent = agent
        self._rng = rng
        self._begun = [one.state for one in agent.initial()]

    def draw(
        self, header: ActionHeader, wanted: Callable[[Facts], bool] = lambda facts: True
    ) -> tuple[int, GroundAction, int] | None:
        """A start, an objective, and a seed of what is random; None if none was found of which the facts are as wanted."""
        for _ in range(_TRIES):
            start, step = int(self._rng.integers(len(self._begun))), self._agent.drawn(header, self._rng)
            if step is None:
                continue
            atom, value = self._agent.objective(step)
            if (atom in self._begun[start].true) is value or not wanted(self.facts(start, step, header)):
                continue
            return start, step, int(self._rng.integers(2**31))
        return None

    def facts(self, start: int, step: GroundAction, header: ActionHeader) -> Facts:
        """What holds where a pursuit begins, as ``around`` says it."""
        return around(self._begun[start], step, header)


class Pair(NamedTuple):
    """One objective, pursued by both."""

    start: int
    """The seed of the reset."""
    objective: Objective
    luck: int
    """The seed of what is random in the environment after it."""
    old: Ended
    new: Ended

    @property
    def loss(self) -> int:
        """1 if only the old version has achieved it, -1 if only the new one, else 0."""
        return self.old.achieved - self.new.achieved

    def begun(self, agent: Told, name: str) -> tuple[int, GroundAction]:
        """The number of its start, and the objective as an instruction of that name."""
        return agent.seeds.index(self.start), GroundAction(name, self.objective.atom.objects)


@dataclass(frozen=True)
class Comparison:
    """All pairs of one kind of objective."""

    name: str
    pairs: tuple[Pair, ...]
    margin: float
    alpha: float
    witness: Pair | None = None
    """A pair that shows what was lost, and did so again when it was made once more; None if nothing is, or none did."""
    where: tuple[Comparison, Comparison] | None = None
    """Pairs that were made since, named by a fact of their starts: where more is lost, and elsewhere; None if no fact surely tells."""

    @cached_property
    def interval(self) -> tuple[float, float]:
        """By how much the new version succeeds less often: each limit holds with probability 1 - ``alpha``, however long one looks."""
        lost = Counter(one.loss for one in self.pairs)
        return difference(lost[1], lost[0], lost[-1], self.alpha)

    @property
    def verdict(self) -> str:
        """``lost`` by more than the margin, ``not lost`` by as much, or ``not sure``."""
        low, high = self.interval
        return LOST if low > self.margin else KEPT if high <= self.margin else UNSURE

    def rates(self) -> tuple[float, float]:
        """How often the old version, and the new one, has achieved its objective."""
        old, new = (sum(end.achieved for end in ends) / max(1, len(ends)) for ends in self._ends)
        return old, new

    @property
    def _ends(self) -> tuple[list[Ended], list[Ended]]:
        return [one.old for one in self.pairs], [one.new for one in self.pairs]

    @property
    def took(self) -> tuple[float, float] | None:
        """The mean steps of the old version, and of the new one, where both achieved it; None if they never did."""
        both = [(one.old.steps, one.new.steps) for one in self.pairs if one.old.achieved and one.new.achieved]
        if not both:
            return None
        old, new = (sum(steps) / len(both) for steps in zip(*both, strict=True))
        return old, new

    def json(self) -> dict[str, Any]:
        """The same for programs."""
        old, new = self.rates()
        found: dict[str, Any] = {"name": self.name, "verdict": self.verdict, "pairs": len(self.pairs)}
        found |= {"a": old, "b": new, "less_often": list(self.interval)}
        found |= {"alpha": self.alpha, "steps": None if self.took is None else list(self.took)}
        found["where"] = None if self.where is None else [one.json() for one in self.where]
        found["witness"] = None
        if (one := self.witness) is not None:
            told = {"seed": one.start, "objective": str(one.objective), "luck": one.luck}
            found["witness"] = told | {"a": str(one.old), "b": str(one.new)}
        return found

    def lines(self) -> list[tuple[str, str]]:
        """The comparison in lines for a person, the first one named."""
        (old, new), (low, high) = self.rates(), self.interval
        made = counted(len(self.pairs), "pair")
        told = [f"{self.verdict}: {100 * old:.0f}% -> {100 * new:.0f}% of {made}"]
        told.append(
            f"less often by {100 * low:.0f} to {100 * high:.0f} points (each limit holds with {100 * (1 - self.alpha):g}%)"
        )
        if self.took is not None and self.took[0] != self.took[1]:
            told.append(f"where both achieve it: {self.took[0]:.1f} -> {self.took[1]:.1f} steps on average")
        before, now = (sum(end.claimed and not end.achieved for end in ends) for ends in self._ends)
        if before or now:
            told.append(f"claimed falsely: {counted(before, 'time')} -> {counted(now, 'time')}")
        if self.where is not None:
            there, elsewhere = self.where
            old, new = there.rates()
            told.append(
                f"lost where {there.name}: {100 * old:.0f}% -> {100 * new:.0f}% of {counted(len(there.pairs), 'pair')}; "
                f"elsewhere {' -> '.join(f'{100 * rate:.0f}%' for rate in elsewhere.rates())} of {len(elsewhere.pairs)}"
            )
        if (one := self.witness) is not None:
            told.append(f"for example seed {one.start}, {one.objective}: {one.old} before; now {one.new}")
        return [("" if number else self.name, text) for number, text in enumerate(told)]


@dataclass(frozen=True)
class Gate:
    """What the new version of a policy has lost."""

    comparisons: tuple[Comparison, ...]
    checkpoints: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {})
    """Of the old version and the new one, by name the SHA-256 of the files that say which these are."""

    @property
    def verdict(self) -> str:
        """``lost`` if something is, ``not sure`` where that is not told, or ``nothing lost``."""
        found = {one.verdict for one in self.comparisons}
        return LOST if LOST in found else UNSURE if UNSURE in found else "nothing lost"

    @property
    def code(self) -> int:
        """0 if nothing is lost, 5 if something is, else 6: not sure. As the exit codes of ``compare --gate``."""
        return {LOST: 5, UNSURE: 6}.get(self.verdict, 0)

    def films(self, old: Told, new: Told) -> dict[str, tuple[list[Frame], list[Frame]]]:
        """By kind of objective the images of its witness, made once more by both versions; nothing of what renders none."""
        found = {}
        for one in self.comparisons:
            if (pair := one.witness) is not None:
                what = *pair.begun(old, one.name), pair.luck
                films = old.filmed(*what, str(pair.old)), new.filmed(*what, str(pair.new))
                if films != ([], []):
                    found[one.name] = films
        return found

    def __str__(self) -> str:
        return aligned(line for one in self.comparisons for line in one.lines())

    def json(self) -> dict[str, Any]:
        """The same for programs."""
        told = {"verdict": self.verdict, "checkpoints": [dict(one) for one in self.checkpoints]}
        return told | {"objectives": [one.json() for one in self.comparisons]}


def gate(
    old: Told,
    new: Told,
    *,
    margin: float = MARGIN,
    most: int = MOST,
    alpha: float = ALPHA,
    seed: int = 0,
) -> Gate:
    """Compare two versions of a policy pair by pair, until of every kind of objective it is sure whether it was lost.

    Args:
        old: a policy in its environment.
        new: another one, in the same.
        margin: by how much less often it may succeed, 0 to 1.
        most: pairs of each kind of objective, at most.
        alpha: probability that anything that is said to be lost, or not to be, is said wrongly; shared by the kinds. That it
            is said wrongly where something is lost has as much again.
        seed: of the starts, objectives and luck.

    Raises:
        UnusableInput: the two cannot be matched, or a figure is out of range.
        AgentFailed: a policy or an environment failed: that is no loss.
    """
    if not 0 <= margin < 1 or not 0 < alpha < 1 or most < 1:
        name = "margin" if not 0 <= margin < 1 else "alpha" if not 0 < alpha < 1 else "most"
        raise UnusableInput(
            "out of range: give a margin and an alpha from 0 to 1, and one pair at least", name
        )
    for what in ("vocabulary", "headers", "seeds"):
        if getattr(old, what) != getattr(new, what):
            raise UnusableInput(f"the two versions cannot be matched: their {what} differ", "new")
    draws, share = Draws(old, np.random.default_rng(seed)), alpha / len(old.headers)
    found = {header.name: Comparison(header.name, (), margin, share) for header in old.headers}
    for _ in range(most):
        for header in old.headers:
            known = found[header.name]
            if known.verdict == UNSURE and (drawn := draws.draw(header)):
                found[header.name] = replace(known, pairs=(*known.pairs, _pair(old, new, *drawn)))
        if all(one.verdict != UNSURE for one in found.values()):
            break
    lost = [header for header in old.headers if found[header.name].verdict == LOST]
    for header in lost:
        known = _with_witness(found[header.name], old, new)
        found[header.name] = replace(known, where=_where(known, header, draws, old, new))
    return Gate(tuple(found.values()), (old.checkpoint, new.checkpoint))


def _where(
    lost: Comparison, header: ActionHeader, draws: Draws, old: Told, new: Told
) -> tuple[Comparison, Comparison] | None:
    """Where it is lost: the fact that tells the pairs apart best is supposed, and has to tell new ones apart for sure."""
    supposed = _supposed(
        [(draws.facts(*one.begun(old, header.name), header), one.loss) for one in lost.pairs]
    )
    if supposed is None:
        return None
    fact, holds = supposed
    share = lost.alpha / 2
    sides = [Comparison(_said(fact, holds is here), (), lost.margin, share) for here in (True, False)]
    for number in range(_FURTHER):
        side = number % 2
        drawn = draws.draw(header, lambda facts: (fact in facts) is (holds is (side == 0)))  # noqa: B023 - used at once
        if drawn is None:
            return None
        sides[side] = replace(sides[side], pairs=(*sides[side].pairs, _pair(old, new, *drawn)))
        there, elsewhere = sides
        if there.verdict == LOST and there.interval[0] > elsewhere.interval[1]:
            return there, elsewhere
    return None


def _supposed(seen: Iterable[tuple[Facts, int]]) -> tuple[str, bool] | None:
    """The fact with whose value losses differ most, and the value with which there are more; None if none differs.

    ``seen``: the facts of each pair, and what it shows to be lost (1, 0 or -1).
    """
    pairs = list(seen)
    made, lost = Counter[str](), Counter[str]()
    for facts, loss in pairs:
        for fact in facts:
            made[fact] += 1
            lost[fact] += loss
    whole, best, most = sum(loss for _, loss in pairs), None, 0.0
    for fact in sorted(made):
        with_it, without = made[fact], len(pairs) - made[fact]
        if min(with_it, without) < _FEW:
            continue
        more = lost[fact] / with_it - (whole - lost[fact]) / without
        if (weight := abs(more) * sqrt(with_it * without)) > most:
            best, most = (fact, more > 0), weight
    return best


def rate(achieved: int, made: int, alpha: float = ALPHA, within: float = _WITHIN) -> tuple[float, float]:
    """How often pursuits achieve their objective, where so many did: both limits hold with probability 1 - ``alpha`` at all times.

    ``within``: the half width for which they are narrowest, chosen beforehand.
    """
    return interval(achieved, made, alpha, concentration(within))


@dataclass(frozen=True)
class Capability:
    """How often a policy achieves an objective."""

    name: str
    ends: tuple[tuple[int, Objective, Ended], ...]
    """The seed of the start, the objective, and how the pursuit ended."""
    at_least: float
    alpha: float

    @cached_property
    def rate(self) -> tuple[float, float]:
        """How often it does: both limits hold with probability 1 - ``alpha``, however long one looks."""
        return rate(sum(end.achieved for *_, end in self.ends), len(self.ends), self.alpha)

    @property
    def shown(self) -> bool | None:
        """Whether it is as often as it is to be; None if that is not sure."""
        low, high = self.rate
        return True if low >= self.at_least else False if high < self.at_least else None

    @property
    def verdict(self) -> str:
        """``shown``, ``missed`` or ``not sure``."""
        return {True: "shown", False: "missed", None: UNSURE}[self.shown]

    def json(self) -> dict[str, Any]:
        """The same for programs."""
        ends = [end for *_, end in self.ends]
        achieved, false = sum(end.achieved for end in ends), sum(end.claimed > end.achieved for end in ends)
        found = {"name": self.name, "verdict": self.verdict, "at_least": self.at_least, "pursuits": len(ends)}
        found |= {"rate": achieved / max(1, len(ends)), "interval": list(self.rate), "claimed_falsely": false}
        return found | {"example": self._example() or None}

    def _example(self) -> str:
        """A pursuit that failed; empty if none did."""
        failed = next((one for one in self.ends if not one[-1].achieved), None)
        return "" if failed is None else f"seed {failed[0]}, {failed[1]}: {failed[2]}"

    def __str__(self) -> str:
        achieved = sum(end.achieved for *_, end in self.ends)
        low, high = (100 * limit for limit in self.rate)
        told = f"{self.name}: {self.verdict}: {achieved} of {counted(len(self.ends), 'pursuit')} ({low:.0f}-{high:.0f}% with {100 * (1 - self.alpha):g}%), "
        told += f"{100 * self.at_least:g}% wanted"
        return f"{told}; for example {example}" if (example := self._example()) else told


def capability(
    agent: Told,
    objective: str,
    *,
    at_least: float,
    where: str = "",
    most: int = MOST,
    alpha: float = ALPHA,
    seed: int = 0,
) -> Capability:
    """Have a policy pursue one kind of objective until it is sure whether it achieves it as often as it is to.

    Args:
        agent: the policy in its environment.
        objective: a predicate that it is told to make true, or ``not NAME``.
        at_least: how often, 0 to 1.
        where: a fact that holds where a pursuit begins, ``clear(?block2)`` or ``not on(another block, ?block1)``; default anywhere.
        most: pursuits, at most.
        alpha: probability that the interval of the rate is wrong at any time.
        seed: of the starts, objectives and luck.

    Raises:
        UnusableInput: the policy has no such objective, nothing like ``where`` holds in its starts, or a figure is out of range.
        AgentFailed: the policy or the environment failed.
    """
    if not 0 < at_least < 1 or not 0 < alpha < 1 or most < 1:
        name = "at_least" if not 0 < at_least < 1 else "alpha" if not 0 < alpha < 1 else "most"
        raise UnusableInput("out of range: give rates between 0 and 1, and one pursuit at least", name)
    header = next((one for one in agent.headers if agent.kind(one.name) == objective), None)
    if header is None:
        known = ", ".join(agent.kind(one.name) for one in agent.headers)
        raise UnusableInput(
            f"the policy is told no such objective; it is told {known}", "objective", objective
        )
    draws, fact = Draws(agent, np.random.default_rng(seed)), where.removeprefix("not ")
    name = f"{header.name}{f' where {where}' if where else ''}"
    found = Capability(name, (), at_least, alpha)
    while len(found.ends) < most and found.shown is None:
        drawn = draws.draw(header, lambda facts: not where or (fact in facts) is (fact == where))
        if drawn is None:
            raise _nothing_begins(draws, header, objective, where)
        start, step, luck = drawn
        end = agent.seeds[start], agent.objective(step), agent.pursue_from(start, step, luck)
        found = replace(found, ends=(*found.ends, end))
    return found


def _nothing_begins(draws: Draws, header: ActionHeader, objective: str, where: str) -> UnusableInput:
    """That no pursuit was found that begins where it is to, and which facts there are elsewhere."""
    elsewhere = draws.draw(header)
    if elsewhere is None:
        return UnusableInput("no pursuit of it was found: it may hold at every start", "objective", objective)
    told = some(sorted(draws.facts(*elsewhere[:2], header)), 3)
    return UnusableInput(f"no pursuit of {objective} begins there; elsewhere holds {told}", "where", where)


def assert_capability(
    agent: Told,
    objective: str,
    *,
    at_least: float,
    where: str = "",
    most: int = MOST,
    seed: int = 0,
    record: Record | None = None,
) -> None:
    """For tests of a policy: fail where it surely achieves an objective less often than it is to, or where that is not sure.

    ``record`` is given the figures, whether it fails or not; the fixture of the same name does that for pytest.

    Raises:
        AssertionError: with how often, and an example of a failure.
    """
    __tracebackhide__ = True  # pytest shows the test's own line
    found = capability(agent, objective, at_least=at_least, where=where, most=most, seed=seed)
    _recorded(record, found.json())
    if not found.shown:
        raise AssertionError(str(found))


def assert_nothing_lost(
    old: Told,
    new: Told,
    *,
    margin: float = MARGIN,
    most: int = MOST,
    seed: int = 0,
    record: Record | None = None,
) -> None:
    """For tests of the new version: fail where something is lost, or where it is not sure.

    ``record``: as for ``assert_capability``.

    Raises:
        AssertionError: with what is lost, and an example of it.
    """
    __tracebackhide__ = True
    found = gate(old, new, margin=margin, most=most, seed=seed)
    for one in found.comparisons:
        _recorded(record, one.json())
    if found.code:
        raise AssertionError(str(found))


def _recorded(record: Record | None, told: dict[str, Any]) -> None:
    """Give each figure by the name of what it is about: ``achieve-on.rate``."""
    for name, value in told.items():
        if record is not None and name != "name" and value is not None:
            plain = isinstance(value, str | int | float)
            record(f"{told['name']}.{name}", value if plain else json.dumps(value))


def _pair(old: Told, new: Told, start: int, step: GroundAction, luck: int) -> Pair:
    ends = [one.pursue_from(start, step, luck) for one in (old, new)]
    return Pair(old.seeds[start], old.objective(step), luck, *ends)


def _with_witness(found: Comparison, old: Told, new: Told) -> Comparison:
    """With a pair that shows the loss each time."""
    for one in [one for one in found.pairs if one.loss == 1][:_REPLAYED]:
        if _pair(old, new, *one.begun(old, found.name), one.luck).loss == 1:
            return replace(found, witness=one)
    return found


@lru_cache(maxsize=100_000)
def difference(less: int, same: int, more: int, alpha: float) -> tuple[float, float]:
    """The mean of differences of which so many were 1, 0 and -1: two limits, each of which holds at all times at once.

    Of each difference on a grid it is told what bets on a greater one would have won, and bets on a smaller one: what would have multiplied
    the stake by 1 / ``alpha`` is excluded.
    """
    greater, smaller = (
        _GRID[_capital((less, same, more), side) < -np.log(alpha)] for side in (_STAKES, -_STAKES)
    )
    low = max(-1.0, float(greater[0]) - _STEP) if greater.size else 1.0
    return low, min(1.0, float(smaller[-1]) + _STEP) if smaller.size else -1.0


def _capital(seen: tuple[int, int, int], stakes: Numbers) -> Numbers:
    """The logarithm of what a unit has become, put in parts on each stake, against each mean of the grid."""
    with np.errstate(divide="ignore", invalid="ignore"):
        staked = stakes[:, None] / (1 + np.sign(stakes[:, None]) * _GRID)
        won = sum(
            many * np.log1p(staked * (one - _GRID))
            for one, many in zip((1, 0, -1), seen, strict=True)
            if many
        )
    won = np.nan_to_num(won + np.zeros_like(staked), nan=np.inf)
    found: Numbers = np.logaddexp.reduce(won + np.log(_PARTS)[:, None], axis=0)
    return found
