"""The executed steps of one action, by what held before them; and on which atoms it is evident that its outcomes depend."""

from __future__ import annotations

from collections.abc import Iterable
from math import log
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.chance.constancy import ACCUSING
from aam_vision.interrogation.chance.intervals import Precision, against_one_frequency
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.model.strips import Atom, Objects

SHARES = 4
"""Statements on what outcomes depend that share the error probability: of sets of atoms, single atoms, and two in reserve."""


class Setting(NamedTuple):
    """All but the action's own atoms that a step is made in: the objects that its instruction named, and other facts."""

    named: tuple[str, ...] = ()
    others: frozenset[Atom] = frozenset()
    """The facts that hold and are no atoms of the action under this binding."""
    objects: Objects | None = None
    """All objects of the problem."""


NOWHERE = Setting()


class Executed(NamedTuple):
    """One executed step: the atoms that held before it and after it, its setting, and how many steps of the action came before."""

    held: int
    now: int
    setting: Setting = NOWHERE
    place: int = 0


class Observations:
    """The executed steps of one action, by the atoms that held before them (their *context*)."""

    def __init__(self) -> None:
        self.course: list[Executed] = []
        """Every step."""
        self.contexts: dict[int, dict[int, int]] = {}
        """By context, in the order of their first step, how often which atoms held after it."""
        self.unread: dict[int, int] = {}
        """By context, further steps of which it could not be read which atoms held after them."""
        self.situations: dict[tuple[Setting, int], dict[int, int]] = {}
        """The same as ``contexts``, by setting and context."""
        self._settings: dict[Setting, Setting] = {}

    @property
    def executed(self) -> int:
        """All steps, those included of which it is not known what came of them."""
        return len(self.course) + sum(self.unread.values())

    def lose(self, held: int) -> None:
        """Note a step of which it could not be read what came of it."""
        self.unread[held] = self.unread.get(held, 0) + 1

    def add(self, held: int, now: int, setting: Setting = NOWHERE, place: int | None = None) -> bool:
        """Note a step; whether its change is new in its context."""
        own = self._settings.setdefault(setting, setting)
        self.course.append(Executed(held, now, own, len(self.course) if place is None else place))
        here = self.situations.setdefault((own, held), {})
        here[now] = here.get(now, 0) + 1
        afters = self.contexts.setdefault(held, {})
        afters[now] = afters.get(now, 0) + 1
        return afters[now] == 1

    def made(self, held: int) -> int:
        """The steps in a context."""
        return sum(self.contexts.get(held, {}).values())

    def within(self, condition: Literals) -> Observations:
        """The steps before which a condition held."""
        found = self._of(step for step in self.course if holds(condition, step.held))
        found.unread = {held: lost for held, lost in self.unread.items() if holds(condition, held)}
        return found

    def since(self, place: int) -> Observations:
        """The steps from a place in the action's course on, those that could not be read included."""
        found = self._of(step for step in self.course if step.place >= place)
        found.unread = dict(self.unread)
        return found

    @staticmethod
    def _of(steps: Iterable[Executed]) -> Observations:
        found = Observations()
        for step in steps:
            found.add(*step)
        return found


def holds(condition: Literals, held: int) -> bool:
    """Whether a condition holds where these atoms do."""
    return not (condition.positive & ~held or condition.negative & held)


def evident(steps: Observations, atoms: int, precision: Precision) -> int:
    """The atoms on which the outcomes surely depend: changing one of them, *and nothing else*, changed how often something came.

    Steps are compared within situations that agree in every fact, the action's own or not, and in the objects that are named (as
    Mantel and Haenszel compare within strata). The j-th pair of such situations in which an atom was tried both ways has
    1 / (j (j + 1)) of the error probability: its place is fixed before its first comparison. All pairs together have as much.
    """
    number = {key: place for place, key in enumerate(steps.situations)}
    made = np.array([sum(afters.values()) for afters in steps.situations.values()], dtype=float)
    changed = np.array(
        [
            [sum(count for now, count in afters.items() if (now ^ held) >> one & 1) for one in range(atoms)]
            for (_, held), afters in steps.situations.items()
        ],
        dtype=float,
    )
    alpha = precision.alpha * ACCUSING / SHARES / atoms / atoms
    found = 0
    for atom in range(atoms):
        pairs = [
            (place, number[setting, held ^ 1 << atom])
            for (setting, held), place in number.items()
            if not held >> atom & 1 and (setting, held ^ 1 << atom) in number
        ]
        if not pairs:
            continue
        pairs.sort(key=max)
        sides = np.array(pairs).T
        hits, tried = changed[sides], np.repeat(made[sides][:, :, None], atoms, 2)
        # added without it, deleted with it: each has at most what the other leaves
        both = (hits[:, :, atom] / tried[:, :, atom]).sum(0) > 1
        hits[1, :, atom] = tried[1, :, atom] - hits[1, :, atom]
        evidence = against_one_frequency(hits, tried)
        evidence[~both, atom] = 0.0
        share = np.log(np.arange(1, len(pairs) + 1) * np.arange(2, len(pairs) + 2.0))
        strongest = max(float((evidence.max(1) - share).max()), float(evidence.sum(0).max()))
        if strongest >= log(2 / alpha):
            found |= 1 << atom
    return found
