"""pyperplan behind the Planner protocol, in process.

One breadth-first search serves all starts and finds a plan with the fewest steps. pyperplan's ``Task`` tries
all operators in every state; ours only those that one fact of the state points to, and it stops at the limits.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from time import process_time
from typing import Any

from aam_vision.planning.planner import Found, Limits, SearchProblem, Verdict
from aam_vision.planning.positive import GOAL, INITIAL, as_found, positive_operators


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
        return as_found([step.name for step in steps])


def _compile(problem: SearchProblem, limits: Limits) -> Any:
    from pyperplan.task import Operator as PyperplanOperator
    from pyperplan.task import Task

    class BoundedTask(Task):  # type: ignore[misc]
        """A task whose successors are found through an index, and which gives up at the limits."""

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self._deadline = process_time() + limits.seconds
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
            if self._states > limits.states or (self._states % 64 == 0 and process_time() > self._deadline):
                raise _LimitReached
            applicable = [
                operator
                for fact in (*state, None)
                for operator in self._by_fact.get(fact, ())
                if operator.preconditions <= state
            ]
            applicable.sort(key=lambda operator: operator.number)
            return [(operator, operator.apply(state)) for operator in applicable]

    operators = [PyperplanOperator(*operator) for operator in positive_operators(problem)]
    for number, made in enumerate(operators):
        made.number = number
    return BoundedTask("", frozenset(), INITIAL, GOAL, operators)
