"""Effects that come late, or wear off: what is to come follows from the steps before, so a situation is one with what waits in it.

To the engine such an agent is a deterministic one whose states also tell what is to come. Which effects those are follows from what was seen
(``late_effects``); further episodes and an action that is done again show whether they come in another way.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aam_vision.agents.counting import Counts
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import Malformed
from aam_vision.agents.encoding import field as field_of
from aam_vision.interrogation.chance.going_on import VISIBLE, can_go_on
from aam_vision.interrogation.evidence.moves import Asked, Entry, Walked, look_at
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.examination.findings import Family
from aam_vision.interrogation.memory.diagnosed import Diagnosed, Further
from aam_vision.interrogation.memory.going_on import REFUSED_MAY_COUNT, doubted
from aam_vision.interrogation.memory.late_effects import delaying, explained_by, unclear
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verdict import BUDGET
from aam_vision.model.delayed import AT_SET_TIME, LATEST, LONGEST, DelayedEffect, Delays, at_set_time
from aam_vision.model.query import Access, Agent, Expected, MadeAnew, Query, Response, Situation, WalkStep
from aam_vision.model.strips import (
    ActionHeader,
    GroundAction,
    LiftedAtom,
    State,
    Vocabulary,
    lifted_atoms,
)
from aam_vision.support.errors import InconsistentAgent

ROUNDS = 8
"""Delays with which the agent is interrogated, at most."""
EPISODES = 2
"""Further episodes until a set time: it explains any change that was seen once."""
WALKED = 40
"""Steps of the agent's own after which a model that is not proven is believed."""
TRIES = 5
"""Steps at random that are attempted for each that is to be executed, at most."""
AGAIN = 4
"""Histories after which an action is done once more, at most."""

Plan = tuple[GroundAction, ...]


def can_delay(result: Result) -> bool:
    """Whether what was diagnosed may be explained by effects that come later."""
    # without a way back nobody can tell chance from what is due to steps before; what comes and goes looks as if it were misread
    families = (*VISIBLE, Family.MISREAD if result.transcript.access.restarts else Family.RANDOM)
    return can_go_on(result, families, anywhere=True) and delaying(result.transcript) is not None


def with_delays(diagnosed: Diagnosed) -> Further:
    """Interrogate an agent as a deterministic one with effects that come later; or why no such model fits it, in a line. Raises AgentFailed."""
    recorded = diagnosed.recorded
    tried: list[Delays] = []
    why = "no effect that comes later explains what was seen"
    while len(tried) < ROUNDS:
        delays = delaying(recorded.transcript, tried)
        if delays is not None and _done_again(diagnosed, delays):
            delays = delaying(recorded.transcript, tried)
        if delays is not None and _begun_again(diagnosed, delays):
            delays = delaying(recorded.transcript, tried)
        if delays is None:
            return Further(None, why)
        tried.append(delays)
        told = " ".join(_told(effect, recorded) for effect in delays.effects)
        agent = DelayedAgent(recorded, delays)
        seen = delayed(recorded.transcript, delays)
        if not recorded.access.restarts and seen.end is not None and delays.unsure(seen.end.state):
            _taken(diagnosed, seen.end, LONGEST)
            seen = delayed(recorded.transcript, delays)
            if seen.end is None or delays.unsure(seen.end.state):
                why = "what is to come where it stands is not known"
                continue
        several = len(delays.effects) > 1
        how = f"deterministic, with {'effects that come' if several else 'an effect that comes'} later"
        found = diagnosed.as_deterministic(agent, how, told, known=seen.entries)
        if isinstance(found, str):
            why = found
            continue
        if found.proven and recorded.access.constructs:
            return Further(doubted(found, REFUSED_MAY_COUNT), delays=delays)
        if found.proven or found.status == BUDGET:
            return Further(found, delays=delays)
        # what is not proven was not examined
        walked = _walked(diagnosed)
        if explained_by(delays, recorded.transcript):
            more = Counts(steps=walked, walk_steps=walked)
            return Further(replace(found, counts=found.counts + more), delays=delays)
        why = "what came later came otherwise in further steps of its own"
    return Further(None, why)


def _walked(diagnosed: Diagnosed) -> int:
    """Have steps taken that nobody chose for what they tell; how many there were."""
    recorded, made = diagnosed.recorded, diagnosed.recorded.counts.steps
    _taken(diagnosed, recorded.initial()[0], WALKED)
    return recorded.counts.steps - made


