"""The situations that were seen, and those that the operators found so far probably lead to, each with its standpoint."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from itertools import islice
from typing import NamedTuple

from aam_vision.controls.giving import Giving
from aam_vision.controls.rules import Rule, Rules, changed
from aam_vision.controls.standpoints import Standpoint, Standpoints
from aam_vision.model.query import Situation
from aam_vision.model.strips import GroundAction, Objects, State
from aam_vision.planning.joins import StateIndex

MOST = 1200
"""Situations that are left in one search, at most."""
QUESTIONS = 200
"""Questions about bindings of which the answers are kept, at most."""
NOTHING = GroundAction("", ())

Bindings = tuple[tuple[str, ...], ...]


class Place:
    """A situation that was seen or is expected, and what was worked out about it; one object for equal states."""

    __slots__ = ("ahead", "elsewhere", "index", "problem", "standpoints", "state")

    def __init__(self, state: State, index: StateIndex, problem: int) -> None:
        self.state = state
        self.index = index
        self.problem = problem
        """The number of its problem."""
        self.standpoints: dict[tuple[str, ...], Standpoint] = {}
        """By the arguments of a control."""
        self.elsewhere: frozenset[int] | None = None
        """What is set anywhere, if that was worked out."""
        self.ahead: list[tuple[GroundAction, Place]] | None = None
        """Where the present operators lead, if that was worked out."""


class Node(NamedTuple):
    """A situation that was seen, or is expected: controls from one that was seen lead there."""

    place: Place
    start: Situation
    way: tuple[GroundAction, ...]

    @property
    def state(self) -> State:
        """The situation, as it is perceived."""
        return self.place.state

    @property
    def steps(self) -> int:
        """The controls that lead there, and one that is given there."""
        return len(self.way) + 1


class Way(NamedTuple):
    """Controls from a situation that was seen; the last one meets something new."""

    start: Situation
    controls: tuple[GroundAction, ...]


class Reach:
    """What is near. What was worked out is kept as long as it holds, from one discovery to the next, too."""

    def __init__(self, giving: Giving) -> None:
        self.giving = giving
        self.standpoints = Standpoints(giving.agent.vocabulary)
        """What situations point out."""
        self._places: dict[State, Place] = {}
        self._problems: dict[Objects, int] = {}
        self._seen: list[Node] = []
        self._given = 0
        self._of: tuple[Rules, int] | None = None
        self._rules: list[Rule] = []
        self._bindings: dict[int, dict[Place, Bindings]] = {}
        self._known: dict[Hashable, dict[Place, Bindings]] = {}

    def bring_up_to_date(self, rules: Rules) -> bool:
        """Take in what was seen since the last time; whether situations point out other things than before."""
        if self._of != (rules, rules.widened):
            self._of = rules, rules.widened
            self._rules = list(rules.by_name.values())
            self._bindings = {id(rule): self.answers(rule.condition.key) for rule in self._rules}
            for place in self._places.values():
                place.ahead = None
        for one in islice(self.giving.given, self._given, None):  # it may lead elsewhere than was expected
            if (before := self._places.get(one.transition.before)) and before.ahead is not None:
                expected = dict(before.ahead).get(one.transition.control)
                if expected is not None and expected.state != one.transition.after:
                    before.ahead = None
        self._given = len(self.giving.given)
        new = list(islice(self.giving.situations.items(), len(self._seen), None))
        for state, situation in new:
            place = self.place(state)
            place.state = state  # an equal one is found more slowly
            self._seen.append(Node(place, situation, ()))
        if not self.standpoints.take_in(state for state, _ in new):
            return False
        for place in self._places.values():
            place.standpoints, place.elsewhere = {}, None
        return True

    def nodes(self) -> Iterator[Node]:
        """The situations that were seen, then where the operators lead from these, each kind of a problem left once.

        A kind is a standpoint and what is set elsewhere.

        As of the last time that this was brought up to date.
        """
        waiting = deque(self._seen)
        known = {node.place for node in waiting}
        left: set[tuple[int, Standpoint, frozenset[int]]] = set()
        while waiting:
            node = waiting.popleft()
            yield node
            place = node.place
            kind = place.problem, self.standpoint(place, NOTHING), self.elsewhere(place)
            if kind in left:
                continue
            if len(left) == MOST:
                return
            left.add(kind)
            if place.ahead is None:
                place.ahead = list(self._ahead(place).items())
            for control, after in place.ahead:
                if after not in known:
                    known.add(after)
                    waiting.append(Node(after, node.start, (*node.way, control)))

    def standpoint(self, place: Place, control: GroundAction) -> Standpoint:
        """The standpoint of a control in a situation."""
        found = place.standpoints.get(control.objects)
        if found is None:
            found = self.standpoints.of(place.state, control, place.index)
            place.standpoints[control.objects] = found
        return found

    def elsewhere(self, place: Place) -> frozenset[int]:
        """What is set anywhere in a situation."""
        if place.elsewhere is None:
            place.elsewhere = self.standpoints.elsewhere(place.state)
        return place.elsewhere

    def place(self, state: State) -> Place:
        """The place of a situation."""
        return self._places.get(state) or self._place(state, self.giving.indices.of(state))

    def bindings(self, place: Place, rule: Rule) -> Bindings:
        """The bindings under which the condition of a present operator certainly holds in a situation."""
        answers = self._bindings[id(rule)]
        found = answers.get(place)
        if found is None:
            found = answers[place] = tuple(rule.condition.bindings(place.index))
        return found

    def answers(self, question: Hashable) -> dict[Place, Bindings]:
        """The bindings, by situation, that were found as the answer to a question before; others are to be added."""
        found = self._known.pop(question, {})
        self._known[question] = found
        if len(self._known) > QUESTIONS:
            del self._known[next(iter(self._known))]
        return found

    def _place(self, state: State, index: StateIndex) -> Place:
        problem = self._problems.setdefault(state.objects, len(self._problems))
        place = self._places[state] = Place(state, index, problem)
        return place

    def _ahead(self, place: Place) -> dict[GroundAction, Place]:
        """Where the operators lead from a situation."""
        state, found = place.state, dict[GroundAction, Place]()
        for rule in self._rules:
            for objects in self.bindings(place, rule):
                control = rule.operator.instructed(objects)
                if control in found:
                    continue
                expected = changed(state, rule.operator, objects)
                if expected != state:
                    after = self.giving.seen_after(state, control) or expected
                    found[control] = self._places.get(after) or self._place(after, place.index.of(after))
        return found
