"""Sets of literals of which it is known whether they may hold together."""

from __future__ import annotations

from aam_vision.interrogation.hypotheses.literals import Literals


class KnownSets:
    """Sets of one action's literals that may hold together somewhere, and sets that may not."""

    def __init__(self) -> None:
        self._possible: dict[Literals, None] = {}
        self._impossible: dict[Literals, None] = {}
        self._answers: dict[Literals, bool] = {}  # what followed once follows always

    def where_more_may_hold(self) -> KnownSets:
        """What is known where all that may hold together here may do so, too."""
        sets = KnownSets()
        sets._possible = dict(self._possible)
        return sets

    def answer(self, literals: Literals) -> bool | None:
        """A part of what may hold may hold; what has a part that may not hold may not. None if nothing follows."""
        answer = self._answers.get(literals)
        if answer is None:
            if any(literals.within(one) for one in self._possible):
                answer = self._answers[literals] = True
            elif any(one.within(literals) for one in self._impossible):
                answer = self._answers[literals] = False
        return answer

    def note(self, literals: Literals, possible: bool) -> None:
        """Keep the answer about the literals, instead of those that follow from it."""
        self._answers[literals] = possible
        if possible:
            self._possible = {one: None for one in self._possible if not one.within(literals)}
            self._possible[literals] = None
        else:
            self._impossible = {one: None for one in self._impossible if not literals.within(one)}
            self._impossible[literals] = None
