"""Walks: they start in situations that were seen, and end once they no longer pay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Asked, Move, Walked
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.economical import (
    LEAST_PATIENCE,
    UNCOVER_BY_STEP,
    EconomicalPolicy,
    Walker,
    after_walking,
)
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.model.pddl import read_domain
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import Atom, GroundAction, LiftedAtom, Location, Mode, Objects, PalTuple, State
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import agent_of
from tests.profiles import thorough


def _begun(domain: Domain) -> Evidence:
    agent = agent_of(domain)
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers))
    for situation in agent.initial():
        evidence.begin(situation)
    return evidence


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
def test_walks_end_at_the_limit_or_when_nothing_was_learnt_for_long(
    domain: Domain, limit: int, stride: int, seed: int
) -> None:
    evidence = _begun(domain)
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
    evidence, rng = _begun(domain), np.random.default_rng(seed)
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


MARKING = """(define (domain marking) (:requirements :strips :typing) (:types cell - object)
  (:predicates (at ?c - cell) (next ?a - cell ?b - cell) (marked ?c - cell))
  (:action enter :parameters (?a - cell ?b - cell) :precondition (and (at ?a) (next ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (marked ?b))))"""
"""Who enters a cell marks it."""


class ShyAgent(SymbolicAgent):
    """It stands on the mark of its cell, which is hidden then; it makes one step on its own, and no other."""

    def __init__(self, folder: Path) -> None:
        (folder / "domain.pddl").write_text(MARKING, encoding="utf-8")
        model = read_domain(folder / "domain.pddl")
        pairs = [("a", "b"), ("b", "c"), ("c", "a")]
        objects = Objects(dict.fromkeys("abc", "cell"), model.vocabulary.types)
        true = frozenset({Atom("at", ("a",)), *(Atom("next", pair) for pair in pairs)})
        super().__init__(model, [State(true, objects)], Access.SNAPSHOT)
        self.walks = 0

    def initial(self) -> list[Situation]:
        return [self.shown(one.state) for one in super().initial()]

    def ask(self, query: Query) -> Response:
        assert isinstance(query.initial.handle, State)
        response = super().ask(replace(query, initial=Situation(query.initial.handle, query.initial.handle)))
        return replace(response, final=self.shown(response.final.state))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> list[WalkStep]:
        self.walks += 1
        if self.walks > 1:
            return []
        step = GroundAction("enter", ("a", "b"))
        return [WalkStep(start, step, self.ask(Query(start, (step,))).final)]

    def shown(self, state: State) -> Situation:
        hidden = frozenset(Atom("marked", one.objects) for one in state.true if one.predicate == "at")
        return Situation(state, State(state.true - hidden, state.objects, hidden))


def test_an_effect_that_is_hidden_is_uncovered_by_a_question_if_the_agent_does_not_move(
    tmp_path: Path,
) -> None:
    questions: list[str] = []

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        questions.extend([move.why] if isinstance(move, Ask) else [])

    result = interrogate(ShyAgent(tmp_path), EconomicalPolicy(), np.random.default_rng(0), watch=watch)
    assert questions[0] == UNCOVER_BY_STEP
    marks = PalTuple(LiftedAtom("marked", (1,)), "enter", Location.EFF)
    assert result.hypotheses.modes(marks) == (Mode.POSITIVE,)
