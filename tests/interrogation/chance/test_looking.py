"""Looking several times tells what was seen wrongly from what has slipped."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.agents.unreliable import UnreliableAgent
from aam_vision.interrogation.chance.interrogating import Options, interrogate
from aam_vision.interrogation.task.repeated_looks import FIRST_LOOKS, LookingAgent
from aam_vision.interrogation.task.verdict import COMPLETE, NOT_STRIPS
from aam_vision.model.query import Access, Agent, Query
from aam_vision.model.strips import GroundAction
from aam_vision.report.chance_evaluation import check, same_structure, sample_transitions
from aam_vision.support.errors import UnusableInput

from .agents import agent, read


def misread(access: Access, seed: int, rate: float = 0.05) -> Agent:
    """The slippery hand, every atom of which is seen wrongly with some probability at each look."""
    return UnreliableAgent(NumberedAgent(agent(access, seed)), rate, 0.0, np.random.default_rng([seed, 7]))


@pytest.mark.parametrize("access", [Access.RESET, Access.SNAPSHOT, Access.TRAJECTORY])
def test_every_situation_is_seen_as_it_is(access: Access) -> None:
    clear, looking = NumberedAgent(agent(access, 1)), LookingAgent(misread(access, 1))
    (here,), (seen,) = clear.initial(), looking.initial()
    for turn in range(60):
        assert seen.state == here.state
        action = GroundAction("drop" if turn % 2 else "grab", ("a", "h"))
        response, answer = clear.ask(Query(here, (action,))), looking.ask(Query(seen, (action,)))
        assert answer.executed == response.executed
        here, seen = response.final, answer.final


def test_a_walk_is_the_agents_own() -> None:
    looking = LookingAgent(misread(Access.RESET, 2))
    walked = looking.walk(looking.initial()[0], 12, np.random.default_rng(0))
    assert len(walked) > 3
    truth, _ = read()
    for before, after in pairwise(walked):
        assert before.after == after.before
    for step in walked:
        schema = truth.schema(step.action.name)
        assert schema.applicable(step.before.state, step.action.objects)


def test_where_looks_tell_nothing_the_run_says_that_it_cannot_tell() -> None:
    with pytest.raises(UnusableInput, match="so noise and chance cannot be told apart"):
        LookingAgent(misread(Access.RESET, 0, rate=0.5)).initial()
    (seen,) = LookingAgent(misread(Access.RESET, 0, rate=0.5), whole=False).initial()
    assert seen.state.unknown


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2])
def test_how_much_looks_differ_decides_how_many_there_are(rate: float) -> None:
    looking = LookingAgent(misread(Access.RESET, 4, rate))
    interrogate(looking, np.random.default_rng(4), Options(0.2))
    assert looking.misread == pytest.approx(rate, abs=0.02)
    assert looking.error == pytest.approx(looking.situations * 1e-6)
    per_situation = looking.looks / looking.situations
    assert (2 if rate else 0) < per_situation < {0.0: 4, 0.05: 12, 0.2: 40}[rate]


def test_looks_are_no_steps() -> None:
    counted = CountingAgent(misread(Access.RESET, 0))
    looking = LookingAgent(counted)
    looking.initial()
    assert looking.looks >= FIRST_LOOKS
    assert counted.counts.steps == 0


@pytest.mark.parametrize("access", [Access.RESET, Access.SNAPSHOT])
def test_noise_and_slips_are_told_apart(access: Access) -> None:
    truth, initial = read()
    result = interrogate(LookingAgent(misread(access, 3)), np.random.default_rng(3), Options(0.1))
    assert result.status == COMPLETE
    steps = sample_transitions(truth, [initial], 200, np.random.default_rng(1))
    assert same_structure(result.model, truth, [step.before for step in steps])
    for action in result.actions:
        checked = check(action, truth.schema(action.index.header.name))
        assert not checked.wrong
        assert all(checked.intervals)


def test_without_looking_again_noise_is_taken_for_no_such_agent() -> None:
    result = interrogate(misread(Access.RESET, 3), np.random.default_rng(3), Options(0.1))
    assert result.status == NOT_STRIPS


def test_a_state_that_is_asked_for_cannot_be_looked_at_again() -> None:
    with pytest.raises(UnusableInput, match="cannot be looked at again; use snapshot, reset or trajectory"):
        LookingAgent(agent(Access.SETTABLE))
