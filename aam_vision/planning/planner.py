"""The role of a planner: reach, from one of several states, a situation in which a probe applies.

Until its last step a distinguishing plan runs the same way in every model still possible, so one copy of
the state and a condition on the last step suffice (shared idea behind the paper's P_PO).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from os import times
from time import process_time
from typing import Protocol

from aam_vision.joins import Fact
from aam_vision.planning.grounding import Operator
from aam_vision.strips import GroundAction


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
    """How long a search may take."""

    seconds: float = 2.0
    states: int = 50_000


class Planner(Protocol):
    """Finds a plan, or tells "there is none" apart from "not within the limits"."""

    def solve(self, problem: SearchProblem, limits: Limits) -> Found | Verdict: ...


def cpu_seconds() -> float:
    """CPU seconds of this process, and of the planners that it has run as processes of their own."""
    children = times()
    return process_time() + children.children_user + children.children_system


class TimedPlanner:
    """Counts the CPU seconds that another planner takes."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.seconds = 0.0

    def solve(self, problem: SearchProblem, limits: Limits) -> Found | Verdict:
        begun = cpu_seconds()
        try:
            return self._planner.solve(problem, limits)
        finally:
            self.seconds += cpu_seconds() - begun
