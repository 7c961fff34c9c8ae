"""Which control a walk gives next: one that probably does something, one whose situation is new, or any."""

from __future__ import annotations

from collections import deque
from collections.abc import Set

import numpy as np

from aam_vision.agents.bare import random_control
from aam_vision.controls.giving import Giving, ground
from aam_vision.controls.novelty import Novelty
from aam_vision.controls.rules import Rules
from aam_vision.model.query import Situation
from aam_vision.model.strips import GroundAction, State

LIKELY = 0.5
"""Share of the controls that are chosen because they probably do something."""
DRAWN = 12
"""Controls of which the newest one is taken."""
NEAR = 15
"""States that are looked at on the way to something new."""
LOOKED_AT = 60
"""Controls that probably do something of which the next situations are looked at, and controls that are looked at there."""


class Chooser:
    """Chooses controls, and remembers in what kinds of situations they were given (``novelty``)."""

    def __init__(self, giving: Giving, rng: np.random.Generator, novelty: Novelty | None = None) -> None:
        self._giving = giving
        self._rng = rng
        self._novelty = novelty or Novelty()
        self._after: dict[State, list[tuple[GroundAction, State]]] = {}
        self._of_rules: Rules | None = None
        self.surprised = False
        """Whether anything about the latest choice was new."""

    def next(self, here: Situation, rules: Rules | None, likely: float = LIKELY) -> GroundAction | None:
        """The next control; None if all that could be drawn were given there."""
        given = self._giving.given_in(here.state)
        control = None
        if rules is not None and self._rng.random() < likely:
            control = self._likely(here, rules, given)
        control = control or self._new(here, rules, given)
        if control is not None:
            self.note(here.state, control, rules)
        return control

    def note(self, state: State, control: GroundAction, rules: Rules | None) -> None:
        """Remember that a control is given; ``surprised`` tells whether anything about that is new."""
        index = self._giving.indices.of(state)
        features = self._novelty.new(state, control, rules, index)
        self.surprised = bool(features)
        self._novelty.note(features)

    def way_to_new(self, here: Situation, rules: Rules) -> list[GroundAction] | None:
        """Controls that probably lead to where the last of them meets something new; None if no such way is found near."""
        waiting: deque[tuple[State, list[GroundAction]]] = deque([(here.state, [])])
        known = {here.state}
        for _ in range(NEAR):
            if not waiting:
                return None
            state, way = waiting.popleft()
            index = self._giving.indices.of(state)
            given = self._giving.given_in(state)
            for control in self._some(ground(self._giving.controls, state)):
                if control not in given and self._novelty.new(state, control, rules, index):
                    return [*way, control]
            if rules is not self._of_rules:
                self._after, self._of_rules = {}, rules
            if state not in self._after:
                self._after[state] = list(rules.likely(state, index).items())
            for control, after in self._after[state]:
                if after not in known:
                    known.add(after)
                    waiting.append((after, [*way, control]))
        return None

    def _likely(self, here: Situation, rules: Rules, given: Set[GroundAction]) -> GroundAction | None:
        """A control that probably does something, rather where it leads to a situation that was not seen."""
        index = self._giving.indices.of(here.state)
        expected = {
            control: state
            for control, state in rules.likely(here.state, index).items()
            if control not in given
        }
        if not expected:
            return None
        options = list(expected)
        unseen = [control for control in options if expected[control] not in self._giving.situations]
        options = unseen or options
        names = sorted({control.name for control in options})
        name = names[int(self._rng.integers(len(names)))]
        own = [control for control in options if control.name == name]
        return own[int(self._rng.integers(len(own)))]

    def _new(self, here: Situation, rules: Rules | None, given: Set[GroundAction]) -> GroundAction | None:
        """The control of those drawn with most that is new."""
        drawn = [random_control(self._giving.controls, here.state, self._rng) for _ in range(DRAWN)]
        options = [one for one in dict.fromkeys(drawn) if one is not None and one not in given]
        if not options:
            return None
        index = self._giving.indices.of(here.state)
        return max(options, key=lambda one: len(self._novelty.new(here.state, one, rules, index)))

    def _some(self, options: list[GroundAction]) -> list[GroundAction]:
        if len(options) <= LOOKED_AT:
            return options
        return [options[int(place)] for place in self._rng.permutation(len(options))[:LOOKED_AT]]
