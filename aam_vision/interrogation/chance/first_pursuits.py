"""Which pursuits of objectives come first: those that tell most of all that could be pursued in the situations that were seen.

What comes of a pursuit depends on some of the atoms that hold before it, and nobody knows on which. So sets of atoms are drawn that may be all
that make a difference: each atom with the same probability at first, then by what came of the pursuits with it and without it. By each set,
pursuits before which its atoms are the same tell of each other, and not if the objective holds already before one of the two alone. What comes
of a pursuit is unknown by the standard errors of the frequencies of its outcomes after so many, on average over the sets; and wholly where it is
not sure that it can be executed. It counts as often as it could be made in the situations that were seen, and the next one is that after which
least is unknown. This decides what is pursued, and nothing that is said of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aam_vision.interrogation.chance.graph import Step, StepTable
from aam_vision.interrogation.chance.intervals import Numbers
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.likely_conditions import MATTERS, PRIOR, came, telling_apart, true_in
from aam_vision.interrogation.chance.observations import explained, holds
from aam_vision.model.query import Situation
from aam_vision.model.strips import State

FIRST, MIXED = 2, 12
"""Pursuits of each kind of objective, on average, that are all chosen like this; and up to which every second one is."""
FEW = 5
"""Where there are fewer kinds of objectives, as many pursuits are chosen as if there were so many."""
_ACHIEVED = 0.05
"""How probable it is, before any pursuit, that an atom makes a difference where the objective holds already."""
_LEAST, _MOST = 0.1, 0.95
"""The same after any number of them: two atoms may make a difference together of which neither does alone."""
_DRAWN = 48
"""Sets of atoms that are drawn."""
_EQUAL = 0.999
"""Share of the most that a pursuit tells from which on another one may be made as well."""
_KINDS = 500
"""Kinds of situations that are told apart for each objective, at most: the first ones."""


class FirstPursuits:
    """What was pursued, and what could be."""

    def __init__(self, actions: Sequence[ActionKnowledge], table: StepTable) -> None:
        self._table = table
        self._kinds = [_Kind(action) for action in actions]
        self._met: set[State] = set()

    def met(self, state: State) -> None:
        """A situation was seen: what may be pursued there is to be known as well."""
        begun = self._table.begun(state)
        if begun not in self._met:
            self._met.add(begun)
            for step in self._table.all(begun):
                self._kinds[step.action].may_be(step.held)

    def best(
        self, places: Sequence[Situation], rng: np.random.Generator, most: int = 1
    ) -> list[tuple[Situation, Step]]:
        """Where to pursue what, so that most is told: so many pursuits of different kinds; none if nothing can be pursued, as after the end of an episode."""
        found = [
            (place, step)
            for place in places
            for step in self._table.distinct(self._table.begun(place.state))
            if not self._kinds[step.action].action.certain_to_fail(step.held)
        ]
        worth = np.array([self._kinds[step.action].worth(step.held, rng) for _, step in found])
        chosen = list[tuple[Situation, Step]]()
        while found and len(chosen) < most and worth.max() >= 0:
            best = np.flatnonzero(worth >= worth.max() * _EQUAL)
            place, step = found[int(best[int(rng.integers(len(best)))])]
            chosen.append((place, step))
            alike = [(one.action, one.held) == (step.action, step.held) for _, one in found]
            worth[alike] = -1
        return chosen


class _Kind:
    """Pursuits of one kind of objective, by the atoms that hold before them."""

    def __init__(self, action: ActionKnowledge) -> None:
        self.action = action
        self._often: dict[int, int] = {}
        """By these atoms, how often they could be made."""
        self._attempted = 0
        self._worth: dict[int, float] = {}
        """Of each after so many attempts."""

    def may_be(self, held: int) -> None:
        if held in self._often or len(self._often) < _KINDS:
            self._often[held] = self._often.get(held, 0) + 1
            self._worth = {}

    def worth(self, held: int, rng: np.random.Generator) -> float:
        """By how much less is unknown after such a pursuit."""
        attempted = self.action.executed + self.action.refused
        if not self._worth or attempted != self._attempted:
            self._attempted = attempted
            self._worth = dict(zip(self._often, map(float, self._less(rng)), strict=True))
        return self._worth.get(held, 0.0)

    def _less(self, rng: np.random.Generator) -> Numbers:
        """By how much less is unknown after each of the pursuits that could be made."""
        index, known = self.action.index, [*self._often]
        true, often = true_in(known, len(index.atoms)), np.array([*self._often.values()], dtype=float)
        less, unknown = np.zeros(len(known)), np.zeros(len(known))
        for side, prior in ((index.goal.opposite(), MATTERS), (index.goal, _ACHIEVED)):
            own = np.array([holds(side, held) for held in known], dtype=bool)
            if not own.any():
                continue
            contexts = self.action.steps.within(side).contexts
            hits = came(contexts, explained(contexts, index.everything).outcomes)
            hits = np.pad(hits, ((0, 0), (0, max(0, 2 - hits.shape[1]))))  # another one may come
            made = true_in(contexts, len(index.atoms))
            matters = _mattering(hits, made, prior)
            for drawn in rng.random((_DRAWN, len(matters))) < matters:
                now, then = _errors(true[own][:, drawn], made[:, drawn], hits, often[own])
                unknown[own] += now / _DRAWN
                less[own] += then / _DRAWN
        found: Numbers = less + often * (1 - unknown).clip(min=0) @ self._first_shown(true)
        return found

    def _first_shown(self, true: Numbers) -> Numbers:
        """Of which pursuits it is first known that they can be executed after another one: array (pursuit, pursuit made)."""
        required = self.action.precondition.cautious.positive if self.action.executed else 0
        lacking = (1 - true) * true_in([required], true.shape[1])
        found: Numbers = lacking.any(1, keepdims=True) & (lacking @ true.T == 0)
        return found


def _mattering(hits: Numbers, made: Numbers, prior: float) -> Numbers:
    """How probable it is that each atom makes a difference."""
    odds = prior / (1 - prior) * np.exp(telling_apart(hits, made))
    found: Numbers = np.clip(odds / (1 + odds), _LEAST, _MOST)
    return found


def _errors(true: Numbers, made: Numbers, hits: Numbers, often: Numbers) -> tuple[Numbers, Numbers]:
    """For each pursuit the standard errors of its outcomes, and by how much those of all that are like it become less after one more.

    Args:
        true: which of the atoms that are taken to matter held before: array (pursuit, atom).
        made: the same of the pursuits that were made: array (context, atom).
        hits: how often which outcome came then: array (context, outcome).
        often: how often each pursuit could be made.
    """
    _, cells = np.unique(np.concatenate([true, made]), axis=0, return_inverse=True)
    those, these = np.split(cells.reshape(-1), [len(true)])
    counts = np.zeros((len(cells), hits.shape[1]))
    np.add.at(counts, these, hits)
    told = counts.sum(1)
    shares = (counts + PRIOR) / (told[:, None] + PRIOR * hits.shape[1])
    spread = np.sqrt(shares * (1 - shares)).sum(1)
    gain = np.bincount(those, often, len(cells)) * spread
    return (spread / np.sqrt(1 + told))[those], (gain / np.sqrt(1 + told) - gain / np.sqrt(2 + told))[those]
