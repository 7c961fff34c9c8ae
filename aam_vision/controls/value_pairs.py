"""Values of facts about a case's parameters that were never met together.

A case may need one or the other of two facts: the door is open, or the key is held. Then neither is required by itself,
since each was missing in some example; it shows where both are missing.
"""

from __future__ import annotations

from aam_vision.interrogation.hypotheses.literals import AtomIndex, bits
from aam_vision.model.strips import State


class ValuePairs:
    """The pairs of values with which one case was tried.

    Args:
        index: the facts about its parameters.
    """

    def __init__(self, index: AtomIndex) -> None:
        self._index = index
        self._width = index.everything.bit_length()
        self._beside: dict[int, int] = {}
        """By value, those that were met together with it."""

    def add(self, state: State, objects: tuple[str, ...]) -> bool:
        """Note that the case was tried in a state with these objects; whether some value was never met before."""
        values, known = self._values(state, objects), len(self._beside)
        for value in bits(values):
            self._beside[value] = self._beside.get(value, 0) | values
        return len(self._beside) > known

    def new(self, state: State, objects: tuple[str, ...]) -> int:
        """How many pairs of values come up there that were met one by one, but never together."""
        values = [value for value in bits(self._values(state, objects)) if value in self._beside]
        met = sum(values)
        return sum((met & ~self._beside[value]).bit_count() for value in values) // 2

    def _values(self, state: State, objects: tuple[str, ...]) -> int:
        """A bit for every fact that is true, and another for every one that is false; none for what is unknown."""
        held, unknown = self._index.values(state, objects)
        return held | (self._index.everything & ~(held | unknown)) << self._width
