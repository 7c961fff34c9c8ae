"""Comparisons with the truth: equal models are equal, and any difference that shows is seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision import evaluation
from aam_vision.envs.ground_truth import ground_truth_model, held_out_problems
from aam_vision.pddl import Problem
from aam_vision.planning.planner import Limits
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.strips import Location, Mode, Model, PalTuple, lifted_atoms
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough


def _with_mode(model: Model, pal: PalTuple, mode: Mode) -> Model:
    """The model with one palm tuple changed."""
    schema = model.schema(pal.action)
    plus, minus = ("positive", "negative") if pal.location is Location.PRE else ("add", "delete")
    changed = replace(
        schema,
        **{
            plus: getattr(schema, plus) - {pal.atom} | ({pal.atom} if mode is Mode.POSITIVE else set()),
            minus: getattr(schema, minus) - {pal.atom} | ({pal.atom} if mode is Mode.NEGATIVE else set()),
        },
    )
    return Model(model.vocabulary, tuple(changed if s is schema else s for s in model.actions))


@thorough(80)
@given(domains.domains(constants=True), st.data())
def test_accuracy_counts_the_wrong_palm_tuples(domain: Domain, data: st.DataObject) -> None:
    truth = domain.model
    pals = [
        PalTuple(atom, schema.header.name, location)
        for schema in truth.actions
        for atom in lifted_atoms(truth.vocabulary, schema.header)
        for location in Location
    ]
    assume(pals)
    wrong = data.draw(st.lists(st.sampled_from(pals), max_size=4, unique=True))
    learned = truth
    for pal in wrong:
        now = truth.schema(pal.action).mode(pal.atom, pal.location)
        other = data.draw(st.sampled_from([mode for mode in Mode if mode is not now]))
        learned = _with_mode(learned, pal, other)
    assert evaluation.accuracy(learned, truth) == pytest.approx(1 - len(wrong) / len(pals))
    assert evaluation.exact(learned, truth) is (not wrong)


@thorough(80)
@given(domains.domains(), domains.domains())
def test_equivalence_is_equal_successors_by_enumeration(domain: Domain, other: Domain) -> None:
    truth = domain.model
    state = domain.problems[0]
    found = evaluation.successors(truth, state)
    assert found == {
        action: domains.successor(truth, state, action).true for action in domains.applicable(truth, state)
    }
    assert evaluation.equivalent(truth, truth, domain.problems)
    learned = replace(truth, actions=tuple(replace(s, add=s.add | s.delete) for s in truth.actions))
    same = all(
        domains.successor(truth, state, action) == domains.successor(learned, state, action)
        for action in domains.applicable(truth, state)
    )
    assert evaluation.equivalent(learned, truth, [state]) is same


@thorough(40)
@given(domains.domains(), st.integers(0, 10**6))
def test_sampled_states_are_reachable(domain: Domain, seed: int) -> None:
    reachable = domains.reachable(domain.model, domain.problems, limit=500)
    assume(reachable is not None)
    states = evaluation.sample_states(domain.model, domain.problems, 30, np.random.default_rng(seed))
    assert set(states) <= set(reachable or ())
    assert set(domain.problems) <= set(states)


@pytest.mark.parametrize("env", ["doors", "sokoban"])
def test_a_precondition_left_out_shows_on_held_out_problems(env: str) -> None:
    """One palm tuple is enough for a model to be neither exact nor equivalent."""
    truth = ground_truth_model(env)
    initial = [problem.initial for problem in held_out_problems(env)]
    states = evaluation.sample_states(truth, initial, 60, np.random.default_rng(0))
    assert evaluation.equivalent(truth, truth, states)
    schema = truth.actions[0]
    for atom in sorted(schema.add, key=str):
        wrong = _with_mode(truth, PalTuple(atom, schema.header.name, Location.EFF), Mode.ABSENT)
        assert not evaluation.exact(wrong, truth)
        assert evaluation.accuracy(wrong, truth) < 1
        assert not evaluation.equivalent(wrong, truth, states)


def test_plans_with_a_model_reach_the_goal_and_there_are_none_for_what_cannot_be() -> None:
    truth = ground_truth_model("doors")
    held_out = held_out_problems("doors")[0]
    limits = Limits(seconds=60, states=100_000)
    problem = Problem(held_out.name, held_out.initial, held_out.goal)
    plan = evaluation.solve(truth, problem, PyperplanPlanner(), limits)
    assert plan
    executed, final = truth.run(held_out.initial, plan)
    assert executed == len(plan)
    assert held_out.goal <= final.true
    impossible = replace(problem, goal_false=held_out.goal)
    assert evaluation.solve(truth, impossible, PyperplanPlanner(), limits) is None
