"""Questions that no query can settle: sets of undecided literals and effects, per action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aam_vision.interrogation.hypotheses.action import ActionHypotheses, GroundLiterals
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, union


class Closed(NamedTuple):
    """Literals and effects of one action that are assumed, or proven, to be beyond every query."""

    literals: Literals
    effects: int

    def without(self, other: Closed) -> Closed:
        """The literals and effects that are not in the other set."""
        return Closed(self.literals.without(other.literals), self.effects & ~other.effects)

    def joined(self, other: Closed) -> Closed:
        """Both together."""
        return Closed(union([self.literals, other.literals]), self.effects | other.effects)

    def __bool__(self) -> bool:
        return bool(self.literals or self.effects)


Closure = Mapping[str, Closed]
"""Per action."""

NONE = Closed(NOTHING, 0)


def without(closed: Closure, revealed: Sequence[Closure]) -> dict[str, Closed]:
    """The closed sets without all that was revealed."""
    left = dict(closed)
    for one in revealed:
        left = {name: own.without(one.get(name, NONE)) for name, own in left.items()}
    return left


def may_undo(action: ActionHypotheses, literals: GroundLiterals, bit: int) -> bool:
    """Whether adding the atom may undo the deletion of another one that coincides with it."""
    return any(
        group & bit and group & ~bit & action.deletes for group in action.index.coinciding(literals.objects)
    )
