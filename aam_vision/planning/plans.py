"""A plan of a STRIPS model for a planning problem: from its initial state to its goal."""

from __future__ import annotations

from collections.abc import Iterable

from aam_vision.pddl import Problem
from aam_vision.planning.grounding import LiftedOperator, Operator, ground
from aam_vision.planning.planner import Found, Limits, Planner, SearchProblem, Verdict
from aam_vision.strips import GroundAction, LiftedAtom, Model


def planned(model: Model, problem: Problem, planner: Planner, limits: Limits) -> Found | Verdict:
    """What a planner finds; of atoms that are unknown in the initial state neither value is relied on.

    Raises:
        TooManyOperators: the problem is too large to be grounded.
        PlannerFailed: the planner broke down.
    """
    operators = [
        LiftedOperator(
            schema.header,
            *(_ordered(part) for part in (schema.positive, schema.negative, schema.add, schema.delete)),
        )
        for schema in model.actions
    ]
    initial = problem.initial
    true = frozenset(initial.true)
    grounding = ground(operators, true, initial.objects)
    goal = Operator(
        GroundAction("goal", ()),
        frozenset(problem.goal),
        frozenset(problem.goal_false),
        frozenset(),
        frozenset(),
    )
    start = true, frozenset(initial.unknown)
    return planner.solve(SearchProblem(grounding.operators, [start], [goal]), limits)


def _ordered(atoms: Iterable[LiftedAtom]) -> tuple[LiftedAtom, ...]:
    return tuple(sorted(atoms, key=lambda atom: f"{atom.predicate}{atom.arguments}"))
