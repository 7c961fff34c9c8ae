"""Cross-examination before a model counts as complete: a decorator around any policy.

That a model is complete is a proof under an assumption: the agent is a deterministic STRIPS agent in this vocabulary,
and rightly seen. So once the policy stops with its proof, the model predicts and the agent answers. A wrong prediction
ends the interrogation: the agent contradicts what is proven of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Policy, Stop, Walk
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.examination.attempts import Attempts
from aam_vision.interrogation.examination.beginnings import beginnings, initial, some, unlike
from aam_vision.interrogation.examination.coverage import History
from aam_vision.interrogation.examination.figures import ENOUGH
from aam_vision.interrogation.examination.plans import Choice, Chosen, Start
from aam_vision.interrogation.examination.predictions import Predictions
from aam_vision.interrogation.examination.surprises import progress, untold
from aam_vision.query import Access, Situation

SHARE = 4
"""The interrogation's steps for each step of the examination, which is then a fifth of all."""
LEAST = ENOUGH + 1
"""Steps of the examination at least, unless fewer are wanted: as many as the bound takes, and one more."""
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
EXPECTED = {Access.SNAPSHOT: 1.5, Access.SETTABLE: 2.0}
"""By access, the interrogation's steps that are reckoned with for each step of its walks, before it is over. In the
packaged domains it has 1.1 to 2 times as many. Fewer would make histories shorter that are begun then."""
LONG = "examine in one history"
"""Why the plans of that history are asked."""
MOST_BEGUN = 2
"""Moves of one history where it is one plan: it is begun once more if it turns out to be too short."""
NOT_YET = Stop(True, "the policy has not stopped yet")
"""Stands for the policy's stop in moves that are made before it."""
ELSEWHERE = 3
"""Situations in which a plan may begin, beside the one where the last plan ended."""
AT_ONCE = 20
"""Further ones, if the next step shows much that is new there: what a problem seldom comes to is met again there."""
MADE = 6
"""States that are made for the next step, where any can be: unlike those that the problems come to."""
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

    ``steps``: how many are examined; None for a quarter of those that the interrogation took, and ``LEAST`` at least.
    """

    policy: Policy
    access: Access
    steps: int | None = None
    several: bool = False
    """Whether several copies of the agent are asked at a time: then one of them is asked for one history, and no other
    plan begins where one has ended."""
    _memory: _Memory | None = field(default=None, init=False, repr=False, compare=False)

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's move, a step of the examination, or in the end the policy's stop."""
        stop = _stopped(evidence) or self.policy.next(evidence, rng)
        if not isinstance(stop, Stop) or not stop.complete:
            return stop
        wanted = max(LEAST, _taken(evidence) // SHARE) if self.steps is None else self.steps
        if self.several:
            return self._of_several(evidence, stop, wanted, rng) or stop
        left = wanted - progress(evidence).steps
        return self._examination(evidence, stop, wanted, left, rng) or stop if left > 0 else stop

    def early(self, evidence: Evidence, rng: np.random.Generator) -> Ask | Walk | None:
        """What can be examined before the policy stops: the walk, and one history of steps that are predicted already.

        Whatever is learned afterwards, these predictions stay the same. The evidence ends with such moves as were made
        already. None if all were, or nothing is predicted.
        """
        if not self.several:
            return None
        wanted = self.steps
        if wanted is None:
            walked = [exchange.move for exchange in evidence.exchanges if isinstance(exchange.move, Walk)]
            steps = sum(walk.steps for walk in walked if not walk.examines)
            wanted = max(LEAST, int(steps * EXPECTED[self.access]) // SHARE)
        return self._begun(evidence, NOT_YET, wanted, rng)

    def _of_several(
        self, evidence: Evidence, stop: Stop, wanted: int, rng: np.random.Generator
    ) -> Ask | Walk | None:
        """The walk and the history, then short plans that begin elsewhere; None once all is examined."""
        if begun := self._begun(evidence, stop, wanted, rng):
            return begun
        done = _exchanges(evidence)
        if (last := done[-1:]) and isinstance(last[0], Ask) and last[0].plan:
            return _look(evidence, stop)
        short = sum(len(move.plan) for move in done if isinstance(move, Ask) and not _is_long(move))
        left = max(
            wanted - sum(len(move.plan) if isinstance(move, Ask) else move.steps for move in done),
            wanted - wanted // WALKED - self._history(wanted) - short,
        )
        if left <= 0:
            return None
        memory, longest = self._worked_out(evidence), min(left, LONGEST)
        starts = [_start(evidence, memory, node) for node in some(self._beginnings(evidence), ELSEWHERE, rng)]
        more = self._more(evidence, memory, rng)
        chosen = memory.choice.plan(starts, longest, rng, more)
        chosen = chosen or self._elsewhere(evidence, memory, longest, rng)
        return None if chosen is None else _asked(evidence, chosen, stop)

    def _begun(
        self, evidence: Evidence, stop: Stop, wanted: int, rng: np.random.Generator
    ) -> Ask | Walk | None:
        """The walk, or the next plan of the history; None if both are long enough, or can go on no longer."""
        done = _exchanges(evidence)
        if not any(isinstance(move, Walk) for move in done) and wanted >= WALKED:
            start = some(initial(evidence), 1, rng)[0]
            return Walk(start, wanted // WALKED, "examine", stopped=stop)
        history = [move for move in done if isinstance(move, Ask) and _is_long(move)]
        if history and history[-1].plan and history[-1] is done[-1]:
            return replace(_look(evidence, stop), why=LONG)
        left = self._history(wanted) - sum(len(move.plan) for move in history)
        if left <= 0:
            return None
        memory = self._worked_out(evidence)
        if self.access is Access.SETTABLE:
            if len(history) > MOST_BEGUN:
                return None
            begins = _start(evidence, memory, some(initial(evidence), 1, rng)[0])
            chosen = memory.choice.long(begins, self._history(wanted), LONGEST, rng)
        elif history and history[-1] is not done[-1]:
            return None
        else:
            node = evidence.current if history else self._deepest(evidence, memory, rng)
            begins = _start(evidence, memory, node)
            chosen = memory.choice.plan([begins], min(left, LONGEST), rng)
        if chosen is None:
            return None
        goes_on = bool(history) and self.access is not Access.SETTABLE
        return replace(_asked(evidence, chosen, stop), why=LONG, goes_on=goes_on)

    def _deepest(self, evidence: Evidence, memory: _Memory, rng: np.random.Generator) -> Node:
        """Where most steps were made before, so that what counts them shows soonest."""
        nodes = self._beginnings(evidence)
        return max(
            some(nodes, len(nodes), rng), key=lambda node: _start(evidence, memory, node).history.steps
        )

    def _history(self, wanted: int) -> int:
        """The steps of the one long history."""
        if self.access is Access.SETTABLE:
            return min(wanted, max(1, (wanted - wanted // WALKED) * 2 // 3))
        return wanted - wanted // ONE_EPISODE[self.access]

    def _examination(
        self, evidence: Evidence, stop: Stop, wanted: int, left: int, rng: np.random.Generator
    ) -> Move | None:
        """The next step of the examination; None if nothing can be predicted."""
        done = _exchanges(evidence)
        if untold(evidence) > wanted:
            return None
        if done and isinstance(done[-1], Ask) and done[-1].plan:
            return Ask(evidence.current, (), "look again", stopped=stop, examines=True)
        if not done and self.access is not Access.TRAJECTORY and wanted >= WALKED:
            deepest = self._deepest(evidence, self._worked_out(evidence), rng)
            return Walk(deepest, wanted // WALKED, "examine", stopped=stop)
        memory = self._worked_out(evidence)
        late = left <= wanted // ONE_EPISODE[self.access] or self.access is Access.SETTABLE
        starts = self._starts(evidence, memory, rng, late=late)
        chosen: Chosen | None
        if self.access is Access.SETTABLE and not any(isinstance(move, Ask) for move in done):
            start = _start(evidence, memory, some(initial(evidence), 1, rng)[0])
            chosen = memory.choice.long(start, max(1, left * 2 // 3), min(left, LONGEST), rng)
        else:
            more = self._more(evidence, memory, rng) if late else []
            chosen = memory.choice.plan(starts, min(left, LONGEST), rng, more)
        if chosen is None:
            chosen = self._elsewhere(evidence, memory, min(left, LONGEST), rng)
        if chosen is None:
            return None
        return _asked(evidence, chosen, stop)

    def _starts(
        self, evidence: Evidence, memory: _Memory, rng: np.random.Generator, *, late: bool
    ) -> list[Start]:
        """Where the next plan may begin: in the first half of the examination where the last one ended."""
        nodes = [] if self.access is Access.SETTABLE else [evidence.current]
        if self.access is not Access.TRAJECTORY and late:
            nodes += some(self._beginnings(evidence), ELSEWHERE, rng)
        return [_start(evidence, memory, node) for node in nodes]

    def _more(self, evidence: Evidence, memory: _Memory, rng: np.random.Generator) -> list[Start]:
        """Where a plan of one step may begin; it is as long as one that goes on where the last one ended."""
        if self.access not in (Access.SNAPSHOT, Access.SETTABLE):
            return []
        nodes = some(self._beginnings(evidence), AT_ONCE, rng)
        found = [_start(evidence, memory, node) for node in nodes]
        if self.access is Access.SETTABLE:
            vocabulary = evidence.hypotheses.vocabulary
            made = [unlike(vocabulary, node.state, rng) for node in nodes[:MADE]]
            found += [Start(None, state, History()) for state in made]
        return found

    def _elsewhere(
        self, evidence: Evidence, memory: _Memory, longest: int, rng: np.random.Generator
    ) -> Chosen | None:
        """A plan that begins where one can begin anew, if something is predicted there."""
        if self.access is Access.TRAJECTORY:
            return None
        for node in some(self._beginnings(evidence), IN_VAIN, rng):
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
        return beginnings(evidence, self.access, several=self.several)


def _look(evidence: Evidence, stop: Stop) -> Ask:
    """A look at where the last plan has ended."""
    return Ask(evidence.current, (), "look again", stopped=stop, examines=True, goes_on=True)


def _asked(evidence: Evidence, chosen: Chosen, stop: Stop) -> Ask:
    node, state = chosen.start.node, chosen.start.state
    begins = evidence.situation(Situation(state, state)) if node is None else node
    return Ask(begins, chosen.plan, "examine", stopped=stop, examines=True)


def _is_long(move: Ask) -> bool:
    """Whether it belongs to the one long history."""
    return move.why == LONG


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
        told = exchange.told and not evidence.supposes
        if exchange.move is None or not exchange.move.examines or told:
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
