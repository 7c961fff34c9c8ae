"""Agents that are models, sure or with chance, and what counts, checks and spoils their answers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent, Counts
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.agents.image import Passage
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import NoisySimulator, UnreliableAgent, distinct_atoms
from aam_vision.envs.registry import board_domain
from aam_vision.model.query import Access, Agent, Query, Response, Situation
from aam_vision.model.strips import Atom, GroundAction, Model, State
from aam_vision.support.errors import AamError, AccessViolation
from tests import domains
from tests.domains import Domain
from tests.interrogation.chance.agents import agent as chance_agent
from tests.interrogation.chance.agents import read
from tests.profiles import thorough
from tests.refusals import told_by


@thorough(60)
@given(domains.domains(constants=True), st.integers(0, 10**6))
def test_a_walk_follows_the_model_and_ends_only_in_a_dead_end(domain: Domain, seed: int) -> None:
    agent = SymbolicAgent(domain.model, domain.problems)
    start = agent.initial()[0]
    walked = agent.walk(start, 10, np.random.default_rng(seed))
    at = start
    for step in walked:
        assert step.before == at
        assert step.action in domains.applicable(domain.model, at.state)
        assert step.after.state == domains.successor(domain.model, at.state, step.action)
        at = step.after
    assert len(walked) == 10 or not domains.applicable(domain.model, at.state)
    assert agent.walk(start, 10, np.random.default_rng(seed)) == walked


@thorough(60)
@given(domains.domains(), st.data())
def test_an_answer_is_the_longest_executable_prefix_and_where_it_ends(
    domain: Domain, data: st.DataObject
) -> None:
    agent = SymbolicAgent(domain.model, domain.problems)
    start = agent.initial()[-1]
    actions = domains.instances(agent.headers, start.state.objects)
    assume(actions)
    plan = tuple(data.draw(st.lists(st.sampled_from(actions), max_size=4)))
    response = agent.ask(Query(start, plan))
    state = start.state
    for action in plan[: response.executed]:
        assert action in domains.applicable(domain.model, state)
        state = domains.successor(domain.model, state, action)
    assert response.final.state == state
    assert response.final.handle == agent.ask(Query(start, plan[: response.executed])).final.handle
    if response.executed < len(plan):
        assert plan[response.executed] not in domains.applicable(domain.model, state)


@thorough(5)
@given(domains.domains())
def test_the_model_is_not_a_public_attribute(domain: Domain) -> None:
    agent = SymbolicAgent(domain.model, domain.problems)
    public = [getattr(agent, name) for name in dir(agent) if not name.startswith("_")]
    assert not any(isinstance(value, Model) for value in public)


GRAB = GroundAction("grab", ("a", "h"))
DROP = GroundAction("drop", ("a", "h"))


def test_outcomes_come_as_often_as_the_model_says() -> None:
    model, initial = read()
    asked = chance_agent(Access.SETTABLE)
    start = Situation(initial, initial)
    answers = [asked.ask(Query(start, (GRAB,))).final.state for _ in range(2000)]
    expected = model.schema("grab").successors(initial, GRAB.objects)
    assert set(answers) == set(expected)
    for state, share in expected.items():
        assert answers.count(state) / 2000 == pytest.approx(share, abs=0.04)


def test_what_the_precondition_forbids_is_refused() -> None:
    _, initial = read()
    response = chance_agent(Access.SETTABLE).ask(Query(Situation(initial, initial), (DROP, GRAB)))
    assert response.executed == 0
    assert response.final.state == initial


def test_a_walk_takes_steps_that_can_be_done_and_each_leads_to_the_next() -> None:
    model, initial = read()
    asked = chance_agent(Access.RESET, seed=3)
    walked = asked.walk(asked.initial()[0], 40, np.random.default_rng(1))
    assert walked[0].before.state == initial
    for step, following in pairwise(walked):
        assert step.after == following.before
        schema = model.schema(step.action.name)
        assert step.after.state in schema.successors(step.before.state, step.action.objects)


def test_the_same_seed_gives_the_same_answers() -> None:
    def course(seed: int) -> list[bool]:
        asked = chance_agent(Access.SETTABLE, seed)
        start = asked.initial()[0]
        ends = [asked.ask(Query(start, (GRAB,))).final.state.true for _ in range(30)]
        return [Atom("holding", ("a",)) in true for true in ends]

    assert course(5) == course(5)
    assert course(5) != course(6)


def _exchanged(agent: Agent, start: Situation, plan: tuple[GroundAction, ...] | None, seed: int) -> Any:
    if plan is None:
        return agent.walk(start, 3, np.random.default_rng(seed))
    return agent.ask(Query(start, plan))


@thorough(120)
@given(domains.domains(), st.sampled_from(Access), st.data())
def test_exactly_what_the_access_allows_is_asked_and_counted(
    domain: Domain, access: Access, data: st.DataObject
) -> None:
    """Every attempted step, every distinct question, every start elsewhere than where the agent stood."""
    plain = SymbolicAgent(domain.model, domain.problems, access)
    counting = CountingAgent(SymbolicAgent(domain.model, domain.problems, access))
    agent = EnforcingAgent(counting)
    assert (agent.vocabulary, agent.headers, agent.access) == (plain.vocabulary, plain.headers, access)
    initial = list(agent.initial())
    assert initial == list(plain.initial())
    actions = domains.instances(agent.headers, domain.problems[0].objects)
    assume(actions)
    everywhere = list(domains.reachable(domain.model, domain.problems, limit=30) or domain.problems)
    first = {situation.state for situation in initial}
    visited, at = {*first}, None
    expected, asked = Counts(), set()
    for number in range(data.draw(st.integers(1, 8))):
        state = data.draw(st.sampled_from(everywhere if at is None else [*everywhere, at, at]))
        start = Situation(state, state)
        plan = data.draw(st.none() | st.lists(st.sampled_from(actions), max_size=3).map(tuple))
        allowed = {
            Access.TRAJECTORY: plan is not None and state in (first if at is None else {at}),
            Access.RESET: state in first or state == at,
            Access.SNAPSHOT: state in visited,
            Access.SETTABLE: True,
        }[access]
        if not allowed:
            with pytest.raises(AccessViolation, match=f"{access.value} access"):
                _exchanged(agent, start, plan, number)
            assert counting.counts == expected
            continue
        answer, other = (_exchanged(one, start, plan, number) for one in (agent, plain))
        assert answer == other
        expected.resets += at is not None and at != state
        if plan is None:
            expected.steps += len(answer)
            expected.walk_steps += len(answer)
            visited |= {step.after.state for step in answer}
            at = answer[-1].after.state if answer else state
        else:
            asked.add((state, plan))
            expected.queries = len(asked)
            expected.steps += min(len(plan), answer.executed + 1)
            expected.failed_steps += answer.executed < len(plan)
            at = answer.final.state
        visited |= {state, at}
        assert counting.counts == expected


@thorough(10)
@given(domains.domains())
def test_a_trajectory_begins_once(domain: Domain) -> None:
    agent = EnforcingAgent(SymbolicAgent(domain.model, domain.problems, Access.TRAJECTORY))
    assert list(agent.initial()) == list(agent.initial())
    agent.ask(Query(agent.initial()[0], ()))
    with pytest.raises(AamError, match="second time"):
        agent.initial()


MODEL, (STATE,) = domains.packaged("blocksworld")


def test_a_trajectory_that_has_begun_goes_on_where_it_stands() -> None:
    stands = Situation(STATE, STATE)
    agent = EnforcingAgent(SymbolicAgent(MODEL, [STATE], Access.TRAJECTORY), stands)
    elsewhere = State(frozenset(), STATE.objects)
    with pytest.raises(AccessViolation, match="only where the last answer ended"):
        agent.ask(Query(Situation(elsewhere, elsewhere), ()))
    assert agent.ask(Query(stands, ())).final == stands
    with pytest.raises(AccessViolation, match="second time"):
        agent.initial()


ATOMS = distinct_atoms(MODEL.vocabulary, STATE.objects)
PICK = GroundAction("pick-up", ("b1",))
FACTS = {Atom("clear", ("b1",)), Atom("ontable", ("b1",)), Atom("handempty", ())}
READY = State(frozenset(FACTS), STATE.objects)
HERE = Situation(READY, READY)


def _unreliable(
    flips: float, refusals: float, access: Access = Access.SETTABLE, seed: int = 0
) -> UnreliableAgent:
    inner = SymbolicAgent(MODEL, [STATE], access)
    numbered = inner if access is Access.SETTABLE else NumberedAgent(inner)
    return UnreliableAgent(numbered, flips, refusals, np.random.default_rng(seed))


def test_without_faults_answers_are_those_of_the_unreliable() -> None:
    inner, agent = SymbolicAgent(MODEL, [STATE]), _unreliable(0, 0)
    query = Query(HERE, (PICK, PICK))
    assert agent.ask(query) == inner.ask(query)
    assert agent.initial() == inner.initial()
    first, second = (one.walk(Situation(STATE, STATE), 8, np.random.default_rng(1)) for one in (agent, inner))
    assert first == second


@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_atoms_are_flipped_at_the_rate_each_time_anew(rate: float) -> None:
    agent = _unreliable(rate, 0)
    flips = [len(agent.ask(Query(HERE, ())).final.state.true ^ READY.true) for _ in range(400)]
    expected = rate * len(ATOMS)
    assert abs(np.mean(flips) - expected) < 5 * (expected / 400) ** 0.5
    assert len(set(flips)) > 1


def test_steps_are_refused_at_the_rate_and_then_not_executed() -> None:
    agent = _unreliable(0, 0.25)
    answers = [agent.ask(Query(HERE, (PICK,))) for _ in range(800)]
    assert abs(np.mean([answer.executed for answer in answers]) - 0.75) < 0.08
    assert all(answer.final.state == READY for answer in answers if not answer.executed)


def test_a_handle_reveals_nothing_beyond_the_state_that_was_seen() -> None:
    settable = _unreliable(0.3, 0).ask(Query(HERE, (PICK,))).final
    assert settable.handle == settable.state
    agent = _unreliable(0.3, 0, Access.SNAPSHOT)
    (start,) = agent.initial()
    walked = agent.walk(start, 5, np.random.default_rng(0))
    assert [step.after.handle for step in walked] == list(range(1, 1 + len(walked)))
    assert all(step.before == earlier.after for earlier, step in pairwise(walked))


def test_a_numbered_agent_is_brought_back_to_where_it_was() -> None:
    agent = NumberedAgent(SymbolicAgent(MODEL, [STATE], Access.SNAPSHOT))
    (start,) = agent.initial()
    walked = agent.walk(start, 6, np.random.default_rng(0))
    history = [Passage(None, (), start, None)]
    history += [Passage(step.before, (step.action,), step.after, agent.memo(step.after)) for step in walked]
    other = NumberedAgent(SymbolicAgent(MODEL, [STATE], Access.SNAPSHOT))
    other.resume(history)
    query = Query(walked[2].after, tuple(step.action for step in walked[3:]))
    answers: list[Response] = [one.ask(query) for one in (agent, other)]
    assert answers[0] == answers[1]


def _noisy(sigma, seed=0):
    simulator = board_domain("doors").simulator(("test", 5))
    simulator.start()
    return simulator, NoisySimulator(simulator, sigma, np.random.default_rng(seed))


def test_every_image_has_noise_of_its_own_that_repeats_with_the_seed():
    simulator, noisy = _noisy(0.1)
    one, two = noisy.frame(), noisy.frame()
    assert one.dtype == np.uint8
    assert one.shape == simulator.frame().shape
    assert (one != two).any()
    _, again = _noisy(0.1)
    assert (again.frame() == one).all()
    assert (_noisy(0.0)[1].frame() == simulator.frame()).all()


@pytest.mark.parametrize("wrong", [-0.1, 1.5, float("nan"), float("inf")])
def test_an_impossible_rate_or_sigma_is_refused(wrong):
    for make in (lambda: _unreliable(wrong, 0.0), lambda: _unreliable(0.0, wrong)):
        told_by(make, r"rate of .*: use a number from 0 to 1")
    if wrong != 1.5:
        told_by(lambda: _noisy(wrong), "use a number")
