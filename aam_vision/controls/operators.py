"""An operator that a control carries out: effects on the control's arguments and on objects that the situation implies.

Its parameters are those of the control, then the implicit ones: objects that it changes, and objects that a fact
determines (the only room with ``locinroom(?loc, ?room)``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice, takewhile
from typing import NamedTuple

from aam_vision.controls.transitions import Transition
from aam_vision.model.strips import ActionHeader, Atom, GroundAction, LiftedAtom, State


class Effect(NamedTuple):
    """A lifted atom that an operator changes, and the value that it gets."""

    atom: LiftedAtom
    becomes: bool

    @property
    def order(self) -> tuple[str, tuple[str, ...], bool]:
        """Sorts effects; parameters come before constants."""
        places = [f"{a:03d}" if isinstance(a, int) else f"~{a}" for a in self.atom.arguments]
        return self.atom.predicate, tuple(places), not self.becomes


class Derivation(NamedTuple):
    """An implicit parameter that the situation determines: the only other object with which the fact holds."""

    parameter: int
    fact: LiftedAtom

    def value(self, state: State, objects: Sequence[str | None]) -> str | None:
        """The object under a binding of the other parameters; None if there is none, or more than one may be meant."""
        found: str | None = None
        known = state.rows.get(self.fact.predicate, [])
        rows: Iterable[tuple[str, ...]] = known
        first = self.fact.arguments[0]
        if first != self.parameter:  # the rows are sorted
            name = objects[first] if isinstance(first, int) else first
            begin = len(known) if name is None else bisect_left(known, (name,))
            rows = takewhile(lambda row: row[0] == name, islice(known, begin, None))
        for row in _matching(rows, self, objects):
            if row in objects:  # no object stands for two parameters
                continue
            if found is not None:
                return None
            found = row
        hidden = (atom.objects for atom in state.unknown if atom.predicate == self.fact.predicate)
        return None if _matching(hidden, self, objects) else found


def _matching(
    rows: Iterable[tuple[str, ...]], derived: Derivation, objects: Sequence[str | None]
) -> list[str]:
    """What stands for the parameter in the rows that agree with the binding elsewhere."""
    found = []
    for row in rows:
        value = ""
        for own, argument in zip(row, derived.fact.arguments, strict=True):
            if argument == derived.parameter:
                value = own
            elif own != (objects[argument] if isinstance(argument, int) else argument):
                break
        else:
            found.append(value)
    return found


class Outcome(Enum):
    """How a transition compares with an operator under a binding."""

    CONTRADICTED = "contradicted"
    """It cannot have been carried out like that: something else is the case afterwards."""
    SEEN = "seen"
    """Its effects are the change, together with what was so already."""
    NOTHING_TO_SEE = "nothing to see"
    """Nothing changed, and it would have changed nothing."""


@dataclass(frozen=True)
class Operator:
    """One thing that a control does.

    ``header`` has the parameters, of which the first ``given`` are the control's. ``pivot`` is the effect by which it
    is recognised: where that was so already, this operator is not carried out (so another one may be, with the same
    effects). None if none of the effects was seen in every example.
    """

    control: str
    given: int
    header: ActionHeader
    effects: tuple[Effect, ...]
    derivations: tuple[Derivation, ...] = ()
    pivot: Effect | None = None

    def instructed(self, objects: tuple[str, ...]) -> GroundAction:
        """The control that would carry it out under a binding."""
        return GroundAction(self.control, objects[: self.given])

    def outcome(self, transition: Transition, objects: Sequence[str]) -> Outcome:
        """How a transition of its control compares with it under a binding."""
        return outcome(self.effects, transition, objects)

    def visible(self, state: State, objects: Sequence[str]) -> bool | None:
        """Whether the pivot would be seen to change in a state; None if that is unknown, or there is no pivot."""
        if self.pivot is None:
            return None
        value = state.value(self.pivot.atom.ground(objects))
        return None if value is None else value != self.pivot.becomes


def outcome(effects: Sequence[Effect], transition: Transition, objects: Sequence[str]) -> Outcome:
    """How a transition compares with effects under a binding: added atoms stay although another effect deletes them."""
    expected: dict[Atom, bool] = {}
    for effect in effects:
        atom = effect.atom.ground(objects)
        expected[atom] = expected.get(atom, False) or effect.becomes
    after, change = transition.after, transition.change
    for atom, value in expected.items():
        seen = after.value(atom)
        if seen is not None and seen != value:
            return Outcome.CONTRADICTED
    if any(atom not in expected for atom in change):
        return Outcome.CONTRADICTED
    return Outcome.SEEN if change else Outcome.NOTHING_TO_SEE
