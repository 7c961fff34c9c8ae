"""Any policy for ``snapshot`` access under ``reset`` access: a decorator that goes back by replaying.

The agent is deterministic, so a situation seen before is reached again by the steps that led there from an
initial situation. They become a prefix of the question and are paid for as steps.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import replace

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence, Exchange
from aam_vision.interrogation.evidence.moves import Ask, Move, Policy, Stop, Walk
from aam_vision.interrogation.evidence.nodes import Edge, Node
from aam_vision.strips import GroundAction


class Replaying:
    """Starts every move of a policy in an initial situation, or where the agent stands.

    Walks are not replayed: one that should start elsewhere goes on from where the agent stands, or, in another
    problem or where nothing can be done, from the initial situation.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's next move, from where it may start."""
        move = self._policy.next(evidence, rng)
        if isinstance(move, Stop) or move.start.initial or move.start is evidence.current:
            return move
        if isinstance(move, Ask):
            start, prefix = replay(evidence, move.start)
            return replace(
                move, start=start, plan=(*prefix, *move.plan), replayed=len(prefix), wanted=move.start
            )
        return replace(move, start=_walk_from(evidence, move.start), wanted=move.start)


def _walk_from(evidence: Evidence, wanted: Node) -> Node:
    """Where the agent stands, unless that is another problem, or the last walk from there led nowhere."""
    current = evidence.current
    last = next((one for one in reversed(evidence.exchanges) if _moved(one)), None)
    stuck = last is not None and (last.came_from, last.edges) == (current, len(evidence.edges))
    if current.state.objects == wanted.state.objects and not stuck:
        return current
    return replay(evidence, wanted)[0]


def _moved(exchange: Exchange) -> bool:
    """Whether this was a walk that could not start where it was wanted."""
    return isinstance(exchange.move, Walk) and exchange.move.wanted is not None


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