def _taken(diagnosed: Diagnosed, start: Situation, steps: int) -> None:
    """Let the agent take steps of its own; where there is no way back, and so no walk, steps at random from where it stands.

    Those are of instructions that were executed some time, until so many are executed, or ``TRIES`` times as many were given.
    """
    recorded, rng = diagnosed.recorded, diagnosed.rng
    if diagnosed.spent(steps):
        return
    if recorded.access.restarts:
        recorded.walk(start, steps, rng)
        return
    given = [*dict.fromkeys(one.action for one in recorded.histories.attempts if one.executed)]
    here = recorded.transcript.end or start
    executed = tries = 0
    while given and executed < steps and tries < TRIES * steps:
        if diagnosed.spent(steps=1, queries=1):
            break
        response = recorded.ask(Query(here, (given[int(rng.integers(len(given)))],)))
        here, executed, tries = response.final, executed + response.executed, tries + 1


def _done_again(diagnosed: Diagnosed, delays: Delays) -> bool:
    """Do again what lets an effect wait, which may put it off; whether any answer was new. Nothing is asked where there is no way back.

    Of each action it is done after the shortest histories in which it was executed.
    """
    recorded = diagnosed.recorded
    starts = {one.state: one for one in reversed(recorded.initial())}
    made = len(recorded.histories.attempts)
    for name in dict.fromkeys(effect.action for effect in delays.effects):
        attempts = recorded.histories.attempts
        known = {(one.parent, one.action) for one in attempts}
        plans: dict[tuple[Situation, Plan], None] = {}
        for last, one in enumerate(attempts):
            if one.action.name != name or not one.executed or not recorded.access.restarts:
                continue
            if (last, one.action) in known:
                continue
            begun, steps = recorded.histories.way(last)
            if begun is None:
                continue
            start = Situation(begun, begun) if recorded.access.constructs else starts.get(begun)
            if start is not None:
                plans[start, (*steps, one.action)] = None
        for start, plan in sorted(plans, key=lambda asked: len(asked[1]))[:AGAIN]:
            if not diagnosed.spent(steps=len(plan), queries=1):
                recorded.ask(Query(start, plan))
    return len(recorded.histories.attempts) > made


def _begun_again(diagnosed: Diagnosed, delays: Delays) -> bool:
    """Let the agent take steps of its own, from the beginning where it can, until what comes at a set time would have come again; whether there are any."""
    recorded = diagnosed.recorded
    made, starts = recorded.counts.steps, recorded.initial()
    times = [one.after + one.lasts + one.returns + LATEST for one in delays.at_set_time]
    for number in range(EPISODES if times else 0):
        _taken(diagnosed, starts[number % len(starts)], max(times))
    return recorded.counts.steps > made


def _told(effect: DelayedEffect, agent: Agent) -> str:
    """The effect as a sentence."""
    parameters = next((one.parameters for one in agent.headers if one.name == effect.action), ())
    text = effect.told(parameters)
    return f"{text[:1].upper()}{text[1:]}."


def read_delays(told: Any, vocabulary: Vocabulary, headers: Sequence[ActionHeader]) -> Delays:
    """The effects that ``Delays.json`` wrote.

    Raises:
        Malformed: they are none of this vocabulary and these actions.
    """
    known = {header.name: header for header in headers}
    predicates = {one.name: one for one in vocabulary.predicates}
    found: list[DelayedEffect] = []
    for one in told:
        action = field_of(one, "action", str)
        header = known.get(action)
        predicate = predicates.get(field_of(one, "predicate", str))
        places, after = field_of(one, "places", list), field_of(one, "after", int)
        value, *how = (field_of(one, name, bool) for name in ("value", "undoes", "restarts", "firm"))
        if action == AT_SET_TIME and predicate is not None:
            named = all(isinstance(name, str) for name in places) and len(places) == len(predicate.types)
            lasts, returns = (
                field_of(one, name, int) if "lasts" in one else 0 for name in ("lasts", "returns")
            )
            times = 1 <= after <= LATEST and 0 <= returns <= (LATEST if lasts else 0) and 0 <= lasts <= LATEST
            if not named or not times or how != [False, False, True]:
                raise Malformed("an effect at a set time is none")
            found.append(at_set_time(predicate, places, value, after, lasts, returns))
            continue
        if header is None or predicate is None or not 1 <= after <= LONGEST:
            raise Malformed("an effect that comes later is none")
        atom = LiftedAtom(predicate.name, tuple(places))
        if atom not in lifted_atoms(replace(vocabulary, predicates=(predicate,)), header):
            raise Malformed("an effect that comes later is none of its action's parameters")
        types = tuple(header.types[place] for place in places)
        found.append(DelayedEffect(header.name, atom, predicate, types, value, after, *how))
    delays = Delays(tuple(found))
    if not found or not delays.consistent or not {*predicates}.isdisjoint(delays.waiting):
        raise Malformed("nothing comes later, or it is told by names that are taken")
    return delays


