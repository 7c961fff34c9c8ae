"""What one action tells of another: the elements of P* that both have.

The paper names the parameters of a lifted atom by type and number (Sec. "Formal Framework"), so that
``at(?thing1, ?location2)`` of one action and of another are one element. Who writes a domain gives such parameters
the same roles again and again: in the packaged domains an element that one action requires is required by
half of the others that have it, and an element that one does not require by a sixth.
Agents owe us nothing of the kind: this only orders questions.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean

from aam_vision.interrogation.beliefs.constants import NOT_REQUIRED_ELSEWHERE, REQUIRED_ELSEWHERE, SHAPE_ONLY
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.strips import ActionHeader, LiftedAtom

Element = tuple[str, tuple[str, ...]]


def element(atom: LiftedAtom, header: ActionHeader) -> Element:
    """The element of P* that an atom of this action is: its predicate and, by type and number, its arguments."""
    seen: dict[str, int] = {}
    names: list[str] = []
    for kind in header.types:
        seen[kind] = seen.get(kind, 0) + 1
        names.append(f"{kind}{seen[kind]}")
    return atom.predicate, tuple(names[a] if isinstance(a, int) else a for a in atom.arguments)


def shape(atom: LiftedAtom, header: ActionHeader) -> Element:
    """The atom's predicate, and the types and the order of its arguments: what is left without their numbers."""
    named = sorted({a for a in atom.arguments if isinstance(a, int)})
    kinds = header.types
    rank = {a: sum(kinds[a] == kinds[b] for b in named if b < a) for a in named}
    return atom.predicate, tuple(f"{kinds[a]}{rank[a]}" if isinstance(a, int) else a for a in atom.arguments)


class Transfer:
    """The evidence of actions seen to succeed on what an unseen one requires."""

    def __init__(self, hypotheses: Hypotheses, chance: Callable[[str, int], float]) -> None:
        """``chance`` gives the probability that a positive candidate of a seen action is required."""
        self._hypotheses = hypotheses
        elements: dict[Element, list[float]] = {}
        shapes: dict[Element, list[float]] = {}
        for name, action in hypotheses.actions.items():
            if not action.successes:
                continue
            for atom, bit in action.index.bit.items():
                if action.proven.positive & bit:
                    required = 1.0
                else:
                    required = chance(name, bit) if action.positive & bit else 0.0
                elements.setdefault(element(atom, action.index.header), []).append(required)
                shapes.setdefault(shape(atom, action.index.header), []).append(required)
        self._elements = {which: mean(chances) for which, chances in elements.items()}
        self._shapes = {which: mean(chances) for which, chances in shapes.items()}

    def factor(self, name: str, atom: LiftedAtom) -> float:
        """By how much the odds of an atom of an unseen action change; 1 if no other action has the like."""
        header = self._hypotheses[name].index.header
        same, like = self._elements.get(element(atom, header)), self._shapes.get(shape(atom, header))
        if like is None:
            return 1.0
        required = ((same if same is not None else like * SHAPE_ONLY) + like) / 2
        return required * REQUIRED_ELSEWHERE + (1 - required) * NOT_REQUIRED_ELSEWHERE
