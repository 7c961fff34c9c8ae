"""The models that are still possible, factored: every pal tuple keeps its possible modes.

The paper's ``poss_models`` is the product of these modes under the clauses that refused steps leave behind. It is
never enumerated: an action's lifted atoms are bits, and every set of atoms is a Python integer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy

from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.strips import ActionHeader, Location, Mode, Model, PalTuple, Vocabulary


class Hypotheses:
    """All models that are still possible: one ``ActionHypotheses`` per header."""

    def __init__(
        self, vocabulary: Vocabulary, headers: Sequence[ActionHeader], *, repeated: bool = False
    ) -> None:
        """``repeated``: whether several arguments of an action, or of an atom, may name one object."""
        self.vocabulary = vocabulary
        self.headers = tuple(headers)
        self.repeated = repeated
        self.actions = {
            header.name: ActionHypotheses(AtomIndex(vocabulary, header, repeated=repeated))
            for header in headers
        }

    def __getitem__(self, action: str) -> ActionHypotheses:
        return self.actions[action]

    def assuming(self, action: str, held: int, dim: int) -> Hypotheses:
        """A copy in which the action has been executed there, for what-if questions."""
        other = copy(self)
        other.actions = {**self.actions, action: self.actions[action].assuming(held, dim)}
        return other

    @property
    def version(self) -> int:
        """Grows with every change of any action."""
        return sum(action.version for action in self.actions.values())

    def model(self) -> Model:
        """The cautious model (undetermined positive preconditions in, negative ones out)."""
        return Model(self.vocabulary, tuple(action.schema() for action in self.actions.values()))

    def pal_tuples(self) -> Iterator[PalTuple]:
        """Every pal tuple of the model space, in a fixed order."""
        for name, action in self.actions.items():
            for location in Location:
                for atom in action.index.atoms:
                    yield PalTuple(atom, name, location)

    def modes(self, pal: PalTuple) -> tuple[Mode, ...]:
        """The modes that the pal tuple may still have."""
        action = self.actions[pal.action]
        bit = action.index.bit[pal.atom]
        return tuple(mode for mode, mask in zip(Mode, action.masks(pal.location), strict=True) if mask & bit)

    def decided(self) -> int:
        """The number of pal tuples with a single possible mode."""
        undecided = 0
        for action in self.actions.values():
            precondition = action.undecided.positive | action.undecided.negative
            undecided += precondition.bit_count() + action.undecided_effects.bit_count()
        return self.size - undecided

    @property
    def size(self) -> int:
        """The number of pal tuples."""
        return sum(2 * len(action.index.atoms) for action in self.actions.values())
