"""Steps of an action of which an answer did not tell whether they were executed: no such step is asked for again."""

from __future__ import annotations

from aam_vision.interrogation.hypotheses.literals import Literals

VARIED = 8
"""Steps that violate the same literals and were not told, after which no other such step is worth asking."""


class Untold:
    """The values of an action's atoms (held, unknown) with which it was not told, by the literals violated there."""

    def __init__(self) -> None:
        self._by_violated: dict[Literals, set[tuple[int, int]]] = {}
        self._values: set[tuple[int, int]] = set()

    def __bool__(self) -> bool:
        return bool(self._values)

    def add(self, violated: Literals, held: int, unknown: int) -> None:
        """Remember such a step."""
        self._values.add((held, unknown))
        self._by_violated.setdefault(violated, set()).add((held, unknown))

    def suggests_nothing(self, violated: Literals, held: int, unknown: int) -> bool:
        """Whether nothing is to be expected of a step: it is like one of these, or many of them violated the same."""
        if (held, unknown) in self._values:
            return True
        return len(self._by_violated.get(violated, ())) >= VARIED
