"""Cross-examination before a model counts as complete: a decorator around any policy.

That a model is complete is a proof under an assumption: the agent is a deterministic STRIPS agent in this vocabulary,
and rightly seen. So once the policy stops with its proof, the model predicts and the agent answers. A wrong prediction
ends the interrogation: the agent contradicts what is proven of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Policy, Stop, Walk
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.examination.attempts import Attempts
from aam_vision.interrogation.examination.plans import Choice, Chosen, Start
from aam_vision.interrogation.examination.predictions import Predictions
from aam_vision.interrogation.examination.surprises import progress
from aam_vision.query import Access

SHARE = 4
"""The interrogation's steps for each step of the examination, which is then a fifth of all."""
LONGEST = 8
"""Steps of a plan at most. Histories grow from plan to plan; where every question makes its own state, the first plan
takes two thirds of all steps instead."""
ELSEWHERE = 3
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
    _cache: dict = field(default_factory=dict, compare=False, repr=False)

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
        first = not any(isinstance(move, Ask) for move in done)
        attempts, predictions = self._worked_out(evidence)
        choice = Choice(evidence, attempts, predictions, rng)
        starts = [
            Start(node, node.state, attempts.history(evidence.departure(node)))
            for node in self._starts(evidence, rng, begun=bool(done), late=left <= wanted // 2)
        ]
        if self.access is Access.SETTABLE and first:
            return _asked(choice.long(starts, max(1, left // 2)), stop)
        chosen = choice.plan(starts, min(left, LONGEST))
        if chosen is None and self.access is not Access.TRAJECTORY:
            others = [node for node in self._beginnings(evidence) if node.state != evidence.current.state]
            rng.shuffle(others)
            for node in others[:10]:
                chosen = choice.plan([Start(node, node.state, attempts.history(evidence.departure(node)))], min(left, LONGEST))
                if chosen is not None: break
        return _asked(chosen, stop)

    def _worked_out(self, evidence: Evidence) -> tuple[Attempts, Predictions]:
        key = id(evidence), evidence.hypotheses.version
        if self._cache.get("key") != key:
            self._cache.update(key=key, attempts=Attempts(self.access), predictions=Predictions(evidence))
        self._cache["attempts"].take_in(evidence)
        return self._cache["attempts"], self._cache["predictions"]

    def _starts(self, evidence: Evidence, rng: np.random.Generator, *, begun: bool, late: bool) -> list[Node]:
        """Where the next plan may begin."""
        if self.access is Access.TRAJECTORY:
            return [evidence.current]
        if begun and not late and self.access is not Access.SETTABLE:
            return [evidence.current]
        beginnings = self._beginnings(evidence)
        elsewhere = [_one(beginnings, rng) for _ in range(ELSEWHERE)]
        if self.access is Access.SETTABLE or not begun:
            return elsewhere
        return [evidence.current, *elsewhere]  # histories become long without extra steps

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


def _asked(chosen: Chosen | None, stop: Stop) -> Ask | None:
    return None if chosen is None else Ask(chosen.start.node, chosen.plan, "examine", stopped=stop, examines=True)


def _one(nodes: list[Node], rng: np.random.Generator) -> Node:
    return nodes[int(rng.integers(len(nodes)))]
