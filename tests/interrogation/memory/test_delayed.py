"""Agents whose effects come late, or wear off, are learned with what waits in each situation."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import Malformed
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.result import Options
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.going_on import go_further
from aam_vision.interrogation.memory.delayed import DelayedAgent, delayed, read_delays
from aam_vision.interrogation.memory.diagnosed import Further, Way
from aam_vision.interrogation.memory.histories import RecordingAgent
from aam_vision.interrogation.memory.late_effects import delaying
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.verdict import OPEN
from aam_vision.interrogation.task.verification import verify
from aam_vision.model.delayed import LATEST, LONGEST, DelayedEffect, Delays
from aam_vision.model.delayed import at_set_time as set_time
from aam_vision.model.query import Access, Agent, Query, Response, Situation
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from experiments.faults.registry import AtSetTime, faulty_agent
from experiments.faults.world import FaultyAgent
from experiments.trust_runs import interrogated, unpredicted
from tests.profiles import first, thorough


def gone_on(family: str, access: Access, seed: int) -> tuple[FaultyAgent, Further]:
    """An agent of a family of faults, and what a run went on to after its diagnosis."""
    agent = faulty_agent(family, access, seed)
    told, _ = interrogated(agent, seed, 60)
    return agent, go_further(agent, told, seed, Options(0.1, max_steps=3000), Budget(steps=3000), 60)


@pytest.mark.parametrize(
    ("family", "access", "seed"),
    first(
        5,
        [
            ("delayed effect", Access.TRAJECTORY, 990004),
            ("delayed effect", Access.SETTABLE, 990002),
            ("effect wears off", Access.RESET, 990001),
            ("effect wears off", Access.SNAPSHOT, 990000),
            ("delayed effect", Access.RESET, 990005),
            *product(["delayed effect", "effect wears off"], Access, [990000]),
        ],
    ),
)
def test_what_comes_later_is_learned(family: str, access: Access, seed: int) -> None:
    agent, further = gone_on(family, access, seed)
    assert further.way is Way.DELAYED
    assert further.found is not None
    if access.constructs:
        assert "whether refused steps count, too, no question can tell" in further.found.missing
    assert unpredicted(further.found, agent, np.random.default_rng(seed)) == 0
    assert not verify(further.found.transcript, further.found).faults
    assert further.delays is not None
    (effect,) = further.delays.effects
    (action,) = agent.fault.actions
    assert effect.action == action
    assert "later" in further.found.invented or "with the next step" in further.found.invented
    assert f"({next(iter(effect.waits))} ?v0" in further.found.pddl


@pytest.mark.parametrize(
    ("family", "access", "seed"),
    first(
        6,
        [
            ("changes at a set time", Access.SNAPSHOT, 1),
            ("changes at a set time", Access.RESET, 2),
            ("changes at a set time", Access.SETTABLE, 0),
            ("comes and goes", Access.SNAPSHOT, 400000),
            ("comes and goes", Access.RESET, 420010),
            ("comes and goes", Access.SETTABLE, 400005),
            *product(["changes at a set time"], [*Access][1:], [9, 12]),
            *product(["comes and goes"], [*Access][1:], [400001, 400002]),
        ],
    ),
)
def test_what_the_world_does_at_set_times_is_learned(family: str, access: Access, seed: int) -> None:
    agent, further = gone_on(family, access, seed)
    assert further.found is not None
    assert not (further.found.complete and access.constructs)
    if access.constructs and further.found.status == OPEN:
        assert "whether refused steps count, too, no question can tell" in further.found.missing
    assert unpredicted(further.found, agent, np.random.default_rng(seed)) == 0
    assert not verify(further.found.transcript, further.found).faults
    assert further.delays is not None
    (effect,) = further.delays.effects
    fault = agent.fault
    assert isinstance(fault, AtSetTime)
    assert effect == replace(
        set_time(effect.predicate, fault.atom.objects, value=False, after=fault.time),
        lasts=fault.lasts,
        returns=fault.returns,
    )
    assert f"With executed step {effect.after} of each episode {agent.fault.atom} becomes false" in (
        further.found.invented
    )


POTS = Vocabulary("pots", (Predicate("hot", ("pot",)), Predicate("lit")), Types({"pot": "object"}))
HEAT, PUT_OUT = ActionHeader("heat", ("what",), ("pot",)), ActionHeader("put-out")
WAITING = ActionHeader("wait")
OBJECTS = Objects({"red": "pot", "blue": "pot"}, POTS.types)
BOILS = DelayedEffect("heat", LiftedAtom("hot", (0,)), POTS.predicates[0], ("pot",), True, 2)
DELAYS = Delays((BOILS,))
RED, LIT = Atom("hot", ("red",)), Atom("lit", ())
HEATED, OUT, WAIT = GroundAction("heat", ("red",)), GroundAction("put-out", ()), GroundAction("wait", ())


LAMP = frozenset({LiftedAtom("lit", ())})
MODEL = Model(POTS, (ActionSchema(HEAT, add=LAMP), ActionSchema(PUT_OUT, delete=LAMP), ActionSchema(WAITING)))
"""The same agent without what comes later."""


def pots(*true: Atom) -> State:
    return State(frozenset(true), OBJECTS)


def asked(start: Situation, plan: tuple[GroundAction, ...], executed: int, end: Situation) -> Asked:
    return Asked(Query(start, plan), Response(executed, end))


def transcript(access: Access, *entries: Asked) -> Transcript:
    begun = Situation("begin", pots()) if not access.constructs else Situation(pots(), pots())
    return Transcript(POTS, (HEAT, PUT_OUT, WAITING), access, (begun,), entries)


def one_by_one(access: Access, *steps: tuple[GroundAction, State]) -> Transcript:
    """One history, a step a question."""
    here, entries = Situation("begin", pots()), list[Asked]()
    for number, (step, state) in enumerate(steps):
        after = Situation(number, state)
        entries.append(asked(here, (step,), 1, after))
        here = after
    return transcript(access, *entries)


BOILED = ((HEATED, pots(LIT)), (OUT, pots()), (OUT, pots(RED)), (OUT, pots(RED)))


def test_the_reason_for_a_change_is_looked_for_in_earlier_steps() -> None:
    found = delaying(one_by_one(Access.RESET, *BOILED))
    assert found is not None
    assert found.effects[0] == replace(BOILS, restarts=found.effects[0].restarts)
    assert delaying(one_by_one(Access.RESET, *BOILED), [found]) != found
    assert delaying(one_by_one(Access.TRAJECTORY, *BOILED[1:])) is None, "no step names the pot"
    steady = one_by_one(Access.RESET, *BOILED, (HEATED, pots(RED, LIT)), (OUT, pots(RED)))
    assert delaying(steady) == found


def at_set_time(pot: str, after: int) -> DelayedEffect:
    """The pot is hot with so many steps of each episode."""
    return set_time(POTS.predicates[0], (pot,), value=True, after=after)


def test_what_no_step_brings_about_comes_at_a_set_time_where_episodes_are_many() -> None:
    lone = delaying(one_by_one(Access.RESET, *BOILED[1:]))
    assert lone == Delays((at_set_time("red", 2),))
    both = pots(RED, Atom("hot", ("blue",)))
    together = delaying(one_by_one(Access.RESET, (OUT, pots()), (WAIT, pots()), (OUT, both), (WAIT, both)))
    assert together is not None
    assert {*together.effects} == {at_set_time("red", 3), at_set_time("blue", 3)}
    late = [(WAIT, pots())] * LATEST
    assert delaying(one_by_one(Access.RESET, *late, (WAIT, pots(RED)))) is None, "nobody waits that long"
    assert delaying(one_by_one(Access.RESET, *late[1:], (WAIT, pots(RED)))) is not None


@thorough(60)
@given(st.data())
def test_what_comes_and_goes_is_told_from_two_histories(data: st.DataObject) -> None:
    """Of any length of day and night, whatever heats the pot meanwhile."""
    day, night, first = (data.draw(st.integers(1, most)) for most in (LATEST, LATEST, 5))
    daily = replace(at_set_time("red", first), lasts=day, returns=night)
    once = Delays((daily,))
    entries: list[Asked] = []
    for number in range(2):
        here, state = Situation("begin", pots()), once.begun(pots())
        for step in range(first + 2 * (day + night)):
            action = data.draw(st.sampled_from([WAIT, OUT, GroundAction("heat", ("blue",))]))
            state = once.passed(state, action, MODEL.run(once.plain(state), (action,))[1])
            after = Situation((number, step), once.plain(state))
            entries.append(asked(here, (action,), 1, after))
            here = after
    found = delaying(transcript(Access.RESET, *entries))
    assert found == once


def waited(delays: Delays, steps: int) -> list[tuple[GroundAction, State]]:
    """What is seen of one history in which nothing is done."""
    state, history = delays.begun(pots()), list[tuple[GroundAction, State]]()
    for _ in range(steps):
        state = delays.passed(state, WAIT, delays.plain(state))
        history.append((WAIT, delays.plain(state)))
    return history


DAILY = replace(at_set_time("red", 2), lasts=3, returns=2)


def test_in_one_episode_what_comes_and_goes_has_to_come_often() -> None:
    assert delaying(one_by_one(Access.TRAJECTORY, *waited(Delays((DAILY,)), 9))) is None
    assert delaying(one_by_one(Access.TRAJECTORY, *waited(Delays((DAILY,)), 10))) == Delays((DAILY,))


def test_several_things_may_come_and_go_together() -> None:
    both = Delays((DAILY, replace(DAILY, atom=LiftedAtom("hot", ("blue",)))))
    found = delaying(one_by_one(Access.RESET, *waited(both, 20)))
    assert found is not None
    assert {*found.effects} == {*both.effects}


def test_where_there_is_no_way_back_anything_may_wait_after_a_plan_whose_steps_were_not_seen() -> None:
    begun, end = Situation("begin", pots()), Situation(1, pots(LIT))
    plan = asked(begun, (WAIT, HEATED), 2, end)
    entries = delayed(transcript(Access.TRAJECTORY, plan), DELAYS).entries
    assert [entry.actions for entry in entries] == [()], "a look at where it has led"
    assert isinstance(entries[0], Asked)
    here = entries[0].query.initial
    assert here.handle == end.handle
    assert here.state.unknown == {
        Atom(f"hot-true-in-{left}", (pot,)) for left in (1, 2) for pot in ("red", "blue")
    }
    assert here.state.true == end.state.true
    state = here.state
    for _ in range(2):
        state = DELAYS.waited(state, WAIT, pots(LIT))
    assert state == pots(LIT), "by then it would have come"
    assert not delayed(transcript(Access.RESET, plan), DELAYS).entries


@pytest.mark.parametrize("access", [Access.RESET, Access.SETTABLE])
def test_episodes_begin_with_what_comes_at_a_set_time(access: Access) -> None:
    delays = Delays((at_set_time("red", 2), at_set_time("green", 1)))
    agent = DelayedAgent(SymbolicAgent(MODEL, [pots()], access), delays)
    (begun,) = agent.initial()
    assert begun.state == pots(Atom("hot-true-in-2", ("red",))), "there is no green pot"
    after = agent.ask(Query(begun, (WAIT,))).final
    assert after.state == pots(Atom("hot-true-in-1", ("red",)))
    entry = asked(Situation("begin", pots()), (WAIT,), 1, Situation(1, pots()))
    (told,) = delayed(transcript(Access.RESET, entry), delays).entries
    assert isinstance(told, Asked)
    assert (told.query.initial.state, told.response.final.state) == (begun.state, after.state)


def test_a_situation_is_told_with_what_waits_in_it_as_far_as_that_is_known() -> None:
    told = delayed(one_by_one(Access.RESET, *BOILED), DELAYS)
    waits = [
        [one.predicate for one in entry.response.final.state.true if one.predicate in DELAYS.waiting]
        for entry in told.entries
        if isinstance(entry, Asked)
    ]
    assert waits == [["hot-true-in-2"], ["hot-true-in-1"], [], []]
    begun = Situation("begin", pots())
    plan = asked(begun, (HEATED, OUT), 2, Situation(1, pots()))
    after = asked(Situation(1, pots()), (OUT,), 1, Situation(2, pots(RED)))
    nobody = delayed(transcript(Access.RESET, plan, after), DELAYS)
    assert nobody.entries == (), "the state between was not seen, and nobody knows what waits afterwards"
    quiet = asked(begun, (OUT, OUT), 2, Situation(1, pots()))
    assert len(delayed(transcript(Access.RESET, quiet), DELAYS).entries) == 1, "nothing can wait there"


def test_what_may_go_on_from_an_answer_or_begin_afresh_tells_nothing() -> None:
    start = Situation(pots(), pots())
    heated = asked(start, (HEATED,), 1, Situation(pots(LIT), pots(LIT)))
    on = Asked(
        Query(Situation(pots(LIT), pots(LIT)), (OUT,), goes_on=True),
        Response(1, Situation(pots(), pots())),
    )
    assert len(delayed(transcript(Access.SETTABLE, heated, on), DELAYS).entries) == 1
    assert delaying(transcript(Access.SETTABLE, heated, on)) is None


def test_where_any_state_can_be_made_a_history_is_part_of_a_situation() -> None:
    start = Situation(pots(), pots())
    told = delayed(
        transcript(Access.SETTABLE, asked(start, (HEATED,), 1, Situation(pots(LIT), pots(LIT)))), DELAYS
    )
    assert told.access is Access.SNAPSHOT
    (entry,) = told.entries
    assert isinstance(entry, Asked)
    assert entry.query.initial.handle == (pots(), ())
    assert entry.response.final.handle == (pots(), (HEATED,))


@thorough(30)
@given(st.sampled_from([*Access]), st.lists(st.sampled_from([HEATED, OUT]), max_size=5), st.integers(0, 5))
def test_an_agent_is_asked_step_by_step(access: Access, steps: list[GroundAction], cut: int) -> None:
    plain = SymbolicAgent(MODEL, [pots()], access)
    recorded = RecordingAgent(plain, replace(transcript(access), initial=tuple(plain.initial())))
    agent = DelayedAgent(recorded, DELAYS)
    (begun,) = agent.initial()
    state, here = begun.state, begun
    for part in (steps[:cut], steps[cut:]):
        response = agent.ask(Query(here, tuple(part)))
        for step in part[: response.executed]:
            after = MODEL.run(DELAYS.plain(state), (step,))[1]
            state = DELAYS.waited(state, step, after)
        here = response.final
        assert here.state == state


class Silent(AgentDecorator):
    """An agent that does not say whether it carried out a step that puts out; it keeps what it was asked."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent)
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Response:
        self.asked.append(query)
        if query.plan[-1:] == (OUT,):
            told = len(query.plan) - 1
            return replace(self.agent.ask(replace(query, plan=query.plan[:-1])), told=told)
        return self.agent.ask(query)


