"""Ways to situations of a new kind for a control, above all for those that never did anything.

Of all situations that were seen, or that the operators found so far lead to, the one is sought in which a control meets
most that is new to it for the fewest steps: facts about what the situation points out (``standpoints``), then pairs of such
facts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from aam_vision.controls.giving import ground
from aam_vision.controls.reach import Place, Reach
from aam_vision.controls.rules import Rules
from aam_vision.query import Situation
from aam_vision.strips import ActionHeader, GroundAction

PLACES = 8
"""Ways to give one control in one situation that are looked at, at most."""


class Way(NamedTuple):
    """Controls from a situation that was seen; the last one meets something new."""

    start: Situation
    controls: tuple[GroundAction, ...]


class Seeker:
    """Looks for situations of a new kind.

    ``covered`` says of the latest search: no way to give a control in a situation that was looked at was left out of it.
    """

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._giving = reach.giving
        self._tried: dict[str, _Tried] = {}
        self._spent: dict[Hashable, set[Place]] = {}
        """By what was looked for, the situations in which nothing is new, nor will be."""
        self._ways: dict[tuple[str, int], list[GroundAction]] = {}
        """By control and problem, all ways to give it."""
        self.covered = False

    def way(self, rules: Rules, *, pairs: bool = False) -> Way | None:
        """The way to what is newest to a control that never did anything, for the fewest steps; None if nothing new is found.

        ``pairs``: two facts that were never true together are new, too.
        """
        controls = self._giving.dead
        if not controls:
            return None
        self._bring_up_to_date(rules, controls)
        spent = self._spent.setdefault((tuple(controls), pairs), set())
        best, found = 0.0, None
        self.covered = True
        for number, node in enumerate(self._reach.nodes()):
            if node.place in spent:
                continue
            new = False
            for control in self._some(controls, node.place, number):
                facts = self._reach.standpoint(node.place, control).facts
                gain = self._tried[control.name].gain(facts, pairs=pairs) / (len(node.way) + 1)
                new = new or gain > 0
                if gain > best:
                    best, found = gain, Way(node.start, (*node.way, control))
            if not new and not any(len(self._all(one, node.place)) > PLACES for one in controls):
                spent.add(node.place)
        return found

    def _some(self, controls: Sequence[ActionHeader], place: Place, number: int) -> Iterator[GroundAction]:
        """Ways to give controls that were not given in a situation; in another one, of another number, others of many."""
        given = self._giving.given_in(place.state)
        for header in controls:
            options = self._all(header, place)
            if len(options) > PLACES:
                self.covered = False
                first = number * PLACES % len(options)
                options = (options + options)[first : first + PLACES]
            for control in options:
                if control not in given:
                    yield control

    def _all(self, header: ActionHeader, place: Place) -> list[GroundAction]:
        key = header.name, place.problem
        if key not in self._ways:
            self._ways[key] = ground([header], place.state)
        return self._ways[key]

    def _bring_up_to_date(self, rules: Rules, controls: Sequence[ActionHeader]) -> None:
        """Take in what was given since the last search."""
        if self._reach.bring_up_to_date(rules):
            self._tried, self._spent = {}, {}
        for control in controls:
            tried = self._tried.setdefault(control.name, _Tried())
            for transition in self._giving.transitions[control.name][tried.number :]:
                place = self._reach.place(transition.before)
                tried.add(self._reach.standpoint(place, transition.control).facts)


class _Tried:
    """The facts, and the pairs of them, that one control was given with."""

    def __init__(self) -> None:
        self.number = 0
        self._facts: set[int] = set()
        self._pairs = np.zeros((0, 0), dtype=bool)

    def add(self, facts: frozenset[int]) -> None:
        self.number += 1
        self._facts |= facts
        places = self._places(facts)
        self._pairs[np.ix_(places, places)] = True

    def gain(self, facts: frozenset[int], *, pairs: bool) -> int:
        """How much of this is new."""
        new = len(facts - self._facts)
        if new or not pairs:
            return new
        places = self._places(facts)
        return int(np.count_nonzero(~self._pairs[np.ix_(places, places)])) // 2

    def _places(self, facts: frozenset[int]) -> list[int]:
        places = sorted(facts)
        size = self._pairs.shape[0]
        if places and places[-1] >= size:
            wider = max(2 * size, places[-1] + 1)
            self._pairs = np.pad(self._pairs, ((0, wider - size), (0, wider - size)))
        return places
