"""AMLGym's own interface: its domains come back as they are, and its learner never raises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("amlgym", reason="needs the extra peers")
pytest.importorskip("olam", reason="needs the extra peers")

import numpy as np
from amlgym.benchmarks import get_domain_path, get_problems_path, get_trajectories_path
from unified_planning.engines import UPSequentialSimulator
from unified_planning.io import PDDLReader

from aam_vision.agents.simulator import SimulatorAgent
from aam_vision.integrations.amlgym import AAMVision, AAMVisionPassive
from aam_vision.model.pddl import read_domain, read_problem
from aam_vision.model.unified import to_unified_planning
from aam_vision.report import evaluation
from experiments.amlgym import DOMAINS


def _simulated(domain: str, kind: type[Any] = UPSequentialSimulator) -> Any:
    path = get_problems_path(domain, kind="learning")[0]
    return kind(PDDLReader().parse_problem(get_domain_path(domain), path))


def _described(domain: str, folder: Path) -> str:
    """A domain without preconditions and effects."""
    from amlgym.util.util import empty_domain

    path = folder / "empty.pddl"
    empty_domain(get_domain_path(domain), str(path))
    return str(path)


@pytest.fixture
def described(tmp_path: Path) -> str:
    """Ferry without preconditions and effects."""
    return _described("ferry", tmp_path)


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_domain_of_the_benchmark_goes_to_unified_planning_and_back(domain: str) -> None:
    model = read_domain(get_domain_path(domain))
    problem = read_problem(model, get_problems_path(domain, kind="learning")[0])
    agent = SimulatorAgent(to_unified_planning(model, problem), constants=model.vocabulary.constants)
    assert agent.headers == model.headers
    assert set(agent.vocabulary.predicates) == set(model.vocabulary.predicates)
    assert agent.initial()[0].state == problem.initial


def test_a_domain_is_learned_within_the_steps_that_are_allowed(described: str, tmp_path: Path) -> None:
    learner = AAMVision(described)
    text, trajectory = learner.learn(_simulated("ferry"), max_steps=100, seed=123)
    learned = tmp_path / "learned.pddl"
    learned.write_text(text)
    truth = read_domain(get_domain_path("ferry"))
    assert read_domain(learned).headers == truth.headers
    assert learner.result is not None
    assert learner.result.proven
    assert len(trajectory.states) == len(trajectory.actions) + 1
    assert len(trajectory.actions) <= learner.result.counts.steps <= 100


def test_actions_that_have_to_name_a_level_twice_are_learned_within_the_steps_of_the_contest(
    tmp_path: Path,
) -> None:
    learner = AAMVision(_described("tpp", tmp_path))
    learner.learn(_simulated("tpp"), max_steps=100, seed=123)
    assert learner.result is not None
    truth = read_domain(get_domain_path("tpp"))
    start = read_problem(truth, get_problems_path("tpp", kind="learning")[0]).initial
    states = evaluation.sample_states(truth, [start], 60, np.random.default_rng(0))
    assert evaluation.equivalent(learner.result.model, truth, states, repeated=True)


def test_a_simulator_that_raises_is_a_warning(described: str) -> None:
    class Failing(UPSequentialSimulator):  # type: ignore[misc]
        def _apply(self, *args: Any) -> Any:
            raise RuntimeError("no power")

    with pytest.warns(match="no power"):
        text, trajectory = AAMVision(described).learn(_simulated("ferry", Failing))
    assert "(:action board" in text
    assert trajectory.actions == []


def test_what_is_no_simulator_is_a_warning_and_the_domain_comes_back(described: str) -> None:
    with pytest.warns(match="nothing was learned"):
        text, _ = AAMVision(described).learn(object())
    assert text == Path(described).read_text()


def test_its_traces_are_learned_from_and_what_is_certain_is_true(described: str, tmp_path: Path) -> None:
    learner = AAMVisionPassive()
    learned = tmp_path / "learned.pddl"
    learned.write_text(learner.learn(described, get_trajectories_path("ferry")))
    truth = read_domain(get_domain_path("ferry"))
    assert read_domain(learned).headers == truth.headers
    assert learner.result is not None
    assert learner.result.certain
    for pal, mode in learner.result.certain.items():
        assert truth.schema(pal.action).mode(pal.atom, pal.location) is mode


def test_traces_that_cannot_be_used_are_warnings(described: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    for sections, told in (
        ("", "holds no step"),
        ("(:state) (:action (sail l1 l2)) (:state (at c0 l1))", "is missing"),
    ):
        trace.write_text(f"(:trajectory {sections})")
        with pytest.warns(match=told):
            assert AAMVisionPassive().learn(described, [str(trace)]) == Path(described).read_text()
    sailed = "(:refused (sail l1 l2)) (:action (sail l1 l2)) (:state (at_ferry l2))"
    trace.write_text(f"(:trajectory (:state (at_ferry l1)) {sailed})")
    with pytest.warns(match="sail: refused"):
        assert "(:action sail" in AAMVisionPassive().learn(described, [str(trace)])
