"""The economical policy: walks first, then queries whose segments should all succeed but the last."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision import agent_for
from aam_vision import interrogate as interrogate_agent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Stop, Walk
from aam_vision.interrogation.policies.economical import (
    EXPLORE,
    FOLLOW,
    FOLLOW_REFUSAL,
    FOLLOW_SUCCESS,
    MAX_SEGMENTS,
    SEGMENT,
    UNCOVER,
    UNCOVER_ATTEMPTS,
    EconomicalPolicy,
    Walker,
)
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import State
from aam_vision.planning.planner import Limits
from aam_vision.report import evaluation
from tests import domains
from tests.domains import Domain
from tests.interrogation.hiding import HidingAgent
from tests.interrogation.runs import AMPLE, agent_of
from tests.profiles import first, thorough


class Observed:
    """The moves of the policy, and what each aim is about under what is known at that moment."""

    def __init__(self, walker: Walker | None = None) -> None:
        self._policy = EconomicalPolicy(limits=Limits(states=1000), walker=walker or Walker(share=1.5))
        self.moves: list[Move] = []

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        move = self._policy.next(evidence, rng)
        self.moves.append(move)
        if isinstance(move, Ask):
            self._check(evidence, move)
        return move

    def _check(self, evidence: Evidence, move: Ask) -> None:
        assert move.start.situation is not None, "a query starts in a situation that was seen"
        assert len(move.aims) <= MAX_SEGMENTS
        for aim in move.aims:
            assert aim.purpose == SEGMENT
            step, action = move.plan[aim.step], evidence.hypotheses[aim.action]
            state = evidence.predict_plan(move.start.state, move.plan[: aim.step])
            assert step.name == aim.action
            assert aim.literals.within(action.violated(*action.index.values(state, step.objects)))
            assert not action.certain_to_fail(aim.literals), "the outcome is open"


def _run(agent: Agent, seed: int, walker: Walker | None = None) -> tuple[list[Move], bool]:
    observed = Observed(walker)
    result = interrogate(agent, observed, np.random.default_rng(seed), budget=AMPLE)
    return observed.moves, result.proven


@thorough(40)
@given(domains.domains(), st.integers(0, 3), st.integers(0, 20))
def test_the_outcome_of_every_segment_is_open_and_the_query_ends_with_one(
    domain: Domain, seed: int, walked: int
) -> None:
    moves, _ = _run(agent_of(domain), seed, Walker(limit=walked))
    first = [isinstance(move, Walk) and move.why == EXPLORE for move in moves]
    assert first == sorted(first, reverse=True), "the exploring walks come first"
    assert {move.why for move in moves if isinstance(move, Walk)} <= {EXPLORE, FOLLOW}
    assert [isinstance(move, Stop) for move in moves] == [False] * (len(moves) - 1) + [True]
    for move in moves:
        if isinstance(move, Ask) and move.aims:
            assert move.aims[-1].step == len(move.plan) - 1


class Shy(SymbolicAgent):
    """Never executes one of its actions of its own accord: its walks end where it would."""

    def __init__(self, domain: Domain, avoided: str) -> None:
        super().__init__(domain.model, domain.problems, Access.SNAPSHOT)
        self._avoided = avoided

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> list[WalkStep]:
        walked = list(super().walk(start, steps, rng))
        avoided = [number for number, step in enumerate(walked) if step.action.name == self._avoided]
        return walked[: avoided[0]] if avoided else walked


@pytest.mark.parametrize(("name", "action"), [("gripper", "drop"), ("blocksworld", "stack")])
def test_an_action_that_no_walk_has_shown_is_made_to_succeed(name: str, action: str) -> None:
    model = packaged.load(name)
    problem: State = packaged.generate(name, 2, np.random.default_rng(0)).initial
    observed = Observed()
    agent = Shy(Domain(model, (problem,)), action)
    result = interrogate(agent, observed, np.random.default_rng(0), budget=AMPLE)
    first = next(move for move in observed.moves if isinstance(move, Ask))
    assert first.why == f"see {action} succeed"
    assert first.plan[-1].name == action
    assert result.proven
    assert evaluation.equivalent(result.model, model, domains.reachable(model, [problem], limit=2000) or [])


@thorough(30)
@given(domains.domains(), st.sampled_from([0.2, 0.5]), st.integers(0, 3))
def test_a_hidden_effect_is_uncovered_by_a_few_walks_on(domain: Domain, hidden: float, seed: int) -> None:
    moves, _ = _run(HidingAgent(domain, Access.SNAPSHOT, hidden), seed)
    walks = [move for move in moves if isinstance(move, Walk)]
    assert {walk.why for walk in walks} <= {EXPLORE, FOLLOW, UNCOVER}
    uncovering = Counter(walk.start.number for walk in walks if walk.why == UNCOVER)
    assert max(uncovering.values(), default=0) <= UNCOVER_ATTEMPTS


class Coy(SymbolicAgent):
    """Acts of its own accord only after the first question, and keeps count of its walks."""

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain.model, domain.problems, Access.SNAPSHOT)
        self._asked = False

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> list[WalkStep]:
        return list(super().walk(start, steps, rng)) if self._asked else []

    def ask(self, query: Query) -> Response:
        self._asked = True
        return super().ask(query)


def test_the_agent_walks_on_from_where_an_action_was_first_attempted() -> None:
    """In barman the shaker must be filled and shaken before two of its actions can be executed at all."""
    model = packaged.load("barman")
    problem: State = packaged.generate("barman", 1, np.random.default_rng(0)).initial
    moves, _ = _run(Coy(Domain(model, (problem,))), 0)
    asked = next(place for place, move in enumerate(moves) if isinstance(move, Ask))
    followed = [move for move in moves[asked:] if isinstance(move, Walk) and move.why == FOLLOW]
    assert followed
    trials = sum(isinstance(move, Ask) and not move.aims for move in moves)
    assert len(followed) <= trials * max(FOLLOW_REFUSAL, FOLLOW_SUCCESS)


@pytest.mark.parametrize(("seed", "most"), first(1, [(44, 19), (45, 19)]))
def test_what_need_not_be_violated_is_not_asked_in_a_group_before_what_cannot_be_told_apart(
    seed: int, most: int
) -> None:
    """Its refusal would have to be asked again: these runs took 21 and 20 queries."""
    agent = agent_for("sokoban", access="snapshot", seed=seed)
    result = interrogate_agent(agent, seed=seed, exam=0)
    assert result.proven
    assert result.counts.queries <= most
