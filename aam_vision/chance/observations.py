"""The executed steps of one action, by what held before them; and on which atoms it is evident that its outcomes depend."""

from __future__ import annotations

from typing import NamedTuple

from aam_vision.chance.constancy import ACCUSING
from aam_vision.chance.frequency import Precision
from aam_vision.chance.intervals import interval
from aam_vision.interrogation.hypotheses.literals import Literals

CONCENTRATION = 4.0
"""Of the mixture (``intervals``) with which frequencies are compared: differences are told by few steps if they are large."""
SHARES = 4
"""Statements on what outcomes depend that share the error probability: of sets of atoms, time, single atoms, and one in reserve."""


class Executed(NamedTuple):
    """One executed step: the atoms that held before it and after it, and the objects that its instruction named."""

    held: int
    now: int
    objects: tuple[str, ...] = ()


class Observations:
    """The executed steps of one action, by the atoms that held before them (their *context*)."""

    def __init__(self) -> None:
        self.course: list[Executed] = []
        """Every step."""
        self.contexts: dict[int, dict[int, int]] = {}
        """By context, in the order of their first step, how often which atoms held after it."""
        self.unread: dict[int, int] = {}
        """By context, further steps of which it could not be read which atoms held after them."""

    @property
    def executed(self) -> int:
        """All steps, those included of which it is not known what came of them."""
        return len(self.course) + sum(self.unread.values())

    def lose(self, held: int) -> None:
        """Note a step of which it could not be read what came of it."""
        self.unread[held] = self.unread.get(held, 0) + 1

    def add(self, held: int, now: int, objects: tuple[str, ...] = ()) -> bool:
        """Note a step; whether its change is new in its context."""
        self.course.append(Executed(held, now, objects))
        afters = self.contexts.setdefault(held, {})
        afters[now] = afters.get(now, 0) + 1
        return afters[now] == 1

    def made(self, held: int) -> int:
        """The steps in a context."""
        return sum(self.contexts.get(held, {}).values())

    def within(self, condition: Literals) -> Observations:
        """The steps before which a condition held."""
        found = Observations()
        for step in self.course:
            if holds(condition, step.held):
                found.add(*step)
        found.unread = {held: lost for held, lost in self.unread.items() if holds(condition, held)}
        return found


def holds(condition: Literals, held: int) -> bool:
    """Whether a condition holds where these atoms do."""
    return not (condition.positive & ~held or condition.negative & held)


def evident(steps: Observations, atoms: int, precision: Precision) -> int:
    """The atoms on which the outcomes surely depend: changing one of them, and no other, changed how often something came.

    The j-th context that was met has 1 / (j (j + 1)) of the error probability, a twentieth of that of the intervals, for
    all that is said of it. Its place in the order is fixed before its first step, so the shares may depend on it.
    """
    alpha = precision.alpha * ACCUSING / SHARES / atoms
    limits: dict[int, list[tuple[float, float]]] = {}
    for place, (held, afters) in enumerate(steps.contexts.items(), 1):
        made = sum(afters.values())
        changed = [
            sum(count for now, count in afters.items() if (now ^ held) >> one & 1) for one in range(atoms)
        ]
        share = alpha / (place * (place + 1))
        limits[held] = [interval(hits, made, share, CONCENTRATION) for hits in changed]
    found = 0
    for held, own in limits.items():
        for number in range(atoms):
            bit = 1 << number
            if held & bit or found & bit or held | bit not in limits:
                continue
            for one, ((low, high), (its_low, its_high)) in enumerate(
                zip(own, limits[held | bit], strict=True)
            ):
                apart = high < its_low or its_high < low
                if one == number:  # added without it, deleted with it: each has at most what the other leaves
                    apart = low + its_low > 1
                if apart:
                    found |= bit
    return found
