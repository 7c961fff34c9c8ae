"""Answers that came out otherwise than the learned model predicts.

Steps whose outcome the learned model predicts, and the states that it predicts after them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Asked, Entry, Walk
from aam_vision.interrogation.examination.findings import Exam
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, atoms
from aam_vision.model.strips import Atom, GroundAction, State
from aam_vision.planning.joins import StateIndices, bindings
from aam_vision.support.unchanging import Kept

MAX_BINDINGS = 200
"""Bindings of one action that are looked at in one state: the more, the evener the choice among them."""
NEAR_MISSES = 4
"""Refused steps for one reason that are looked at in one state."""

LASTING = "examine once more"
"""Why steps are asked for that count for no bound (``lasting``)."""

Way = tuple[GroundAction, ...]


def progress(evidence: Evidence) -> Exam:
    """The examination so far: what was predicted and came out since something was last learned."""
    steps = further = 0
    for exchange in reversed(evidence.exchanges):
        if exchange.move is None or not exchange.move.examines or exchange.told:
            break
        if exchange.move.why == LASTING:
            further += len(exchange.entry.actions)
        else:
            steps += len(exchange.entry.actions)
    return Exam(steps, further=further)


def untold(evidence: Evidence) -> int:
    """The plans of the examination of which some step came out in a way that nothing is told of."""
    return sum(
        isinstance(exchange.move, Ask)
        and exchange.move.examines
        and isinstance(exchange.entry, Asked)
        and len(exchange.entry.query.plan) < len(exchange.move.plan)
        for exchange in evidence.exchanges
    )


def surprise(evidence: Evidence, entry: Entry, move: Ask | Walk) -> str | None:
    """What an answer shows that the evidence before it rules out, in a line; None if it is as predicted."""
    state = move.start.state
    if isinstance(entry, Asked):
        executed, final = entry.response.executed, entry.response.final.state
        if entry.looks:
            return _changed("looked at again", entry.query.initial.state, final)
        for step in entry.query.plan[:executed]:
            if expected(evidence, state, step) is False:
                return f"{step}: executed, and predicted to be refused"
            state = evidence.predict(state, step)
        if executed < len(entry.query.plan):
            step = entry.query.plan[executed]
            if expected(evidence, state, step):
                return f"{step}: refused, and predicted to be executed"
            return _changed(f"{step}, refused", state, final) if executed else None
        return _changed(str(entry.query.plan[-1]), state, final)
    for one in entry.steps:
        if expected(evidence, state, one.action) is False:
            return f"{one.action}: executed, and predicted to be refused"
        state = evidence.predict(state, one.action)
        if told := _changed(str(one.action), state, one.after.state):
            return told
    return None


def differing(one: State, other: State) -> list[Atom]:
    """The atoms whose values are known in both states and differ; sorted."""
    return sorted((one.true ^ other.true) - one.unknown - other.unknown)


def _changed(what: str, predicted: State, seen: State) -> str | None:
    found = differing(predicted, seen)
    if not found:
        return None
    return f"{what}: {found[0]} is {'true' if found[0] in seen.true else 'false'}, and predicted otherwise"


def expected(evidence: Evidence, state: State, step: GroundAction) -> bool | None:
    """Whether every possible model executes a step in a state (True) or refuses it (False); None if they differ."""
    action = evidence.hypotheses[step.name]
    held, unknown = action.index.values(state, step.objects)
    if not action.violated(held, unknown):
        return True
    return False if action.certain_to_fail(action.certainly_violated(held, unknown)) else None


class Predictions:
    """What follows from the evidence about steps that were not asked for; worked out once for every state."""

    def __init__(self, evidence: Evidence, indices: StateIndices | None = None) -> None:
        """``indices``: those of states, to be added to."""
        self._evidence = evidence
        self._indices = StateIndices() if indices is None else indices
        self._options = Kept[State, list[GroundAction]]()
        self._edges = Kept[State, list[tuple[GroundAction, State]]]()
        self._refusals = Kept[State, list[GroundAction]]()
        self._reached = Kept[State, State]()
        """Of equal states always the same object: most comparisons of states end at once."""

    def successor(self, state: State, step: GroundAction) -> State:
        """The predicted state after a step."""
        found = self._evidence.predict(state, step)
        after = self._reached.setdefault(found, found)
        if after is found:
            self._indices.of(after, like=state)
        return after

    @property
    def names(self) -> list[str]:
        """The actions that were ever executed."""
        actions = self._evidence.hypotheses.actions
        return [name for name, action in actions.items() if action.successes]

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
