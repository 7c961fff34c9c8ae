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
WALKED = 6
"""The examination's steps for each step in which the agent acts on its own, as far as the access has walks.

The agent then does what it can do; the model may hold that to be impossible.
"""
ONE_EPISODE = {Access.RESET: 4, Access.SNAPSHOT: 2, Access.SETTABLE: 2, Access.TRAJECTORY: 2}
"""By access, what part of the examination is left when plans begin elsewhere, too; before, one episode goes on. Under
reset access all other histories are short: what runs out after many steps shows only in a long one."""
ELSEWHERE = 3
"""Situations in which a plan may begin, beside the one where the last plan ended."""
IN_VAIN = 10
"""Situations in which a plan is looked for at most, where there is none in those."""


@dataclass
class _Memory:
    """What was worked out from the evidence as long as nothing was learned; it saves time and decides nothing."""

    evidence: Evidence
    version: int
    attempts: Attempts
    choice: Choice


@dataclass
class Examining:
    """The moves of a policy; once it stops with a proof, those of the examination.

    ``steps``: how many are examined; None for a quarter of those that the interrogation took.
    """

    policy: Policy
    access: Access
    steps: int | None = None
    _memory: _Memory | None = field(default=None, init=False, repr=False, compare=False)

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
            return Walk(
                _some(self._beginnings(evidence), 1, rng)[0], wanted // WALKED, "examine", stopped=stop
            )
        memory = self._worked_out(evidence)
        starts = self._starts(evidence, memory, rng, late=left <= wanted // ONE_EPISODE[self.access])
        chosen: Chosen | None
        if self.access is Access.SETTABLE and not any(isinstance(move, Ask) for move in done):
            start = _start(evidence, memory, _some(_initial(evidence), 1, rng)[0])
            chosen = memory.choice.long(start, max(1, left * 2 // 3), min(left, LONGEST), rng)
        else:
            chosen = memory.choice.plan(starts, min(left, LONGEST), rng)
        if chosen is None:
            chosen = self._elsewhere(evidence, memory, min(left, LONGEST), rng)
        if chosen is None:
            return None
        return Ask(chosen.start.node, chosen.plan, "examine", stopped=stop, examines=True)

    def _starts(
        self, evidence: Evidence, memory: _Memory, rng: np.random.Generator, *, late: bool
    ) -> list[Start]:
        """Where the next plan may begin: in the first half of the examination where the last one ended."""
        nodes = [] if self.access is Access.SETTABLE else [evidence.current]
        if self.access is not Access.TRAJECTORY and (late or not nodes):
            nodes += _some(self._beginnings(evidence), ELSEWHERE, rng)
        return [_start(evidence, memory, node) for node in nodes]

    def _elsewhere(
        self, evidence: Evidence, memory: _Memory, longest: int, rng: np.random.Generator
    ) -> Chosen | None:
        """A plan that begins where one can begin anew, if something is predicted there."""
        if self.access is Access.TRAJECTORY:
            return None
        for node in _some(self._beginnings(evidence), IN_VAIN, rng):
            if chosen := memory.choice.plan([_start(evidence, memory, node)], longest, rng):
                return chosen
        return None

    def _worked_out(self, evidence: Evidence) -> _Memory:
        version, memory = evidence.hypotheses.version, self._memory
        if memory is None or memory.evidence is not evidence or memory.version != version:
            attempts = Attempts(evidence, self.access)
            memory = self._memory = _Memory(
                evidence, version, attempts, Choice(attempts, Predictions(evidence, attempts.indices))
            )
        memory.attempts.take_in()
        return memory

    def _beginnings(self, evidence: Evidence) -> list[Node]:
        """The situations in which the access lets a query begin anew."""
        initial = _initial(evidence)
        return initial if self.access is Access.RESET else [*initial, *evidence.visited]


def _initial(evidence: Evidence) -> list[Node]:
    """Where the problems begin."""
    return [node for node in evidence.nodes if node.initial]


def _start(evidence: Evidence, memory: _Memory, node: Node) -> Start:
    return Start(node, node.state, memory.attempts.history(evidence.departure(node)))


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


def _some(nodes: list[Node], count: int, rng: np.random.Generator) -> list[Node]:
    """So many of them at random, or all."""
    return [nodes[int(number)] for number in rng.permutation(len(nodes))[:count]]
