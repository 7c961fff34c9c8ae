"""pyperplan behind the Planner protocol, in process.

One breadth-first search serves all starts and finds a plan with the fewest steps. Where it ends at its limits, a greedy
best-first search follows, guided by the additive heuristic. The states are integers (:mod:`aam_vision.planning.numbered`):
pyperplan's ``Task`` tries all operators in every state, ours only those that may have become applicable, and it stops at
the limits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from time import process_time

from aam_vision.planning.additive import AdditiveHeuristic
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
    """Breadth-first search by pyperplan, and greedy best-first search where that is too long."""

    name = "pyperplan"

    def __init__(self) -> None:
        self._numbered = NumberedOperators(())
        """The operators of the last search: the next one is often over the same."""

    def solve(self, problem: SearchProblem, limits: Limits) -> Found | Verdict:
        """A plan (one with the fewest steps, if few states have to be looked at), or why there is none."""
        from pyperplan.search import breadth_first_search, greedy_best_first_search

        if not problem.goals:
            return Verdict.UNSOLVABLE
        if self._numbered.operators is not problem.operators:
            self._numbered = NumberedOperators(problem.operators)
        task = self._numbered.task(problem)
        try:
            steps = _searched(breadth_first_search, task, limits)
        except _LimitReached:
            if not limits.guided:
                return Verdict.LIMIT
            heuristic = AdditiveHeuristic(task)
            guided = replace(limits, states=limits.guided)
            try:
                steps = _searched(lambda bounded: greedy_best_first_search(bounded, heuristic), task, guided)
            except _LimitReached:
                return Verdict.LIMIT
        if steps is None:
            return Verdict.UNSOLVABLE
        return as_found([step.source for step in steps])


def _searched(
    search: Callable[[_BoundedTask], list[NumberedOperator] | None], task: Task, limits: Limits
) -> list[NumberedOperator] | None:
    """The plan that a search finds; what pyperplan logs is not shown."""
    logging.getLogger().disabled, before = True, logging.getLogger().disabled
    try:
        return search(_BoundedTask(task, limits))
    finally:
        logging.getLogger().disabled = before
