"""Rounds of moves that do not need each other's answers, for an agent of which there are several copies.

A policy is a function of the evidence. So a round is composed on a copy of policy and evidence, which goes on as if every
move were made that it has composed (``Ahead``). The moves are announced to the agent, whose copies begin with them;
and then they are made one by one, as ever. Every answer is taken in, in the order of the moves, whenever it came: the
same seed and number of copies give the same interrogation.

What comes once the policy has stopped, such as an examination, has rounds of its own, which are dropped once an answer
tells anything new.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush

import numpy as np

from aam_vision.agents.counting import CountingAgent, Counts
from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.evidence.moves import Ask, Asked, Move, Policy, Stop, Walk, Walked
from aam_vision.interrogation.examination.examining import Examining
from aam_vision.interrogation.examination.predictions import expected
from aam_vision.interrogation.policies.economical import EXPLORE
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.resuming import MoveRecord, note_move, read_move
from aam_vision.model.query import Access, Course, Expected, Query, Response, Situation, WalkRequest, expect
from aam_vision.support.errors import InconsistentAgent

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
        if not self.agent.access.episodic:  # there a move may begin where the one before it has ended
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

        ``ahead``: with the walks that are not over; None if all are. ``before``: the move before the first question.
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
            with self.budget.resources.undisturbed():
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


# The moves of a round: in which order they are made, and as which questions the agent hears of them.


def goes_on(move: Ask | Walk) -> bool:
    """Whether it begins where the move before it ends."""
    return isinstance(move, Ask) and move.goes_on


def shortest_first(moves: Sequence[Ask | Walk]) -> list[Ask | Walk]:
    """The same moves, those with few steps first, so that no answer waits for one that takes long.

    Those that go on stay behind the move before them.
    """
    groups = sorted(_groups(moves), key=lambda group: sum(map(steps_of, group)))
    return [move for group in groups for move in group]


def is_open(move: Ask | Walk) -> bool:
    """Whether a look at where it ends belongs to it."""
    return isinstance(move, Ask) and move.examines and bool(move.plan)


def at_a_time(moves: Iterable[Ask | Walk]) -> int:
    """How many of them do not go on from the move before, so that they can be made at a time."""
    return sum(not goes_on(move) for move in moves)


def with_seed(move: Ask | Walk, rng: np.random.Generator) -> Ask | Walk:
    """The move; a walk gets a seed of its own."""
    return replace(move, seed=int(rng.integers(2**63))) if isinstance(move, Walk) else move


def expected_questions(moves: Iterable[Ask | Walk], evidence: Evidence) -> list[Expected]:
    """The questions that the agent will be asked; those that go on from each other are one course."""
    return [_question(group, evidence) for group in _groups(moves)]


def _groups(moves: Iterable[Ask | Walk]) -> list[list[Ask | Walk]]:
    """The moves, each with those that go on from it."""
    groups: list[list[Ask | Walk]] = []
    for move in moves:
        if goes_on(move) and groups:
            groups[-1].append(move)
        else:
            groups.append([move])
    return groups


def _question(group: Sequence[Ask | Walk], evidence: Evidence) -> Expected:
    first = group[0]
    start = evidence.departure(evidence.current if goes_on(first) else first.start)
    if isinstance(first, Walk):
        assert first.seed is not None, "a walk of a round has a seed"
        return WalkRequest(start, first.steps, first.seed)
    if len(group) == 1:
        return Query(start, first.plan)
    return Course(start, tuple(move.plan for move in group if isinstance(move, Ask)))


def stage(move: Ask | Walk) -> int:
    """First come walks, then queries, then what is asked once the policy has stopped: no round goes over to the next."""
    if move.stopped is not None:
        return 2
    return 0 if isinstance(move, Walk) and move.why == EXPLORE else 1


def steps_of(move: Ask | Walk) -> int:
    """The steps that it may take."""
    return len(move.plan) if isinstance(move, Ask) else move.steps


# How much room a round has: in the budget, and until the copies of the agent have enough to do.

LONG = 8
"""Steps of waiting for one copy for which the others get more to do."""


@dataclass
class Load:
    """How long the copies have to do, if each move goes to the one that is free first."""

    copies: int
    steps: list[int] = field(default_factory=list)
    _latest: int = 0
    """The steps of the copy that got the latest move."""

    def add(self, steps: int, *, goes_on: bool) -> None:
        """One more move of so many steps; ``goes_on``: for the copy that got the move before."""
        if goes_on and self.steps:
            self.steps.remove(self._latest)
            heapify(self.steps)
            steps += self._latest
        elif len(self.steps) == self.copies:
            steps += heappop(self.steps)
        heappush(self.steps, steps)
        self._latest = steps

    @property
    def is_uneven(self) -> bool:
        """Whether some copies would wait long for another one."""
        return max(self.steps) - self.steps[0] >= LONG


@dataclass
class Left:
    """The part of the budget that a round has not spent."""

    budget: Budget
    counts: Counts
    steps: int = 0
    queries: int = 0

    def affords(self, move: Ask | Walk) -> bool:
        """Whether the budget allows one more move."""
        queries = self.queries + (isinstance(move, Ask) and not move.again and not move.examines)
        return not self.budget.spent(self.counts, steps=self.steps + steps_of(move), queries=queries)

    def spend(self, move: Ask | Walk) -> None:
        """Make the move."""
        self.steps += steps_of(move)
        self.queries += isinstance(move, Ask) and not move.again and not move.examines


# What a policy would ask besides, while questions of its are not answered yet.
#
# Evidence and policy are copied together, so that what the policy has worked out from the evidence is there for the copy,
# too. The copy supposes that every literal that is being asked about is a precondition. So it asks nothing about the
# literal any more; and whatever it asks instead holds the literal, so that the answer means the same whatever the answers
# that are waited for turn out to be. Values that never change are shared.


@dataclass(frozen=True)
class _NotSeenYet:
    """The handle of a situation that is expected; no query can begin there."""

    number: int


class Ahead:
    """A policy and its evidence as they will be, if all goes as expected.

    Args:
        policy: as it is after its latest move.
        evidence: the evidence that this move is about.
        access: of the agent.
        shared: parts of the policy that need no copies, such as a planner.
    """

    def __init__(
        self, policy: Policy, evidence: Evidence, access: Access, shared: Iterable[object] = ()
    ) -> None:
        self._original = evidence
        self._known = len(evidence.nodes)
        self._access = access
        memo = {id(one): one for one in (*_values(evidence), *shared)}
        self._policy, self._evidence = deepcopy((policy, evidence), memo)
        self._evidence.supposes = True
        self._expected = 0

    def take(self, move: Ask | Walk) -> int:
        """Go on as if the move were made; a walk counts as if it told nothing.

        Returns:
            The steps that it may take.

        Raises:
            InconsistentAgent: this cannot be.
        """
        goes_on = isinstance(move, Ask) and move.goes_on
        start = self._evidence.current if goes_on else self._copy(move.start)
        return self._take(replace(move, start=start, wanted=move.wanted and self._copy(move.wanted)))

    def _take(self, copied: Ask | Walk) -> int:
        if isinstance(copied, Walk):
            self._evidence.take_in(Walked(()), copied)
            return copied.steps
        asked = Asked(Query(self._evidence.departure(copied.start), copied.plan), self._response(copied))
        self._evidence.take_in(asked, copied)
        final = self._evidence.situation(asked.response.final)
        if final.situation is not None and isinstance(final.situation.handle, _NotSeenYet):
            final.situation = None  # nothing can begin there
        for aim in copied.aims:
            self._evidence.hypotheses[aim.action].suppose(aim.literals)
        return len(asked.actions)

    def next(self, rng: np.random.Generator) -> Ask | Walk | None:
        """The next move; None if there is none, or if it begins where the agent has not been seen yet.

        A move that goes on gets a start that is known, in the place of the one that is not.
        """
        move = self._policy.next(self._evidence, rng)
        return None if isinstance(move, Stop) or self._evidence.repeats(move) else self._really(move)

    def early(self, rng: np.random.Generator) -> Iterator[Ask | Walk]:
        """The moves of an examination that can be made before the policy stops.

        Nothing may be supposed so far but what walks tell nothing of.
        """
        if not isinstance(self._policy, Examining):
            return
        while (move := self._policy.early(self._evidence, rng)) is not None:
            if (real := self._really(move)) is None:
                return
            self._take(move)
            yield real

    def _really(self, move: Ask | Walk) -> Ask | Walk | None:
        """The same move in terms of the evidence itself; None if it cannot begin."""
        if isinstance(move, Ask) and move.goes_on:
            return replace(move, start=self._original.current)
        start = self._real(move.start)
        if start is None or (move.wanted is not None and move.wanted.number >= self._known):
            return None
        wanted = None if move.wanted is None else self._original.nodes[move.wanted.number]
        return replace(move, start=start, wanted=wanted)

    def _real(self, copied: Node) -> Node | None:
        """The node of the evidence itself; None if it is only expected, and cannot be made."""
        if copied.number < self._known:
            real = self._original.nodes[copied.number]
            # under reset access the agent will have left the situation where it stands now
            return real if real.initial or not self._access.episodic else None
        if not self._access.constructs or copied.state.unknown:
            return None
        return self._original.situation(Situation(copied.state, copied.state))

    def _copy(self, node: Node) -> Node:
        """The copy of a node of the evidence itself."""
        if node.number < self._known:
            return self._evidence.nodes[node.number]
        assert node.situation is not None, "a query begins in a situation"
        return self._evidence.situation(node.situation)

    def _response(self, move: Ask) -> Response:
        """The answer that is supposed: as the evidence predicts, else a refusal where something is in doubt."""
        start = self._evidence.departure(move.start)
        state, executed = move.start.state, 0
        aimed = {move.replayed + aim.step for aim in move.aims}
        for number, step in enumerate(move.plan):
            sure = expected(self._evidence, state, step)
            again = move.again and number == len(move.plan) - 1
            if sure is False or (sure is None and (again or number in aimed)):
                break
            state = self._evidence.predict(state, step)
            executed += 1
        if not executed:
            return Response(0, start)
        self._expected += 1
        handle = state if self._access.constructs else _NotSeenYet(self._expected)
        return Response(executed, Situation(handle, state))


def _values(evidence: Evidence) -> Iterable[object]:
    """The values in the evidence: they never change."""
    yield evidence.hypotheses.vocabulary
    yield from evidence.hypotheses.headers
    for node in evidence.nodes:
        yield node.state
        yield node.state.true
        yield node.state.unknown
        yield node.state.objects
        if node.state_when_new is not None:
            yield node.state_when_new
        if node.situation is not None:
            yield node.situation
            yield node.situation.state
            yield node.situation.handle
    for exchange in evidence.exchanges:
        yield exchange.entry
