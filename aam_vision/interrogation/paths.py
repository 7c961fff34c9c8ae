"""Planning to situations that nobody has seen yet, in which a probe would be possible.

Paths use the *cautious* model: every positive candidate is required and only what certainly happens is
relied on, so that their steps succeed as far as is known. Fully seen situations are all starts at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from aam_vision.interrogation.evidence import Evidence, Node
from aam_vision.interrogation.hypotheses import ActionHypotheses, Hypotheses, Literals
from aam_vision.interrogation.literals import GroundLiterals, atoms
from aam_vision.joins import Fact, Row, bindings
from aam_vision.planning.grounding import Grounding, LiftedOperator, Operator, ground
from aam_vision.planning.mutexes import Mutexes, PossibleOperator
from aam_vision.planning.planner import Found, Limits, Planner, SearchProblem, Verdict
from aam_vision.strips import GroundAction

MAX_OPTIONS = 20_000
MAX_ROWS = 200


@dataclass(frozen=True)
class PlannedProbe:
    """Go there from a situation seen before, then ask the step."""

    start: Node
    path: tuple[GroundAction, ...]
    step: GroundAction


class Paths:
    """What the cautious model can reach in one problem, under the hypotheses at one moment."""

    def __init__(self, hypotheses: Hypotheses, nodes: Sequence[Node]) -> None:
        self._hypotheses = hypotheses
        self.problem = nodes[0].number
        self._nodes = nodes
        self._starts = [(frozenset(n.state.true), frozenset(n.state.unknown)) for n in nodes]
        self._objects = nodes[0].state.objects

    @cached_property
    def _grounding(self) -> Grounding:
        seen: frozenset[Fact] = frozenset().union(*(true for true, _ in self._starts))
        cautious = [_cautious(a) for a in self._hypotheses.actions.values() if a.successes]
        return ground(cautious, seen, self._objects)

    @cached_property
    def _mutexes(self) -> Mutexes:
        return Mutexes(
            [PossibleOperator(o.positive, o.negative, o.add, o.delete) for o in self._grounding.operators],
            self._starts,
        )

    def options(self, name: str, holding: Literals, targets: Literals) -> dict[Literals, list[Row]]:
        """Bindings under which one of the targets may be violated while ``holding`` holds.

        They are grouped by what is then violated at least: undecided literals that are violated, or cannot
        hold next to that (pairwise). Sets that are certain to fail are left out.
        """
        action = self._hypotheses[name]
        undecided = action.undecided
        found: dict[Literals, list[Row]] = {}
        rows = bindings(self._grounding.facts, action.index.header, atoms(action, holding.positive))
        for objects in islice(rows, MAX_OPTIONS):
            literals = GroundLiterals(action, objects)
            companions = self._mutexes.companions(*literals.holding(holding))
            if companions is None:
                continue
            for target in targets.singles():
                beside = companions
                for fact in literals.true(target.positive):
                    beside = beside.beside(fact, False)
                for fact in literals.true(target.negative):
                    beside = beside.beside(fact, True)
                if beside.nowhere:
                    continue
                violated = Literals(
                    literals.impossible(undecided.positive, beside, value=True) | target.positive,
                    literals.impossible(undecided.negative, beside, value=False) | target.negative,
                )
                if not action.certain_to_fail(violated):
                    rows_of = found.setdefault(violated, [])
                    if not rows_of or rows_of[-1] != objects:
                        rows_of.append(objects)
        return found

    def probe(
        self,
        name: str,
        violated: Literals,
        free: Literals,
        rows: Sequence[Row],
        planner: Planner,
        limits: Limits,
    ) -> PlannedProbe | Verdict:
        """A plan to where one of these bindings violates these literals, and else only ``free`` ones."""
        action = self._hypotheses[name]
        candidates = action.candidates
        holding = Literals(
            candidates.positive & ~(violated.positive | free.positive),
            candidates.negative & ~(violated.negative | free.negative),
        )
        wanted = Literals(holding.positive | violated.negative, holding.negative | violated.positive)
        return self.reach(name, wanted, rows, planner, limits)

    def rows(self, name: str, mask: int, limit: int = MAX_ROWS) -> list[Row]:
        """Arguments under which all these atoms may hold together in some reachable state (pairwise)."""
        action = self._hypotheses[name]
        found = []
        rows = bindings(self._grounding.facts, action.index.header, atoms(action, mask))
        for objects in islice(rows, MAX_OPTIONS):
            if self._mutexes.possible(GroundLiterals(action, objects).true(mask)):
                found.append(objects)
                if len(found) >= limit:
                    break
        return found

    def reach(
        self, name: str, wanted: Literals, rows: Sequence[Row], planner: Planner, limits: Limits
    ) -> PlannedProbe | Verdict:
        """A plan to where these literals hold under one of the bindings, with that step to ask."""
        action = self._hypotheses[name]
        goals = []
        for objects in rows:
            true, false = GroundLiterals(action, objects).holding(wanted)
            if self._mutexes.possible(true, false):
                step = GroundAction(name, objects)
                goals.append(Operator(step, frozenset(true), frozenset(false), frozenset(), frozenset()))
        if not goals:
            return Verdict.UNSOLVABLE
        outcome = planner.solve(SearchProblem(self._grounding.operators, self._starts, goals), limits)
        if isinstance(outcome, Found):
            return PlannedProbe(self._nodes[outcome.start], outcome.plan, outcome.goal.action)
        return outcome


def _cautious(action: ActionHypotheses) -> LiftedOperator:
    """What an action requires at most, and what it certainly does."""
    return LiftedOperator(
        action.index.header,
        positive=atoms(action, action.cautious.positive),
        negative=atoms(action, action.cautious.negative),
        add=atoms(action, action.adds & ~action.keeps & ~action.deletes),
        delete=atoms(action, action.deletes & ~action.keeps & ~action.adds),
    )


def by_problem(evidence: Evidence) -> list[list[Node]]:
    """The visited situations, grouped by problem, the problem's initial situation first."""
    groups: dict[int, list[Node]] = {}
    for node in evidence.nodes:
        if node.situation is not None:
            groups.setdefault(id(node.state.objects), []).append(node)
    merged: list[list[Node]] = []
    for group in groups.values():
        for other in merged:
            if other[0].state.objects == group[0].state.objects:
                other += group
                break
        else:
            merged.append(group)
    return merged
