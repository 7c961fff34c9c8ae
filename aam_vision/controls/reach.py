"""The situations that were seen, and those that the operators found so far probably lead to, each with its standpoint."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from aam_vision.controls.giving import Giving
from aam_vision.controls.rules import Rules
from aam_vision.controls.standpoints import Standpoint, Standpoints
from aam_vision.joins import StateIndex
from aam_vision.query import Situation
from aam_vision.strips import GroundAction, Objects, State

MOST = 1200
"""Situations that are left in one search, at most."""


class Node(NamedTuple):
    """A situation that was seen, or is expected: controls from one that was seen lead there."""

    state: State
    start: Situation
    way: tuple[GroundAction, ...]


class Reach:
    """What is near, worked out once for the same operators."""

    def __init__(self, giving: Giving) -> None:
        self.giving = giving
        self.standpoints = Standpoints(giving.agent.vocabulary, ())
        self._seen = 0
        self._known: dict[tuple[State, tuple[str, ...]], Standpoint] = {}
        self._ahead: dict[State, list[tuple[GroundAction, State]]] = {}
        self._indices: dict[State, StateIndex] = {}
        self._of: tuple[Rules, int] | None = None

    def bring_up_to_date(self, rules: Rules) -> bool:
        """Take in what was seen since the last time; whether situations point out other things than before."""
        if self._of != (rules, rules.widened):
            self._ahead, self._of = {}, (rules, rules.widened)
        if len(self.giving.situations) == self._seen:
            return False
        self._seen = len(self.giving.situations)
        standpoints = Standpoints(self.giving.agent.vocabulary, self.giving.situations)
        if standpoints.pointing == self.standpoints.pointing:
            return False
        self.standpoints, self._known = standpoints, {}
        return True

    def nodes(self, rules: Rules) -> Iterator[Node]:
        """The situations that were seen, then where the operators lead from these, each standpoint of a problem left once."""
        waiting = deque(Node(state, one, ()) for state, one in self.giving.situations.items())
        known = {node.state for node in waiting}
        left: set[tuple[Objects, Standpoint]] = set()
        while waiting:
            node = waiting.popleft()
            yield node
            standpoint = node.state.objects, self.standpoint(node.state, GroundAction("", ()))
            if standpoint in left:
                continue
            if len(left) == MOST:
                return
            left.add(standpoint)
            for control, after in self._next(node.state, rules):
                if after not in known:
                    known.add(after)
                    waiting.append(Node(after, node.start, (*node.way, control)))

    def standpoint(self, state: State, control: GroundAction) -> Standpoint:
        """The standpoint of a control in a situation."""
        key = state, control.objects
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.standpoints.of(state, control, self.index(state))
        return found

    def index(self, state: State) -> StateIndex:
        """The index of a situation that was seen or is expected."""
        known = self._indices.get(state)
        return self.giving.indices.of(state) if known is None else known

    def _next(self, state: State, rules: Rules) -> list[tuple[GroundAction, State]]:
        found = self._ahead.get(state)
        if found is None:
            index = self.index(state)
            likely = rules.likely(state, index)
            found = [(one, self.giving.seen_after(state, one) or after) for one, after in likely.items()]
            self._ahead[state] = found
            for _, after in found:
                if after not in self._indices and after not in self.giving.situations:
                    self._indices[after] = index.of(after)
        return found
