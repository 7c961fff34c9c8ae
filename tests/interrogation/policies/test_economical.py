"""The economical policy: walks first, then queries whose segments should all succeed but the last."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision import agent_for
from aam_vision import interrogate as interrogate_agent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Asked, Move, Stop, Walk, Walked
from aam_vision.interrogation.policies.economical import (
    EXPLORE,
    FOLLOW,
    FOLLOW_REFUSAL,
    FOLLOW_SUCCESS,
    LEAST_PATIENCE,
    MAX_SEGMENTS,
    SEGMENT,
    UNCOVER,
    UNCOVER_ATTEMPTS,
    UNCOVER_BY_STEP,
    EconomicalPolicy,
    Walker,
    after_walking,
)
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import Atom, LiftedAtom, Location, Mode, PalTuple, State
from aam_vision.planning.planner import Limits
from aam_vision.report import evaluation
from tests import domains, small
from tests.domains import Domain
from tests.interrogation.hiding import HidingAgent
from tests.interrogation.runs import AMPLE, agent_of, begun
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


def _run(agent: Agent, seed: int, walker: Walker | None = None) -> tuple[list[Move], Result]:
    observed = Observed(walker)
    result = interrogate(agent, observed, np.random.default_rng(seed), budget=AMPLE)
    return observed.moves, result


@thorough(60)
@given(
    domains.domains(), st.integers(0, 3), st.sampled_from([*range(21), 120]), st.sampled_from([0.0, 0.2, 0.5])
)
def test_the_outcome_of_every_segment_is_open_and_the_query_ends_with_one(
    domain: Domain, seed: int, walked: int, hidden: float
) -> None:
    """A hidden effect is uncovered by a few walks on."""
    moves, _ = _run(HidingAgent(domain, Access.SNAPSHOT, hidden), seed, Walker(limit=walked))
    first = [isinstance(move, Walk) and move.why == EXPLORE for move in moves]
    assert first == sorted(first, reverse=True), "the exploring walks come first"
    walks = [move for move in moves if isinstance(move, Walk)]
    assert {move.why for move in walks} <= {EXPLORE, FOLLOW, *([UNCOVER] if hidden else [])}
    uncovering = Counter(walk.start.number for walk in walks if walk.why == UNCOVER)
    assert max(uncovering.values(), default=0) <= UNCOVER_ATTEMPTS
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
    domain = Domain(*domains.packaged(name))
    moves, result = _run(Shy(domain, action), 0)
    asked = next(move for move in moves if isinstance(move, Ask))
    assert asked.why == f"see {action} succeed"
    assert asked.plan[-1].name == action
    assert result.proven
    states = domains.reachable(domain.model, domain.problems, limit=2000)
    assert evaluation.equivalent(result.model, domain.model, states or [])


class Coy(SymbolicAgent):
    """Acts of its own accord only after the first question."""

    asked = False

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> list[WalkStep]:
        return list(super().walk(start, steps, rng)) if self.asked else []

    def ask(self, query: Query) -> Response:
        self.asked = True
        return super().ask(query)


def test_the_agent_walks_on_from_where_an_action_was_first_attempted() -> None:
    moves, _ = _run(Coy(*domains.packaged("blocksworld"), Access.SNAPSHOT), 0)
    asked = next(place for place, move in enumerate(moves) if isinstance(move, Ask))
    followed = [move for move in moves[asked:] if isinstance(move, Walk) and move.why == FOLLOW]
    trials = sum(isinstance(move, Ask) and not move.aims for move in moves)
    assert 0 < len(followed) <= trials * max(FOLLOW_REFUSAL, FOLLOW_SUCCESS)


@pytest.mark.parametrize(("seed", "most"), first(1, [(44, 19), (45, 19)]))
def test_what_need_not_be_violated_comes_after_what_cannot_be_told_apart(seed: int, most: int) -> None:
    """Its refusal would have to be asked again: these runs took 21 and 20 queries."""
    agent = agent_for("sokoban", access="snapshot", seed=seed)
    result = interrogate_agent(agent, seed=seed, exam=0)
    assert result.proven
    assert result.counts.queries <= most


# Walks: they start in situations that were seen, and end once they no longer pay.


def _walk(domain: Domain, evidence: Evidence, walker: Walker, rng: np.random.Generator) -> list[int]:
    """Walk until the walker has enough; the steps that it allowed each time."""
    agent, allowed = agent_of(domain), []
    while (walk := walker.next(evidence, rng)) is not None:
        assert walk.start in evidence.visited
        allowed.append(walk.steps)
        start = evidence.departure(walk.start)
        evidence.take_in(Walked(tuple(agent.walk(start, walk.steps, rng))), walk)
    return allowed


@thorough(40)
@given(domains.domains(), st.integers(0, 120), st.integers(1, 9), st.integers(0, 3))
def test_walks_end_at_a_limit_or_without_news(domain: Domain, limit: int, stride: int, seed: int) -> None:
    evidence = begun(agent_of(domain))
    allowed = _walk(domain, evidence, Walker(limit=limit, stride=stride), np.random.default_rng(seed))
    assert sum(allowed) <= limit
    assert all(0 < steps <= stride for steps in allowed)
    told = [exchange.told for exchange in evidence.exchanges]
    last_news = max((number for number, news in enumerate(told, 1) if news), default=0)
    fruitless, patience = sum(allowed[last_news:]), max(LEAST_PATIENCE, evidence.hypotheses.size)
    assert fruitless < patience + stride
    assert sum(allowed) == limit or fruitless >= patience


@thorough(25)
@given(domains.domains(), st.integers(0, 3))
def test_walking_is_over_for_good_once_anything_was_asked(domain: Domain, seed: int) -> None:
    evidence, rng = begun(agent_of(domain)), np.random.default_rng(seed)
    walker = Walker(limit=12)
    _walk(domain, evidence, walker, rng)
    assert after_walking(evidence) is evidence
    known = {name: action.candidates for name, action in evidence.hypotheses.actions.items()}
    visited = len(evidence.visited)
    for step in domains.applicable(domain.model, domain.problems[0])[:2]:
        query = Query(evidence.departure(evidence.nodes[0]), (step,))
        evidence.take_in(Asked(query, agent_of(domain).ask(query)), Ask(evidence.nodes[0], (step,), "test"))
        assert Walker().next(evidence, rng) is None
    then = after_walking(evidence)
    assert {name: action.candidates for name, action in then.hypotheses.actions.items()} == known
    assert len(then.visited) == visited


class MarkingAgent(SymbolicAgent):
    """It marks its cell, which hides the mark while it stands there; it makes one step on its own, and no other."""

    def __init__(self) -> None:
        model = small.model("enter a b: at a, next a b -> at b, not at a, marked b")
        start = small.state("a b c", "at a, next a b, next b c, next c a")
        super().__init__(model, [start], Access.SNAPSHOT)
        self.walks = 0

    def initial(self) -> list[Situation]:
        return [self.shown(one.state) for one in super().initial()]

    def ask(self, query: Query) -> Response:
        assert isinstance(query.initial.handle, State)
        response = super().ask(replace(query, initial=Situation(query.initial.handle, query.initial.handle)))
        return replace(response, final=self.shown(response.final.state))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> list[WalkStep]:
        self.walks += 1
        step = small.step("enter a b")
        return [WalkStep(start, step, self.ask(Query(start, (step,))).final)] if self.walks == 1 else []

    def shown(self, state: State) -> Situation:
        hidden = frozenset(Atom("marked", one.objects) for one in state.true if one.predicate == "at")
        return Situation(state, State(state.true - hidden, state.objects, hidden))


def test_an_effect_that_is_hidden_is_uncovered_by_a_question_if_the_agent_does_not_move() -> None:
    moves: list[Move] = []
    result = interrogate(
        MarkingAgent(),
        EconomicalPolicy(),
        np.random.default_rng(0),
        watch=lambda move, evidence, agent: moves.append(move),
    )
    assert next(move.why for move in moves if isinstance(move, Ask)) == UNCOVER_BY_STEP
    marks = PalTuple(LiftedAtom("marked", (1,)), "enter", Location.EFF)
    assert result.hypotheses.modes(marks) == (Mode.POSITIVE,)
