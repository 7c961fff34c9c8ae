"""How much room a round has: in the budget, and until the copies of the agent have enough to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from aam_vision.agents.counting import Counts
from aam_vision.interrogation.evidence.moves import Ask, Walk
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.round_moves import steps_of

LONG = 8
"""Steps of waiting for one copy for which the others get more to do."""


@dataclass
class Load:
    """How long the copies have to do, if each move goes to the one that is free first."""

    copies: int
    steps: list[int] = field(default_factory=list)
    _latest: int = 0
    """The steps of the copy that got the latest move."""

    def add(self, steps: int, *, goes_on: bool) -> None:
        """One more move of so many steps; ``goes_on``: for the copy that got the move before."""
        if goes_on and self.steps:
            self.steps.remove(self._latest)
            heapify(self.steps)
            steps += self._latest
        elif len(self.steps) == self.copies:
            steps += heappop(self.steps)
        heappush(self.steps, steps)
        self._latest = steps

    @property
    def is_uneven(self) -> bool:
        """Whether some copies would wait long for another one."""
        return max(self.steps) - self.steps[0] >= LONG


@dataclass
class Left:
    """The part of the budget that a round has not spent."""

    budget: Budget
    counts: Counts
    steps: int = 0
    queries: int = 0

    def affords(self, move: Ask | Walk) -> bool:
        """Whether the budget allows one more move."""
        queries = self.queries + (isinstance(move, Ask) and not move.again and not move.examines)
        return not self.budget.spent(self.counts, steps=self.steps + steps_of(move), queries=queries)

    def spend(self, move: Ask | Walk) -> None:
        """Make the move."""
        self.steps += steps_of(move)
        self.queries += isinstance(move, Ask) and not move.again and not move.examines
