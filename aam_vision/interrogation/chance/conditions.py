"""On which atoms the outcomes of an action depend.

An action's outcomes depend on a set of atoms if they are the same wherever these have the same values. A set is *refuted*
where, among steps before which its atoms had certain values (a *cell*), something came surely more often with another atom than
without it. The smallest sets that are not refuted are the candidates; which one holds is tried out by changing
one atom and no other (``observations.evident``). All intervals are valid at all times, each with its share of the error
probability, so one may look at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.chance.cells import Cells
from aam_vision.interrogation.chance.constancy import ACCUSING
from aam_vision.interrogation.chance.explaining import Explanation
from aam_vision.interrogation.chance.frequency import Precision
from aam_vision.interrogation.chance.observations import SHARES, Observations, evident
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, bits, union

MOST = 3
"""Atoms on which the outcomes of an action may depend."""
_POOL = 8
"""Atoms of which sets of two or more are made: those that differ most."""
_SUSPICIOUS = 5.0
"""Evidence (natural logarithm of a likelihood ratio) from which a difference that is not sure is looked into."""


class Dependence(NamedTuple):
    """What the outcomes depend on, as masks of the action's atoms."""

    atoms: int = 0
    """A smallest set that explains all steps; none if no set of at most three does, or nothing differs."""
    cases: tuple[Literals, ...] = (NOTHING,)
    """The conditions under which the outcomes are the same; exactly one holds in every context."""
    others: tuple[int, ...] = ()
    """Other sets of as many atoms that explain all steps."""
    differing: int = 0
    """An atom with which something came surely more often than without it."""
    sure: int = 0
    """Atoms on which the outcomes surely depend (``evident``)."""
    suspicions: tuple[tuple[Literals, int], ...] = ()
    """Cases with atoms on which something may depend there: more differs than chance is likely to make, but not surely."""

    @property
    def suspected(self) -> int:
        """The atoms of all of these."""
        return union(Literals(atoms, 0) for _, atoms in self.suspicions).positive

    @property
    def unexplained(self) -> bool:
        """Whether something differs, and no set of atoms explains it."""
        return bool(self.differing) and not self.atoms


def dependence(steps: Observations, atoms: int, explanation: Explanation, precision: Precision) -> Dependence:
    """On which atoms the outcomes depend.

    That they depend on anything is wrong with a tenth of the intervals' error probability.

    Args:
        steps: all executed steps of the action.
        atoms: how many it has.
        explanation: the fewest outcomes that explain all of them.
        precision: of the intervals.
    """
    return _Search(steps, atoms, explanation, precision).run() if steps.course else Dependence()


