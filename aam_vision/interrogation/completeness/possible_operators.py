"""The operators that an action may be, as far as is known of it: what proofs take to be possible."""

from __future__ import annotations

from collections.abc import Sequence

from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.ground_literals import atoms
from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.joins import Row
from aam_vision.planning.grounding import LiftedOperator, grounded
from aam_vision.planning.interchangeable import PossibleOperator
from aam_vision.strips import LiftedAtom

MAX_CASES = 32
"""Combinations of literals that satisfy an action's clauses. More: tighter proofs, slower."""


def cases_of(action: ActionHypotheses) -> list[Literals]:
    """The cases of what an action requires: all proven literals, and one literal of every clause.

    Clauses beyond ``MAX_CASES`` combinations are left out, which only makes more seem possible.
    """
    cases = [action.proven]
    for clause in sorted(action.clauses, key=Literals.size):
        split = [union([case, literal]) for case in cases for literal in clause.singles()]
        if len(split) > MAX_CASES:
            break
        cases = split
    return cases


def lifted(action: ActionHypotheses, required: Literals, closed: int) -> LiftedOperator:
    """The action with these preconditions, and every effect that may happen but the closed ones."""
    return LiftedOperator(
        action.index.header,
        positive=atoms(action, required.positive),
        negative=atoms(action, required.negative),
        add=atoms(action, action.adds & ~closed),
        delete=atoms(action, action.deletes & ~closed),
    )


def certain(action: ActionHypotheses, required: Literals, closed: int) -> LiftedOperator:
    """The action with these preconditions, the atoms that it certainly adds, and those that it may delete."""
    return LiftedOperator(
        action.index.header,
        positive=atoms(action, required.positive),
        negative=atoms(action, required.negative),
        add=atoms(action, action.adds & ~action.keeps & ~action.deletes & ~closed),
        # deleting what is false changes nothing, unless it was added, too
        delete=atoms(action, action.deletes & ~closed & ~(required.negative & ~action.adds)),
    )


class PossibleOperators:
    """The ground operators of an action that requires certain literals; closed effects change nothing."""

    def __init__(self, action: ActionHypotheses, forced: Literals, closed: int) -> None:
        self._action = action
        self._positive = atoms(action, forced.positive)
        self._negative = atoms(action, forced.negative)
        self._usual = self._changes(
            action.adds & ~(forced.positive & ~action.deletes) & ~closed,
            action.deletes & ~(forced.negative & ~action.adds) & ~closed,
        )
        self._coinciding = self._changes(
            # adding an atom that is true may undo the deletion of one that coincides with it
            action.adds & ~closed,
            action.deletes & ~closed,
        )

    def _changes(self, adds: int, deletes: int) -> tuple[tuple[LiftedAtom, ...], ...]:
        """Atoms that are certainly added, certainly deleted, perhaps added, and perhaps deleted."""
        action = self._action
        return (
            atoms(action, adds & ~action.keeps & ~action.deletes),
            atoms(action, deletes & ~action.keeps & ~action.adds),
            atoms(action, adds & (action.keeps | action.deletes)),
            atoms(action, deletes & (action.keeps | action.adds)),
        )

    def under(self, bindings: Sequence[Row]) -> list[PossibleOperator]:
        """The operators under some bindings; effects that restate a required literal change nothing."""
        coinciding = [bool(self._action.index.coinciding(objects)) for objects in bindings]
        found: dict[Row, PossibleOperator] = {}
        for changes, merged in ((self._usual, False), (self._coinciding, True)):
            some = [objects for objects, kind in zip(bindings, coinciding, strict=True) if kind == merged]
            kinds = [grounded(atoms, some) for atoms in (self._positive, self._negative, *changes)]
            found.update(zip(some, map(PossibleOperator, *kinds), strict=True))
        return [found[objects] for objects in bindings]
