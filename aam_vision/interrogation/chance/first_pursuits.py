"""Which pursuits of objectives come first: those that tell most of all that could be pursued in the situations that were seen.

Pursuits of one kind of objective mostly end alike where they begin alike. What one tells of another is taken to be less by a factor for each
atom that differs before them, and nothing if the objective holds already before one of the two alone. A pursuit of which so much was told is
unknown by 1 / (1 + so much); the next one is that after which least is unknown. This decides what is pursued, and nothing that is said of it.
Pursuits at random come between, so that what is common is also met as often as it comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.chance.graph import Step, StepTable
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.observations import holds
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.model.query import Situation
from aam_vision.model.strips import State

_ALIKE, _ACHIEVED = 0.7, 0.95
"""What a pursuit tells of one before which an atom differs, beside one before which none does; and where the objective holds already."""
_EQUAL = 0.999
"""Share of the most that a pursuit tells from which on another one may be made as well."""
_MOST = 500
"""Kinds of situations that are told apart for each objective, at most: the first ones."""


class FirstPursuits:
    """What was pursued, and what could be."""

    def __init__(self, actions: Sequence[ActionKnowledge], table: StepTable) -> None:
        self._actions, self._table = actions, table
        self._kinds = [_Kind(action.index.goal) for action in actions]
        self._met: set[State] = set()

    def met(self, state: State) -> None:
        """A situation was seen: what may be pursued there is to be known as well."""
        begun = self._table.begun(state)
        if begun not in self._met:
            self._met.add(begun)
            for step in self._table.all(begun):
                self._kinds[step.action].may_be(step.held)

    def made(self, step: Step) -> None:
        """A pursuit was made."""
        self._kinds[step.action].was(step.held)

    def best(self, places: Sequence[Situation], rng: np.random.Generator) -> tuple[Situation, Step] | None:
        """Where to pursue what, so that most is told; None if nothing can be pursued, as after the end of an episode."""
        found = [
            (place, step)
            for place in places
            for step in self._open(self._table.distinct(self._table.begun(place.state)))
        ]
        if not found:
            return None
        worth = np.array([self._kinds[step.action].worth(step.held) for _, step in found])
        best = np.flatnonzero(worth >= worth.max() * _EQUAL)
        return found[int(best[int(rng.integers(len(best)))])]

    def any(self, places: Sequence[Situation], rng: np.random.Generator) -> tuple[Situation, Step] | None:
        """The same at random."""
        place = places[int(rng.integers(len(places)))]
        found = self._open(self._table.all(self._table.begun(place.state)))
        return (place, found[int(rng.integers(len(found)))]) if found else None

    def _open(self, steps: Iterable[Step]) -> list[Step]:
        """Those that may be executed."""
        return [step for step in steps if not self._actions[step.action].certain_to_fail(step.held)]


class _Kind:
    """Pursuits of one kind of objective, by the atoms that hold before them."""

    def __init__(self, goal: Literals) -> None:
        self._goal = goal
        self._made: dict[int, int] = {}
        """By these atoms how many were made, of all that may be made."""
        self._alike: NDArray[np.float64] | None = None
        """What a pursuit of each of these tells of one of each."""
        self._worth: dict[int, float] = {}

    def may_be(self, held: int) -> None:
        if held not in self._made and len(self._made) < _MOST:
            self._made[held] = 0
            self._alike, self._worth = None, {}

    def was(self, held: int) -> None:
        if held in self._made:
            self._made[held] += 1
            self._worth = {}

    def worth(self, held: int) -> float:
        """By how much less is unknown after such a pursuit."""
        if not self._worth:
            alike = self._alike = self._compared() if self._alike is None else self._alike
            told = 1 + alike @ np.array([*self._made.values()], dtype=float)
            less = (1 / told[:, None] - 1 / (told[:, None] + alike)).sum(0)
            self._worth = dict(zip(self._made, map(float, less), strict=True))
        return self._worth.get(held, 0.0)

    def _compared(self) -> NDArray[np.float64]:
        achieved = np.array([holds(self._goal, one) for one in self._made])
        differ = np.array([[(one ^ other).bit_count() for other in self._made] for one in self._made])
        factor = np.where(achieved, _ACHIEVED, _ALIKE)[:, None]
        return np.where(achieved[:, None] == achieved, factor**differ, 0.0)
