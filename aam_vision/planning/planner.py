"""The role of a planner: reach, from one of several states, a situation in which a probe applies.

Until its last step a distinguishing plan runs the same way in every model still possible, so one copy of
the state and a condition on the last step suffice (shared idea behind the paper's P_PO).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from os import times
from time import process_time
from typing import Protocol

from aam_vision.model.pddl import Problem
from aam_vision.model.strips import ActionSchema, GroundAction, Model
from aam_vision.planning.counting import Counting
from aam_vision.planning.delayed import searched
from aam_vision.planning.grounding import LiftedOperator, Operator, ground
from aam_vision.planning.joins import Fact


@dataclass(frozen=True)
class SearchProblem:
    """Operators, the states to start from (true facts and unknown facts), and goal operators."""

    operators: Sequence[Operator]
    starts: Sequence[tuple[frozenset[Fact], frozenset[Fact]]]
    goals: Sequence[Operator]


class Verdict(Enum):
    """How a search ended without a plan."""

    UNSOLVABLE = "unsolvable"
    LIMIT = "limit"


@dataclass(frozen=True)
class Found:
    """A plan: which start, the steps, and the goal operator that applies in the end."""

    start: int
    plan: tuple[GroundAction, ...]
    goal: Operator


@dataclass(frozen=True)
class Limits:
    """How long a search may take: so many states, or CPU seconds where a planner does not count them.

    The seconds are generous: a planner that counts states hardly ever needs them.
    """

    seconds: float = 30.0
    states: int = 10_000
    guided: int = 0
    """States of a second search, guided by a heuristic, where the first ended at its limit; 0: none is made."""


class Planner(Protocol):
    """Finds a plan, or says that there is none, or that none was found within the limits."""

    def solve(self, problem: SearchProblem, limits: Limits) -> Found | Verdict: ...


def cpu_seconds() -> float:
    """CPU seconds of this process, and of planners that it has run as processes."""
    children = times()
    return process_time() + children.children_user + children.children_system


class Clock:
    """Adds up the CPU seconds of the code in it: ``with clock: ...``."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> None:
        self.seconds -= cpu_seconds()

    def __exit__(self, *_: object) -> None:
        self.seconds += cpu_seconds()


class TimedPlanner:
    """Counts the searches of another planner, and the CPU seconds that they take."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._clock = Clock()
        self.searches = 0

    @property
    def seconds(self) -> float:
        """CPU seconds so far."""
        return self._clock.seconds

    def solve(self, problem: SearchProblem, limits: Limits) -> Found | Verdict:
        self.searches += 1
        with self._clock:
            return self._planner.solve(problem, limits)


# A plan of a STRIPS model for a planning problem: from its initial state to its goal.


def planned(model: Model, problem: Problem, planner: Planner, limits: Limits) -> Found | Verdict:
    """What a planner finds; of atoms that are unknown in the initial state neither value is relied on.

    Raises:
        TooManyOperators: the problem is too large to be grounded.
        PlannerFailed: the planner broke down.
    """
    if model.vocabulary.delays is not None:
        plan = searched(model, problem, limits.states, limits.seconds)
        if isinstance(plan, bool):
            return Verdict.LIMIT if plan else Verdict.UNSOLVABLE
        return Found(0, plan, _goal(problem))
    derived = {one.predicate.name for one in model.vocabulary.derived}
    operators = [
        LiftedOperator(
            schema.header,
            *(
                tuple(
                    sorted(
                        (atom for atom in part if atom.predicate not in derived),
                        key=lambda atom: f"{atom.predicate}{atom.arguments}",
                    )
                )
                for part in (schema.positive, schema.negative, schema.add, schema.delete)
            ),
        )
        for schema in model.actions
    ]
    initial = problem.initial.plain(model.vocabulary.derived)
    true, unknown = frozenset[Fact](initial.true), frozenset[Fact](initial.unknown)
    grounding = ground(operators, true, initial.objects)
    found = grounding.operators
    goal = _goal(problem)
    if derived:
        found = [_requiring(one, model.schema(one.action.name), derived) for one in found]
        wanted = {fact for one in (*found, goal) for fact in one.positive | one.negative}
        counting = Counting.of(model.vocabulary.derived, wanted, grounding.reachable)
        more_true, more_unknown = counting.start(initial)
        true, unknown, found = true | more_true, unknown | more_unknown, counting.counted(found)
    return planner.solve(SearchProblem(found, [(true, unknown)], [goal]), limits)


def _goal(problem: Problem) -> Operator:
    """The goal as an operator that applies where it holds."""
    step, nothing = GroundAction("goal", ()), frozenset[Fact]()
    return Operator(step, frozenset(problem.goal), frozenset(problem.goal_false), nothing, nothing)


def _requiring(operator: Operator, schema: ActionSchema, derived: Collection[str]) -> Operator:
    """The operator with what its action requires of derived predicates."""
    positive, negative = (
        frozenset[Fact](atom.ground(operator.action.objects) for atom in part if atom.predicate in derived)
        for part in (schema.positive, schema.negative)
    )
    return operator._replace(positive=operator.positive | positive, negative=operator.negative | negative)
