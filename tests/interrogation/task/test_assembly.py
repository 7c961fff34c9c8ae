"""An interrogation put together: its parts are checked at once, and a policy may be put in place of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import UnreliableAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Asked, Move, Stop
from aam_vision.interrogation.policies.aia import AiaPolicy
from aam_vision.interrogation.policies.decorators import Confirming
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.policies.settable import ReassessmentPolicy, SettablePolicy
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import Interrupted, interrogate
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access, Query, Response
from aam_vision.support.errors import AgentFailed
from aam_vision.support.resources import Resources
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, assert_sound, run
from tests.profiles import first, thorough
from tests.refusals import told_by
from tests.resources import WHY, Looked

MODEL = packaged.load("gripper")


def agent(access: Access = Access.SETTABLE, *, sure: bool = True) -> SymbolicAgent:
    return SymbolicAgent(MODEL, domains.packaged("gripper")[1], access, refuses_surely=sure)


@pytest.mark.parametrize(
    ("parts", "sure", "wanted", "unwanted"),
    [
        ({}, True, SettablePolicy, Confirming),
        ({"policy": "aia"}, True, AiaPolicy, SettablePolicy),
        ({"prior": MODEL}, True, ReassessmentPolicy, Confirming),
        ({}, False, Confirming, AiaPolicy),
    ],
)
def test_the_policy_follows_from_the_parts(parts: Any, sure: bool, wanted: type, unwanted: type) -> None:
    found, policy = set(), Interrogation(agent(sure=sure), **parts).moves()
    while policy is not None:
        found.add(type(policy))
        policy = getattr(policy, "policy", None)
    assert wanted in found
    assert unwanted not in found


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Interrogation(agent(), policy="lazy"), r"^policy lazy: unknown"),
        (
            lambda: Interrogation(agent(), prior=packaged.load("miconic")),
            r"^prior \w+: is a model of another agent",
        ),
        (lambda: Interrogation(agent(), prior="m"), r"^prior 'm': is no model; give one that was learned"),  # type: ignore[arg-type]
        (lambda: Interrogation(agent(), exam=-1), r"^exam -1: give a number from 0"),
        (lambda: Interrogation(agent(), confidence=2), r"^confidence 2: give a number from 0.5 to below 1"),
        (lambda: Budget(queries=-1), r"^max_queries -1: give a number from 0"),
        (lambda: Budget(steps=-1), r"^max_steps -1: give a number from 0"),
    ],
)
def test_parts_that_do_not_fit_are_refused_at_once(make: Callable[[], object], told: str) -> None:
    told_by(make, told)


def test_it_runs_to_the_true_model_and_within_its_budget() -> None:
    whole = Interrogation(agent())
    limited = replace(whole, budget=Budget(resources=Resources(1000, 10_000)))
    assert limited.budget == whole.budget
    result, again, resources = (one.run(np.random.default_rng(0)) for one in (whole, whole, limited))
    assert result.proven
    assert again.transcript == result.transcript, "a fresh policy every time"
    assert resources.transcript == result.transcript, "nothing depends on resources that are not spent"
    short = replace(whole, budget=Budget(queries=2)).run(np.random.default_rng(0))
    assert (short.status, short.counts.queries) == ("budget", 2)


@pytest.mark.parametrize("looks", [0, 1, 8, 30])
def test_when_time_or_memory_is_spent_it_ends_with_what_is_known(looks: int) -> None:
    limited = Interrogation(agent(), budget=Budget(resources=Looked(looks)))
    result = limited.run(np.random.default_rng(0))
    assert (result.status, result.missing) == ("budget", WHY)
    assert len(result.transcript.entries) <= looks
    assert bool(result.hypotheses.decided()) is (looks > 1)


# Trials in states of our own: each ends in a situation that was not seen yet, as far as the problem has so
# many.


@pytest.mark.parametrize("domain", first(1, ["gripper", "blocksworld", "miconic"]))
def test_no_trial_is_made_in_surroundings_that_were_seen_with_its_arguments(domain: str) -> None:
    model, problems = domains.packaged(domain, 2)
    symbolic = SymbolicAgent(model, problems, Access.SETTABLE)
    unreliable = UnreliableAgent(symbolic, 0.05, 0.0, np.random.default_rng(1))
    result = Interrogation(unreliable, confirm=True).run(np.random.default_rng(2))
    assert result.assessment is not None
    surroundings = []
    for entry in result.transcript.entries:
        if isinstance(entry, Asked) and len(entry.query.plan) == 1 and entry.response.executed:
            (step,), state = entry.query.plan, entry.query.initial.state
            kept = frozenset(atom for atom in state.true if not {*step.objects}.issuperset(atom[1]))
            surroundings.append((step, kept))
    trials = surroundings[10:]
    assert len(trials) > 20
    assert len(set(trials)) == len(trials)


# Whatever an agent is like: nothing wrong is concluded, and every interrogation ends.


@thorough(25)
@given(domains.domains(), st.integers(0, 12), st.sampled_from([*range(61), 5000]))
def test_no_budget_is_overdrawn_and_every_move_is_shown(domain: Domain, queries: int, steps: int) -> None:
    moves: list[Move] = []
    asked = set()

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        moves.append(move)
        if isinstance(move, Ask):
            assert move.start.situation is not None
            asked.add((move.start.situation.handle, move.plan))
        assert agent.counts.queries == len(asked)

    result = run(domain, budget=Budget(queries, steps), watch=watch)
    assert result.counts.queries <= queries
    assert result.counts.steps <= steps
    assert_sound(result.hypotheses, domain.model)
    assert [point.queries for point in result.curve] == sorted(point.queries for point in result.curve)
    assert [isinstance(move, Stop) for move in moves] == [False] * (len(moves) - 1) + [True]
    assert len(result.curve) == sum(isinstance(move, Ask) for move in moves)


class _Failing(SymbolicAgent):
    """Breaks down at its n-th question."""

    def __init__(self, domain: Domain, left: int) -> None:
        super().__init__(domain.model, domain.problems)
        self._left = left

    def ask(self, query: Query) -> Response:
        if self._left == 0:
            raise AgentFailed("the wire was cut")
        self._left -= 1
        return super().ask(query)


@thorough(25)
@given(domains.domains(), st.integers(0, 3))
def test_what_was_learned_before_the_agent_failed_is_kept(domain: Domain, left: int) -> None:
    agent, failure = _Failing(domain, left), None
    try:
        result = interrogate(agent, EconomicalPolicy(), np.random.default_rng(0), budget=AMPLE)
    except Interrupted as interrupted:
        failure, result = interrupted, interrupted.result
    assert_sound(result.hypotheses, domain.model)
    if failure is not None:
        assert str(failure) == "the wire was cut"
        assert not result.proven
        assert len(result.curve) == left
