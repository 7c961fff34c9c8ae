"""Faults put on purpose, and a noisy camera: nothing else changes, and no handle tells the truth."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from aam_vision.agents.image import Passage
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import NoisySimulator, UnreliableAgent, distinct_atoms
from aam_vision.envs.registry import make_simulator
from aam_vision.model import domains
from aam_vision.model.query import Access, Query, Response, Situation
from aam_vision.model.strips import Atom, GroundAction, State
from tests.refusals import told_by

MODEL = domains.load("blocksworld")
STATE = domains.generate("blocksworld", 2, np.random.default_rng(0)).initial
ATOMS = distinct_atoms(MODEL.vocabulary, STATE.objects)
PICK = GroundAction("pick-up", ("b1",))
FACTS = {Atom("clear", ("b1",)), Atom("ontable", ("b1",)), Atom("handempty", ())}
READY = State(frozenset(FACTS), STATE.objects)
HERE = Situation(READY, READY)


def _agent(flips: float, refusals: float, access: Access = Access.SETTABLE, seed: int = 0) -> UnreliableAgent:
    inner = SymbolicAgent(MODEL, [STATE], access)
    numbered = inner if access is Access.SETTABLE else NumberedAgent(inner)
    return UnreliableAgent(numbered, flips, refusals, np.random.default_rng(seed))


def test_without_faults_answers_are_those_of_the_agent() -> None:
    inner, agent = SymbolicAgent(MODEL, [STATE]), _agent(0, 0)
    query = Query(HERE, (PICK, PICK))
    assert agent.ask(query) == inner.ask(query)
    assert agent.initial() == inner.initial()
    first, second = (one.walk(Situation(STATE, STATE), 8, np.random.default_rng(1)) for one in (agent, inner))
    assert first == second


@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_atoms_are_flipped_at_the_rate_each_time_anew(rate: float) -> None:
    agent = _agent(rate, 0)
    flips = [len(agent.ask(Query(HERE, ())).final.state.true ^ READY.true) for _ in range(400)]
    expected = rate * len(ATOMS)
    assert abs(np.mean(flips) - expected) < 5 * (expected / 400) ** 0.5
    assert len(set(flips)) > 1


def test_steps_are_refused_at_the_rate_and_then_not_executed() -> None:
    agent = _agent(0, 0.25)
    answers = [agent.ask(Query(HERE, (PICK,))) for _ in range(800)]
    assert abs(np.mean([answer.executed for answer in answers]) - 0.75) < 0.08
    assert all(answer.final.state == READY for answer in answers if not answer.executed)


def test_a_handle_reveals_nothing_beyond_the_state_that_was_seen() -> None:
    settable = _agent(0.3, 0).ask(Query(HERE, (PICK,))).final
    assert settable.handle == settable.state
    agent = _agent(0.3, 0, Access.SNAPSHOT)
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
    simulator = make_simulator("doors", "test", 5)
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
    for make in (lambda: _agent(wrong, 0.0), lambda: _agent(0.0, wrong)):
        told_by(make, r"rate of .*: use a number from 0 to 1")
    if wrong != 1.5:
        told_by(lambda: _noisy(wrong), "use a number")
