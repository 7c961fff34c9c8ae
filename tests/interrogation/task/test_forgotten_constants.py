"""Objects that instructions mean without naming them, where the vocabulary forgets that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.task.forgotten_constants import interrogated
from aam_vision.model.pddl import read_domain, read_problem
from aam_vision.model.query import Access, Agent
from aam_vision.model.strips import Model, Vocabulary
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import assert_sound
from tests.model.pddl.files import written
from tests.profiles import first, some, thorough

BAKERY = """(define (domain bakery)
  (:requirements :strips :typing)
  (:types cake tray place)
  (:constants kitchen - place)
  (:predicates (baked ?c - cake) (sweet ?c - cake) (on ?c - cake ?t - tray) (at ?t - tray ?p - place) (free ?t - tray))
  (:action move :parameters (?t - tray ?from ?to - place)
    :precondition (at ?t ?from) :effect (and (not (at ?t ?from)) (at ?t ?to)))
  (:action load :parameters (?c - cake ?t - tray)
    :precondition (and (baked ?c) (free ?t) (at ?t kitchen))
    :effect (and (not (baked ?c)) (not (free ?t)) (on ?c ?t)))
  (:action unload :parameters (?c - cake ?t - tray)
    :precondition (on ?c ?t) :effect (and (baked ?c) (free ?t) (not (on ?c ?t)))))
"""
PROBLEM = """(define (problem one) (:domain bakery)
  (:objects c1 c2 - cake t1 t2 - tray hall - place)
  (:init (baked c1) (baked c2) (sweet c1) (free t1) (free t2) (at t1 kitchen) (at t2 kitchen)) (:goal (and)))
"""
STEPS = 80


class Forgetful(AgentDecorator):
    """An agent whose vocabulary lacks its constants."""

    @property
    def vocabulary(self) -> Vocabulary:
        return replace(self.agent.vocabulary, constants={})


def _forgetful(folder: Path) -> tuple[Agent, Model]:
    domain, problem = written(folder, BAKERY), written(folder, PROBLEM, "problem.pddl")
    model = read_domain(domain)
    start = read_problem(model, problem).initial
    return Forgetful(SymbolicAgent(model, [start], Access.TRAJECTORY, refuses_surely=True)), model


@pytest.mark.parametrize("seed", first(1, [0, 1, 2]))
def test_a_forgotten_constant_is_found_and_the_model_not_called_certain(seed: int, tmp_path: Path) -> None:
    agent, model = _forgetful(tmp_path)
    result, constants = interrogated(agent, STEPS, np.random.default_rng(seed))
    assert constants == ("kitchen",)
    assert_sound(result.hypotheses, model)
    assert result.model.schema("load").positive == model.schema("load").positive
    assert result.counts.steps <= STEPS
    assert "kitchen" in result.why
    assert not result.proven


def test_a_contradiction_takes_no_more_steps_than_are_allowed(tmp_path: Path) -> None:
    agent, _ = _forgetful(tmp_path)
    for steps in some(6, (4, 11, 17, 20, 23, 29, *range(1, 30))):
        assert interrogated(agent, steps, np.random.default_rng(0))[0].counts.steps <= steps


@thorough(40)
@given(domains.domains(max_problems=1))
def test_where_no_constant_is_forgotten_none_is_found_and_what_is_learned_is_sound(domain: Domain) -> None:
    agent = SymbolicAgent(domain.model, domain.problems, Access.TRAJECTORY, refuses_surely=True)
    result, constants = interrogated(agent, 50, np.random.default_rng(0))
    assert constants == ()
    assert result.counts.steps <= 50
    assert_sound(result.hypotheses, domain.model)
    assert result.model == result.hypotheses.model()
