"""A search problem as one ground task of positive STRIPS, which every classical planner understands.

Facts that occur negatively get a complement, which is true when they are known to be false; of a fact that is unknown
at a start, neither is true. Every start is reached by an operator of its own from an empty state, and every goal
operator ends the task: one search serves all starts and all goals.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from aam_vision.joins import Fact
from aam_vision.planning.grounding import Operator
from aam_vision.planning.planner import Found, SearchProblem
from aam_vision.strips import GroundAction

Symbol = Hashable
"""A fact of the task: (True, fact), its complement (False, fact), or one of the marks below."""

BEGIN, BEGUN, REACHED = "begin", "begun", "reached"


class PositiveOperator(NamedTuple):
    """An operator of the task; ``source`` is the number of a start, a step, or a goal operator."""

    source: int | GroundAction | Operator
    required: frozenset[Symbol]
    add: frozenset[Symbol]
    delete: frozenset[Symbol]


INITIAL: frozenset[Symbol] = frozenset([BEGIN])
GOAL: frozenset[Symbol] = frozenset([REACHED])


def positive_operators(problem: SearchProblem) -> list[PositiveOperator]:
    """The task's operators: from ``INITIAL`` to ``GOAL`` a plan is a start, steps and a goal operator."""
    everything = (*problem.operators, *problem.goals)
    changing = {fact for operator in problem.operators for fact in operator.add | operator.delete}
    always = frozenset.intersection(*(true for true, _ in problem.starts)) - changing
    ever = frozenset.union(*(true | unknown for true, unknown in problem.starts)) | changing
    relevant = {fact for operator in everything for fact in operator.positive} - always
    negated = {fact for operator in everything for fact in operator.negative} & ever

    def symbols(positive: frozenset[Fact], negative: frozenset[Fact]) -> frozenset[Symbol]:
        return frozenset(
            [(True, fact) for fact in positive & relevant] + [(False, fact) for fact in negative & negated]
        )

    def required(source: Operator) -> frozenset[Symbol]:
        # operators without changing preconditions must wait until a start is chosen, too
        return symbols(source.positive, source.negative) or frozenset([BEGUN])

    found = []
    for number, (true, unknown) in enumerate(problem.starts):
        facts = symbols(true, frozenset(negated - true - unknown)) | {BEGUN}
        found.append(PositiveOperator(number, INITIAL, facts, INITIAL))
    for source in problem.operators:
        delete = source.delete - source.add
        found.append(
            PositiveOperator(
                source.action, required(source), symbols(source.add, delete), symbols(delete, source.add)
            )
        )
    for goal in problem.goals:
        found.append(PositiveOperator(goal, required(goal), GOAL, frozenset()))
    return found


def as_found(sources: Sequence[int | GroundAction | Operator]) -> Found:
    """The plan of the search problem, given the operators of a plan of the task."""
    start = sources[0]
    assert isinstance(start, int), "no operator but a start can be the first"
    steps: list[GroundAction] = []
    for source in sources[1:]:
        if isinstance(source, Operator):  # steps after that have no use
            return Found(start, tuple(steps), source)
        assert isinstance(source, GroundAction)
        steps.append(source)
    raise AssertionError("a plan of the task ends with a goal operator")
