"""Making the moves of an earlier run again: a decorator around its policy.

The policy is asked as before, so that all it remembers is as before, and its moves are those of the earlier run,
but for one thing: what is given up after some time of planning may be found this time, or the other way
round. Then the earlier move is made, and not the policy's: whatever was asked is sound, and answered already.

What was asked a second time, and not to attempt again what was refused, was no move of a policy, but what follows the
last of them (``noisy.doubting``): there the policy has stopped.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.queries.moves import Ask, Move, Policy, Stop, Walk
from aam_vision.query import Situation
from aam_vision.strips import GroundAction


class Resuming:
    """The moves of an earlier run first, then the policy's own.

    Args:
        policy: a fresh one, as the earlier run had it.
        upcoming: where the earlier run's next move started, and its plan or the steps of its walk; None
            when all its moves have been made.
    """

    def __init__(
        self,
        policy: Policy,
        upcoming: Callable[[], tuple[Situation, tuple[GroundAction, ...] | int] | None],
    ) -> None:
        self._policy = policy
        self._upcoming = upcoming
        self.differences = 0
        """How often the policy would have moved otherwise this time."""
        self._asked: set[tuple[int, tuple[GroundAction, ...]]] = set()

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The earlier move, or the policy's."""
        move = self._policy.next(evidence, rng)
        earlier = self._upcoming()
        if earlier is None:
            return move
        start, what = earlier
        node = evidence.situation(start)
        if isinstance(what, int):
            # a budget may have cut the walk short
            if not (isinstance(move, Walk) and move.start is node and move.steps >= what):
                self.differences += 1
            return Walk(node, what)
        before = (node.number, what) in self._asked
        self._asked.add((node.number, what))
        if isinstance(move, Ask) and move.start is node and move.plan == what:
            return move
        again = len(what) == 1 and evidence.was_seen(node, what[0])
        if before and not again:
            if isinstance(move, Stop):
                return move
            self.differences += 1
            return Stop(False, "the earlier run found no way to ask more in its time")
        self.differences += 1
        return Ask(node, what, "as in the earlier run", again)
