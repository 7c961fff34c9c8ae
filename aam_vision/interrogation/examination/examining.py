"""Cross-examination before a model counts as complete: a decorator around any policy.

That a model is complete is a proof under an assumption: the agent is a deterministic STRIPS agent in this vocabulary,
and rightly seen. So once the policy stops with its proof, the model predicts and the agent answers. A wrong prediction
ends the interrogation: the agent contradicts what is proven of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from aam_vision.interrogation.evidence.entries import Asked, Entry, Walked
from aam_vision.interrogation.evidence.graph import Evidence, Exchange
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

    ``steps``: how many are examined; None for a quarter of those that the interrogation took. ``histories``: how many
    grow side by side, one for each copy of the agent.
    """

    policy: Policy
    access: Access
    steps: int | None = None
    histories: int = 1

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's move, a step of the examination, or in the end the policy's stop."""
        stop = _stopped(evidence) or self.policy.next(evidence, rng)
        if not isinstance(stop, Stop) or not stop.complete:
            return stop
        wanted = _taken(evidence) // SHARE if self.steps is None else self.steps
        left = wanted - (progress(evidence).steps if self.histories == 1 else _begun(evidence))
        if left <= 0 and self.histories == 1:
            return stop
        return self._examination(evidence, stop, wanted, left, rng) or stop

    def _examination(
        self, evidence: Evidence, stop: Stop, wanted: int, left: int, rng: np.random.Generator
    ) -> Move | None:
        """The next step of the examination; None if nothing can be predicted."""
        done = _exchanges(evidence)
        ends = [_end(evidence, one.entry) for one in done if isinstance(one.move, Ask) and one.move.plan]
        looks = sum(isinstance(one.move, Ask) and not one.move.plan for one in done)
        if looks < len(ends) and (left <= 0 or len(ends) % self.histories == 0):
            return Ask(ends[looks], (), "look again", stopped=stop, examines=True)
        if left <= 0:
            return None
        if walk := self._walk(evidence, stop, wanted, len(done), rng):
            return walk
        starts = self._starts(evidence, ends, rng)
        first = len(ends) < self.histories
        longest = min(left, LONGEST)
        if self.access is Access.SETTABLE and first:
            longest = max(1, longest if self.histories > 1 else 0, left * 2 // 3 // self.histories)
        length = longest if first else int(rng.integers(1, longest + 1))
        for start in starts:
            plan = PredictedPlans(evidence, start.state, _used(evidence), rng).plan(length)
            if plan:
                return Ask(start, plan, "examine", stopped=stop, examines=True)
        return None

    def _walk(
        self, evidence: Evidence, stop: Stop, wanted: int, done: int, rng: np.random.Generator
    ) -> Walk | None:
        """A walk, before all else: one, or several short ones side by side."""
        steps = wanted // WALKED
        if self.access is Access.TRAJECTORY or not steps:
            return None
        walks = min(self.histories, -(-steps // LONGEST))
        if done >= walks:
            return None
        steps = steps * (done + 1) // walks - steps * done // walks
        return Walk(_one(self._beginnings(evidence), rng), steps, "examine", stopped=stop)

    def _starts(self, evidence: Evidence, ends: list[Node], rng: np.random.Generator) -> list[Node]:
        """Where the next plan may begin, in the order of preference; ``ends`` is where the plans so far led."""
        if self.access is Access.TRAJECTORY:
            return [evidence.current]
        elsewhere = _one(self._beginnings(evidence), rng)
        if self.access is Access.SETTABLE or (self.histories > 1 and len(ends) < self.histories):
            return [elsewhere]
        if self.histories > 1:
            return [ends[-self.histories], elsewhere]
        begun = bool(_exchanges(evidence))
        return (
            [evidence.current, elsewhere] if begun else [elsewhere]
        )  # histories become long without extra steps

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


def _exchanges(evidence: Evidence) -> list[Exchange]:
    """The examination so far."""
    found: list[Exchange] = []
    for exchange in reversed(evidence.exchanges):
        if exchange.move is None or not exchange.move.examines or exchange.told:
            break
        found.append(exchange)
    return found[::-1]


def _begun(evidence: Evidence) -> int:
    """The steps of the examination that were asked for; a walk counts in full, even if it ended early."""
    return sum(
        one.move.steps if isinstance(one.move, Walk) else len(one.entry.actions)
        for one in _exchanges(evidence)
    )


def _end(evidence: Evidence, entry: Entry) -> Node:
    """Where a query has led."""
    assert isinstance(entry, Asked), "it is no walk"
    return evidence.situation(entry.response.final)


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
