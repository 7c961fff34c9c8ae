"""The parts of the graph of situations: a node is a situation, an edge an executed step, a refusal a refused one."""

from __future__ import annotations

from dataclasses import dataclass, field

from aam_vision.model.query import Situation
from aam_vision.model.strips import GroundAction, State
from aam_vision.planning.joins import StateIndex


@dataclass(eq=False)
class Node:
    """A situation as far as it is known; ``situation`` is None where it was not observed."""

    state: State
    situation: Situation | None
    number: int
    initial: bool = False
    state_when_new: State | None = field(default=None, repr=False)
    """The state as it was known after the exchange that led here: later exchanges may add to ``state``."""
    attempted: list[GroundAction] = field(default_factory=list, repr=False)
    """The steps that were attempted here."""
    _index: StateIndex | None = field(default=None, repr=False)

    @property
    def index(self) -> StateIndex:
        """The state's atoms, arranged for joins."""
        if self._index is None:
            self._index = StateIndex(self.state)
        return self._index

    @property
    def index_when_new(self) -> StateIndex:
        """The same of ``state_when_new``."""
        known = self.state_when_new
        return self.index if known is None or known is self.state else StateIndex(known)

    def learn(self, state: State) -> None:
        """Replace the state by a more precise one."""
        self.state = state
        self._index = None


@dataclass(frozen=True, eq=False)
class Edge:
    """An executed step."""

    before: Node
    action: GroundAction
    after: Node


@dataclass(frozen=True, eq=False)
class Refusal:
    """A step that the agent could not execute."""

    at: Node
    action: GroundAction
