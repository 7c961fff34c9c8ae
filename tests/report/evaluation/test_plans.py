"""Plans with a model, and plans that tell two models apart."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.model.pddl import Problem
from aam_vision.model.strips import (
    GroundAction,
    Model,
    State,
)
from aam_vision.planning.planner import Limits
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.report import evaluation
from tests import domains
from tests.domains import Domain
from tests.envs.ground_truth import ground_truth_model, held_out_problems
from tests.profiles import thorough

from .models import CORRIDOR, GO, LOCKED, RING, one_mode_changed, pals_of, standing


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


@thorough(40)
@given(domains.domains(constants=True), st.data())
def test_a_plan_is_found_for_whatever_can_be_reached_and_for_nothing_else(
    domain: Domain, data: st.DataObject
) -> None:
    truth, start = domain.model, domain.problems[0]
    reachable = domains.reachable(truth, [start], limit=300)
    assume(reachable is not None)
    facts = domains.ground_atoms(truth.vocabulary, start.objects)
    assume(facts)
    chosen = data.draw(st.lists(st.sampled_from(facts), max_size=4, unique=True))
    like = data.draw(st.sampled_from(sorted(reachable or (), key=str)))
    flipped = data.draw(st.sampled_from([*chosen, None]))
    holds = [atom for atom in chosen if (atom in like.true) is not (atom == flipped)]
    problem = Problem("p", start, frozenset(holds), frozenset(chosen) - frozenset(holds))
    plan = evaluation.solve(truth, problem, PyperplanPlanner(), Limits(seconds=60, states=100_000))
    met = [s for s in reachable or () if problem.goal <= s.true and not problem.goal_false & s.true]
    assert (plan is not None) is bool(met)
    if plan is not None:
        executed, final = truth.run(start, plan)
        assert executed == len(plan)
        assert final in met


@thorough(80)
@given(domains.domains(constants=True), st.data())
def test_a_disagreement_is_a_shortest_plan_that_two_models_answer_differently(
    domain: Domain, data: st.DataObject
) -> None:
    one, start = domain.model, domain.problems[0]
    pals = pals_of(one)
    assume(pals)
    other = one_mode_changed(data, one, pals)
    reachable = domains.reachable(one, [start], limit=300)
    assume(reachable is not None)

    def differ(state: State) -> bool:
        return evaluation.successors(one, state) != evaluation.successors(other, state)

    # up to the first difference both models reach the same states
    apart = min((depth for state, depth in (reachable or {}).items() if differ(state)), default=None)
    found = evaluation.shortest_disagreement(one, other, start, 1000)
    assert (found.plan is None) is (apart is None) is found.exhausted
    if found.plan is None:
        assert found.states == len(reachable or ())
        assert found.outcomes == ("", "")
    else:
        assert apart is not None
        assert len(found.plan) == apart + 1
        *way, last = found.plan
        assert one.run(start, way) == other.run(start, way)
        assert one.run(start, way)[0] == len(way)
        assert one.run(start, [*way, last]) != other.run(start, [*way, last])
        assert found.outcomes[0] != found.outcomes[1]


def test_a_disagreement_tells_what_each_model_says() -> None:
    halted = replace(GO, positive=GO.positive | {LOCKED})
    stays = replace(GO, delete=frozenset())
    idle = replace(GO, add=frozenset(), delete=frozenset())
    models = [Model(CORRIDOR, (schema,)) for schema in (GO, halted, stays, idle)]
    step = "go(r0, r1)"
    said = [
        f"{step} can be done: +at(r1), -at(r0)",
        f"{step} cannot be done",
        f"{step} can be done: +at(r1)",
        f"{step} can be done: nothing changes",
    ]
    for first, text in zip(models, said, strict=True):
        for second, other_text in zip(models, said, strict=True):
            if first is not second:
                found = evaluation.shortest_disagreement(first, second, standing(0), 100)
                assert found.plan == (GroundAction("go", ("r0", "r1")),)
                assert found.outcomes == (text, other_text)
                assert found.states == 1
                assert not found.exhausted


def test_a_disagreement_that_shows_late_has_the_whole_way_to_it() -> None:
    silent = replace(RING, add=frozenset())
    found = evaluation.shortest_disagreement(
        Model(CORRIDOR, (GO, RING)), Model(CORRIDOR, (GO, silent)), standing(0), 100
    )
    way = tuple(GroundAction("go", (f"r{n}", f"r{n + 1}")) for n in range(3))
    assert found.plan == (*way, GroundAction("ring", ("r3",)))
    assert found.outcomes == (
        "ring(r3) can be done: +locked()",
        "ring(r3) can be done: nothing changes",
    )
    assert found.states == 4


@pytest.mark.parametrize(("max_states", "looked"), [(1, 1), (3, 3), (9, 9), (10, 9)])
def test_a_search_for_a_disagreement_looks_at_no_more_states_than_it_may(
    max_states: int, looked: int
) -> None:
    model = Model(CORRIDOR, (GO,))
    found = evaluation.shortest_disagreement(model, model, standing(0), max_states)
    assert found == evaluation.Disagreement(None, ("", ""), looked, exhausted=looked == 9)