class DelayedAgent(AgentDecorator):
    """An agent in whose situations it is seen what is to come.

    Its plans are carried out step by step, as what waits may depend on every state between. No state can be made in which something waits: where
    any can be, such an agent is asked as if it had snapshots, and the steps before are made anew.

    Raises:
        InconsistentAgent: a step did not come out as it did before.
    """

    def __init__(self, agent: Agent, delays: Delays) -> None:
        super().__init__(agent)
        self._delays = delays
        self._made_anew = agent.access.constructs
        self._vocabulary = agent.vocabulary.with_delays(delays)
        self._led: dict[tuple[State, Plan], Response] = {}
        """Where any state can be made: what came of plans."""

    @property
    def vocabulary(self) -> Vocabulary:
        return self._vocabulary

    @property
    def access(self) -> Access:
        return self.agent.access.by_histories

    def initial(self) -> Sequence[Situation]:
        return [_begun(one, self.agent.access, self._delays) for one in self.agent.initial()]

    def ask(self, query: Query) -> Response:
        here = query.initial
        if not query.plan and self._made_anew:
            return Response(0, here)
        if not query.plan:
            response = self.agent.ask(replace(query, initial=self._plain(here)))
            return replace(response, final=self._as(here, response.final))
        for executed, step in enumerate(query.plan):
            response = self._step(here, step, goes_on=query.goes_on or executed > 0)
            if not response.executed:
                told = None if response.told is None else executed + response.told
                return Response(executed, self._as(here, response.final), told)
            here = self._after(here, step, response.final)
        return Response(len(query.plan), here)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """A walk from there; none where the agent, on its own, would have forgotten how it came there."""
        here, found = start, list[WalkStep]()
        if self._made_anew and _way(here)[1]:
            return ()
        for _, step, after in self.agent.walk(self._plain(here), steps, rng):
            left = self._after(here, step, after)
            found.append(WalkStep(here, step, left))
            here = left
        return found

    def expect(self, questions: Sequence[Expected]) -> None:
        """Nothing is said of what will be asked next: plans are asked step by step."""

    def _plain(self, situation: Situation) -> Situation:
        """The agent's own situation."""
        if self._made_anew:
            state, _ = _way(situation)
            return Situation(state, state)
        return Situation(situation.handle, self._delays.plain(situation.state))

    def _as(self, here: Situation, seen: Situation) -> Situation:
        """The situation after a look or a refused step: what waited there waits."""
        if self._made_anew:
            return here
        return Situation(seen.handle, self._delays.with_waits_of(here.state, seen.state))

    def _after(self, here: Situation, step: GroundAction, seen: Situation) -> Situation:
        """The situation after an executed step."""
        handle: Hashable = seen.handle
        if self._made_anew:
            state, way = _way(here)
            handle = MadeAnew(state, (*way, step))
        return Situation(handle, self._delays.waited(here.state, step, seen.state))

    def _step(self, here: Situation, step: GroundAction, *, goes_on: bool) -> Response:
        """What comes of one step."""
        if not self._made_anew:
            return self.agent.ask(Query(self._plain(here), (step,), goes_on=goes_on))
        state, way = _way(here)
        plan = (*way, step)
        if (state, plan) not in self._led:
            response = self.agent.ask(Query(Situation(state, state), plan))
            executed = response.executed - len(way)
            if executed < 0:
                raise InconsistentAgent(f"{way[executed]}: executed, and refused after the same steps")
            told = None if response.told is None else max(0, response.told - len(way))
            self._led[state, plan] = Response(executed, response.final, told)
        return self._led[state, plan]


def _begun(situation: Situation, access: Access, delays: Delays) -> Situation:
    """A situation in which an episode begins: nothing waits but what comes at a set time."""
    handle = MadeAnew(situation.state) if access.constructs else situation.handle
    return Situation(handle, delays.begun(situation.state))


