"""Which control a walk gives next: one that probably does something, one whose situation is new, or any."""

from __future__ import annotations

from collections.abc import Set
from itertools import product

import numpy as np

from aam_vision.agents.bare import random_control
from aam_vision.controls.giving import Giving
from aam_vision.controls.novelty import Novelty
from aam_vision.controls.rules import Rules
from aam_vision.query import Situation
from aam_vision.strips import ActionHeader, GroundAction, State

LIKELY = 0.5
"""Share of the controls that are chosen because they probably do something."""
DRAWN = 12
"""Controls of which the newest one is taken."""
LOOKED_AT = 60
"""Controls that probably do something of which the next situations are looked at, and controls that are looked at there."""


class Chooser:
    """Chooses controls, and remembers in what kinds of situations they were given."""

    def __init__(self, giving: Giving, rng: np.random.Generator) -> None:
        self._giving = giving
        self._rng = rng
        self._novelty = Novelty()
        self._noted = 0

    def next(self, here: Situation, rules: Rules | None, likely: float = LIKELY) -> GroundAction | None:
        """The next control; None if all that could be drawn were given there."""
        given = self._giving.given_in(here.state)
        control = None
        if rules is not None and self._rng.random() < likely:
            control = self._likely(here, rules, given)
        control = control or self._new(here, given)
        if control is not None:
            self._novelty.note(here.state, control)
        return control

    def _likely(self, here: Situation, rules: Rules, given: Set[GroundAction]) -> GroundAction | None:
        """A control that probably does something: to where one that never did anything meets something new, if any."""
        index = self._giving.indices.of(here.state)
        expected = {
            control: state for control, state in rules.likely(here.state, index).items() if control not in given
        }
        if not expected:
            return None
        dead = self._giving.dead
        options = list(expected)
        if dead:
            drawn = self._some(options)
            counts = [self._novelty.least(expected[one], self._some(ground(dead, expected[one]))) for one in drawn]
            newest = min((count for count in counts if count is not None), default=None)
            if newest is not None:
                options = [one for one, count in zip(drawn, counts, strict=True) if count == newest]
        unseen = [control for control in options if expected[control] not in self._giving.situations]
        options = unseen or options
        names = sorted({control.name for control in options})
        name = names[int(self._rng.integers(len(names)))]
        own = [control for control in options if control.name == name]
        return own[int(self._rng.integers(len(own)))]

    def _new(self, here: Situation, given: Set[GroundAction]) -> GroundAction | None:
        """The control of those drawn whose kind of situation is the newest."""
        drawn = [random_control(self._giving.controls, here.state, self._rng) for _ in range(DRAWN)]
        options = [control for control in drawn if control is not None and control not in given]
        if not options:
            return None
        return min(options, key=lambda control: self._novelty.tried(here.state, control))

    def _some(self, options: list[GroundAction]) -> list[GroundAction]:
        if len(options) <= LOOKED_AT:
            return options
        return [options[int(place)] for place in self._rng.permutation(len(options))[:LOOKED_AT]]


def ground(controls: list[ActionHeader], state: State) -> list[GroundAction]:
    """All ways to give these controls in a state, no object twice."""
    return [
        GroundAction(control.name, objects)
        for control in controls
        for objects in product(*[state.objects.of_type(kind) for kind in control.types])
        if len(set(objects)) == len(objects)
    ]
