"""One action's literals under one binding, as ground facts for the planning package."""

from __future__ import annotations

from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.joins import Fact, Row
from aam_vision.strips import LiftedAtom


class GroundLiterals:
    """The lifted atoms of an action under a binding; turns sets of literals into facts."""

    def __init__(self, action: ActionHypotheses, objects: Row) -> None:
        self.objects = objects
        self.facts: dict[int, Fact] = dict(action.index.grounded(objects))

    def true(self, mask: int) -> list[Fact]:
        """The facts of these atoms."""
        return [self.facts[bit] for bit in bits(mask)]

    def holding(self, literals: Literals) -> tuple[list[Fact], list[Fact]]:
        """The facts that must be true, and those that must be false, for all the literals to hold."""
        return self.true(literals.positive), self.true(literals.negative)


def atoms(action: ActionHypotheses, mask: int) -> tuple[LiftedAtom, ...]:
    """The lifted atoms whose bits are set, in a fixed order."""
    return tuple(atom for atom, bit in action.index.bit.items() if mask & bit)
