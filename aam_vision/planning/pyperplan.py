"""pyperplan behind the Planner protocol, in process.

One breadth-first search serves all starts and finds a plan with the fewest steps. The states are integers
(:mod:`aam_vision.planning.numbered`): pyperplan's ``Task`` tries all operators in every state, ours only those that may
have become applicable, and it stops at the limits.
"""

from __future__ import annotations

import logging
from time import process_time

from aam_vision.planning.grounding import Operator
from aam_vision.planning.numbered import NumberedOperator, NumberedOperators, SearchState, Task
from aam_vision.planning.planner import Found, Limits, SearchProblem, Verdict
from aam_vision.planning.positive import as_found


class _LimitReached(Exception):
    pass


class _BoundedTask:
    """A task that gives up at the limits."""

    def __init__(self, task: Task, limits: Limits) -> None:
        self.initial_state = task.initial_state
        self.goal_reached = task.goal_reached
        self._task = task
        self._limits = limits
        self._deadline = process_time() + limits.seconds
        self._states = 0

    def get_successor_states(self, state: SearchState) -> list[tuple[NumberedOperator, SearchState]]:
        self._states += 1
        limits = self._limits
        if self._states > limits.states or (self._states % 64 == 0 and process_time() > self._deadline):
            raise _LimitReached
        return self._task.get_successor_states(state)


class PyperplanPlanner:
    """Breadth-first search by pyperplan."""

    name = "pyperplan"

    def __init__(self) -> None:
        self._numbered = NumberedOperators(())
        """The operators of the last search: the next one is often over the same."""

    def solve(self, problem: SearchProblem, limits: Limits) -> Found | Verdict:
        """A plan with the fewest steps, or why there is none."""
        from pyperplan.search import breadth_first_search

        if not problem.goals:
            return Verdict.UNSOLVABLE
        if self._numbered.operators is not problem.operators:
            self._numbered = NumberedOperators(problem.operators)
        task = _BoundedTask(self._numbered.task(problem), limits)
        logging.getLogger().disabled, before = True, logging.getLogger().disabled
        try:
            steps = breadth_first_search(task)
        except _LimitReached:
            return Verdict.LIMIT
        finally:
            logging.getLogger().disabled = before
        if steps is None:
            return Verdict.UNSOLVABLE
        goals = len(problem.starts) + len(problem.operators)
        return as_found(
            [
                step.source.action
                if isinstance(step.source, Operator) and step.number < goals
                else step.source
                for step in steps
            ]
        )
