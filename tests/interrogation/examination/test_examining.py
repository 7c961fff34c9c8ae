"""The examination: plans that the model predicts, asked before it counts as complete."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.numbered import NumberedAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.moves import Asked, Walked
from aam_vision.interrogation.examination.examining import LEAST, SHARE
from aam_vision.interrogation.examination.findings import ENOUGH, Exam
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verification import verify
from aam_vision.model.domains import generate, load
from aam_vision.model.query import Access, Agent
from tests import domains
from tests.profiles import thorough

ACCESSES = [Access.SETTABLE, Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY]


def agent_of(access: Access, domain: str = "gripper", seed: int = 0) -> Agent:
    rng = np.random.default_rng(seed)
    agent = SymbolicAgent(load(domain), [generate(domain, 2, rng).initial], access)
    return agent if access is Access.SETTABLE else NumberedAgent(agent)


def learned(agent: Agent, exam: int | None, seed: int = 0, **budget: int) -> Result:
    asked = Interrogation(agent, exam=exam, budget=Budget(**budget))
    return asked.run(np.random.default_rng(seed))


@pytest.mark.parametrize("access", ACCESSES)
def test_it_costs_what_was_asked_for_changes_nothing_else_and_predicts_refusals_too(access: Access) -> None:
    without, with_it = learned(agent_of(access), 0), learned(agent_of(access), 80)
    assert with_it.exam == Exam(80, 0)
    assert with_it.model == without.model
    assert replace(with_it.counts, exam_steps=0) == without.counts
    assert (without.status, with_it.status) == ("open", "complete")
    taught = without.transcript.entries
    assert with_it.transcript.entries[: len(taught)] == taught
    assert verify(with_it.transcript, with_it).holds
    examined = with_it.transcript.entries[len(taught) :]
    asked = [entry for entry in examined if isinstance(entry, Asked) and entry.query.plan]
    refused = [entry for entry in asked if entry.response.executed < len(entry.query.plan)]
    assert len(refused) >= len(asked) // 6 > 0
    assert sum(entry.response.executed for entry in asked) >= len(refused)
    assert any(isinstance(entry, Walked) for entry in examined) is (access is not Access.TRAJECTORY)


@pytest.mark.parametrize("access", ACCESSES)
def test_by_default_it_takes_a_fifth_of_all_steps_and_what_the_bound_takes_at_least(access: Access) -> None:
    result = learned(agent_of(access), None)
    assert result.counts.exam_steps == result.exam.steps == max(LEAST, result.counts.steps // SHARE)
    assert result.complete


@thorough(60)
@given(
    domains.domains(), st.sampled_from([Access.SETTABLE, Access.SNAPSHOT, Access.RESET]), st.integers(0, 9)
)
def test_an_honest_agent_does_what_is_predicted(domain: domains.Domain, access: Access, seed: int) -> None:
    agent = SymbolicAgent(domain.model, domain.problems, access)
    honest = agent if access is Access.SETTABLE else NumberedAgent(agent)
    result = learned(honest, 30, seed, queries=300, steps=3000)
    assert result.exam.wrong == 0
    assert result.diagnosis is None


def test_what_the_budget_does_not_allow_is_not_examined() -> None:
    cost = learned(agent_of(Access.SNAPSHOT), 0).counts.steps
    result = learned(agent_of(Access.SNAPSHOT), 80, steps=cost + 20)
    assert result.proven
    assert result.counts.steps + result.counts.exam_steps <= cost + 20
    assert result.status == "budget"
    assert "raise --max-steps" in (result.missing or "")


@given(st.integers(1, 400))
def test_the_bound_is_exact_and_nothing_is_bounded_by_no_step_or_a_wrong_one(steps: int) -> None:
    """An agent with this share of other steps passes with a probability of 5%."""
    assert Exam(ENOUGH).bound <= 0.05 < Exam(ENOUGH - 1).bound
    assert Exam().bound == Exam(steps, 1).bound == 1.0
    assert (1 - Exam(steps).bound) ** steps == pytest.approx(0.05)
    assert Exam(steps).enough is (steps >= ENOUGH)
    assert not Exam(steps, 1).enough
