"""pyperplan behind the Planner protocol, in process, and searches of our own where pyperplan's would take too long.

One breadth-first search serves all starts and finds a plan with the fewest steps. It sees the part of the problem that the
goals need (:mod:`aam_vision.planning.blockwise`). pyperplan makes it over a few states of small tasks. Where more have to be
looked at, it is made over arrays (:mod:`aam_vision.planning.blockwise`), which finds the same plan; where that ends at its
limit, a greedy best-first search follows, guided by the additive heuristic, unless it could look at few states beside the starts.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from aam_vision.planning.blockwise import (
    FactNumbers,
    LimitReached,
    NumberedOperators,
    Steps,
    Task,
    Words,
    best_first,
    breadth_first,
    packed,
    packed_sets,
)
from aam_vision.planning.planner import Found, Limits, SearchProblem, Verdict

FEW = 50
"""States that pyperplan's own search looks at."""

LARGE = 4000
"""Steps of a task up to which pyperplan's own search is tried and a guided search looks at as many states as it may; with
more steps at fewer, so that it takes no longer. More: farther plans in large worlds, slower."""


class PyperplanPlanner:
    """Breadth-first search by pyperplan, and searches over arrays of states where that is too long."""

    name = "pyperplan"

    def __init__(self) -> None:
        self._facts = FactNumbers()
        self._numbered = NumberedOperators((), self._facts)
        """The operators of the last search: the next one is often over the same."""

    def solve(self, problem: SearchProblem, limits: Limits) -> Found | Verdict:
        """A plan (one with the fewest steps, if few states have to be looked at), or why there is none."""
        if not problem.goals:
            return Verdict.UNSOLVABLE
        if self._numbered.operators is not problem.operators:
            self._numbered = NumberedOperators(problem.operators, self._facts)
        task = self._numbered.task(problem)
        try:
            found = _searched(task, limits)
        except LimitReached:
            return Verdict.LIMIT
        if found is None:
            return Verdict.UNSOLVABLE
        plan = tuple([task.steps[step] for step in found.steps])
        return Found(int(task.starts[found.start]), plan, task.goals[found.goal])


def _searched(task: Task, limits: Limits) -> Steps | None:
    """The plan that the searches find, one after the other.

    Raises:
        LimitReached: all of them ended at their limits.
    """
    try:
        if len(task.starts) < FEW and len(task.steps) <= LARGE:
            try:
                return _by_pyperplan(task, min(FEW, limits.states))
            except LimitReached:
                pass
        return breadth_first(task, limits.states, limits.seconds)
    except LimitReached:
        if not limits.guided:
            raise
        fewer = limits.guided * LARGE // max(LARGE, len(task.steps))
        if fewer < 2 * len(task.starts):
            raise  # it would do little more than estimate the starts
        return best_first(task, fewer, limits.seconds)


class _Step(NamedTuple):
    """Something that pyperplan may choose, as sets of bits: a start, a step, or, last of all, a goal."""

    required: int
    kept: int
    add: int
    start: int = -1
    step: int = -1
    goal: int = -1


class _SmallTask:
    """A task as pyperplan's searches need it, which gives up at a limit; a state is an integer.

    Its first bit says that a start was chosen, its second that a goal was reached.
    """

    def __init__(self, task: Task, limit: int) -> None:
        self._left = limit
        self._starts = [
            _Step(0, 0, 1 | bits << 2, start=place) for place, bits in enumerate(_bits(packed(task.states)))
        ]
        parts = [packed_sets(sets) for sets in (task.required, task.delete, task.add)]
        masks = zip(*map(_bits, parts), strict=True)
        self._steps = [
            _Step(1 | required << 2, ~(delete << 2), add << 2, step=place)
            for place, (required, delete, add) in enumerate(masks)
        ]
        self._steps += [
            _Step(1 | wanted << 2, -1, 2, goal=place)
            for place, wanted in enumerate(_bits(packed_sets(task.wanted)))
        ]
        self.initial_state = 0

    def goal_reached(self, state: int) -> bool:
        return bool(state & 2)

    def get_successor_states(self, state: int) -> list[tuple[_Step, int]]:
        self._left -= 1
        if self._left < 0:
            raise LimitReached
        steps = self._steps if state else self._starts
        return [(one, state & one.kept | one.add) for one in steps if one.required & state == one.required]


def _bits(sets: Words) -> list[int]:
    """Sets of literals as integers."""
    return [int.from_bytes(words.tobytes(), "little") for words in sets]


def _by_pyperplan(task: Task, limit: int) -> Steps | None:
    """The plan that pyperplan's breadth-first search finds; what it logs is not shown."""
    from pyperplan.search import breadth_first_search

    logging.getLogger().disabled, before = True, logging.getLogger().disabled
    try:
        plan: list[_Step] | None = breadth_first_search(_SmallTask(task, limit))
    finally:
        logging.getLogger().disabled = before
    return None if plan is None else Steps(plan[0].start, [one.step for one in plan[1:-1]], plan[-1].goal)
