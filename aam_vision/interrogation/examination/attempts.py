"""All steps that were attempted so far, read as predictions that were tried: in the interrogation and in its examination.

It is worked out from the answers alone, so that an interrogation that was cut short goes on in the same way.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

from aam_vision.interrogation.evidence.entries import Asked, Entry
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.examination.coverage import Circumstances, Coverage, History, Occasions
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.query import Access, Situation
from aam_vision.strips import GroundAction, State

LATE = 0.5
"""The worth of circumstances that are new to the examination, of those that are new altogether."""
BEGINNING = History()


class Prediction(NamedTuple):
    """What is predicted of an action."""

    action: str
    refused: Literals | None = None
    """The literals of which one is required, if it is refused where they alone are violated; None if it is executed."""
    seen: bool = False
    """Whether the state right after the step is seen."""


class Attempts:
    """The predictions that were tried so far, and the histories of all situations."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._ever, self._lately = Coverage(), Coverage()
        self._occasions = Occasions()
        self._attempted: set[tuple[State, GroundAction]] = set()
        self._histories: dict[Hashable, History] = {}
        self._taken_in = 0
        self._version = -1

    def take_in(self, evidence: Evidence) -> None:
        """All exchanges that are new; everything again if something was learned meanwhile."""
        if evidence.hypotheses.version != self._version or len(evidence.exchanges) < self._taken_in:
            self.__init__(self._access)  # type: ignore[misc]
            self._version = evidence.hypotheses.version
        for exchange in evidence.exchanges[self._taken_in :]:
            examines = exchange.move is not None and exchange.move.examines
            for prediction, found in self._tried(evidence, exchange.entry):
                self._ever.add(prediction, found)
                if examines:
                    self._lately.add(prediction, found)
        self._taken_in = len(evidence.exchanges)

    def history(self, situation: Situation) -> History:
        """What happened before a situation in its episode, as far as it was followed."""
        return BEGINNING if self._access is Access.SETTABLE else self._histories.get(situation.handle, BEGINNING)

    def worth(self, evidence: Evidence, prediction: Prediction, state: State, step: GroundAction, history: History) -> float:
        """How much there is new about a step."""
        found = self._circumstances(evidence, state, step, history)
        return self._ever.worth(prediction, found) + LATE * self._lately.worth(prediction, found)

    def worth_of_refusal(self, evidence: Evidence, state: State, step: GroundAction, history: History) -> float:
        """The same where it is refused: the less, the more reasons there are for that."""
        why = reasons(evidence, state, step)
        if not why:
            return 0.0
        return sum(self.worth(evidence, Prediction(step.name, one), state, step, history) for one in why) / len(why)**2

    def _circumstances(
        self, evidence: Evidence, state: State, step: GroundAction, history: History
    ) -> Circumstances:
        again = (state, step) in self._attempted
        return self._occasions.of(evidence.hypotheses[step.name], state, step, history, again=again)

    def _tried(self, evidence: Evidence, entry: Entry) -> Iterator[tuple[Prediction, Circumstances]]:
        """The predictions that an answer tries, in their order, and the histories after it."""
        if isinstance(entry, Asked):
            yield from self._asked(evidence, entry)
            return
        for before, step, after in entry.steps:
            history = self.history(before)
            yield from self._executed(evidence, before.state, step, history, seen=True)
            self._histories[after.handle] = history.then(step.name, before.state, after.state)

    def _asked(self, evidence: Evidence, entry: Asked) -> Iterator[tuple[Prediction, Circumstances]]:
        state, history = entry.query.initial.state, self.history(entry.query.initial)
        executed, final = entry.response.executed, entry.response.final
        for number, step in enumerate(entry.query.plan[:executed]):
            last = number == executed - 1
            yield from self._executed(evidence, state, step, history, seen=last)
            after = final.state if last else evidence.predict(state, step)
            state, history = after, history.then(step.name, state, after)
        if executed < len(entry.query.plan):
            step = entry.query.plan[executed]
            found = self._circumstances(evidence, state, step, history)
            for reason in reasons(evidence, state, step):
                yield Prediction(step.name, reason), found
            self._attempted.add((state, step))
            history = history.then_refused()
        self._histories[final.handle] = history

    def _executed(
        self, evidence: Evidence, state: State, step: GroundAction, history: History, *, seen: bool
    ) -> Iterator[tuple[Prediction, Circumstances]]:
        found = self._circumstances(evidence, state, step, history)
        yield Prediction(step.name), found
        if seen:
            yield Prediction(step.name, seen=True), found
        self._attempted.add((state, step))


def reasons(evidence: Evidence, state: State, step: GroundAction) -> list[Literals]:
    """The sets of literals of which one is required and that are all violated: why a step is refused."""
    action = evidence.hypotheses[step.name]
    violated = action.certainly_violated(*action.index.values(state, step.objects))
    return [one for one in (*action.proven.singles(), *action.clauses) if one.within(violated)]
