"""The moves of a policy with their answers, and its role (paper: "Query policies ... Stop").

A policy is a function of the evidence. Anything that it needs later about a move, it writes on the move: the evidence
keeps the moves with their answers, and nothing else is remembered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals
from aam_vision.model.query import Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction

if TYPE_CHECKING:
    import numpy as np

    from aam_vision.interrogation.evidence.graph import Evidence, Node


class Aim(NamedTuple):
    """The purpose of one step of a query, in the terms of the policy that asks."""

    purpose: str
    action: str
    literals: Literals = NOTHING
    step: int = 0
    """Which step of the policy's plan it is, from 0."""


class LimitedSearch(NamedTuple):
    """A search for a plan that ended at its limits; it is not made again."""

    purpose: str
    problem: int
    action: str
    holding: Literals
    anywhere: bool
    """Whether it began in all situations seen so far, not in a single one."""


Note = tuple["int | str | Note", ...]
"""Numbers and names, nested."""


@dataclass(frozen=True)
class Stop:
    """Ask nothing more; ``complete`` only if no query could tell anything new."""

    complete: bool
    why: str
    beyond: Mapping[str, tuple[Literals, int]] | None = field(default=None, compare=False)
    """Per action, the undecided literals and effects that are proven to be beyond every query; None if no proof was made."""
    reasons: Mapping[tuple[str, Literals], str] = field(default_factory=dict, compare=False)
    """By action and literal, why no answer can tell it, where that is not for want of a situation."""
    cut: str = ""
    """The status of a result that was cut short: by a budget, or because the agent failed; empty if it was not."""


@dataclass(frozen=True)
class Ask:
    """Pose a plan outcome query: this plan from this node's situation."""

    start: Node
    plan: tuple[GroundAction, ...]
    why: str
    again: bool = False
    """Whether its last step was refused there before, and is attempted once more."""
    aims: tuple[Aim, ...] = ()
    searches: tuple[LimitedSearch, ...] = ()
    """Searches that were made for this move and found no plan."""
    replayed: int = 0
    """The number of steps at the plan's beginning that only lead back to where the policy wanted to start."""
    wanted: Node | None = None
    """The node where it wanted to start, if the plan begins elsewhere."""
    stopped: Stop | None = None
    """The policy's Stop, where this only confirms an earlier answer."""
    note: Note = ()
    """How far the policy has come, in its own terms."""
    examines: bool = False
    """Whether the outcome is predicted, and only asked for to examine the prediction."""
    goes_on: bool = False
    """Whether it begins where the move before it has ended; ``start`` is then known only when that was made."""


@dataclass(frozen=True)
class Walk:
    """Let the agent act on its own from this node."""

    start: Node
    steps: int
    why: str = "explore"
    wanted: Node | None = None
    """The node where the policy wanted it to start, if the agent cannot be brought there."""
    stopped: Stop | None = None
    """The policy's Stop, where the walk only examines what was learned."""
    seed: int | None = None
    """Of the agent's choices, if several copies of it walk at a time; None for the interrogation's own generator."""

    @property
    def examines(self) -> bool:
        """Whether the steps are only taken to examine what was learned."""
        return self.stopped is not None


Move = Ask | Walk | Stop


class Policy(Protocol):
    """Maps the evidence to the next question, walk, or Stop."""

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move.

        It depends on nothing but the evidence and the generator; a policy object may cache results derived from
        them.
        """


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


def look_at(situation: Situation) -> Asked:
    """A look at a situation, in which nothing is attempted."""
    return Asked(Query(situation, ()), Response(0, situation))


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


def refused_step(entry: Entry) -> GroundAction | None:
    """The step that was refused, if one was."""
    refused = entry.actions[len(entry.executed) :]
    return refused[0] if refused else None
