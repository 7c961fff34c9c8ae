"""The agent's side of one exchange: the answer to a query, or a walk."""

from __future__ import annotations

from dataclasses import dataclass

from aam_vision.model.query import Query, Response, WalkStep
from aam_vision.model.strips import GroundAction


@dataclass(frozen=True)
class Asked:
    """A query and its answer."""

    query: Query
    response: Response

    @property
    def looks(self) -> bool:
        """Whether the query only looks at a situation again."""
        return not self.query.plan

    @property
    def actions(self) -> tuple[GroundAction, ...]:
        """The attempted steps, the refused one included."""
        return self.query.plan[: self.response.executed + 1]

    @property
    def executed(self) -> tuple[GroundAction, ...]:
        """The executed steps."""
        return self.query.plan[: self.response.executed]


@dataclass(frozen=True)
class Walked:
    """A walk of the agent, with the states seen."""

    steps: tuple[WalkStep, ...]

    @property
    def actions(self) -> tuple[GroundAction, ...]:
        """The executed steps."""
        return tuple(step.action for step in self.steps)

    @property
    def executed(self) -> tuple[GroundAction, ...]:
        """The same."""
        return self.actions


Entry = Asked | Walked
