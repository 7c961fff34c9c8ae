"""The discovered operators as the instructions of an agent, so that the engine that stands can ask about them.

An instruction is executed if giving its control brings about exactly the operator's effects; else the agent stays where
it was. What cannot be told (nothing changed, and nothing would have; or two operators explain the change) is not told.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aam_vision.controls.exploring import Chooser, Novelty
from aam_vision.controls.giving import Giving
from aam_vision.controls.operators import Transition
from aam_vision.controls.rules import Rules, control_headers
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep, refuses_surely
from aam_vision.model.strips import ActionHeader, Vocabulary

ATTEMPTS = 3
"""Controls that are given for one step of a walk, at most."""
LIKELY = 0.75
"""Share of the controls of a walk that are chosen because they probably do something."""
PATIENCE = 20
"""Once so many controls have taught nothing, walks show only what was given before."""


class OperatorAgent:
    """An agent whose instructions are the operators of a discovery.

    Raises (``ask`` and ``walk``):
        Refuted: what was seen shows that these are not the operators.
    """

    access = Access.SNAPSHOT

    def __init__(self, giving: Giving, rules: Rules) -> None:
        self._giving = giving
        self._rules = rules
        self._recalled = False
        self._novelty = Novelty()
        self.asked = 0
        """Queries so far."""

    @property
    def vocabulary(self) -> Vocabulary:
        return self._rules.discovery.vocabulary

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return control_headers(self._rules.discovery)

    @property
    def refuses_surely(self) -> bool:
        return refuses_surely(self._giving.agent)

    def initial(self) -> Sequence[Situation]:
        """The initial situation of every problem."""
        return self._giving.initial()

    def ask(self, query: Query) -> Response:
        """Give the control of every step, and compare what comes of it with the step's operator."""
        situation = query.initial
        self.asked += 1
        for number, step in enumerate(query.plan):
            operator = self._rules.by_name[step.name].operator
            transition, after = self._giving.give(situation, operator.instructed(step.objects))
            self._rules.owner(transition)
            done = self._rules.carried_out(operator, transition, step.objects)
            if not done:
                return Response(number, situation, told=number if done is None else None)
            situation = after
        if not query.plan:
            return self._giving.look(query)
        return Response(len(query.plan), situation)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """Give controls; only what did something is shown.

        The first walk shows all that was given before this interrogation, wherever it was given.
        """
        if not self._recalled:
            self._recalled = True
            if recalled := self._recall():
                return recalled
        walked: list[WalkStep] = []
        here = start
        for _ in range(steps):
            step = self._step(here, rng)
            if step is None:
                break
            walked.append(step)
            here = step.after
        return walked

    def _recall(self) -> list[WalkStep]:
        """The steps of which it is known which operators they carried out."""
        found = []
        for before, transition, after in self._giving.given:
            step = self._told(before, transition, after)
            if step is not None:
                found.append(step)
        return found

    def _step(self, here: Situation, rng: np.random.Generator) -> WalkStep | None:
        for _ in range(ATTEMPTS):
            if self._giving.steps - self._rules.widened > PATIENCE:
                return None
            control = Chooser(self._giving, rng, self._novelty).next(here, self._rules, LIKELY)
            if control is None:
                return None
            transition, after = self._giving.give(here, control)
            if step := self._told(here, transition, after):
                return step
        return None

    def _told(self, before: Situation, transition: Transition, after: Situation) -> WalkStep | None:
        """The step that a control made, if it did something that can be told."""
        owner = self._rules.owner(transition)
        if owner is None:
            return None
        operator = self._rules.by_name[owner.name].operator
        if not self._rules.carried_out(operator, transition, owner.objects):
            return None
        return WalkStep(before, owner, after)
