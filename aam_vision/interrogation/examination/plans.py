"""Plans whose outcome the learned model predicts: executable steps, and at the end one that is refused.

Their histories are unlike those that taught the model. Every action comes up as often as any other, however seldom the
agent would choose it; steps that were done before are done again in the same perceived state after another history; an
action that came up least is gone to on purpose, which repeats the rare ones.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from itertools import islice

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.examination.surprises import expected
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.ground_literals import atoms
from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.joins import StateIndex, bindings
from aam_vision.strips import GroundAction, State

Plan = tuple[GroundAction, ...]

MAX_BINDINGS = 200
"""Bindings of one action that are looked at in one state: the more, the evener the choice among them."""
MAX_SEARCHED = 60
"""States that are searched for one in which a certain action can be executed."""
AGAIN = 0.5
"""Share of the steps that repeat one done before in the same perceived state, where there is such a step."""
REFUSALS_TRIED = 6
"""Preconditions of which a violation is looked for, before a plan ends without a refused step."""


class PredictedPlans:
    """Plans from one state on, with their outcomes as far as they follow from the evidence."""

    def __init__(
        self, evidence: Evidence, start: State, used: Counter[str], rng: np.random.Generator
    ) -> None:
        """``used``: how often every action was executed in the examination so far."""
        self._evidence = evidence
        self._rng = rng
        self._used = Counter(used)
        self._indices = {start: StateIndex(start)}
        self._start = start
        self._options: dict[State, list[GroundAction]] = {}

    def plan(self, length: int) -> Plan:
        """A plan of at most ``length`` steps; empty if no outcome is certain in the state where it begins."""
        state = self._start
        plan = list(self._way_to_rarest(state, length - 1)) if self._rng.random() < AGAIN else []
        for step in plan:
            state = self._after(state, step)
        while len(plan) < length - 1 and (options := self.executable(state)):
            plan.append(self._chosen(state, options))
            state = self._after(state, plan[-1])
        refused = self._refused(state, plan)
        if refused is None and (options := self.executable(state)):
            refused = self._chosen(state, options)
        return tuple(plan) if refused is None else (*plan, refused)

    def _after(self, state: State, step: GroundAction) -> State:
        self._used[step.name] += 1
        return self.successor(state, step)

    def successor(self, state: State, step: GroundAction) -> State:
        """The predicted state after a step in a state that is known already."""
        after = self._evidence.predict(state, step)
        if after not in self._indices:
            self._indices[after] = self._indices[state].of(after)
        return after

    def executable(self, state: State) -> list[GroundAction]:
        """The steps that the cautious model can execute."""
        if state not in self._options:
            self._options[state] = [
                step
                for action in self._evidence.hypotheses.actions.values()
                if action.successes
                for step in self._bound(action, state, action.cautious)
                if not action.violated(*action.index.values(state, step.objects), action.cautious)
            ]
        return self._options[state]

    def _bound(self, action: ActionHypotheses, state: State, holding: Literals) -> list[GroundAction]:
        header = action.index.header
        rows = bindings(
            self._indices[state],
            header,
            atoms(action, holding.positive),
            repeated=self._evidence.hypotheses.repeated,
        )
        return [GroundAction(header.name, row) for row in islice(rows, MAX_BINDINGS)]

    def _chosen(self, state: State, options: Sequence[GroundAction]) -> GroundAction:
        """One of the steps: every action is as probable as any other."""
        if self._rng.random() < AGAIN:
            options = [step for step in options if self._evidence.was_seen_in(state, step)] or options
        names = list(dict.fromkeys(step.name for step in options))
        name = names[int(self._rng.integers(len(names)))]
        same = [step for step in options if step.name == name]
        return same[int(self._rng.integers(len(same)))]

    def _way_to_rarest(self, start: State, longest: int) -> Plan:
        """The shortest way to execute an action that came up least, if one is found."""
        known = [name for name, action in self._evidence.hypotheses.actions.items() if action.successes]
        if not known:
            return ()
        rarest = min(known, key=lambda name: self._used[name])
        came: dict[State, Plan] = {start: ()}
        waiting = deque([start])
        for _ in range(MAX_SEARCHED):
            if not waiting:
                break
            state = waiting.popleft()
            options = self.executable(state)
            if wanted := [step for step in options if step.name == rarest]:
                return (*came[state], wanted[int(self._rng.integers(len(wanted)))])[:longest]
            for step in options:
                after = self.successor(state, step)
                if after not in came and len(came[state]) + 1 < longest:
                    came[after] = (*came[state], step)
                    waiting.append(after)
        return ()

    def _refused(self, state: State, plan: Sequence[GroundAction]) -> GroundAction | None:
        """A step that every possible model refuses: one of the plan's own again, or a near miss."""
        own = [step for step in dict.fromkeys(plan) if self._fails(state, step)]
        if own and self._rng.random() < AGAIN / 2:
            return own[int(self._rng.integers(len(own)))]
        reasons = [
            (action, literals)
            for action in self._evidence.hypotheses.actions.values()
            for literals in (*action.proven.singles(), *action.clauses)
        ]
        for number in self._rng.permutation(len(reasons))[:REFUSALS_TRIED]:
            action, literals = reasons[int(number)]
            others = action.cautious.without(literals)
            holding = union([others, Literals(literals.negative, 0)])
            near = [step for step in self._bound(action, state, holding) if self._fails(state, step)]
            if near:
                return near[int(self._rng.integers(len(near)))]
        return None

    def _fails(self, state: State, step: GroundAction) -> bool:
        return expected(self._evidence, state, step) is False
