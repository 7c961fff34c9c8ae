"""An agent seen together with an invented fact: to the engine it is an agent like any other, with one predicate more.

Whether the fact is true follows from the history, so a situation is one with its history. Where any state can be set, a history is made
anew for every question: such an agent is asked as if it had snapshots.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.interrogation.evidence.moves import Asked, Entry, Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.memory.facts import InventedFact, Rows
from aam_vision.interrogation.memory.histories import BEGINNING, Histories, RecordingAgent
from aam_vision.model.query import Access, MadeAnew, Query, Response, Situation, WalkStep
from aam_vision.model.strips import ActionHeader, GroundAction, State, Vocabulary
from aam_vision.support.errors import InconsistentAgent

Plan = tuple[GroundAction, ...]
LONGEST = 10
"""Steps of a history that is made anew for a question, if a shorter one leads to the same."""


def with_fact(transcript: Transcript, fact: InventedFact) -> Transcript:
    """What was asked and shown, with the fact in every situation."""
    histories, seen = Histories(transcript.access, transcript.initial), _Seen(fact, transcript.access)
    begun = [histories.add(entry) for entry in transcript.entries]
    entries = retold(transcript, lambda number, entry: seen.entry(entry, seen.rows(histories, begun[number])))
    return Transcript(
        fact.within(transcript.vocabulary),
        fact.headers(transcript.headers),
        seen.access,
        tuple(seen.situation(one, fact.beginning) for one in transcript.initial),
        entries,
        transcript.repeated,
    )


def retold(transcript: Transcript, tell: Callable[[int, Entry], Entry | None]) -> tuple[Entry, ...]:
    """What was asked and shown, told in another way; without what cannot be told so, and what begins where only that has led.

    ``tell``: gives an entry, of this number, as it is told; None if it cannot be told so.
    """
    known, entries = {situation.handle for situation in transcript.initial}, list[Entry]()
    for number, entry in enumerate(transcript.entries):
        told = tell(number, entry) if _begins(entry, transcript, known) else None
        known -= _led_to(entry)
        if told is not None:
            entries.append(told)
            known |= _led_to(told)
    return tuple(entries)


def _begins(entry: Entry, transcript: Transcript, known: Collection[Hashable]) -> bool:
    """Whether what is known leads to where a question or a walk begins."""
    if transcript.access.constructs or (isinstance(entry, Walked) and not entry.steps):
        return True
    start = entry.query.initial if isinstance(entry, Asked) else entry.steps[0].before
    return start.handle in known


def _led_to(entry: Entry) -> set[Hashable]:
    """The handles of the situations to which a question or a walk has led."""
    if isinstance(entry, Asked):
        return {entry.response.final.handle}
    return {step.after.handle for step in entry.steps}


class RememberingAgent(AgentDecorator):
    """An agent in whose situations an invented fact is seen.

    Raises:
        InconsistentAgent: a history did not come out as it did before.
    """

    def __init__(self, agent: RecordingAgent, fact: InventedFact) -> None:
        super().__init__(agent)
        self._recorded = agent
        self._fact = fact
        self._seen = _Seen(fact, agent.access)
        self._vocabulary = fact.within(agent.vocabulary)

    @property
    def vocabulary(self) -> Vocabulary:
        return self._vocabulary

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return self._fact.headers(self._recorded.headers)

    @property
    def access(self) -> Access:
        return self._seen.access

    def initial(self) -> Sequence[Situation]:
        return [self._seen.situation(one, self._fact.beginning) for one in self._recorded.initial()]

    def ask(self, query: Query) -> Response:
        start, way = self._seen.origin(query.initial)
        if way and not query.plan:  # a history that is made anew shows its end as it did
            return Response(0, query.initial)
        histories = self._recorded.histories
        begun = histories.before(start)
        rows = self._seen.rows(histories, begun)
        for step in way:
            rows = self._fact.after(rows, step)
        plan = self._possible(query.plan, rows)
        if not plan and query.plan:
            return Response(0, query.initial)
        asked = Query(start, (*way, *plan))
        response = self._recorded.ask(asked)
        executed, told = response.executed - len(way), response.told
        if executed < 0:
            raise InconsistentAgent(f"{way[executed]}: executed, and refused after the same history")
        if way and not executed and self._seen.visible(query.initial) != response.final.state:
            raise InconsistentAgent(f"{way[-1]}: it led elsewhere after the same history")
        seen = self._seen.entry(Asked(asked, response), self._seen.rows(histories, begun))
        assert isinstance(seen, Asked)
        return Response(executed, seen.response.final, None if told is None else max(0, told - len(way)))

    def _possible(self, plan: Plan, rows: Rows) -> Plan:
        """The plan as the agent is given it, up to a step of the other case than the fact makes it."""
        given: list[GroundAction] = []
        for step in plan:
            own = self._fact.as_given(step)
            if self._fact.as_modelled(own, rows) != step:
                break
            given.append(own)
            rows = self._fact.after(rows, own)
        return tuple(given)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """A walk from there; none where the agent, on its own, would have forgotten how it came there."""
        origin, way = self._seen.origin(start)
        if way:
            return ()
        found: list[WalkStep] = []
        while len(found) < steps:
            rows = self._seen.rows(self._recorded.histories, self._recorded.histories.before(origin))
            room, left = self._fact.room(rows), steps - len(found)
            asked = left if room is None else min(room, left)
            walked = self._recorded.walk(origin, asked, rng) if asked else ()
            if not walked:
                break
            told = self._seen.entry(Walked(tuple(walked)), rows)
            assert isinstance(told, Walked)
            found += told.steps
            if len(walked) < asked or room is None:
                break
            origin = walked[-1].after
        return found


class _Seen:
    """Situations as they are seen with the fact."""

    def __init__(self, fact: InventedFact, access: Access) -> None:
        self._fact = fact
        self._made_anew = access.constructs
        self.access = access.by_histories
        self._after: list[Rows] = []
        self._shortest: dict[State, tuple[State, Plan]] = {}
        """Where any state can be set: by state, with the fact, where the shortest history that led there begins, and its steps."""

    def rows(self, histories: Histories, number: int) -> Rows:
        """The objects of which the fact is true after an attempt."""
        self._fact.along(histories.attempts, self._after)
        return self._fact.beginning if number == BEGINNING else self._after[number]

    def situation(
        self, plain: Situation, rows: Rows, way: Plan = (), start: State | None = None
    ) -> Situation:
        """A situation of the agent's own; ``way`` leads there from ``start``, where any state can be set."""
        state = self._fact.added(plain.state, rows)
        if not self._made_anew:
            return Situation(plain.handle, state)
        handle = MadeAnew(start or plain.state, way)
        known = self._shortest.setdefault(state, handle)
        if len(way) < len(known[1]):
            self._shortest[state] = handle
        return Situation(handle, state)

    def origin(self, situation: Situation) -> tuple[Situation, Plan]:
        """The agent's own situation in which a question begins, and the steps that lead on from there."""
        if not self._made_anew:
            return Situation(situation.handle, self.visible(situation)), ()
        assert isinstance(situation.handle, MadeAnew)
        state, way = situation.handle
        if len(way) > LONGEST:
            state, way = self._shortest.get(situation.state, (state, way))
        return Situation(state, state), way

    def visible(self, situation: Situation) -> State:
        """The state without the fact."""
        return self._fact.without(situation.state)

    def entry(self, entry: Entry, rows: Rows) -> Entry | None:
        """A question or a walk with its answer, as far as the model has words for it; None if it has none for how it begins or ends.

        ``rows``: of which objects the fact is true where it begins.
        """
        if not self._fact.tells(rows):
            return None
        if isinstance(entry, Asked):
            start, plan, executed = entry.query.initial, entry.query.plan, entry.response.executed
            after, steps = rows, list[GroundAction]()
            for number, step in enumerate(plan):
                steps.append(self._fact.as_modelled(step, after))
                after = self._fact.after(after, step) if number < executed else after
                if not self._fact.tells(after):
                    return None
            final = self.situation(entry.response.final, after, plan[:executed], start.state)
            begun = Query(self.situation(start, rows), tuple(steps))
            return Asked(begun, Response(executed, final, entry.response.told))
        found: list[WalkStep] = []
        way: Plan = ()
        for before, action, after_it in entry.steps:
            origin = entry.steps[0].before.state
            here = self.situation(before, rows, way, origin)
            step = self._fact.as_modelled(action, rows)
            rows, way = self._fact.after(rows, action), (*way, action)
            if not self._fact.tells(rows):
                break
            found.append(WalkStep(here, step, self.situation(after_it, rows, way, origin)))
        return Walked(tuple(found))