@pytest.mark.parametrize("access", [Access.RESET, Access.SETTABLE])
def test_what_no_answer_tells_stays_untold(access: Access) -> None:
    silent = Silent(SymbolicAgent(MODEL, [pots()], access))
    agent = DelayedAgent(silent, DELAYS)
    (begun,) = agent.initial()
    response = agent.ask(Query(begun, (HEATED, HEATED, OUT)))
    assert (response.executed, response.told) == (2, 2)
    if not access.constructs:
        assert [one.goes_on for one in silent.asked] == [False, True, True]
    entry = Asked(Query(begun, (OUT,)), Response(0, begun, 0))
    plain = replace(entry, query=Query(Situation("begin", pots()), (OUT,)))
    (told,) = delayed(
        transcript(Access.RESET, replace(plain, response=Response(0, plain.query.initial, 0))), DELAYS
    ).entries
    assert isinstance(told, Asked)
    assert told.response.told == 0


@pytest.mark.parametrize(
    "effect",
    [
        BOILS,
        replace(BOILS, restarts=True, firm=True, after=1),
        replace(BOILS, value=False, undoes=True, after=LONGEST),
        at_set_time("red", LATEST),
        replace(at_set_time("red", 1), lasts=LATEST),
        replace(at_set_time("red", 1), lasts=1, returns=LATEST),
    ],
)
def test_effects_are_read_as_they_were_written(effect: DelayedEffect) -> None:
    assert read_delays(Delays((effect,)).json(), POTS, (HEAT, PUT_OUT)) == Delays((effect,))


