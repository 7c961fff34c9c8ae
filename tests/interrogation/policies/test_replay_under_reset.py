"""Trajectory and reset access: nothing wrong is concluded, and no policy starts where it may not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision import domains as packaged
from aam_vision import evaluation
from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Policy, Walk
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.policies.replay_under_reset import Replaying, replay
from aam_vision.interrogation.policies.trajectory import TrajectoryPolicy
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.planning.planner import Limits
from aam_vision.query import Access
from aam_vision.strips import Model, State
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, assert_sound, read_mode
from tests.profiles import thorough

REGIMES = st.sampled_from([Access.TRAJECTORY, Access.RESET])
PEERS = {"gripper": 8, "blocksworld": 16, "miconic": 17, "satellite": 29, "logistics": 39}
"""Steps that OLAM or information-gain-aml take to the correct model, the fewer of the two. Ours are means: seeds differ by half."""


def _policy(access: Access) -> Policy:
    """Searches are short, since there are many runs."""
    limits = Limits(states=1000)
    if access is Access.TRAJECTORY:
        return TrajectoryPolicy(limits=limits, work=3000)
    return Replaying(EconomicalPolicy(limits=limits))


def _run(domain: Domain, access: Access, seed: int = 0, budget: Budget = AMPLE) -> Result:
    problems = domain.problems[:1] if access is Access.TRAJECTORY else domain.problems
    agent = SymbolicAgent(domain.model, problems, access)
    return interrogate(agent, _policy(access), np.random.default_rng(seed), budget=budget)


@thorough(60)
@given(domains.domains(), REGIMES, st.integers(0, 3))
def test_a_random_domain_is_learned_soundly(domain: Domain, access: Access, seed: int) -> None:
    result = _run(domain, access, seed)
    assert "budget of" not in result.why, "the interrogation does not end"
    assert_sound(result.hypotheses, domain.model)
    for pal in result.hypotheses.pal_tuples():
        if len(result.hypotheses.modes(pal)) == 1:
            schema = result.model.schema(pal.action)
            assert schema.mode(pal.atom, pal.location) is read_mode(domain.model, pal)


@thorough(60)
@given(domains.domains(), REGIMES)
def test_a_complete_model_is_equivalent_wherever_the_agent_can_get(domain: Domain, access: Access) -> None:
    problems = domain.problems[:1] if access is Access.TRAJECTORY else domain.problems
    states = domains.reachable(domain.model, problems, limit=400)
    assume(states is not None)
    assert states is not None
    result = _run(domain, access)
    if result.complete:
        assert evaluation.equivalent(result.model, domain.model, states)


@thorough(15)
@given(domains.domains(), REGIMES)
def test_the_same_seed_asks_the_same_questions(domain: Domain, access: Access) -> None:
    def transcript() -> list[str]:
        lines: list[str] = []

        def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
            lines.append(f"{move.plan if isinstance(move, Ask) else ''} {agent.counts}")

        agent = SymbolicAgent(domain.model, domain.problems[:1], access)
        interrogate(agent, _policy(access), np.random.default_rng(5), budget=AMPLE, watch=watch)
        return lines

    assert transcript() == transcript()


@thorough(25)
@given(domains.domains())
def test_every_visited_situation_can_be_reached_again_from_an_initial_one(domain: Domain) -> None:
    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        if isinstance(move, Ask | Walk):
            for node in evidence.nodes:
                if node.situation is not None and not node.state.unknown:
                    start, steps = replay(evidence, node)
                    executed, final = domain.model.run(start.state, steps)
                    assert (start.initial, executed, final) == (True, len(steps), node.state)

    agent = SymbolicAgent(domain.model, domain.problems, Access.RESET)
    policy = _policy(Access.RESET)
    interrogate(agent, policy, np.random.default_rng(0), budget=Budget(20, 200), watch=watch)


def _steps_to_the_correct_model(model: Model, problem: State, seed: int) -> int | None:
    agent = SymbolicAgent(model, [problem], Access.TRAJECTORY)
    result = interrogate(agent, TrajectoryPolicy(), np.random.default_rng(seed), budget=Budget(steps=60))
    assert result.counts.walk_steps == result.counts.resets == 0
    correct = None
    for point in result.curve:
        right = evaluation.exact(point.model, model)
        correct = (correct or point.steps) if right else None
    return correct


@pytest.mark.parametrize("name", PEERS)
def test_packaged_domains_need_no_more_steps_than_the_peers_do(name: str) -> None:
    model = packaged.load(name)
    problem = packaged.generate(name, 2, np.random.default_rng([0, 1])).initial
    steps = [_steps_to_the_correct_model(model, problem, seed) for seed in range(3)]
    assert None not in steps
    assert sum(filter(None, steps)) / len(steps) <= PEERS[name]
