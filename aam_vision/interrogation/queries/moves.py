"""What a policy may do next, and the role of a policy (paper: "Query policies ... Stop")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.strips import GroundAction


@dataclass(frozen=True)
class Ask:
    """Pose a plan outcome query: this plan from this node's situation.

    ``again`` says that its last step was refused there before, and is attempted once more.
    """

    start: Node
    plan: tuple[GroundAction, ...]
    why: str
    again: bool = False


@dataclass(frozen=True)
class Walk:
    """Let the agent act on its own from this node."""

    start: Node
    steps: int


@dataclass(frozen=True)
class Stop:
    """Nothing more is asked. ``complete`` only if no query could tell any more."""

    complete: bool
    why: str


Move = Ask | Walk | Stop


class Policy(Protocol):
    """Maps what is known to the next question, walk, or Stop."""

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move."""
        ...