@pytest.mark.parametrize(
    "effect",
    [
        at_set_time("red", LATEST + 1),
        replace(at_set_time("red", 1), firm=False),
        replace(at_set_time("red", 1), lasts=LATEST + 1),
        replace(at_set_time("red", 1), lasts=1, returns=-1),
        replace(at_set_time("red", 1), atom=LiftedAtom("hot", (0,))),
        replace(at_set_time("red", 1), atom=LiftedAtom("hot", ("red", "blue"))),
    ],
)
def test_effects_that_no_run_finds_are_refused(effect: DelayedEffect) -> None:
    with pytest.raises(Malformed, match="an effect at a set time is none"):
        read_delays(Delays((effect,)).json(), POTS, (HEAT, PUT_OUT))


def test_effects_that_contradict_each_other_or_take_a_name_are_none() -> None:
    cools = replace(BOILS, value=False)
    with pytest.raises(Malformed, match="names that are taken"):
        read_delays(Delays((BOILS, cools)).json(), POTS, (HEAT, PUT_OUT))
    waits = replace(POTS, predicates=(*POTS.predicates, Predicate("hot-true-in-1", ("pot",))))
    with pytest.raises(Malformed, match="names that are taken"):
        read_delays(DELAYS.json(), waits, (HEAT, PUT_OUT))
    history = one_by_one(Access.RESET, *BOILED)
    assert delaying(history) is not None
    assert delaying(replace(history, vocabulary=waits)) is None


def test_two_effects_are_told_together_where_neither_explains_all() -> None:
    lit = POTS.predicates[1]
    goes_out = DelayedEffect("heat", LiftedAtom("lit", ()), lit, (), False, 3, undoes=True)
    both, state, history = Delays((BOILS, goes_out)), pots(), list[tuple[GroundAction, State]]()
    for step in (HEATED, GroundAction("heat", ("blue",)), *[WAIT] * 4, HEATED, *[WAIT] * 4):
        state = both.passed(state, step, MODEL.run(both.plain(state), (step,))[1])
        history.append((step, both.plain(state)))
    found = delaying(one_by_one(Access.RESET, *history))
    assert found is not None
    told = {(one.action, one.predicate.name, one.value, one.after) for one in found.effects}
    assert told == {("heat", "hot", True, 2), ("heat", "lit", False, 3)}
