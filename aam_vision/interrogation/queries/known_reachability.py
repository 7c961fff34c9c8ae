"""What can be reached in all problems, kept from move to move."""

from __future__ import annotations

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.problems import by_problem
from aam_vision.interrogation.queries.reachability import Reachability


class KnownReachability:
    """What can be reached from the situations seen, worked out anew only when it may have changed.

    What only proves a candidate changes nothing there, nor does a situation that could be reached before.
    """

    def __init__(self) -> None:
        self._schemas: object = None
        self._version: object = None
        self._problems: dict[int, Reachability] = {}
        self._list: list[Reachability] = []

    def of(self, evidence: Evidence) -> list[Reachability]:
        """Per problem what can be reached from the situations of it; the same list as long as nothing changes."""
        actions = evidence.hypotheses.actions.values()
        schemas = [(one.cautious, one.effects, bool(one.successes)) for one in actions]
        version = schemas, len(evidence.nodes), evidence.learned
        if version != self._version:
            same, before = schemas == self._schemas, self._problems
            self._schemas, self._version, self._problems = schemas, version, {}
            for nodes in by_problem(evidence):
                problem = before.get(nodes[0].number)
                if problem is None or not same or not problem.take_in(nodes):
                    problem = Reachability(evidence.hypotheses, nodes, before=problem)
                self._problems[problem.problem] = problem
            self._list = list(self._problems.values())
        return self._list
