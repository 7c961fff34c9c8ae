"""Histories: all that an agent attempted since it was reset, or put into a state, refused steps included.

The attempts of an interrogation are a tree: each follows the one before it in the same history, and many may follow one where an
access leads back to a situation. What is hidden is taken to begin the same with every history.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.interrogation.evidence.moves import Asked, Entry, Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction, State

MANY = 6
"""Steps of a history that are named, at most."""
BEGINNING = -1
"""Stands for the attempt before the first one of a history."""


class Attempt(NamedTuple):
    """One attempted step; a state is None where it was not seen."""

    parent: int
    """The number of the attempt before it, or ``BEGINNING``."""
    action: GroundAction
    executed: bool
    before: State | None
    after: State | None


class Histories:
    """The attempts of an interrogation, in the order in which they were made.

    Args:
        access: of the agent.
        initial: where its problems begin.
    """

    def __init__(self, access: Access, initial: Iterable[Situation]) -> None:
        self.attempts: list[Attempt] = []
        self._access = access
        self._initial = {situation.handle for situation in initial}
        self._came: dict[Hashable, int] = dict.fromkeys(self._initial, BEGINNING)
        """By handle the last attempt before the situation."""
        self._stands: Hashable = None
        self._made: dict[Hashable, int] = {}
        """The attempts by their history: one that is made again with the same outcome counts once."""

    def before(self, start: Situation) -> int:
        """The number of the attempt that a question follows which begins there."""
        if self._access.constructs:
            return BEGINNING
        if self._access.episodic and start.handle in self._initial and start.handle != self._stands:
            return BEGINNING  # it has been reset since it left
        return self._came.get(start.handle, BEGINNING)

    def way(self, number: int) -> tuple[State | None, tuple[GroundAction, ...]]:
        """Where the history of an attempt begins, as far as it was seen, and the executed steps in it, that attempt's included."""
        steps, first = list[GroundAction](), self.attempts[number]
        while number != BEGINNING:
            first = self.attempts[number]
            steps += [first.action] if first.executed else []
            number = first.parent
        return first.before, tuple(reversed(steps))

    def add(self, entry: Entry) -> int:
        """Take in a question or a walk with its answer; the number of the attempt that it follows."""
        if isinstance(entry, Asked):
            begun = self.before(entry.query.initial)
            self._ask(begun, entry)
            return begun
        if not entry.steps:
            return BEGINNING
        begun = last = self.before(entry.steps[0].before)
        for before, action, after in entry.steps:
            last = self._attempt(last, action, True, before.state, after.state)
            self._arrive(after, last)
        return begun

    def _ask(self, begun: int, entry: Asked) -> None:
        start, plan = entry.query.initial, entry.query.plan
        executed, final = entry.response.executed, entry.response.final
        last = begun
        for position, action in enumerate(plan[: executed + 1]):
            done = position < executed
            seen_before = start.state if not position else None if done else final.state
            after = final.state if position == executed - 1 else None
            last = self._attempt(last, action, done, seen_before, after)
        self._arrive(final, last)

    def _attempt(
        self, parent: int, action: GroundAction, executed: bool, before: State | None, after: State | None
    ) -> int:
        if before is None and parent != BEGINNING:
            before = self.attempts[parent].after
        made = Attempt(parent, action, executed, before, after)
        key = parent, action, executed, before if parent == BEGINNING else None
        known = self._made.get(key)
        if known is not None and (same := _together(self.attempts[known], made)) is not None:
            self.attempts[known] = same
            return known
        self._made[key] = len(self.attempts)
        self.attempts.append(made)
        return self._made[key]

    def _arrive(self, situation: Situation, last: int) -> None:
        self._stands = situation.handle
        if self._access.returns:  # a snapshot stays as it was when it was made
            self._came.setdefault(situation.handle, last)
        else:
            self._came[situation.handle] = last


def two_ways(attempts: Sequence[Attempt]) -> str:
    """Two histories after which one step went differently in situations that look alike, in words; empty if there are none."""
    first: dict[tuple[State, GroundAction, bool], int] = {}
    for number, one in enumerate(attempts):
        if one.before is None:
            continue
        first.setdefault((one.before, one.action, one.executed), number)
        other = first.get((one.before, one.action, not one.executed))
        if other is not None:
            done, refused = (number, other) if one.executed else (other, number)
            return f"{one.action} is executed {_way(attempts, done)}, and refused {_way(attempts, refused)}"
    return ""


def _way(attempts: Sequence[Attempt], number: int) -> str:
    """The executed steps before an attempt, the last few of a long history, in words."""
    steps: list[str] = []
    number = attempts[number].parent
    while number != BEGINNING and len(steps) <= MANY:
        if attempts[number].executed:
            steps.insert(0, str(attempts[number].action))
        number = attempts[number].parent
    if not steps:
        return "at first"
    return f"after {'..., ' if len(steps) > MANY else ''}{', '.join(steps[-MANY:])}"


def _together(one: Attempt, again: Attempt) -> Attempt | None:
    """What is known of an attempt that was made twice; None if it went differently."""
    states = []
    for first, second in ((one.before, again.before), (one.after, again.after)):
        if first is not None and second is not None and first != second:
            return None
        states.append(first if second is None else second)
    return one._replace(before=states[0], after=states[1])


class RecordingAgent(CountingAgent):
    """An agent whose exchanges are kept, after those of an interrogation that was made before, and counted."""

    def __init__(self, agent: Agent, transcript: Transcript) -> None:
        super().__init__(agent)
        self._before = transcript
        self._entries = list(transcript.entries)
        self.histories = Histories(transcript.access, transcript.initial)
        for entry in transcript.entries:
            self.histories.add(entry)

    @property
    def transcript(self) -> Transcript:
        """All exchanges, those of the interrogation first."""
        return self._before.of(self._entries)

    def initial(self) -> Sequence[Situation]:
        return self._before.initial

    def ask_again(self, query: Query) -> Response:
        response = super().ask_again(query)
        self._keep(Asked(Query(query.initial, query.plan[: response.told]), response))
        return response

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked = super().walk(start, steps, rng)
        self._keep(Walked(tuple(walked)))
        return walked

    def _keep(self, entry: Entry) -> None:
        self._entries.append(entry)
        self.histories.add(entry)
