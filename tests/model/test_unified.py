"""Models and problems of unified-planning, there and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aam_vision
from aam_vision.agents.simulator import SimulatorAgent
from aam_vision.model import domains
from aam_vision.model.pddl import read_domain
from aam_vision.model.query import Access, Query
from aam_vision.model.strips import GroundAction, Model, Predicate, Vocabulary
from aam_vision.model.unified import to_unified_planning
from aam_vision.report.evaluation import sample_states
from tests.model.pddl.files import written
from tests.refusals import told_by


@pytest.mark.parametrize("name", domains.DOMAINS)
def test_a_domain_and_its_problem_go_to_unified_planning_and_back(name: str) -> None:
    rng = np.random.default_rng(3)
    model = domains.load(name)
    problem = domains.generate(name, 1, rng)
    agent = SimulatorAgent(to_unified_planning(model, problem), constants=model.vocabulary.constants)
    assert agent.vocabulary.predicates == model.vocabulary.predicates
    assert agent.vocabulary.constants == model.vocabulary.constants
    assert agent.vocabulary.types.parents == model.vocabulary.types.parents
    assert agent.headers == model.headers
    (start,) = agent.initial()
    assert start.state == problem.initial
    for state in sample_states(model, [problem.initial], 3, rng):
        for header in model.headers:
            objects = tuple(str(rng.choice(state.objects.of_type(kind))) for kind in header.types)
            plan = (GroundAction(header.name, objects),)
            answer = agent.ask(Query(aam_vision.Situation(state, state), plan))
            assert (answer.executed, answer.final.state) == model.run(state, plan)


def _problem(**options: Any) -> Any:
    from unified_planning.model import Problem
    from unified_planning.shortcuts import BoolType, Fluent, InstantaneousAction, UserType

    thing = UserType("thing")
    lit = Fluent("lit", BoolType(), one=thing)
    problem = Problem("lamps-problem")
    problem.add_fluent(lit, default_initial_value=False)
    switch = InstantaneousAction(options.get("action", "switch"), one=thing)
    switch.add_effect(lit(switch.parameter("one")), True)
    problem.add_action(switch)
    for name in ("left", "right"):
        problem.add_object(name, thing)
    return problem


def test_a_problem_is_interrogated_and_its_model_given_back() -> None:
    result = aam_vision.interrogate(aam_vision.agent_for(_problem()))
    assert result.complete
    again = aam_vision.agent_for(result.to_unified_planning(), access="snapshot")
    assert again.headers == result.model.headers
    assert again.access is Access.SNAPSHOT


def test_a_simulator_that_fails_ends_the_interrogation_with_what_was_learned() -> None:
    from unified_planning.engines import UPSequentialSimulator

    class Failing(UPSequentialSimulator):  # type: ignore[misc]
        def _apply(self, *args: Any) -> Any:
            raise RuntimeError("the cable came off")

    agent = aam_vision.agent_for(Failing(_problem()), access="trajectory")
    result = aam_vision.interrogate(agent, raises=False)
    assert result.status == "failed"
    assert "RuntimeError: the cable came off" in result.why
    with pytest.raises(aam_vision.Interrupted, match="the cable came off"):
        aam_vision.interrogate(agent)


def test_numbers_are_left_out_with_a_warning() -> None:
    from unified_planning.shortcuts import Fluent, RealType

    problem = _problem()
    problem.add_fluent(Fluent("total-cost", RealType()), default_initial_value=0)
    with pytest.warns(match="total-cost: not Boolean"):
        agent = aam_vision.agent_for(problem)
    assert [one.name for one in agent.vocabulary.predicates] == ["lit"]


def test_what_cannot_be_used_is_refused(tmp_path: Path) -> None:
    from unified_planning.engines import UPSequentialSimulator

    simulator = UPSequentialSimulator(_problem())
    assert aam_vision.agent_for(simulator).access is Access.SNAPSHOT, "a simulator sets no states"
    coin = "(define (domain coin) (:predicates (heads)) (:action toss :effect (probabilistic 0.5 (heads))))"
    chance = read_domain(written(tmp_path, coin), chance=True)
    for make, told in (
        (lambda: aam_vision.agent_for(simulator, access="settable"), "give its problem instead"),
        (lambda: aam_vision.agent_for(3), "give the name of an environment, or a problem"),
        (lambda: aam_vision.agent_for(_problem(), constants=["middle"]), "no such object"),
        (lambda: to_unified_planning(chance), "toss has outcomes by chance"),
    ):
        told_by(make, told)
    for name in ("switch it", "(switch", "1st", "?x"):
        told_by(lambda name=name: aam_vision.agent_for(_problem(action=name)), "PDDL forbids this name")
        words = Vocabulary("d", (Predicate(name),))
        told_by(lambda words=words: to_unified_planning(Model(words, ())), "PDDL forbids this name")