class _Search:
    """Looks for the sets of atoms that explain all steps of one action."""

    def __init__(
        self, steps: Observations, atoms: int, explanation: Explanation, precision: Precision
    ) -> None:
        self._steps = steps
        self._atoms = atoms
        self._precision = precision
        self._found = Cells(steps, atoms, explanation, precision.alpha * ACCUSING / SHARES)
        self._sure = (
            0 if steps.unread else evident(steps, atoms, precision)
        )  # what came of those may depend on anything

    def run(self) -> Dependence:
        sure, first = self._sure, self._found.differing(NOTHING)
        if first < 0 and not sure:
            first = self._within()
        if first < 0 and not sure:
            return Dependence(suspicions=self._suspicions((NOTHING,)))
        differing = 1 << first if first >= 0 else sure & -sure
        for size in range(max(1, sure.bit_count()), MOST + 1):
            sets = [one for one in self._sets(size) if not sure & ~one and self._explains(one)]
            sets.sort(key=lambda one: self._found.likelihood(self._cells(one)), reverse=True)
            if sets:
                cases = self._cases(NOTHING, sets[0], whole=True)
                return Dependence(sets[0], cases, tuple(sets[1:]), differing, sure, self._suspicions(cases))
        return Dependence(differing=differing, sure=sure)

    def _within(self) -> int:
        """An atom with which something differs where one or two others have certain values, as in a xor; -1 if there is none."""
        for size in (1, 2):
            for chosen in self._sets(size):
                for cell in self._cells(chosen):
                    if (atom := self._found.differing(cell)) >= 0:
                        return atom
        return -1

    def _suspicions(self, cases: Sequence[Literals]) -> tuple[tuple[Literals, int], ...]:
        """The cases in which something may differ, or where one more atom has a certain value, with the atoms with which it does."""
        found = []
        for case in cases:
            strong = {int(atom) for _, atom in np.argwhere(self._found.strength(case) >= _SUSPICIOUS)}
            if strong:
                found.append((case, sum(1 << atom for atom in strong)))
            for chosen in self._sets(1):
                for more in self._cells(chosen) if not chosen & (case.positive | case.negative) else ():
                    cell = union((case, more))
                    if atoms := self._found.doubtful(cell):
                        found.append((cell, atoms))
        return tuple(found)

    def _sets(self, size: int) -> Iterator[int]:
        """Sets of atoms that differ among the contexts, those that matter most first."""
        varying = [
            one for one in range(self._atoms) if 0 < self._found.bits[:, one].sum() < len(self._found.bits)
        ]
        pool = varying
        if size > 1:
            sure = [one for one in varying if self._sure >> one & 1]
            pool = list(dict.fromkeys([*sure, *(one for one in self._pool if one in varying)]))
        for chosen in combinations(pool, size):
            yield sum(1 << one for one in chosen)

    @cached_property
    def _pool(self) -> list[int]:
        """The atoms with which most differs, in any cell of one atom or none."""
        cells = [
            NOTHING,
            *(Literals(1 << one, 0) for one in range(self._atoms)),
            *(Literals(0, 1 << one) for one in range(self._atoms)),
        ]
        total = np.zeros(self._atoms)
        for cell in cells:
            strength = self._found.strength(cell)
            if strength.size:
                total = np.maximum(total, strength.max(axis=0))
        for atom, *_ in self._found.both:
            total[atom] += 1
        return [int(one) for one in np.argsort(-total, kind="stable")[:_POOL]]

    def _cells(self, atoms: int) -> Iterator[Literals]:
        """Every assignment of values to atoms."""
        positive = atoms
        while True:
            yield Literals(positive, atoms & ~positive)
            if not positive:
                return
            positive = (positive - 1) & atoms

    def _explains(self, atoms: int) -> bool:
        """Whether nothing differs in any cell of these atoms with another one."""
        return all(self._found.differing(cell) < 0 for cell in self._cells(atoms))

    def _cases(self, cell: Literals, left: int, *, whole: bool = False) -> tuple[Literals, ...]:
        """The fewest cells into which splitting by these atoms in turn puts what differs (``whole``: split once at least)."""
        if not left or (not whole and self._alike(cell, left)):
            return (cell,)
        best: tuple[Literals, ...] = (cell,)
        for number in range(self._atoms):
            bit = 1 << number
            if not left & bit:
                continue
            halves = (
                Literals(cell.positive | bit, cell.negative),
                Literals(cell.positive, cell.negative | bit),
            )
            if all(self._found.inside(half).any() for half in halves):
                found = tuple(leaf for half in halves for leaf in self._cases(half, left & ~bit))
                if len(best) == 1 or len(found) < len(best):
                    best = found
        return best

    def _alike(self, cell: Literals, left: int) -> bool:
        """Whether nothing seems to differ in a cell by the atoms that are left, also where one of them has a certain value."""
        if self._found.differing(cell) >= 0:
            return False
        inner = [union((cell, one)) for bit in bits(left) for one in (Literals(bit, 0), Literals(0, bit))]
        among = [atom for atom in range(self._atoms) if left >> atom & 1]
        strengths = [self._found.strength(one)[:, among].max(initial=0.0) for one in (cell, *inner)]
        return bool(max(strengths) < _SUSPICIOUS)
