"""Transfer from executed actions to others, by the elements of P* that both have.

The paper names the parameters of a lifted atom by type and number (Sec. "Formal Framework"), so that
``at(?thing1, ?location2)`` of one action and of another are one element. Authors of domains give such parameters
the same roles again and again: in the packaged domains an element that one action requires is required by
half of the others that have it, and an element that one does not require by a sixth.
No agent has to be like that: this only orders questions.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean

from aam_vision.interrogation.beliefs.constants import NOT_REQUIRED_ELSEWHERE, REQUIRED_ELSEWHERE, SHAPE_ONLY
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.strips import ActionHeader, LiftedAtom

Element = tuple[str, tuple[str, ...]]


def element(atom: LiftedAtom, header: ActionHeader) -> Element:
    """The element of P* that an atom of this action is: its predicate, and its arguments by type and number."""
    names = [f"{kind}{header.types[: i + 1].count(kind)}" for i, kind in enumerate(header.types)]
    return atom.predicate, tuple(names[a] if isinstance(a, int) else a for a in atom.arguments)


def shape(atom: LiftedAtom, header: ActionHeader) -> Element:
    """The atom's predicate, and the types and the relative order of its arguments, without their numbers."""
    named = sorted({a for a in atom.arguments if isinstance(a, int)})
    kinds = header.types
    rank = {a: sum(kinds[a] == kinds[b] for b in named if b < a) for a in named}
    return atom.predicate, tuple(f"{kinds[a]}{rank[a]}" if isinstance(a, int) else a for a in atom.arguments)


class Transfer:
    """Factors for the odds of an action's preconditions, from those of executed actions."""

    def __init__(self, hypotheses: Hypotheses, chance: Callable[[str, int], float]) -> None:
        """``chance`` gives the probability that a positive candidate of an executed action is required."""
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
        self._elements = {key: mean(chances) for key, chances in elements.items()}
        self._shapes = {key: mean(chances) for key, chances in shapes.items()}

    def factor(self, name: str, atom: LiftedAtom) -> float:
        """The factor for the odds of an atom of an action not executed yet; 1 if no other action has a similar one."""
        header = self._hypotheses[name].index.header
        same = self._elements.get(element(atom, header))
        similar = self._shapes.get(shape(atom, header))
        if similar is None:
            return 1.0
        required = ((same if same is not None else similar * SHAPE_ONLY) + similar) / 2
        return required * REQUIRED_ELSEWHERE + (1 - required) * NOT_REQUIRED_ELSEWHERE
