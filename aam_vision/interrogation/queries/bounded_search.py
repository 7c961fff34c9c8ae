"""The searches of a planner in one interrogation: each of bounded size, and no more of them once enough were in vain.

What bounds them is counted, never timed: so the same questions are asked on every machine, however busy it is. Only
a planner that counts no states (an engine of unified-planning) is limited in time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from aam_vision.interrogation.evidence.graph import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.queries.reachability import PlannedNearMiss, Reachability
from aam_vision.planning.planner import Limits, Planner, Verdict


@dataclass
class BoundedSearch:
    """Reaches where literals of an action hold; remembers what was tried in vain."""

    planner: Planner
    limits: Limits
    patience: int
    """Searches that may end at their limits; after them nothing is searched any more."""
    _vain: int = 0
    _hopeless: set[tuple[int, str, Literals]] = field(default_factory=set)

    @property
    def exhausted(self) -> bool:
        """Whether nothing is searched any more."""
        return self._vain >= self.patience

    def reach(
        self, paths: Reachability, action: ActionHypotheses, holding: Literals, start: Node | None = None
    ) -> PlannedNearMiss | Verdict:
        """A plan from any situation seen before, or only from ``start``.

        A search from all situations that ended at its limits is not made again.
        """
        key = paths.problem, action.index.header.name, holding
        if self.exhausted or (start is None and key in self._hopeless):
            return Verdict.LIMIT
        planned = paths.reach(action, holding, self.planner, self.limits, start)
        if planned is Verdict.LIMIT:
            self._vain += 1
            if start is None:
                self._hopeless.add(key)
        return planned
