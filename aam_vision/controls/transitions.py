"""What was seen of a control: the state before it was given, and the state after it.

A control (``right``, ``moveto(loc-1-2)``) can always be given; it changes something or nothing. It is described by an
``ActionHeader``, as an instruction is, and given with arguments as a ``GroundAction``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from aam_vision.model.strips import Atom, GroundAction, State
from aam_vision.support.unchanging import Unchanging


@dataclass(frozen=True, eq=False)
class Transition(Unchanging):
    """A control that was given once. Two of them are equal only if they are the same object."""

    before: State
    control: GroundAction
    after: State

    @cached_property
    def change(self) -> dict[Atom, bool]:
        """The atoms that changed, in a fixed order, each with the value that it has afterwards.

        An atom that is unknown before or afterwards is not seen to change.
        """
        before, after = self.before, self.after
        gained = {atom: True for atom in after.true - before.true if atom not in before.unknown}
        lost = {atom: False for atom in before.true - after.true if atom not in after.unknown}
        return dict(sorted({**gained, **lost}.items()))

    @cached_property
    def kind(self) -> str:
        """The control, and the predicates that changed: ``toggle +open -closed``."""
        signs = {f"{'+' if value else '-'}{atom.predicate}" for atom, value in self.change.items()}
        return " ".join((self.control.name, *sorted(signs)))


def idle(transitions: Mapping[str, Sequence[Transition]]) -> tuple[str, ...]:
    """The controls that never did anything, in order; ``transitions``: by control, all that was seen."""
    return tuple(name for name, seen in transitions.items() if not any(one.change for one in seen))
