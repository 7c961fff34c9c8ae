"""The searches of a planner in one interrogation: each of bounded size, and none once enough of them were in vain.

Searches are bounded by the states that they visit, not by time: so the same questions are asked on every machine, however
busy it is. Only a planner that does not count states (an engine of unified-planning) is limited in time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, LimitedSearch
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.queries.reachability import PlannedNearMiss, Reachability
from aam_vision.planning.planner import Limits, Planner, Verdict


@dataclass
class BoundedSearch:
    """Plans to where literals of an action hold; a search that ended at its limits is not made again.

    Such searches are written on the moves: ``begin`` reads them from the evidence, and ``made`` says which to write on the
    next move.
    """

    purpose: str
    planner: Planner
    limits: Limits
    patience: int
    """Searches that may end at their limits; after them nothing is searched any more."""
    _vain: list[LimitedSearch] = field(default_factory=list)
    _hopeless: set[LimitedSearch] = field(default_factory=set)
    _executed: set[str] = field(default_factory=set)
    """The actions that were ever executed."""
    _forgotten: int = 0
    """How many of those in vain were made when fewer actions could be relied on: they may be made again."""
    _exchanges: int = 0
    _made: int = 0
    """How many of those in vain are written on moves."""

    def begin(self, evidence: Evidence) -> None:
        """Start on a new move, and forget every search that is not written on an earlier one."""
        del self._vain[self._made :]
        for exchange in evidence.exchanges[self._exchanges :]:
            if isinstance(exchange.move, Ask):
                self._vain += [search for search in exchange.move.searches if search.purpose == self.purpose]
            executed = {step.name for step in exchange.entry.executed}
            if not executed <= self._executed:
                self._executed |= executed
                self._forgotten = len(self._vain)
        self._exchanges, self._made = len(evidence.exchanges), len(self._vain)
        self._hopeless = {search for search in self._vain[self._forgotten :] if search.anywhere}

    @property
    def made(self) -> tuple[LimitedSearch, ...]:
        """The searches in vain since the last move."""
        return tuple(self._vain[self._made :])

    @property
    def exhausted(self) -> bool:
        """Whether nothing is searched any more."""
        return len(self._vain) >= self.patience

    def reach(
        self, paths: Reachability, action: ActionHypotheses, holding: Literals, start: Node | None = None
    ) -> PlannedNearMiss | Verdict:
        """A plan from any situation seen before, or only from ``start``.

        A search from all situations that ended at its limits is not made again, nor one for more.
        """
        search = LimitedSearch(self.purpose, paths.problem, action.index.header.name, holding, start is None)
        if self.exhausted or any(self._for_more(search, other) for other in self._hopeless):
            return Verdict.LIMIT
        planned = paths.reach(action, holding, self.planner, self.limits, start)
        if planned is Verdict.LIMIT:
            self._vain.append(search)
            if search.anywhere:
                self._hopeless.add(search)
        return planned

    @staticmethod
    def _for_more(search: LimitedSearch, other: LimitedSearch) -> bool:
        """Whether a search asks for all that another one did."""
        return (
            search.problem == other.problem
            and search.action == other.action
            and other.holding.within(search.holding)
        )
