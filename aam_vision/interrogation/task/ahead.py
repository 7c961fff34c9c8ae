"""What a policy would ask besides, while questions of its are not answered yet.

Evidence and policy are copied together, so that what the policy has worked out from the evidence is there for the copy,
too. The copy supposes that every literal that is being asked about is a precondition. So it asks nothing about the
literal any more; and whatever it asks instead holds the literal, so that the answer means the same whatever the answers
that are waited for turn out to be. Values that never change are shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from aam_vision.interrogation.evidence.entries import Asked, Walked
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Policy, Stop, Walk
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.examination.examining import Examining
from aam_vision.interrogation.examination.surprises import expected
from aam_vision.query import Access, Query, Response, Situation


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
        return None if isinstance(move, Stop) or self._was_asked(move) else self._really(move)

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

    def _was_asked(self, move: Ask | Walk) -> bool:
        """Whether the policy repeats itself."""
        if isinstance(move, Walk) or move.again or move.examines:
            return False
        return self._evidence.was_asked(move.start, move.plan)

    def _real(self, copied: Node) -> Node | None:
        """The node of the evidence itself; None if it is only expected, and cannot be made."""
        if copied.number < self._known:
            real = self._original.nodes[copied.number]
            # under reset access the agent will have left the situation where it stands now
            return real if real.initial or self._access is not Access.RESET else None
        if self._access is not Access.SETTABLE or copied.state.unknown:
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
        handle = state if self._access is Access.SETTABLE else _NotSeenYet(self._expected)
        return Response(executed, Situation(handle, state))


def _values(evidence: Evidence) -> Iterable[object]:
    """The values in the evidence: they never change."""
    yield evidence.hypotheses.vocabulary
    yield from evidence.hypotheses.headers
    for node in evidence.nodes:
        yield node.state
        yield node.state.objects
        if node.state_when_new is not None:
            yield node.state_when_new
        if node.situation is not None:
            yield node.situation
            yield node.situation.state
            yield node.situation.handle
    for exchange in evidence.exchanges:
        yield exchange.entry
