"""Any policy for ``snapshot`` access under ``reset`` access: a decorator that goes back by replaying.

The agent is deterministic, so a situation seen before is reached again by the steps that led there from an
initial situation. They become a prefix of the question and are paid for as steps.
"""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np

from aam_vision.interrogation.evidence.graph import Edge, Evidence, Node
from aam_vision.interrogation.queries.moves import Ask, Move, Policy, Stop, Walk
from aam_vision.strips import GroundAction


class Replaying:
    """Starts every move of a policy in an initial situation, or where the agent stands.

    Walks are not replayed: one that should start elsewhere goes on from where the agent stands, or, in another
    problem or where nothing can be done, from the initial situation.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._walked_from: tuple[Node, int] | None = None

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's next move, from where it may start."""
        move = self._policy.next(evidence, rng)
        if isinstance(move, Stop) or move.start.initial or move.start is evidence.current:
            return move
        if isinstance(move, Ask):
            start, prefix = replay(evidence, move.start)
            return Ask(start, (*prefix, *move.plan), move.why)
        return Walk(self._walk_from(evidence, move.start), move.steps)

    def _walk_from(self, evidence: Evidence, wanted: Node) -> Node:
        current = evidence.current
        before, self._walked_from = self._walked_from, (current, len(evidence.edges))
        stuck = before == self._walked_from
        if current.state.objects == wanted.state.objects and not stuck:
            return current
        return replay(evidence, wanted)[0]


def replay(evidence: Evidence, node: Node) -> tuple[Node, tuple[GroundAction, ...]]:
    """An initial node and the fewest recorded steps that lead from it to a node."""
    onward: dict[int, list[Edge]] = defaultdict(list)
    for edge in evidence.edges:
        onward[edge.before.number].append(edge)
    initial = [start for start in evidence.nodes if start.initial]
    came: dict[int, Edge | None] = {start.number: None for start in initial}
    queue = deque(initial)
    while queue and node.number not in came:
        for edge in onward[queue.popleft().number]:
            if edge.after.number not in came:
                came[edge.after.number] = edge
                queue.append(edge.after)
    steps: list[GroundAction] = []
    while (last := came[node.number]) is not None:
        steps.append(last.action)
        node = last.before
    return node, tuple(reversed(steps))
