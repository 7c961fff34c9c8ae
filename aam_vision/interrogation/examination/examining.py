"""Cross-examination before a model counts as complete: a decorator around any policy.

That a model is complete is a proof under an assumption: the agent is a deterministic STRIPS agent in this vocabulary,
and rightly seen. So once the policy stops with its proof, the model predicts and the agent answers. A wrong prediction
ends the interrogation: the agent contradicts what is proven of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from aam_vision.interrogation.evidence.entries import Asked, Walked
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Policy, Stop, Walk
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.examination.plans import PredictedPlans
from aam_vision.interrogation.examination.surprises import progress
from aam_vision.query import Access

SHARE = 4
"""The interrogation's steps for each step of the examination, which is then a fifth of all."""
LONGEST = 8
"""Steps of a plan at most. Histories grow from plan to plan; where every question makes its own state, the first plan
takes two thirds of all steps instead."""
WALKED = 6
"""The examination's steps for each step in which the agent acts on its own, as far as the access has walks.

The agent then does what it can do; the model may hold that to be impossible.
"""


@dataclass(frozen=True)
class Examining:
    """The moves of a policy; once it stops with a proof, those of the examination.

    ``steps``: how many are examined; None for a quarter of those that the interrogation took.
    """

    policy: Policy
    access: Access
    steps: int | None = None

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's move, a step of the examination, or in the end the policy's stop."""
        stop = _stopped(evidence) or self.policy.next(evidence, rng)
        if not isinstance(stop, Stop) or not stop.complete:
            return stop
        wanted = _taken(evidence) // SHARE if self.steps is None else self.steps
        left = wanted - progress(evidence).steps
        return self._examination(evidence, stop, wanted, left, rng) or stop if left > 0 else stop

    def _examination(
        self, evidence: Evidence, stop: Stop, wanted: int, left: int, rng: np.random.Generator
    ) -> Move | None:
        """The next step of the examination; None if nothing can be predicted."""
        done = _exchanges(evidence)
        if done and isinstance(done[-1], Ask) and done[-1].plan:
            return Ask(evidence.current, (), "look again", stopped=stop, examines=True)
        if not done and self.access is not Access.TRAJECTORY and wanted >= WALKED:
            return Walk(_one(self._beginnings(evidence), rng), wanted // WALKED, "examine", stopped=stop)
        starts = self._starts(evidence, rng, begun=bool(done))
        first = not any(isinstance(move, Ask) for move in done)
        longest = min(left, LONGEST)
        if self.access is Access.SETTABLE and first:
            longest = max(1, left * 2 // 3)
        length = longest if first else int(rng.integers(1, longest + 1))
        for start in starts:
            plan = PredictedPlans(evidence, start.state, _used(evidence), rng).plan(length)
            if plan:
                return Ask(start, plan, "examine", stopped=stop, examines=True)
        return None

    def _starts(self, evidence: Evidence, rng: np.random.Generator, *, begun: bool) -> list[Node]:
        """Where the next plan may begin, in the order of preference."""
        if self.access is Access.TRAJECTORY:
            return [evidence.current]
        elsewhere = _one(self._beginnings(evidence), rng)
        if self.access is Access.SETTABLE or not begun:
            return [elsewhere]
        return [evidence.current, elsewhere]  # histories become long without extra steps

    def _beginnings(self, evidence: Evidence) -> list[Node]:
        """The situations in which the access lets a query begin anew."""
        initial = [node for node in evidence.nodes if node.initial]
        return initial if self.access is Access.RESET else [*initial, *evidence.visited]


def _stopped(evidence: Evidence) -> Stop | None:
    """How the policy has stopped, if the examination has begun and told nothing new."""
    last = evidence.exchanges[-1] if evidence.exchanges else None
    if last is None or last.move is None or not last.move.examines or last.told:
        return None
    return last.move.stopped


def _exchanges(evidence: Evidence) -> list[Ask | Walk]:
    """The moves of the examination so far."""
    found: list[Ask | Walk] = []
    for exchange in reversed(evidence.exchanges):
        if exchange.move is None or not exchange.move.examines or exchange.told:
            break
        found.append(exchange.move)
    return found[::-1]


def _taken(evidence: Evidence) -> int:
    """The steps of the interrogation itself."""
    return sum(
        len(exchange.entry.actions)
        for exchange in evidence.exchanges
        if exchange.move is None or not exchange.move.examines
    )


def _used(evidence: Evidence) -> Counter[str]:
    """How often each action was executed in the examination."""
    used: Counter[str] = Counter()
    for exchange in evidence.exchanges:
        if exchange.move is None or not exchange.move.examines:
            continue
        entry = exchange.entry
        if isinstance(entry, Walked):
            used.update(step.name for step in entry.actions)
        elif isinstance(entry, Asked):
            used.update(step.name for step in entry.query.plan[: entry.response.executed])
    return used


def _one(nodes: list[Node], rng: np.random.Generator) -> Node:
    return nodes[int(rng.integers(len(nodes)))]
