"""From a diagnosis to a model: what was seen before is learned from, nothing is promised that is not so."""

from __future__ import annotations

import numpy as np
import pytest

import aam_vision
from aam_vision.agents.counting import CountingAgent
from aam_vision.interrogation.chance.going_on import can_go_on, go_on
from aam_vision.interrogation.chance.interrogating import Options
from aam_vision.interrogation.chance.retelling import observed
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verdict import BUDGET, COMPLETE
from aam_vision.model.query import Access, Agent
from aam_vision.report.chance_evaluation import check, exact
from experiments.faults.registry import faulty_agent

from .agents import agent, read

ACCESS = (Access.SETTABLE, Access.SNAPSHOT, Access.RESET)


def diagnosed(asked: Agent, seed: int = 0) -> Result:
    """What an interrogation ends with that takes the agent for a deterministic one."""
    try:
        result = aam_vision.interrogate(asked, seed=seed, go_on=False)
    except Interrupted as error:
        result = error.result
    assert result.not_strips
    return result


@pytest.mark.parametrize("access", ACCESS)
def test_an_agent_whose_steps_slip_is_learned_from_where_it_was_noticed(access: Access) -> None:
    asked = CountingAgent(agent(access))
    result = diagnosed(asked)
    assert can_go_on(result)
    seen = list(observed(result.transcript))
    before = asked.counts.steps
    found = go_on(asked, result, np.random.default_rng(0), Options(0.1))
    assert found.status == COMPLETE
    truth, _ = read()
    assert exact(found.model, truth)
    assert not any(check(one, truth.schema(one.index.header.name)).wrong for one in found.actions)
    further = asked.counts.steps - before
    assert found.counts.steps == result.counts.steps + further
    tried = sum(one.executed + one.refused for one in found.actions)
    assert tried == len(seen) + further, "all that was seen counts as a trial"


def test_an_effect_that_depends_on_a_condition_is_learned_as_cases() -> None:
    asked = faulty_agent("effect depends on own atom", Access.SETTABLE, 0)
    found = go_on(asked, diagnosed(asked), np.random.default_rng(0), Options(0.1))
    assert found.status == COMPLETE
    (changed,) = [one for one in found.model.actions if len(one.branches) > 1]
    assert (changed.header.name,) == asked.fault.actions
    assert all(len(case.outcomes) == 1 for case in changed.branches)


@pytest.mark.parametrize(
    "family", ["repeated arguments", "refused for a count", "effect depends on another object"]
)
def test_what_no_outcomes_and_cases_explain_stays_diagnosed(family: str) -> None:
    asked = faulty_agent(family, Access.SETTABLE, 0)
    assert go_on(asked, diagnosed(asked), np.random.default_rng(0), Options(0.1)).contradicted


@pytest.mark.parametrize("family", ["hidden fuel", "fault after k uses in the process", "states misread"])
def test_what_is_hidden_or_changing_or_misread_is_not_taken_for_chance(family: str) -> None:
    asked = faulty_agent(family, Access.SNAPSHOT, 1)
    assert not can_go_on(diagnosed(asked, 1))


@pytest.mark.parametrize("left", [0, 3])
def test_the_budget_is_that_of_both_together(left: int) -> None:
    asked = CountingAgent(agent(Access.RESET))
    result = diagnosed(asked)
    found = go_on(asked, result, np.random.default_rng(0), Options(0.1, max_steps=result.counts.steps + left))
    assert found.status == BUDGET
    assert found.counts.steps == result.counts.steps + left
