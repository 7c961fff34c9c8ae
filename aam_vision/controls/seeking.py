"""Ways to situations of a new kind for controls that never did anything.

The operators found so far say where their controls probably lead. Of all situations that were seen, or that they lead to,
the one is sought in which a control that never did anything meets most that is new to it for the fewest steps: facts about
what the situation points out (``standpoints``), then pairs of such facts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from aam_vision.controls.giving import Giving, ground
from aam_vision.controls.rules import Rules
from aam_vision.controls.standpoints import Standpoint, Standpoints
from aam_vision.joins import StateIndex
from aam_vision.query import Situation
from aam_vision.strips import GroundAction, State

STATES = 1200
"""Situations that are looked at in one search, at most."""
PLACES = 8
"""Ways to give one control in one situation that are looked at, at most: as many as this, in the order of the objects."""


class Way(NamedTuple):
    """Controls from a situation that was seen; the last one never did anything, and meets something new."""

    start: Situation
    controls: tuple[GroundAction, ...]


class _Node(NamedTuple):
    state: State
    start: Situation
    way: tuple[GroundAction, ...]


class Seeker:
    """Looks for situations of a new kind for controls that never did anything.

    ``covered`` says of the latest search that found nothing: nothing was left out of it.
    """

    def __init__(self, giving: Giving) -> None:
        self._giving = giving
        self._standpoints = Standpoints(giving.agent.vocabulary, ())
        self._states = 0
        self._known: dict[tuple[State, tuple[str, ...]], Standpoint] = {}
        self._tried: dict[str, _Tried] = {}
        self._ahead: dict[State, list[tuple[GroundAction, State]]] = {}
        self._indices: dict[State, StateIndex] = {}
        self._of: tuple[Rules, int] | None = None
        self.covered = False

    def way(self, rules: Rules, *, pairs: bool = False) -> Way | None:
        """The way to what is newest for the fewest steps; None if nothing new is found.

        ``pairs``: two facts that were never true together are new, too.
        """
        self._bring_up_to_date(rules)
        best, found = 0.0, None
        for node in self._nodes(rules):
            for control in self._controls(node.state):
                facts = self._standpoint(node.state, control).facts
                gain = self._tried[control.name].gain(facts, pairs=pairs) / (len(node.way) + 1)
                if gain > best:
                    best, found = gain, Way(node.start, (*node.way, control))
        return found

    def _controls(self, state: State) -> Iterator[GroundAction]:
        """The controls that never did anything and were not given in a state."""
        given = self._giving.given_in(state)
        for header in self._giving.dead:
            options = ground([header], state)
            self.covered &= len(options) <= PLACES
            for control in options[:PLACES]:
                if control not in given:
                    yield control

    def _nodes(self, rules: Rules) -> Iterator[_Node]:
        """The situations that were seen, then where the operators lead from these."""
        waiting = deque(_Node(state, one, ()) for state, one in self._giving.situations.items())
        known = {node.state for node in waiting}
        expanded: set[Standpoint] = set()
        self.covered = True
        while waiting:
            node = waiting.popleft()
            yield node
            standpoint = self._standpoint(node.state, GroundAction("", ()))
            if standpoint in expanded:
                continue
            if len(expanded) == STATES:
                self.covered = False
                return
            expanded.add(standpoint)
            for control, after in self._next(node.state, rules):
                if after not in known:
                    known.add(after)
                    waiting.append(_Node(after, node.start, (*node.way, control)))

    def _next(self, state: State, rules: Rules) -> list[tuple[GroundAction, State]]:
        found = self._ahead.get(state)
        if found is None:
            index = self._index(state)
            found = self._ahead[state] = list(rules.likely(state, index).items())
            for _, after in found:
                if after not in self._indices and after not in self._giving.situations:
                    self._indices[after] = index.of(after)
        return found

    def _index(self, state: State) -> StateIndex:
        known = self._indices.get(state)
        return self._giving.indices.of(state) if known is None else known

    def _standpoint(self, state: State, control: GroundAction) -> Standpoint:
        key = state, control.objects
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._standpoints.of(state, control, self._index(state))
        return found

    def _bring_up_to_date(self, rules: Rules) -> None:
        """Take in what was seen and given since the last search."""
        if self._of != (rules, rules.widened):
            self._ahead, self._of = {}, (rules, rules.widened)
        if len(self._giving.situations) != self._states:
            self._states = len(self._giving.situations)
            standpoints = Standpoints(self._giving.agent.vocabulary, self._giving.situations)
            if standpoints.pointing != self._standpoints.pointing:
                self._standpoints, self._known, self._tried = standpoints, {}, {}
        for control in self._giving.dead:
            tried = self._tried.setdefault(control.name, _Tried())
            for transition in self._giving.transitions[control.name][tried.number :]:
                tried.add(self._standpoint(transition.before, transition.control).facts)


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
