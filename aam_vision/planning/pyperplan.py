"""pyperplan behind the Planner protocol, in process.

pyperplan knows positive STRIPS only, so facts that occur negatively get a complement, and every start
is reached by an operator of its own from an empty state: one breadth-first search serves all starts and
finds a plan with the fewest steps. Its ``Task`` tries all operators in every state; ours only those that
one fact of the state points to, and it stops at the limits.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from time import monotonic
from typing import Any

from aam_vision.joins import Fact
from aam_vision.planning.grounding import Operator
from aam_vision.planning.planner import Found, Limits, SearchProblem, Verdict

Literal = tuple[bool, Fact]
_BEGIN: Any = "begin"
_BEGUN: Any = "begun"
_REACHED: Any = "reached"


class _LimitReached(Exception):
    pass


class PyperplanPlanner:
    """Breadth-first search by pyperplan."""

    name = "pyperplan"

    def solve(self, problem: SearchProblem, limits: Limits) -> Found | Verdict:
        """A plan with the fewest steps, or why there is none."""
        from pyperplan.search import breadth_first_search

        if not problem.goals:
            return Verdict.UNSOLVABLE
        task = _compile(problem, limits)
        logging.getLogger().disabled, before = True, logging.getLogger().disabled
        try:
            steps = breadth_first_search(task)
        except _LimitReached:
            return Verdict.LIMIT
        finally:
            logging.getLogger().disabled = before
        if steps is None:
            return Verdict.UNSOLVABLE
        names = [step.name for step in steps]
        return Found(names[0], tuple(names[1:-1]), names[-1])


def _compile(problem: SearchProblem, limits: Limits) -> Any:
    from pyperplan.task import Operator as PyperplanOperator
    from pyperplan.task import Task

    class BoundedTask(Task):  # type: ignore[misc]
        """A task whose successors are found through an index, and which gives up at the limits."""

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self._deadline = monotonic() + limits.seconds
            self._states = 0
            uses: dict[Any, int] = defaultdict(int)
            for operator in self.operators:
                for fact in operator.preconditions:
                    uses[fact] += 1
            self._by_fact: dict[Any, list[Any]] = defaultdict(list)
            for operator in self.operators:
                key = min(operator.preconditions, key=lambda fact: uses[fact], default=None)
                self._by_fact[key].append(operator)

        def get_successor_states(self, state: frozenset[Any]) -> list[tuple[Any, frozenset[Any]]]:
            self._states += 1
            if self._states > limits.states or (self._states % 64 == 0 and monotonic() > self._deadline):
                raise _LimitReached
            applicable = [
                operator
                for fact in (*state, None)
                for operator in self._by_fact.get(fact, ())
                if operator.preconditions <= state
            ]
            applicable.sort(key=lambda operator: operator.number)
            return [(operator, operator.apply(state)) for operator in applicable]

    everything = (*problem.operators, *problem.goals)
    changing = {fact for operator in problem.operators for fact in operator.add | operator.delete}
    always = frozenset.intersection(*(true for true, _ in problem.starts)) - changing
    ever = frozenset.union(*(true | unknown for true, unknown in problem.starts)) | changing
    relevant = {fact for operator in everything for fact in operator.positive} - always
    negated = {fact for operator in everything for fact in operator.negative} & ever

    def literals(positive: frozenset[Fact], negative: frozenset[Fact]) -> frozenset[Literal]:
        return frozenset(
            [(True, fact) for fact in positive & relevant] + [(False, fact) for fact in negative & negated]
        )

    def required(source: Operator) -> frozenset[Any]:
        # whatever needs no changing fact must still wait until a start is chosen
        return literals(source.positive, source.negative) or frozenset([_BEGUN])

    def operator(name: Any, source: Operator) -> Any:
        delete = source.delete - source.add
        return PyperplanOperator(
            name,
            required(source),
            literals(source.add, delete),
            literals(delete, source.add),
        )

    operators = []
    for number, (true, unknown) in enumerate(problem.starts):
        facts = literals(true, frozenset(negated - true - unknown)) | {_BEGUN}
        operators.append(PyperplanOperator(number, frozenset([_BEGIN]), facts, frozenset([_BEGIN])))
    operators += [operator(source.action, source) for source in problem.operators]
    for goal in problem.goals:
        operators.append(PyperplanOperator(goal, required(goal), frozenset([_REACHED]), frozenset()))
    for number, made in enumerate(operators):
        made.number = number
    return BoundedTask("", frozenset(), frozenset([_BEGIN]), frozenset([_REACHED]), operators)
