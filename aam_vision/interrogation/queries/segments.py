"""The segments of which a query is made: each is some steps that should succeed, and then one whose outcome is open.

A query ends at its first refusal. So a segment that probably succeeds costs no query of its own: another one follows it,
from the situation and with the knowledge that its success would bring. Such an assumed *standpoint* is searched just as
the real one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from aam_vision.interrogation.beliefs.candidates import Beliefs
from aam_vision.interrogation.beliefs.constants import LIKELY
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, union
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.queries.near_misses import near_misses
from aam_vision.interrogation.queries.situation_tables import SituationTables
from aam_vision.relations import TooManyBindings
from aam_vision.strips import GroundAction

FEW = 8
"""Fewer situations than this are looked at one by one."""
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

    @property
    def name(self) -> str:
        """The action of the last step."""
        return self.steps[-1].name


class Standpoint:
    """What is known, or assumed for a moment, and the situations from which a query may begin or go on."""

    def __init__(self, evidence: Evidence, hypotheses: Hypotheses, nodes: Sequence[Node]) -> None:
        self.evidence = evidence
        self.hypotheses = hypotheses
        self.nodes = nodes

    @property
    def real(self) -> bool:
        """Whether all this is known, and nothing assumed."""
        return self.hypotheses is self.evidence.hypotheses

    def after(self, segment: Segment) -> Standpoint:
        """Where a query stands, and what it has told, if the segment is executed to its end."""
        last = segment.steps[-1]
        before = self.evidence.predict_plan(segment.start.state, segment.steps[:-1])
        values = self.hypotheses[last.name].index.values(before, last.objects)
        assumed = self.hypotheses.assuming(last.name, *values)
        after = Node(self.evidence.predict(before, last), None, segment.start.number)
        return Standpoint(self.evidence, assumed, [after])


def success(beliefs: Beliefs, name: str, action: ActionHypotheses, violated: Literals) -> float:
    """The probability that a step which violates these literals is executed."""
    return prod(1 - beliefs.probability(name, literal, action) for literal in violated.singles())


class SegmentFinder:
    """Finds segments of a single step, in the situations of a standpoint, by joins over their atoms."""

    def __init__(self, beliefs: Beliefs) -> None:
        self._beliefs = beliefs
        self._tables = SituationTables()
        self._scanned: dict[tuple[str, Literals, Literals], tuple[int, int, int]] = {}
        """By what was looked for: the versions of the action and of the evidence, and how many situations were."""

    def refutation(self, standpoint: Standpoint) -> Segment | None:
        """A step that should succeed and refute as many probably spurious candidates as possible."""
        for name, action in standpoint.hypotheses.actions.items():
            suspects = union(
                literal
                for literal in action.undecided.singles()
                if self._beliefs.probability(name, literal, action) <= LIKELY
            )
            if found := self._best(standpoint, name, suspects, least=GROUP_RISK):
                return found
        return None

    def proof(self, standpoint: Standpoint) -> Segment | None:
        """A near miss of one candidate, the most doubtful first."""
        targets = sorted(
            (self._beliefs.probability(name, literal, action), name, literal)
            for name, action in standpoint.hypotheses.actions.items()
            if action.successes
            for literal in action.undecided.singles()
        )
        for _, name, literal in targets:
            if found := self._best(standpoint, name, literal, target=literal):
                return found
        return None

    def _best(
        self,
        standpoint: Standpoint,
        name: str,
        suspects: Literals,
        target: Literals = NOTHING,
        least: float = 0.0,
    ) -> Segment | None:
        """The step that may be expected to refute most, and violates suspects only and the target at least."""
        action = standpoint.hypotheses[name]
        if not suspects or not action.successes:
            return None
        key = name, suspects, target
        version = action.version, standpoint.evidence.learned
        begin = 0
        if standpoint.real and key in self._scanned:
            *scanned, begin = self._scanned[key]
            begin = begin if tuple(scanned) == version else 0
        best: Segment | None = None
        most = 0.0
        known: dict[Literals, float] = {}
        for node in self._promising(standpoint, action, suspects, target, least, begin):
            for probe in near_misses(action, node.index, suspects):
                violated = probe.violated
                if not target.within(violated) or not _may_be_told(action, node, probe.action):
                    continue
                if violated not in known:
                    known[violated] = success(self._beliefs, name, action, violated)
                chance = known[violated]
                value = chance * violated.size()
                if chance >= least and (best is None or value > most):
                    best, most = Segment(node, (probe.action,), violated, chance), value
            if best is not None and best.violated == suspects:
                break
        if best is None and standpoint.real:
            self._scanned[key] = (*version, len(standpoint.nodes))
        return best

    def _promising(
        self,
        standpoint: Standpoint,
        action: ActionHypotheses,
        suspects: Literals,
        target: Literals,
        least: float,
        begin: int,
    ) -> Sequence[Node]:
        """The situations that are better than all before them: the only ones that need a closer look.

        Where there are few, or too many bindings, or something was not told of steps like these, these are all.
        """
        nodes = standpoint.nodes[begin:]
        if not standpoint.real or len(nodes) < FEW or action.untold:
            return nodes
        trusted = action.candidates.without(suspects)
        watched = action.positive | action.negative
        try:
            patterns = self._tables.patterns(standpoint.nodes, action, trusted, watched, begin)
        except TooManyBindings:
            return nodes
        values: dict[int, float] = {}
        name = action.index.header.name
        for held, unknown, first in patterns:
            violated = action.violated(held, unknown)
            if (
                not target.within(violated)
                or not action.certainly_violated(held, unknown)
                or action.certain_to_fail(violated)
            ):
                continue
            chance = success(self._beliefs, name, action, violated)
            if chance >= least:
                values[first] = max(values.get(first, 0.0), chance * violated.size())
        promising, most = [], -1.0
        for first in sorted(values):
            if values[first] > most:
                promising.append(standpoint.nodes[first])
                most = values[first]
        return promising


def _may_be_told(action: ActionHypotheses, node: Node, step: GroundAction) -> bool:
    return not action.untold or action.may_be_told(*action.index.values(node.state, step.objects))