def _way(situation: Situation) -> MadeAnew:
    """Where any state can be made: the one in which a situation's history begins, and the steps that lead on from there."""
    assert isinstance(situation.handle, MadeAnew)
    return situation.handle


def delayed(transcript: Transcript, delays: Delays) -> Transcript:
    """What was asked and shown, with what is to come in every situation; without what nobody knows that of."""
    telling = _Telling(transcript, delays)
    entries = tuple(told for entry in transcript.entries if (told := telling.entry(entry)) is not None)
    return replace(
        transcript,
        vocabulary=transcript.vocabulary.with_delays(delays),
        access=transcript.access.by_histories,
        initial=tuple(_begun(one, transcript.access, delays) for one in transcript.initial),
        entries=entries,
    )


class _Telling:
    """Tells the entries of an interrogation, in their order, with what is to come."""

    def __init__(self, transcript: Transcript, delays: Delays) -> None:
        self._delays = delays
        self._access = transcript.access
        self._initial = {one.handle for one in transcript.initial}
        self._known = {one.handle: delays.begun(one.state) for one in transcript.initial}
        """By handle the states of situations, with what is to come; without those of which that is not known."""
        self._stands: Hashable = None
        self._late = {effect.action for effect in delays.effects}

    def entry(self, entry: Entry) -> Entry | None:
        """An entry as it is told; if it cannot be None, or where there is no way back a look at where it has led."""
        if isinstance(entry, Asked):
            told = self._asked(entry)
            if told is None and not self._access.restarts:
                told = look_at(self._led_to(entry))
            self._arrive(entry.response.final, None if told is None else told.response.final)
            return told
        if not entry.steps:
            return entry
        here, steps = self._start(entry.steps[0].before), list[WalkStep]()
        for _, step, after in entry.steps:
            led = None if here is None else self._after(here, step, after)
            if here is not None and led is not None:
                steps.append(WalkStep(here, step, led))
            here = led
            self._arrive(after, here)
        return Walked(tuple(steps)) if steps else None

    def _led_to(self, entry: Asked) -> Situation:
        """Where a question has led that cannot be told; where not every step was seen anything may be to come there."""
        begun, final = self._start(entry.query.initial), entry.response.final
        done = entry.query.plan[: entry.response.executed]
        if begun is None or (len(done) > 1 and self._late != {AT_SET_TIME}):
            state = self._delays.freed(final.state)
        else:
            state = begun.state
            for step in done:  # what comes at a set time does not depend on what was done
                state = self._delays.waited(state, step, final.state)
        return Situation(final.handle, self._delays.with_waits_of(state, final.state))

    def _asked(self, entry: Asked) -> Asked | None:
        query, (executed, final, told) = (
            entry.query,
            (
                entry.response.executed,
                entry.response.final,
                entry.response.told,
            ),
        )
        begun = None if unclear(entry, self._access) else self._start(query.initial)
        if begun is None or self._delays.unsure(begun.state):
            return None
        done = query.plan[:executed]
        if len(done) == 1:
            left: Situation | None = self._after(begun, done[0], final)
        elif self._delays.plain(begun.state) != begun.state or any(one.name in self._late for one in done):
            left = None if done else Situation(self._handle(begun, done, final), begun.state)
        else:
            left = Situation(self._handle(begun, done, final), final.state)
        if left is None:
            return None
        return Asked(replace(query, initial=begun), Response(executed, left, told))

    def _start(self, situation: Situation) -> Situation | None:
        """Where a question or a walk begins; None if it is not known what is to come there."""
        handle = situation.handle
        if self._access.constructs:
            return _begun(situation, self._access, self._delays)
        if self._access.episodic and handle in self._initial and handle != self._stands:
            return Situation(handle, self._delays.begun(situation.state))
        state = self._known.get(handle)
        return None if state is None else Situation(handle, state)

    def _after(self, here: Situation, step: GroundAction, seen: Situation) -> Situation:
        return Situation(self._handle(here, (step,), seen), self._delays.waited(here.state, step, seen.state))

    def _handle(self, here: Situation, steps: Plan, seen: Situation) -> Hashable:
        if not self._access.constructs:
            return seen.handle
        state, way = _way(here)
        return MadeAnew(state, (*way, *steps))

    def _arrive(self, seen: Situation, told: Situation | None) -> None:
        self._stands = seen.handle
        if told is None:
            self._known.pop(seen.handle, None)
        elif not (self._access.returns and seen.handle in self._known):
            self._known[seen.handle] = told.state
