"""Steps whose outcome the learned model predicts, and the states that it predicts after them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.examination.surprises import expected
from aam_vision.interrogation.hypotheses.action import ActionHypotheses, atoms
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, union
from aam_vision.model.strips import GroundAction, State
from aam_vision.planning.joins import StateIndices, bindings

MAX_BINDINGS = 200
"""Bindings of one action that are looked at in one state: the more, the evener the choice among them."""
NEAR_MISSES = 4
"""Refused steps for one reason that are looked at in one state."""

Way = tuple[GroundAction, ...]


class Predictions:
    """What follows from the evidence about steps that were not asked for; worked out once for every state."""

    def __init__(self, evidence: Evidence, indices: StateIndices | None = None) -> None:
        """``indices``: those of states, to be added to."""
        self._evidence = evidence
        self._indices = StateIndices() if indices is None else indices
        self._options: dict[State, list[GroundAction]] = {}
        self._edges: dict[State, list[tuple[GroundAction, State]]] = {}
        self._refusals: dict[State, list[GroundAction]] = {}
        self._reached: dict[State, State] = {}
        """Of equal states always the same object: most comparisons of states end at once."""

    def successor(self, state: State, step: GroundAction) -> State:
        """The predicted state after a step."""
        found = self._evidence.predict(state, step)
        after = self._reached.setdefault(found, found)
        if after is found:
            self._indices.of(after, like=state)
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

    def atoms(self, step: GroundAction) -> Iterable[tuple[int, tuple[str, tuple[str, ...]]]]:
        """The atoms over the step's arguments, each with its number among those of the action."""
        return self._evidence.hypotheses[step.name].index.grounded(step.objects)

    def is_refused(self, state: State, step: GroundAction) -> bool:
        """Whether every possible model refuses a step."""
        return expected(self._evidence, state, step) is False

    def refused(self, state: State) -> list[GroundAction]:
        """Steps that every possible model refuses: for every reason some for which all else holds, if there are such.

        Of actions that were never executed, nobody knows what else has to hold.
        """
        if state not in self._refusals:
            found: dict[GroundAction, None] = {}
            for action in self._evidence.hypotheses.actions.values():
                reasons = [*action.proven.singles(), *action.clauses]
                for literals in reasons if action.successes else reasons[:1]:
                    found.update(dict.fromkeys(self._near_misses(action, state, literals)))
            self._refusals[state] = list(found)
        return self._refusals[state]

    def surroundings(self, state: State, count: int, longest: int) -> Iterator[tuple[Way, State]]:
        """The nearest states, at most so many, each with a shortest predicted way of at most ``longest`` steps."""
        came: dict[State, Way] = {state: ()}
        waiting = deque([state])
        while waiting:
            one = waiting.popleft()
            way = came[one]
            yield way, one
            if len(way) == longest:
                continue
            for step, after in self._leading_on(one):
                if len(came) == count:
                    break
                if after not in came:
                    came[after] = (*way, step)
                    waiting.append(after)

    def _leading_on(self, state: State) -> list[tuple[GroundAction, State]]:
        if state not in self._edges:
            self._edges[state] = [(step, self.successor(state, step)) for step in self.executable(state)]
        return self._edges[state]

    def _near_misses(self, action: ActionHypotheses, state: State, literals: Literals) -> list[GroundAction]:
        if not action.successes:
            return [step for step in self._bound(action, state, NOTHING) if self.is_refused(state, step)]
        holding = union([action.cautious.without(literals), Literals(literals.negative, 0)])
        near = [step for step in self._bound(action, state, holding) if self.is_refused(state, step)]
        return near[:: max(1, len(near) // NEAR_MISSES)][:NEAR_MISSES]

    def _bound(self, action: ActionHypotheses, state: State, holding: Literals) -> list[GroundAction]:
        header = action.index.header
        rows = bindings(
            self._indices.of(state),
            header,
            atoms(action, holding.positive),
            repeated=self._evidence.hypotheses.repeated,
        )
        return [GroundAction(header.name, row) for row in islice(rows, MAX_BINDINGS)]
