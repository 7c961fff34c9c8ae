"""Steps whose outcome the learned model predicts, and the states that it predicts after them."""

from __future__ import annotations

from itertools import islice

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.examination.surprises import expected
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.ground_literals import atoms
from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.joins import StateIndex, bindings
from aam_vision.strips import GroundAction, State

MAX_BINDINGS = 200
"""Bindings of one action that are looked at in one state: the more, the evener the choice among them."""


class Predictions:
    """What follows from the evidence about steps that were not asked for. It is worked out once for every state."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._indices: dict[State, StateIndex] = {}
        self._options: dict[State, list[GroundAction]] = {}

    def successor(self, state: State, step: GroundAction) -> State:
        """The predicted state after a step."""
        after = self._evidence.predict(state, step)
        if after not in self._indices:
            self._indices[after] = self._index(state).of(after)
        return after

    def executable(self, state: State) -> list[GroundAction]:
        """The steps that the cautious model can execute."""
        if state not in self._options:
            self._options[state] = [
                step
                for action in self._evidence.hypotheses.actions.values()
                if action.successes
                for step in self._bound(action, state, action.cautious)
                if not action.violated(*action.index.values(state, step.objects), action.cautious)
            ]
        return self._options[state]

    def refused(self, state: State, step: GroundAction) -> bool:
        """Whether every possible model refuses a step."""
        return expected(self._evidence, state, step) is False

    def reasons(self) -> list[tuple[ActionHypotheses, Literals]]:
        """All sets of literals of which one is required, as far as none is smaller."""
        return [
            (action, literals)
            for action in self._evidence.hypotheses.actions.values()
            for literals in (*action.proven.singles(), *action.clauses)
        ]

    def near_misses(self, state: State, action: ActionHypotheses, literals: Literals) -> list[GroundAction]:
        """Steps that are refused, as far as can be told for these literals alone: all else holds."""
        others = action.cautious.without(literals)
        holding = union([others, Literals(literals.negative, 0)])
        return [step for step in self._bound(action, state, holding) if self.refused(state, step)]

    def _bound(self, action: ActionHypotheses, state: State, holding: Literals) -> list[GroundAction]:
        header = action.index.header
        rows = bindings(
            self._index(state),
            header,
            atoms(action, holding.positive),
            repeated=self._evidence.hypotheses.repeated,
        )
        return [GroundAction(header.name, row) for row in islice(rows, MAX_BINDINGS)]

    def _index(self, state: State) -> StateIndex:
        if state not in self._indices:
            self._indices[state] = StateIndex(state)
        return self._indices[state]

