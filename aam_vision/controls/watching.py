"""A last walk in which the learned model predicts every control, so that a case that nobody has seen may show itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aam_vision.agents.bare import random_control
from aam_vision.controls.exploring import STRIDE, start
from aam_vision.controls.giving import Giving
from aam_vision.controls.prediction import ControlModel
from aam_vision.controls.rules import Refuted, Rules
from aam_vision.controls.transitions import Transition
from aam_vision.strips import Model

SHARE, LEAST = 0.15, 30
"""Controls of the walk: this share of those given before, at least so many."""
IDLE = 20
"""Walks in a row that found nothing to give: all was given before."""


@dataclass(frozen=True)
class Watched:
    """The walk's controls that came out as predicted, and the first one that did not, if any."""

    steps: int
    surprise: Transition | None


def watch(giving: Giving, rules: Rules, model: Model, rng: np.random.Generator) -> Watched:
    """Give controls at random, from random situations seen before, and compare each with the prediction.

    What was given in a situation that looks the same is not given again, and does not count.

    Raises:
        StepsSpent: no more controls may be given.
    """
    predicted = ControlModel(model, rules.discovery.operators)
    steps, wanted, idle = 0, max(LEAST, int(SHARE * giving.steps)), 0
    initial = list(giving.initial())
    while steps < wanted and idle < IDLE:
        here, before = start(giving, initial, rng), steps
        for _ in range(STRIDE):
            control = random_control(giving.controls, here.state, rng)
            if control is None or control in giving.given_in(here.state):
                break
            transition, after = giving.give(here, control)
            here = after if transition.change else here
            if not predicted.agrees(transition.before, control, transition.after):
                return Watched(steps, transition)
            try:
                rules.owner(transition)
            except Refuted:
                return Watched(steps, transition)
            steps += 1
        idle = idle + 1 if steps == before else 0
    return Watched(steps, None)
