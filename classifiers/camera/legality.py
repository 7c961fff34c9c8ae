"""Answers about the things of a picture, checked jointly against what any scene can show.

The user declares how many of some atoms are true (``Number``) and what never leads back to itself (``Acyclic``). Here that
decides which answers are believed, as ``classifiers.legality`` does for boards: where sure answers contradict each other,
the atoms concerned are unknown and nothing else is inferred; a doubtful atom is decided only if, among all legal
completions, those that say so have ``CERTAIN`` of the probability. An atom about a thing that was not found may be decided
by the others alone: its own answer counts for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.legality import CERTAIN, PLAUSIBLE
from aam_vision.model.constraints import Acyclic, Constraint, Number
from aam_vision.model.strips import Atom
from aam_vision.support.errors import UnusableInput

MOST_OPEN: Final = 12
"""Doubtful atoms whose combinations are gone through: more of them stay unknown."""

_OPEN, _NO, _YES = -1, 0, 1

Values = NDArray[np.int8]
"""Per atom ``_YES``, ``_NO`` or ``_OPEN``."""

Truth = NDArray[np.bool_]
Floats = NDArray[np.floating]


class SceneLegality:
    """The constraints of a vocabulary over the atoms of one scene.

    Raises:
        UnusableInput: a constraint speaks of places, or is not written as it should be.
    """

    def __init__(
        self, constraints: Sequence[Constraint], things: Sequence[str], atoms: Sequence[Atom]
    ) -> None:
        rows: list[list[bool]] = []
        self._bounds: list[tuple[int, int]] = []
        self._arrows: list[list[tuple[int, str, str]]] = []
        for item in constraints:
            if isinstance(item, Number):
                for row in rows_of(item, things, atoms):
                    rows.append(row)
                    self._bounds.append((item.least, item.most))
            elif isinstance(item, Acyclic):
                own = [number for number, atom in enumerate(atoms) if atom.predicate == item.predicate]
                self._arrows.append([(number, *atoms[number].objects) for number in own])  # type: ignore[misc]
            else:
                raise UnusableInput(f"{item} speaks of places, and the scene has none: use Number or Acyclic")
        self._rows = np.array(rows, np.int16).reshape(len(rows), len(atoms))
        bounds = np.array(self._bounds, np.int16).reshape(len(rows), 2)
        self._least, self._most = bounds[:, 0], bounds[:, 1]

    def settle(self, probabilities: Floats, low: Floats, high: Floats, blind: Truth) -> tuple[Truth, Truth]:
        """Which atoms are certainly true, and which cannot be decided; all are (atoms,).

        ``low`` and ``high``: below which a single answer is no, and above which it is yes; ``blind``: whose answers count for nothing.
        """
        values = np.full(len(probabilities), _OPEN, np.int8)
        values[(probabilities > high) & ~blind] = _YES
        values[(probabilities < low) & ~blind] = _NO
        contradicted = self._contradicted(values)
        if contradicted.any():
            values[contradicted] = _OPEN
        else:
            # whatever is not a number tells nothing
            chances = np.where(blind, 0.5, np.nan_to_num(probabilities.astype(float), nan=0.5))
            values = self._inferred(values, chances, blind)
        return values == _YES, values == _OPEN

    def _contradicted(self, values: Values) -> Truth:
        """The atoms of all constraints that are broken whatever the open atoms are."""
        yes, possible = self._rows @ (values == _YES), self._rows @ (values != _NO)
        broken = (yes > self._most) | (possible < self._least)
        found: Truth = self._rows[broken].any(0)
        for arrows in self._arrows:
            if _cyclic(arrows, values == _YES):
                found[[number for number, _, _ in arrows]] = True
        return found

    def _inferred(self, values: Values, chances: Floats, blind: Truth) -> Values:
        """The values with those doubtful ones decided about which all legal completions agree."""
        settled = self._propagated(values)
        if settled is None:
            return values
        forced = (settled != values) & ~blind
        mass = float(np.where(settled == _YES, chances, 1 - chances)[forced].prod())
        (open_,) = np.nonzero(settled == _OPEN)
        if len(open_) > MOST_OPEN:
            return settled if mass >= PLAUSIBLE else values
        ways = (np.arange(2 ** len(open_))[:, None] >> np.arange(len(open_))) & 1  # (W, open)
        yes = self._rows @ (settled == _YES) + ways @ self._rows[:, open_].T  # (W, rows)
        ways = ways[((yes >= self._least) & (yes <= self._most)).all(1)]
        ways = ways[[not self._leads_back(settled, open_, way) for way in ways]] if self._arrows else ways
        likely = np.where(ways == 1, chances[open_], 1 - chances[open_])
        masses = mass * np.where(blind[open_], 1.0, likely).prod(1)
        whole = masses.sum()
        if not whole >= PLAUSIBLE:
            return values
        share = masses @ ways / whole
        settled[open_[share >= CERTAIN]] = _YES
        settled[open_[share <= 1 - CERTAIN]] = _NO
        return settled

    def _propagated(self, values: Values) -> Values | None:
        """The values with all that follows from single constraints; None if they contradict each other."""
        values = values.copy()
        while True:
            open_ = values == _OPEN
            yes, left = self._rows @ (values == _YES), self._rows @ open_
            if ((yes > self._most) | (yes + left < self._least)).any():
                return None
            no = self._rows[(yes == self._most) & (left > 0)].any(0) & open_
            must = self._rows[(yes + left == self._least) & (left > 0)].any(0) & open_
            if (no & must).any():
                return None
            if not (no | must).any():
                return values
            values[no], values[must] = _NO, _YES

    def _leads_back(self, values: Values, open_: NDArray[np.intp], way: NDArray[np.int64]) -> bool:
        """Whether a completion has a cycle."""
        whole = values.copy()
        whole[open_] = way
        return any(_cyclic(arrows, whole == _YES) for arrows in self._arrows)


def rows_of(item: Number, things: Sequence[str], atoms: Sequence[Atom]) -> list[list[bool]]:
    """The atoms that are counted together: one row per thing, or one for all; none without an atom."""
    terms = dict(item.terms())
    if None in terms.values():
        rows = [[atom.predicate in terms for atom in atoms]]
    else:
        rows = [
            [
                atom.predicate in terms and atom.objects[terms[atom.predicate]] == thing  # type: ignore[index]
                for atom in atoms
            ]
            for thing in things
        ]
    return [row for row in rows if any(row)]


def _cyclic(arrows: Sequence[tuple[int, str, str]], there: Truth) -> bool:
    """Whether those arrows that are there, by their numbers, lead back to where they started from."""
    sorter = TopologicalSorter[str]()
    for _, one, other in (arrow for arrow in arrows if there[arrow[0]]):
        sorter.add(one, other)
    try:
        sorter.prepare()
    except CycleError:
        return True
    return False
