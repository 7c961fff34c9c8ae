"""The links of which a query is made: steps that should succeed, and then one whose outcome is open.

A query ends at its first refusal. So whatever probably succeeds costs no query of its own: it is followed by
something else, from the situation and with the knowledge that its success would bring. Such an assumed
*standpoint* is looked at just as the real one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from aam_vision.interrogation.beliefs.candidates import Beliefs
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, union
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.queries.near_misses import NearMiss, near_misses
from aam_vision.strips import GroundAction, State

GROUP_RISK = 0.5
"""A group of candidates is violated together only if that succeeds with at least this probability."""


@dataclass(frozen=True)
class Segment:
    """Steps from a situation; the last one's action has these literals violated."""

    start: Node
    steps: tuple[GroundAction, ...]
    violated: Literals
    success: float
    """How probable it is that all steps are executed."""


class Standpoint:
    """What is known, or assumed for a moment, and the situations from which a query may begin or go on."""

    def __init__(self, evidence: Evidence, hypotheses: Hypotheses, nodes: Sequence[Node]) -> None:
        self.evidence = evidence
        self.hypotheses = hypotheses
        self.nodes = nodes

    def after(self, link: Segment) -> Standpoint:
        """Where a query stands, and what it has told, if the link is executed to its end."""
        before, state = self.replay(link.start.state, link.steps)
        last = link.steps[-1]
        values = self.hypotheses[last.name].index.values(before, last.objects)
        assumed = self.hypotheses.assuming(last.name, *values)
        return Standpoint(self.evidence, assumed, [Node(state, None, link.start.number)])

    def replay(self, state: State, steps: Sequence[GroundAction]) -> tuple[State, State]:
        """The states before and after the last of the steps, as far as they follow from what is known."""
        before = self.evidence.predict_plan(state, steps[:-1])
        return before, self.evidence.predict(before, steps[-1])


def success(beliefs: Beliefs, name: str, action: ActionHypotheses, violated: Literals) -> float:
    """The probability that a step which violates these literals is executed."""
    return prod(1 - beliefs.probability(name, literal, action) for literal in violated.singles())


class SegmentFinder:
    """Finds links of a single step, in the situations of a standpoint, by joins over their atoms."""

    def __init__(self, beliefs: Beliefs) -> None:
        self._beliefs = beliefs
        self._scanned: dict[tuple[str, Literals, Literals], tuple[int, int, int]] = {}
        """By what was looked for: the versions of the action and of the evidence, and how many situations were."""

    def refutation(self, standpoint: Standpoint) -> Segment | None:
        """A step that should succeed and refute as many probably spurious candidates as possible."""
        for name, action in standpoint.hypotheses.actions.items():
            suspects = union(
                literal
                for literal in action.undecided.singles()
                if self._beliefs.probability(name, literal, action) <= 0.5
            )
            found = self._best(standpoint, name, action, suspects, least=GROUP_RISK)
            if found is not None:
                return found
        return None

    def proof(self, standpoint: Standpoint) -> Segment | None:
        """A near miss of one candidate, the most doubtful first."""
        targets = []
        for name, action in standpoint.hypotheses.actions.items():
            if action.successes:
                for literal in action.undecided.singles():
                    targets.append((self._beliefs.probability(name, literal, action), name, literal))
        for _, name, literal in sorted(targets):
            found = self.exactly(standpoint, name, literal)
            if found is not None:
                return found
        return None

    def exactly(self, standpoint: Standpoint, name: str, violated: Literals) -> Segment | None:
        """A step that violates just these literals."""
        return self._best(standpoint, name, standpoint.hypotheses[name], violated, violated)

    def _best(
        self,
        standpoint: Standpoint,
        name: str,
        action: ActionHypotheses,
        suspects: Literals,
        target: Literals = NOTHING,
        least: float = 0.0,
    ) -> Segment | None:
        """The step that may be expected to refute most, and violates suspects only and the target at least."""
        if not suspects or not action.successes:
            return None
        key = (name, suspects, target)
        real = standpoint.hypotheses is standpoint.evidence.hypotheses
        version = action.version, standpoint.evidence.learned
        *scanned, begin = self._scanned.get(key, (-1, -1, 0)) if real else (-1, -1, 0)
        if tuple(scanned) != version:
            begin = 0
        best: tuple[float, Node, NearMiss, float] | None = None
        known: dict[Literals, float] = {}
        for node in standpoint.nodes[begin:]:
            for probe in near_misses(action, node.index, suspects):
                if not target.within(probe.violated):
                    continue
                if probe.violated not in known:
                    known[probe.violated] = success(self._beliefs, name, action, probe.violated)
                chance = known[probe.violated]
                if chance < least:
                    continue
                value = chance * probe.violated.size()
                if best is None or value > best[0]:
                    best = (value, node, probe, chance)
            if best is not None and best[2].violated == suspects:
                break
        if best is None:
            if real:
                self._scanned[key] = (*version, len(standpoint.nodes))
            return None
        _, node, probe, chance = best
        return Segment(node, (probe.action,), probe.violated, chance)
