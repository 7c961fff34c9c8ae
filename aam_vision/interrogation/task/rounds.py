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
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.errors import InconsistentAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Policy, Stop, Walk
from aam_vision.interrogation.policies.walking import EXPLORE
from aam_vision.interrogation.task.ahead import Ahead
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.resuming import MoveRecord, note_move, read_move
from aam_vision.interrogation.task.round_moves import (
    at_a_time,
    expected_questions,
    goes_on,
    is_open,
    shortest_first,
    stage,
    with_seed,
)
from aam_vision.interrogation.task.round_room import Left, Load
from aam_vision.query import Access, expect

LEAST_WIDTH = 8
"""The width that is reckoned with for fewer copies, too: their number then makes no difference to the interrogation."""


def width(copies: int) -> int:
    """How many copies of an agent the questions are composed for; 1 if each of them waits for the answer before."""
    return max(copies, LEAST_WIDTH) if copies > 1 else 1


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
    _begun: list[Ask | Walk] = field(default_factory=list)
    """What the agent has been told of the examination before the policy has stopped."""
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
        if at_a_time(self._waiting) <= self._few and not self._closed:
            begun = self._recorded(evidence, rng)
            if begun is None:
                begun = self._composed(evidence, rng)
            if isinstance(begun, Stop):
                return begun
            self._waiting.extend(begun)
            self._few = min(self.size, at_a_time(self._waiting)) // 2
        move = self._waiting.popleft()
        if isinstance(move, Ask) and move.goes_on:
            move = replace(move, start=evidence.current)
        self._latest = move
        return move

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
        self._announce(self._begun, evidence)  # anew, if the interrogation was cut short
        noted = bool(self._begun)
        found: list[Ask | Walk] = []
        if not self._waiting:
            first = self.policy.next(evidence, rng)
            if isinstance(first, Stop):
                if self.record is not None:
                    note_move(self.record, first, evidence, rng)
                return first
            if self._begun and first.examines:
                found = [replace(move, stopped=first.stopped) for move in self._begun]
                self._begun = []
            else:
                found = [with_seed(first, rng)]
            if not first.examines:
                self._announce(found, evidence)
            if stage(first) == 1 and evidence.exchanges:
                self._begin(None, evidence.exchanges[-1].move, evidence, rng)
        found += self._further(found, evidence, rng)
        if self.agent.access is not Access.RESET:  # there a move may begin where the one before it has ended
            found = shortest_first(found)
        if self.record is not None:
            begun = [] if noted else self._begun
            for number, move in enumerate([*found, *begun], 1):
                round_ = {"round": [len(evidence.exchanges), number]}
                early = {"early": True} if number > len(found) else {}
                closed = {"closed": True} if self._closed else {}
                note_move(self.record, move, evidence, rng, **round_, **early, **closed)
        return found

    def _begin(
        self,
        ahead: Ahead | None,
        before: Ask | Walk | None,
        evidence: Evidence,
        rng: np.random.Generator,
    ) -> None:
        """Begin with what can be examined before the policy stops, once it walks no more.

        Not where there is a budget, which the policy itself may need.

        Args:
            ahead: with the walks that are not over; None if all are.
            before: the move before the first question.
            evidence: so far.
            rng: the source of random choices.
        """
        walked = isinstance(before, Walk) and before.why == EXPLORE
        if self._begun or not walked or self.budget != Budget():
            return
        ahead = ahead or Ahead(self.policy, evidence, self.agent.access, self.shared)
        self._begun = [with_seed(move, rng) for move in ahead.early(rng)]
        self._announce(self._begun, evidence)

    def _further(
        self, first: Sequence[Ask | Walk], evidence: Evidence, rng: np.random.Generator
    ) -> list[Ask | Walk]:
        """Moves that do not need the answers to those which are waited for; with these they are announced."""
        left, load = Left(self.budget, self.agent.counts), Load(self.copies)
        waiting = [*self._waiting, *first]
        ahead = Ahead(self.policy, evidence, self.agent.access, self.shared)
        group = list(first) if first and first[0].stopped is not None else []
        found: list[Ask | Walk] = []
        state = rng.bit_generator.state
        try:
            for one in waiting:
                left.spend(one)
                load.add(ahead.take(one), goes_on=goes_on(one))
            while at_a_time(waiting) < self.size or load.is_uneven or is_open(waiting[-1]):
                state = rng.bit_generator.state
                move = ahead.next(rng)
                if move is None or stage(move) != stage(waiting[0]) or not left.affords(move):
                    rng.bit_generator.state = state
                    self._closed = True
                    if move is not None and stage(move) == 1 and 2 * len(waiting) <= len(evidence.exchanges):
                        self._begin(ahead, waiting[0], evidence, rng)
                    break
                move = with_seed(move, rng)
                if not goes_on(move):
                    self._announce(group, evidence)
                    group = []
                waiting.append(move)
                found.append(move)
                group.append(move)
                state = rng.bit_generator.state
                if not (isinstance(move, Ask) and move.examines):
                    self._announce(group, evidence)
                    group = []
                left.spend(move)
                load.add(ahead.take(move), goes_on=goes_on(move))
            self._announce(group, evidence)
        except InconsistentAgent:
            rng.bit_generator.state = state
            self._announce(group, evidence)
            self._closed = True
        return found

    def _announce(self, moves: Iterable[Ask | Walk], evidence: Evidence) -> None:
        """Have the agent hear of moves."""
        if questions := expected_questions(moves, evidence):
            expect(self.agent, questions)

    def _recorded(self, evidence: Evidence, rng: np.random.Generator) -> list[Ask | Walk] | Stop | None:
        """The recorded moves that were composed at this point, and announced; None if nothing more is recorded."""
        if self.record is None or self.record.upcoming() is None:
            return None
        found: list[Ask | Walk] = []
        begun: list[Ask | Walk] = []
        closed = True
        while (told := self.record.upcoming()) is not None:
            if "stop" in told and not self._waiting and not found:
                move = read_move(self.record, evidence, rng)
                assert isinstance(move, Stop), "it says so"
                return move
            if told.get("round") != [len(evidence.exchanges), len(found) + len(begun) + 1]:
                break
            move = read_move(self.record, evidence, rng)
            assert isinstance(move, Ask | Walk), "a stop belongs to no round"
            (begun if told.get("early") else found).append(move)
            closed = bool(told.get("closed"))
        self._closed = closed
        if found and found[0].examines:
            self._begun = []
        self._begun += begun
        if not found and not self._waiting:
            raise self.record.damaged("a move is missing")
        self._announce([*self._waiting, *found], evidence)
        return found
