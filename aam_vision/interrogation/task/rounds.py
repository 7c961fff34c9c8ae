"""Rounds of moves that do not need each other's answers, for an agent of which there are several copies.

A policy is a function of the evidence. So a round is composed on a copy of policy and evidence, which goes on as if every
move were made that it has composed (``task.ahead``). The moves are announced to the agent, whose copies begin with them;
and then they are made one by one, as ever. Every answer is taken in, in the order of the moves, whenever it came: the
same seed and number of copies give the same interrogation.

What comes once the policy has stopped, such as an examination, has rounds of its own, which are dropped once an answer
tells anything new.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from heapq import heappush, heapreplace

import numpy as np

from aam_vision.agents.counting import CountingAgent, Counts
from aam_vision.errors import InconsistentAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Policy, Stop, Walk
from aam_vision.interrogation.task.ahead import Ahead
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.resuming import MoveRecord, note_move, read_move
from aam_vision.query import Expected, Query, WalkRequest, expect

LEAST_WIDTH = 8
"""The width that is reckoned with for fewer copies, too: their number then makes no difference to the interrogation."""


def width(copies: int) -> int:
    """How many copies of an agent the questions are composed for; 1 if each of them waits for the answer before."""
    return max(copies, LEAST_WIDTH) if copies > 1 else 1


LONG = 8
"""Steps of waiting for one copy for which the others get more to do."""


@dataclass
class Rounds:
    """The moves of a policy, several at a time.

    Args:
        policy: composes the moves.
        agent: hears of every round before it is asked.
        copies: of the agent, for which questions are composed.
        budget: no move is announced that cannot be afforded.
        record: keeps all moves, and gives back those of a run that was cut short.
        shared: parts of the policy that need no copies, such as a planner.
    """

    policy: Policy
    agent: CountingAgent
    copies: int
    budget: Budget
    record: MoveRecord | None = None
    shared: tuple[object, ...] = ()
    dropped: int = 0
    """Moves that were announced and then not made."""
    _waiting: deque[Ask | Walk] = field(default_factory=deque)
    """The moves that were announced, and have yet to be made."""
    _few: int = 0
    """More are composed once so few are waiting."""
    _closed: bool = False
    """Whether nothing more can be asked until the waiting moves have been made."""
    _latest: Ask | Walk | None = None

    @property
    def size(self) -> int:
        """Moves that are announced and not yet made: some more than there are copies, since some take longer."""
        return self.copies * 3 // 2

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move; more are announced, if the copies of the agent would soon have nothing to do."""
        self._drop_early(evidence, rng)
        if not self._waiting:
            self._closed = False
        if not self._waiting or (len(self._waiting) <= self._few and not self._closed):
            begun = self._recorded(evidence, rng)
            if begun is None:
                begun = self._composed(evidence, rng)
            if isinstance(begun, Stop):
                return begun
            self._waiting.extend(begun)
            self._few = min(self.size, len(self._waiting)) // 2
        self._latest = self._waiting.popleft()
        return self._latest

    def _drop_early(self, evidence: Evidence, rng: np.random.Generator) -> None:
        """Drop the waiting moves that come once the policy has stopped, where it turns out not to stop yet."""
        if self._latest is None or not self._waiting or self._waiting[0].stopped is None:
            return
        if self._latest.stopped is not None:
            early = evidence.exchanges[-1].told
        else:
            move = self.policy.next(evidence, deepcopy(rng))
            early = isinstance(move, Stop) or move.stopped is None
        if early:
            self.dropped += len(self._waiting)
            self._waiting.clear()

    def _composed(self, evidence: Evidence, rng: np.random.Generator) -> list[Ask | Walk] | Stop:
        """As many moves as there is room for, announced and recorded; the policy's stop, if none is waiting."""
        found: list[Ask | Walk] = []
        if not self._waiting:
            first = self.policy.next(evidence, rng)
            if isinstance(first, Stop):
                if self.record is not None:
                    note_move(self.record, first, evidence, rng)
                return first
            found.append(self._announced(first, evidence, rng))
        found += self._further([*self._waiting, *found], evidence, rng)
        if self.record is not None:
            for number, move in enumerate(found, 1):
                note_move(self.record, move, evidence, rng, round=[len(evidence.exchanges), number])
        return found

    def _further(
        self, waiting: Sequence[Ask | Walk], evidence: Evidence, rng: np.random.Generator
    ) -> Iterator[Ask | Walk]:
        """Moves that do not need the answers to those which are waited for."""
        left, load, waiting = _Left(self.budget, self.agent.counts), _Load(self.copies), list(waiting)
        ahead = Ahead(self.policy, evidence, self.agent.access, self.shared)
        try:
            for one in waiting:
                left.spend(one)
                load.add(ahead.take(one))
            while len(waiting) < self.size or load.is_uneven:
                state = rng.bit_generator.state
                move = ahead.next(rng)
                if move is None or _stage(move) != _stage(waiting[0]) or not left.affords(move):
                    rng.bit_generator.state = state
                    self._closed = True
                    return
                waiting.append(self._announced(move, evidence, rng))
                yield waiting[-1]
                left.spend(move)
                load.add(ahead.take(move))
        except InconsistentAgent:
            self._closed = True

    def _announced(self, move: Ask | Walk, evidence: Evidence, rng: np.random.Generator) -> Ask | Walk:
        """The move, of which the agent has heard; a walk gets a seed of its own."""
        if isinstance(move, Walk):
            move = replace(move, seed=int(rng.integers(2**63)))
        expect(self.agent, [_question(move, evidence)])
        return move

    def _recorded(self, evidence: Evidence, rng: np.random.Generator) -> list[Ask | Walk] | Stop | None:
        """The recorded moves that were composed at this point, and announced; None if nothing more is recorded."""
        if self.record is None or self.record.upcoming() is None:
            return None
        found: list[Ask | Walk] = []
        while (told := self.record.upcoming()) is not None:
            if "stop" in told and not self._waiting and not found:
                move = read_move(self.record, evidence, rng)
                assert isinstance(move, Stop), "it says so"
                return move
            if told.get("round") != [len(evidence.exchanges), len(found) + 1]:
                break
            move = read_move(self.record, evidence, rng)
            assert isinstance(move, Ask | Walk), "a stop belongs to no round"
            found.append(move)
        if not found and not self._waiting:
            raise self.record.damaged("a move is missing")
        expect(self.agent, [_question(move, evidence) for move in (*self._waiting, *found)])
        return found


