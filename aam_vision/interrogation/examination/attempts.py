"""All steps that were attempted so far, read as predictions that were tried: in the interrogation and in its examination.

It is worked out from the answers alone, so that an interrogation that was cut short goes on in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import NamedTuple

from aam_vision.interrogation.evidence.entries import Asked, Entry
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.examination.coverage import (
    FIRST,
    Circumstances,
    Coverage,
    History,
    Names,
)
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.joins import StateIndices
from aam_vision.query import Access, Situation
from aam_vision.strips import GroundAction, State

LATE = 0.5
"""The worth of circumstances that are new to the examination, of those that are new altogether."""
BEGINNING = History()


class Prediction(NamedTuple):
    """What is predicted of an action."""

    action: str
    refused: Literals | None = None
    """The literals of which one is required, if it is refused where they are violated; None if it is executed."""
    seen: bool = False
    """Whether the state right after the step is seen."""


class Attempts:
    """The predictions that were tried so far, and the histories of all situations."""

    def __init__(self, evidence: Evidence, access: Access) -> None:
        """Nothing was tried yet, as far as is known; ``take_in`` reads the evidence."""
        self._evidence = evidence
        self.indices = StateIndices()
        self._settable = access is Access.SETTABLE
        self._names = names = Names()
        self._ever, self._lately = Coverage(names), Coverage(names)
        self._ever_after, self._lately_after = Coverage(names), Coverage(names)
        self._states: dict[tuple[State, GroundAction], Circumstances] = {}
        self._attempted: set[tuple[State, GroundAction]] = set()
        self._repeated: Counter[str] = Counter()
        """How often each action was refused once more right after the same step."""
        self._histories: dict[Hashable, History] = {}
        self._taken_in = 0

    def take_in(self) -> None:
        """All exchanges that are new."""
        for exchange in self._evidence.exchanges[self._taken_in :]:
            examines = exchange.move is not None and exchange.move.examines
            for prediction, state, step, history in self._tried(exchange.entry):
                there, before = self._state(state, step), self._history(state, step, history)
                self._ever.add(prediction, there)
                self._ever_after.add(prediction, before)
                if examines:
                    self._lately.add(prediction, there)
                    self._lately_after.add(prediction, before)
                self._attempted.add((state, step))
        self._taken_in = len(self._evidence.exchanges)

    def history(self, situation: Situation) -> History:
        """What happened before a situation in its episode, as far as it was followed."""
        return BEGINNING if self._settable else self._histories.get(situation.handle, BEGINNING)

    def worth_there(self, prediction: Prediction, state: State, step: GroundAction) -> float:
        """How much is new about the state in which a prediction is tried; it never grows."""
        there, often = self._state(state, step), self._worth_of_another(prediction)
        return often + self._ever.worth(prediction, there) + LATE * self._lately.worth(prediction, there)

    def most_worth_there(self, prediction: Prediction) -> float:
        """The most that ``worth_there`` may be in any state."""
        return self._worth_of_another(prediction) + (1 + LATE) * FIRST

    def _worth_of_another(self, prediction: Prediction) -> float:
        """The worth of one more time, whatever is new about it."""
        return FIRST / (1 + self._ever.times(prediction)) + FIRST / (1 + self._lately.times(prediction))

    def worth(self, prediction: Prediction, state: State, step: GroundAction, history: History) -> float:
        """How much is new about the state and the history."""
        before = self._history(state, step, history)
        new = self._ever_after.worth(prediction, before) + LATE * self._lately_after.worth(prediction, before)
        return self.worth_there(prediction, state, step) + new

    def refusal_worth_there(self, state: State, step: GroundAction) -> float:
        """``worth_there`` of a refused step: the less, the more reasons there are for the refusal."""
        why = reasons(self._evidence, state, step)
        worths = [self.worth_there(Prediction(step.name, one), state, step) for one in why]
        return sum(worths) / len(why) ** 2 if why else 0.0

    def refusal_worth(self, state: State, step: GroundAction, history: History) -> float:
        """``worth`` of a refused step; more, if it was executed just before.

        An agent that goes by what was there before its last step executes it again, however many reasons speak against it.
        """
        why = reasons(self._evidence, state, step)
        worths = [self.worth(Prediction(step.name, one), state, step, history) for one in why]
        again = FIRST / (1 + self._repeated[step.name]) if step == history.last else 0.0
        return again + (sum(worths) / len(why) ** 2 if why else 0.0)

    def _state(self, state: State, step: GroundAction) -> Circumstances:
        key = state, step
        if key not in self._states:
            action = self._evidence.hypotheses[step.name]
            self._states[key] = self._names.of_state(action, self.indices.of(state), step)
        return self._states[key]

    def _history(self, state: State, step: GroundAction, history: History) -> Circumstances:
        again = (state, step) in self._attempted
        return self._names.of_history(self._evidence.hypotheses[step.name], step, history, again=again)

    def _tried(self, entry: Entry) -> Iterator[tuple[Prediction, State, GroundAction, History]]:
        """The predictions that an answer tries, in their order; the histories after it are kept."""
        if isinstance(entry, Asked):
            yield from self._asked(entry)
            return
        for before, step, after in entry.steps:
            history = self.history(before)
            for seen in (False, True):
                yield Prediction(step.name, seen=seen), before.state, step, history
            self._histories[after.handle] = history.then(step, before.state, after.state)

    def _asked(self, entry: Asked) -> Iterator[tuple[Prediction, State, GroundAction, History]]:
        state, history = entry.query.initial.state, self.history(entry.query.initial)
        executed, final = entry.response.executed, entry.response.final
        for number, step in enumerate(entry.query.plan[:executed], 1):
            yield Prediction(step.name), state, step, history
            if number == executed:
                yield Prediction(step.name, seen=True), state, step, history
            after = final.state if number == executed else self._evidence.predict(state, step)
            history = history.then(step, state, after)
            state = after
        if executed < len(entry.query.plan):
            step = entry.query.plan[executed]
            self._repeated[step.name] += step == history.last
            for reason in reasons(self._evidence, state, step):
                yield Prediction(step.name, reason), state, step, history
            history = history.then_refused()
        self._histories[final.handle] = history


def reasons(evidence: Evidence, state: State, step: GroundAction) -> list[Literals]:
    """Why a step is refused: all sets of literals that are violated and of which one is required."""
    action = evidence.hypotheses[step.name]
    violated = action.certainly_violated(*action.index.values(state, step.objects))
    return [one for one in (*action.proven.singles(), *action.clauses) if one.within(violated)]
