"""Plans for agents with chance: goals are reached whatever comes, and effects may depend on conditions."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.model.strips import GroundAction
from aam_vision.planning.engines import planner_named
from aam_vision.run.execution.replanning import Course, Taken, carry_out, pursue
from aam_vision.support.errors import UnusableInput
from tests.interrogation.chance.agents import read

SWITCH = """(define (domain switch)
  (:requirements :strips :typing :conditional-effects :probabilistic-effects)
  (:predicates (low) (high) (broken))
  (:action push :parameters () :precondition (not (broken))
    :effect (and (when (not (low)) (low))
                 (when (low) (probabilistic 0.6 (high) 0.1 (broken))))))"""
START = "(define (problem p) (:domain switch) (:init) (:goal (high)))"


def pursued(goal: str, seed: int, most: int = 100) -> Course:
    model, initial = read(SWITCH, START)
    agent = SymbolicAgent(model, [initial], refuses_surely=True, chance=np.random.default_rng(seed))
    return pursue(agent, agent.initial()[0], model, (goal, "the test"), planner_named("pyperplan"), most)


@pytest.mark.parametrize("seed", range(6))
def test_a_goal_behind_a_condition_is_reached_or_cannot_be_any_more(seed: int) -> None:
    done = pursued("(high)", seed)
    last = done.steps[-1]
    assert done.reached is ("+high()" in last.changes)
    assert done.reached or "+broken()" in last.changes
    assert done.steps[0].changes == ("+low()",)
    assert done.steps[0].probability == 1
    assert done.plans >= 1
    assert all(step.probability > 0 for step in done.steps)


def test_a_goal_that_no_outcome_brings_about_is_refused_before_anything_is_done() -> None:
    with pytest.raises(UnusableInput, match="no plan"):
        pursued("(and (high) (not (low)))", 0)


def test_a_goal_is_given_up_after_so_many_steps() -> None:
    done = pursued("(high)", 0, most=1)
    assert not done.reached
    assert "--max-steps" in done.verdict


def test_a_goal_that_holds_needs_nothing() -> None:
    done = pursued("(not (low))", 0)
    assert (done.reached, done.steps) == (True, ())


def test_a_refusal_ends_a_plan_and_is_as_predicted() -> None:
    model, initial = read(SWITCH, START.replace("(:init)", "(:init (broken))"))
    agent = SymbolicAgent(model, [initial], refuses_surely=True, chance=np.random.default_rng(0))
    told: list[Taken] = []
    done = carry_out(agent, agent.initial()[0], model, [GroundAction("push", ())] * 2, told.append)
    assert not done.reached
    assert [(step.executed, step.as_predicted) for step in told] == [(False, True)]
    assert "Step 1 of 2, push(): refused, as predicted. Given up there." in done.verdict
