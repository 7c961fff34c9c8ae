"""How much may be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from aam_vision.agents.counting import Counts
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Policy, Stop
from aam_vision.interrogation.task.verdict import BUDGET
from aam_vision.support.errors import UnusableInput
from aam_vision.support.resources import Resources
from aam_vision.support.wording import counted


@dataclass(frozen=True)
class Budget:
    """Limits on an interrogation; None means no limit."""

    queries: int | None = None
    steps: int | None = None
    resources: Resources = field(default_factory=Resources, compare=False)
    """Time and memory, which decide nothing until they are spent."""

    def __post_init__(self) -> None:
        """Check the limits.

        Raises:
            UnusableInput: one of them is negative.
        """
        for name, most in (("max_queries", self.queries), ("max_steps", self.steps)):
            if most is not None and most < 0:
                raise UnusableInput("give a number from 0", argument=name, value=most)

    def left(self, counts: Counts) -> int | None:
        """How many steps more may be attempted; None for any number."""
        return None if self.steps is None else max(0, self.steps - counts.steps - counts.exam_steps)

    def rest(self, counts: Counts) -> Budget:
        """What is left of it."""
        queries = None if self.queries is None else max(0, self.queries - counts.queries)
        return replace(self, queries=queries, steps=self.left(counts))

    def half(self, counts: Counts) -> int | None:
        """Half of these, for what something else is to follow; None for any number."""
        left = self.left(counts)
        return None if left is None else left // 2

    def spent(self, counts: Counts, *, steps: int, queries: int = 0) -> str:
        """Why so many more cannot be afforded, in words; empty if they can."""
        if why := self.resources.spent:
            return why
        if self.steps is not None and counts.steps + counts.exam_steps + steps > self.steps:
            return f"the budget of {counted(self.steps, 'step')} is spent"
        if self.queries is not None and queries and counts.queries + queries > self.queries:
            return f"the budget of {counted(self.queries, 'query')} is spent"
        return ""

    def affordable(self, move: Move, counts: Counts) -> Move:
        """The move, with a walk cut short if need be; Stop where the budget does not allow it."""
        if isinstance(move, Stop):
            return move
        if isinstance(move, Ask):
            queries = 0 if move.again or move.examines else 1
            spent = self.spent(counts, steps=len(move.plan), queries=queries)
        else:
            spent = self.spent(counts, steps=1)
        if spent and move.examines and move.stopped is not None:
            # what stays open does so whatever may be spent
            return replace(move.stopped, cut=BUDGET) if move.stopped.complete else move.stopped
        if spent:
            return Stop(False, spent, cut=BUDGET)
        if isinstance(move, Ask) or (left := self.left(counts)) is None:
            return move
        return replace(move, steps=min(move.steps, left))


@dataclass(frozen=True)
class Until:
    """A policy that also stops once something is spent that its budget does not count."""

    policy: Policy
    spent: Callable[[], str]
    """Why it stops, in words; empty as long as it does not."""

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's move, or Stop."""
        if why := self.spent():
            return Stop(False, why, cut=BUDGET)
        return self.policy.next(evidence, rng)
