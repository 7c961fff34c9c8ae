"""The choice of what is predicted next: plans that try predictions where they were not tried before.

Several plans are drawn at random, with every action as probable as any other. The one that shows most that is new
(``coverage``), for each of its steps, is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.examination.attempts import Attempts, Prediction
from aam_vision.interrogation.examination.coverage import History
from aam_vision.interrogation.examination.predictions import Predictions
from aam_vision.strips import GroundAction, State

Plan = tuple[GroundAction, ...]

DRAWN = 8
"""Plans that are drawn from each state where one may begin."""
COMPARED = 4
"""Steps of one action that are compared at every step of them."""
REFUSED = 0.3
"""Share of the plans that end in a refusal."""
REASONS = 3
"""Reasons of a refusal for which near misses are looked for in every state."""


class Start(NamedTuple):
    """Where a plan may begin."""

    node: Node
    state: State
    history: History


class Chosen(NamedTuple):
    """A plan, and how much it shows that is new for each of its steps."""

    start: Start
    plan: Plan
    worth: float


class Choice:
    """The choice of the next plan, as of one moment of the examination."""

    def __init__(
        self, evidence: Evidence, attempts: Attempts, predictions: Predictions, rng: np.random.Generator
    ) -> None:
        self._evidence = evidence
        self._attempts = attempts
        self._predictions = predictions
        self._rng = rng

    def plan(self, starts: Sequence[Start], longest: int, refusal: bool | None = None) -> Chosen | None:
        """The best of the plans drawn, of at most ``longest`` steps; None if nothing is predicted in any start."""
        refusal = bool(self._rng.random() < REFUSED) if refusal is None else refusal
        best: Chosen | None = None
        for start in starts:
            for _ in range(DRAWN):
                for one in self._drawn(start, int(self._rng.integers(1, longest + 1)), refusal=refusal):
                    if best is None or one.worth > best.worth:
                        best = one
        if best is None and refusal:
            return self._any(starts)
        return best

    def long(self, starts: Sequence[Start], length: int) -> Chosen | None:
        """A plan of about so many steps, made of several."""
        whole: Plan = ()
        start = at = None
        while len(whole) < length:
            found = self.plan(starts if at is None else [at], min(8, length - len(whole)), refusal=False)
            if found is None:
                break
            start = start or found.start
            steps = found.plan
            state, history = found.start.state, found.start.history
            done = []
            for step in steps:
                if self._predictions.refused(state, step):
                    break
                after = self._predictions.successor(state, step)
                state, history = after, history.then(step.name, state, after)
                done.append(step)
            if not done: 
                continue
            whole = (*whole, *done)
            at = Start(found.start.node, state, history)
        return None if start is None or not whole else Chosen(start, whole, 0.0)

    def _any(self, starts):
        for start in starts:
            for one in self._drawn(start, 1, refusal=False):
                return one
        return None

    def _drawn(self, start: Start, length: int, *, refusal: bool):
        """The beginnings of one random plan."""
        plan: Plan = ()
        total, (_, state, history) = 0.0, start
        while True:
            if refusal and (found := self._refusal(state, history, plan)) is not None:
                step, worth = found
                yield Chosen(start, (*plan, step), (total + worth) / (len(plan) + 1))
            if len(plan) >= length - refusal:
                return
            options = self._predictions.executable(state)
            if not options:
                return
            names = list(dict.fromkeys(step.name for step in options))
            name = names[int(self._rng.integers(len(names)))]
            same = [step for step in options if step.name == name]
            step, worth = self._best(state, history, Prediction(name), same)
            total += worth
            plan = (*plan, step)
            if not refusal:
                seen = self._attempts.worth(self._evidence, Prediction(name, seen=True), state, step, history)
                yield Chosen(start, plan, (total + seen) / len(plan))
            after = self._predictions.successor(state, step)
            state, history = after, history.then(name, state, after)

    def _best(self, state: State, history: History, prediction: Prediction, options: list[GroundAction]) -> tuple[GroundAction, float]:
        drawn = self._rng.permutation(len(options))[:COMPARED]
        worths = [
            (self._attempts.worth(self._evidence, prediction, state, options[int(number)], history), int(number))
            for number in drawn
        ]
        worth, number = max(worths)
        return options[number], worth

    def _refusal(self, state: State, history: History, plan: Plan) -> tuple[GroundAction, float] | None:
        """A step that is refused there, and how much it shows."""
        reasons = self._predictions.reasons()
        found = []
        for number in self._rng.permutation(len(reasons))[:REASONS]:
            action, literals = reasons[int(number)]
            near = self._predictions.near_misses(state, action, literals)
            if near:
                found.append(near[int(self._rng.integers(len(near)))])
        if plan and self._predictions.refused(state, plan[-1]):
            found.append(plan[-1])
        rated = [(one, self._attempts.worth_of_refusal(self._evidence, state, one, history)) for one in found]
        return max(rated, key=lambda one: one[1], default=None)
