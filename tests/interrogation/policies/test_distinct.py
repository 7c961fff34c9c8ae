"""An object is named twice once an action seems to need it, and only then."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.beliefs.binding_grid import StateGrid
from aam_vision.interrogation.beliefs.candidates import atoms_alike
from aam_vision.interrogation.beliefs.unexecuted_actions import (
    Required,
    StepValue,
    UnexecutedActions,
)
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.task.forgotten_constants import interrogated
from aam_vision.model.pddl import read_domain, read_problem
from aam_vision.model.query import Access, Query
from aam_vision.model.strips import GroundAction, LiftedAtom, Model
from aam_vision.report import evaluation
from tests import domains
from tests.interrogation.runs import assert_sound
from tests.model.pddl.files import written
from tests.profiles import first

LIFT = """(define (domain building)
  (:requirements :strips :typing)
  (:types person count)
  (:predicates (at ?p - person ?n - count) (in ?p - person) (lift ?n - count) (load ?n - count) (next ?a ?b - count))
  (:action move :parameters (?from ?to - count)
    :precondition (lift ?from) :effect (and (not (lift ?from)) (lift ?to)))
  (:action board :parameters (?p - person ?floor ?before ?after - count)
    :precondition (and (at ?p ?floor) (lift ?floor) (load ?before) (next ?before ?after))
    :effect (and (not (at ?p ?floor)) (in ?p) (not (load ?before)) (load ?after)))
  (:action leave :parameters (?p - person ?floor ?before ?after - count)
    :precondition (and (in ?p) (lift ?floor) (load ?before) (next ?after ?before))
    :effect (and (at ?p ?floor) (not (in ?p)) (not (load ?before)) (load ?after))))
"""
"""Floors and numbers of passengers are the same objects, as in AMLGym's elevators."""
PROBLEM = """(define (problem one) (:domain building)
  (:objects ann bob - person n0 n1 n2 - count)
  (:init (at ann n0) (at bob n1) (lift n0) (load n0) (next n0 n1)) (:goal (and)))
"""
MARKET = """(define (domain market)
  (:requirements :strips :typing)
  (:types goods level)
  (:predicates (sale ?g - goods ?l - level) (ready ?g - goods ?l - level) (next ?a ?b - level))
  (:action buy :parameters (?g - goods ?l1 ?l2 ?l3 ?l4 - level)
    :precondition (and (sale ?g ?l1) (ready ?g ?l3) (next ?l2 ?l1) (next ?l3 ?l4))
    :effect (and (not (sale ?g ?l1)) (sale ?g ?l2) (not (ready ?g ?l3)) (ready ?g ?l4))))
"""
"""Four levels are named where there are four: all differ in the first purchase of any goods, and never again."""
GOODS = """(define (problem one) (:domain market)
  (:objects tea salt - goods n0 n1 n2 n3 - level)
  (:init (sale tea n3) (ready tea n0) (sale salt n3) (ready salt n0) (next n0 n1) (next n1 n2) (next n2 n3)) (:goal (and)))
"""
STEPS = 100


def _agent(folder: Path, domain: str = LIFT, problem: str = PROBLEM) -> tuple[SymbolicAgent, Model]:
    model = read_domain(written(folder, domain))
    start = read_problem(model, written(folder, problem, "problem.pddl")).initial
    return SymbolicAgent(model, [start], Access.TRAJECTORY, refuses_surely=True), model


@pytest.mark.parametrize("seed", first(1, [0, 1, 2]))
def test_actions_that_have_to_name_an_object_twice_are_learned(seed: int, tmp_path: Path) -> None:
    agent, model = _agent(tmp_path)
    result, constants = interrogated(agent, STEPS, np.random.default_rng(seed))
    assert not constants
    assert not result.never_executed
    assert result.hypotheses.repeated
    assert result.counts.steps <= STEPS
    assert_sound(result.hypotheses, model)
    states = evaluation.sample_states(model, [agent.initial()[0].state], 30, np.random.default_rng(1))
    assert evaluation.equivalent(result.model, model, states, repeated=True)
    steps = [
        step for entry in result.transcript.entries if isinstance(entry, Asked) for step in entry.actions
    ]
    twice = [len(set(step.objects)) < len(step.objects) for step in steps]
    assert not any(twice[: twice.index(True)])
    assert len(steps) == result.counts.steps == result.curve[-1].steps