def _question(move: Ask | Walk, evidence: Evidence) -> Expected:
    """The question that the agent will be asked."""
    start = evidence.departure(move.start)
    if isinstance(move, Ask):
        return Query(start, move.plan)
    assert move.seed is not None, "a walk of a round has a seed"
    return WalkRequest(start, move.steps, move.seed)


@dataclass
class _Load:
    """How long the copies have to do, if each move goes to the one that is free first."""

    copies: int
    steps: list[int] = field(default_factory=list)

    def add(self, steps: int) -> None:
        """One more move of so many steps."""
        if len(self.steps) < self.copies:
            heappush(self.steps, steps)
        else:
            heapreplace(self.steps, self.steps[0] + steps)

    @property
    def is_uneven(self) -> bool:
        """Whether some copies would wait long for another one."""
        return max(self.steps) - self.steps[0] >= LONG


def _stage(move: Ask | Walk) -> int:
    """First come walks, then queries, then what is asked once the policy has stopped: no round goes over to the next."""
    if move.stopped is not None:
        return 2
    return 0 if isinstance(move, Walk) else 1


def _steps(move: Ask | Walk) -> int:
    return len(move.plan) if isinstance(move, Ask) else move.steps


@dataclass
class _Left:
    """The part of the budget that a round has not spent."""

    budget: Budget
    counts: Counts
    steps: int = 0
    queries: int = 0

    def affords(self, move: Ask | Walk) -> bool:
        """Whether the budget allows one more move."""
        queries = self.queries + (isinstance(move, Ask) and not move.again and not move.examines)
        return not self.budget.spent(self.counts, steps=self.steps + _steps(move), queries=queries)

    def spend(self, move: Ask | Walk) -> None:
        """Make the move."""
        self.steps += _steps(move)
        self.queries += isinstance(move, Ask) and not move.again and not move.examines
