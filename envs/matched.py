"""Whether the new version of a policy has lost anything: both pursue the same objectives from the same starts, with the same luck.

Only how often a pursuit succeeds with one version and not with the other counts, so that easy and hard starts are no matter. It is looked
after every pair, and ends as soon as it is sure: the interval of the difference holds at all times at once (a mixture of bets, as in
Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from aam_vision.envs.policies import Ended, Objective, PolicyAgent
from aam_vision.interrogation.task.result import aligned
from aam_vision.model.strips import GroundAction
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted

LOST, KEPT, UNSURE = "lost", "not lost", "not sure"
MARGIN, MOST, ALPHA = 0.05, 2000, 0.05
_TRIES: Final = 200
"""Draws of a start and an objective that does not hold there yet."""
_REPLAYED: Final = 5
"""Pairs that are made once more, at most, until one shows the loss again."""
_STEP: Final = 0.0025
_GRID: Final = np.linspace(-1, 1, 801)
"""Differences that are held against what was seen."""
_STAKES: Final = np.array([0.02, 0.06, 0.12, 0.25, 0.5, 0.8])
"""Shares of the capital that are put on a greater, or a smaller, difference."""
Numbers = np.ndarray[Any, np.dtype[np.float64]]


class Pair(NamedTuple):
    """One objective, pursued by both."""

    start: int
    """The seed of the reset."""
    objective: Objective
    luck: int
    """The seed of what is random in the environment after it."""
    old: Ended
    new: Ended


@dataclass(frozen=True)
class Comparison:
    """All pairs of one kind of objective."""

    name: str
    pairs: tuple[Pair, ...]
    margin: float
    alpha: float
    witness: Pair | None = None
    """A pair that shows what was lost, and did so again when it was made once more; None if nothing is, or none did."""

    @cached_property
    def interval(self) -> tuple[float, float]:
        """By how much the new version succeeds less often: each limit holds with probability 1 - ``alpha``, however long one looks."""
        only_old = sum(one.old.achieved and not one.new.achieved for one in self.pairs)
        only_new = sum(one.new.achieved and not one.old.achieved for one in self.pairs)
        return difference(only_old, len(self.pairs) - only_old - only_new, only_new, self.alpha)

    @property
    def verdict(self) -> str:
        """``lost`` by more than the margin, ``not lost`` by as much, or ``not sure``."""
        low, high = self.interval
        return LOST if low > self.margin else KEPT if high <= self.margin else UNSURE

    def rates(self) -> tuple[float, float]:
        """How often the old version, and the new one, has achieved its objective."""
        made = max(1, len(self.pairs))
        return sum(one.old.achieved for one in self.pairs) / made, sum(
            one.new.achieved for one in self.pairs
        ) / made

    def lines(self) -> list[tuple[str, str]]:
        """The comparison in lines for a person, the first one named."""
        (old, new), (low, high) = self.rates(), self.interval
        made = counted(len(self.pairs), "pair")
        told = [f"{self.verdict}: {100 * old:.0f}% -> {100 * new:.0f}% of {made}"]
        told.append(
            f"less often by {100 * low:.0f} to {100 * high:.0f} points (each limit holds with {100 * (1 - self.alpha):g}%)"
        )
        before, now = (
            sum(end.claimed and not end.achieved for end in ends)
            for ends in ([one.old for one in self.pairs], [one.new for one in self.pairs])
        )
        if before or now:
            told.append(f"claimed falsely: {counted(before, 'time')} -> {counted(now, 'time')}")
        if (one := self.witness) is not None:
            told.append(f"for example seed {one.start}, {one.objective}: {one.old} before; now {one.new}")
        return [("" if number else self.name, text) for number, text in enumerate(told)]


@dataclass(frozen=True)
class Gate:
    """What the new version of a policy has lost."""

    comparisons: tuple[Comparison, ...]

    @property
    def code(self) -> int:
        """0 if nothing is lost, 5 if something is, else 6: not sure. As the exit codes of ``compare --gate``."""
        found = {one.verdict for one in self.comparisons}
        return 5 if LOST in found else 6 if UNSURE in found else 0

    def __str__(self) -> str:
        return aligned(line for one in self.comparisons for line in one.lines())


def gate(
    old: PolicyAgent,
    new: PolicyAgent,
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
        alpha: probability that anything that is said to be lost, or not to be, is said wrongly; shared by the kinds.
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
    rng, share = np.random.default_rng(seed), alpha / len(old.headers)
    found = {header.name: Comparison(header.name, (), margin, share) for header in old.headers}
    begun = [one.state for one in old.initial()]
    for _ in range(most):
        for header in old.headers:
            known = found[header.name]
            if known.verdict != UNSURE:
                continue
            for _ in range(_TRIES):
                start, step = int(rng.integers(len(begun))), old.drawn(header, rng)
                wanted = None if step is None else old.objective(step)
                if wanted is not None and (wanted.atom in begun[start].true) is not wanted.value:
                    break
            else:
                continue
            assert step is not None
            pair = _pair(old, new, start, step, int(rng.integers(2**31)))
            found[header.name] = Comparison(header.name, (*known.pairs, pair), margin, share)
        if all(one.verdict != UNSURE for one in found.values()):
            break
    return Gate(tuple(_with_witness(one, old, new) for one in found.values()))


def assert_nothing_lost(
    old: PolicyAgent, new: PolicyAgent, *, margin: float = MARGIN, most: int = MOST, seed: int = 0
) -> None:
    """For tests of the new version: fail where something is lost, or where it is not sure.

    Raises:
        AssertionError: with what is lost, and an example of it.
    """
    found = gate(old, new, margin=margin, most=most, seed=seed)
    if found.code:
        raise AssertionError(str(found))


def _pair(old: PolicyAgent, new: PolicyAgent, start: int, step: GroundAction, luck: int) -> Pair:
    ends = [one.pursue_from(start, step, luck) for one in (old, new)]
    return Pair(old.seeds[start], old.objective(step), luck, *ends)


def _with_witness(found: Comparison, old: PolicyAgent, new: PolicyAgent) -> Comparison:
    """With a pair that shows the loss each time."""
    if found.verdict != LOST:
        return found
    losing = [one for one in found.pairs if one.old.achieved and not one.new.achieved]
    for one in losing[:_REPLAYED]:
        step = GroundAction(found.name, one.objective.atom.objects)
        again = _pair(old, new, old.seeds.index(one.start), step, one.luck)
        if again.old.achieved and not again.new.achieved:
            return Comparison(found.name, found.pairs, found.margin, found.alpha, one)
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
    """The logarithm of what a unit has become, put in equal parts on each stake, against each mean of the grid."""
    with np.errstate(divide="ignore", invalid="ignore"):
        staked = stakes[:, None] / (1 + np.sign(stakes[:, None]) * _GRID)
        won = sum(
            many * np.log1p(staked * (one - _GRID))
            for one, many in zip((1, 0, -1), seen, strict=True)
            if many
        )
    won = np.nan_to_num(won + np.zeros_like(staked), nan=np.inf)
    found: Numbers = np.logaddexp.reduce(won, axis=0) - np.log(len(stakes))
    return found
