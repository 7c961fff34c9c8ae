"""Which problem a situation belongs to, and which problems were tried less than others.

Problems whose first situations look alike may differ in what these do not show. So steps are tried evenly in them, and their situations
are kept apart, though they look alike, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from aam_vision.model.query import Situation

EVEN = 5
"""Steps that may be tried in one of the problems that look alike before they are tried in another one."""
FEW = 12
"""Steps of which an examination tries more in a problem."""

Place = TypeVar("Place", bound=Hashable)
"""What situations that look alike share: a node, a state."""


class Problems(Generic[Place]):
    """The problems of an agent, numbered from 0 in the order in which they begin, and how many steps were tried in each."""

    def __init__(self) -> None:
        self.initial: list[Situation] = []
        self._number: dict[Hashable, int] = {}
        """By the handle of a situation."""
        self._begun: dict[Place, list[int]] = {}
        self._alike: list[int] = []
        self._apart: dict[Place, dict[int, Situation]] = {}
        self._tried: Counter[int] = Counter()

    def begin(self, situation: Situation, place: Place) -> None:
        """One more problem, unless an earlier one begins in the very same situation."""
        number = len(self.initial)
        self.initial.append(situation)
        if self._number.setdefault(situation.handle, number) != number:
            return
        same = self._begun.setdefault(place, [])
        same.append(number)
        if len(same) > 1:
            for one in same if len(same) == 2 else [number]:
                self._apart.setdefault(place, {})[one] = self.initial[one]
            self._alike = sorted({*self._alike, *same})

    def of(self, situation: Situation) -> int | None:
        """The number of the problem that a situation belongs to, if it is known."""
        return self._number.get(situation.handle)

    def looks_alike(self, situation: Situation) -> int | None:
        """The problem of a situation, if it looks at first like another one."""
        number = self._number.get(situation.handle)
        return number if number in self._alike else None

    def tried(self, before: Situation, after: Situation) -> None:
        """Count a step. Where it ended belongs to the problem in which it was tried, unless another one begins there."""
        number = self._number.get(before.handle)
        if number is None:
            return
        self._tried[number] += 1
        other = self._number.setdefault(after.handle, number)
        if number in self._alike and self.initial[other].handle != after.handle:
            self._number[after.handle] = number

    def keep_apart(self, situation: Situation, place: Place) -> None:
        """Remember a situation for its problem, if that looks at first like another one; where problems begin, only they do."""
        number = self.looks_alike(situation)
        if number is not None and place not in self._begun:
            self._apart.setdefault(place, {}).setdefault(number, situation)

    def least_tried(self, place: Place) -> Situation | None:
        """Of the situations that are kept apart at a place that of the problem in which least was tried; None if none are."""
        own = self._apart.get(place)
        return own[min(own, key=lambda number: (self._tried[number], number))] if own else None

    @property
    def neglected(self) -> int | None:
        """Of the problems that look at first like another one, that in which far less was tried than in the one most tried; or None."""
        least = min(self._alike, key=self._tried.__getitem__, default=None)
        most = max((self._tried[one] for one in self._alike), default=0)
        return None if least is None or 2 * self._tried[least] + EVEN >= most else least

    def kept(self, problem: int) -> Iterator[tuple[Place, Situation]]:
        """The situations of a problem that are kept apart, with their places."""
        return ((place, own[problem]) for place, own in self._apart.items() if problem in own)

    def hardly_tried(self, here: Situation) -> Situation | None:
        """Where to try more of a problem in which few steps were tried: ``here``, if it is in one; None if there is none."""
        number = self._number.get(here.handle)
        if number is not None and self._tried[number] < FEW:
            return here
        own = (n for n, one in enumerate(self.initial) if self._number[one.handle] == n)
        least = min(own, key=self._tried.__getitem__)
        return self.initial[least] if self._tried[least] < FEW else None