@pytest.mark.parametrize("seed", first(1, [0, 1, 2]))
def test_once_an_action_with_few_distinct_choices_was_executed_an_object_is_named_twice(
    seed: int, tmp_path: Path
) -> None:
    agent, model = _agent(tmp_path, MARKET, GOODS)
    result, _ = interrogated(agent, STEPS, np.random.default_rng(seed))
    asked = [entry for entry in result.transcript.entries if isinstance(entry, Asked)]
    twice = [any(len(set(step.objects)) < len(step.objects) for step in entry.actions) for entry in asked]
    bought = [entry.response.executed > 0 for entry in asked]
    assert bought.index(True) < twice.index(True) <= bought.index(True) + 10
    states = evaluation.sample_states(model, [agent.initial()[0].state], 30, np.random.default_rng(1))
    assert evaluation.equivalent(result.model, model, states, repeated=True)


def test_where_few_choices_are_distinct_these_are_tried_first(tmp_path: Path) -> None:
    agent, _ = _agent(tmp_path, MARKET, GOODS)
    evidence = _after(agent)
    guesses = StepValue(evidence, UnexecutedActions(), np.random.default_rng(0)).unexecuted["buy"]
    found = guesses.best_in(StateGrid(evidence.current.state, evidence.hypotheses.vocabulary), 0)
    assert found is not None
    assert len(set(found[0])) == len(found[0])


def test_what_an_executed_action_names_apart_is_expected_less(tmp_path: Path) -> None:
    agent, _ = _agent(tmp_path, MARKET, GOODS)
    evidence = _after(agent, GroundAction("buy", ("tea", "n3", "n2", "n0", "n1")))
    value = StepValue(evidence, UnexecutedActions(), np.random.default_rng(0))
    bit = evidence.hypotheses["buy"].index.bit
    side_by_side, apart = (
        value.chance("buy", Literals(bit[LiftedAtom("next", pair)], 0)) for pair in ((2, 1), (4, 2))
    )
    assert apart < side_by_side


def test_where_distinct_objects_do_none_is_named_twice() -> None:
    model, (problem,) = domains.packaged("blocksworld", seed=[0, 1])
    agent = SymbolicAgent(model, [problem], Access.TRAJECTORY, refuses_surely=True)
    result, _ = interrogated(agent, STEPS, np.random.default_rng(0))
    assert result.proven
    assert not result.hypotheses.repeated


def _after(agent: SymbolicAgent, *steps: GroundAction) -> Evidence:
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers, repeated=True))
    (situation,) = agent.initial()
    evidence.begin(situation)
    for step in steps:
        query = Query(situation, (step,))
        response = agent.ask(query)
        assert response.executed
        evidence.take_in(Asked(query, response))
        situation = response.final
    return evidence


def test_of_atoms_that_were_always_one_no_more_than_one_is_expected_to_be_required(tmp_path: Path) -> None:
    agent, _ = _agent(tmp_path)
    board = GroundAction("board", ("ann", "n0", "n0", "n1"))
    evidence = _after(agent, board)
    action = evidence.hypotheses["board"]
    floor, before = (action.index.bit[LiftedAtom("lift", (place,))] for place in (1, 2))
    assert floor | before in atoms_alike(evidence, "board")
    value = StepValue(evidence, UnexecutedActions(), np.random.default_rng(0))
    either, both = (value.success("board", Literals(mask, 0)) for mask in (floor, floor | before))
    assert either > 0.5 > both
    leave, onward = GroundAction("leave", ("ann", "n0", "n1", "n0")), GroundAction("move", ("n0", "n1"))
    told = _after(agent, board, leave, onward, GroundAction("board", ("bob", "n1", "n0", "n1")))
    assert not any(group & floor for group in atoms_alike(told, "board"))


def test_steps_are_worth_the_same_among_all_arguments_and_by_themselves(tmp_path: Path) -> None:
    agent, _ = _agent(tmp_path)
    evidence = _after(agent, GroundAction("board", ("ann", "n0", "n0", "n1")))
    value = StepValue(evidence, UnexecutedActions(), np.random.default_rng(0))
    header, state = evidence.hypotheses["board"].index.header, evidence.current.state
    rows = list(product(*map(state.objects.of_type, header.types)))
    grid = StateGrid(state, evidence.hypotheses.vocabulary)
    assert value.of_all_rows("board", grid).ravel().tolist() == value.of_rows("board", state, rows).tolist()
    assert value.of_rows("board", state, rows).max() > 0


def test_alike_literals_share_a_probability() -> None:
    one, other, alone = Literals(1, 0), Literals(2, 0), Literals(4, 0)
    required = Required({one: 0.4, other: 0.4, alone: 0.5}, [], [3])

    def success(*violated: Literals) -> float:
        return float(required.success(np.array([[one in violated] for one in required.literals]))[0])

    assert success(one) == pytest.approx(0.6)
    assert success(one, other) == pytest.approx(0.2)
    assert success(one, other, alone) == pytest.approx(0.1)
