"""Comparisons with the truth: equal models are equal, and any difference that shows is seen."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.model.pddl import Problem, read_domain
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    GroundAction,
    LiftedAtom,
    Location,
    Mode,
    Model,
    Objects,
    PalTuple,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from aam_vision.planning.planner import Limits
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.report import evaluation
from aam_vision.run.api import interrogate, symbolic_agent
from tests import domains
from tests.domains import Domain
from tests.envs.ground_truth import ground_truth_model, held_out_problems
from tests.profiles import thorough

from .models import CORRIDOR, GO, LOCKED, RING, one_mode_changed, pals_of, standing, with_mode


@thorough(80)
@given(domains.domains(constants=True), st.data())
def test_accuracy_precision_and_recall_tell_the_wrong_palm_tuples(
    domain: Domain, data: st.DataObject
) -> None:
    truth = domain.model
    pals = pals_of(truth)
    assume(pals)
    wrong = data.draw(st.lists(st.sampled_from(pals), max_size=4, unique=True))
    learned = truth
    for pal in wrong:
        now = truth.schema(pal.action).mode(pal.atom, pal.location)
        other = data.draw(st.sampled_from([mode for mode in Mode if mode is not now]))
        learned = with_mode(learned, pal, other)
    assert evaluation.accuracy(learned, truth) == pytest.approx(1 - len(wrong) / len(pals))
    assert evaluation.exact(learned, truth) is (not wrong)
    precision, recall = evaluation.syntactic(learned, truth)
    assert evaluation.syntactic(truth, learned) == (recall, precision)
    assert (min(precision, recall) < 1) is bool(wrong)


def test_precision_and_recall_are_those_of_amlgym() -> None:
    truth = domains.packaged("gripper", 1)[0]
    move, pick, drop = truth.actions
    there, free = LiftedAtom("at_robby", (1,)), LiftedAtom("free", (2,))
    actions = (
        replace(move, positive=move.positive | {there}, delete=frozenset()),
        replace(pick, positive=pick.positive - {free}, delete=pick.delete - {free}, add=pick.add | {there}),
        drop,
    )
    # what AMLGym 1.0.13 says of these files, not rounded: means over the actions
    assert evaluation.syntactic(replace(truth, actions=actions), truth) == pytest.approx(
        ((2 / 3 + 4 / 5 + 1) / 3, (2 / 3 + 2 / 3 + 1) / 3)
    )


@thorough(80)
@given(domains.domains())
def test_equivalence_is_equal_successors_by_enumeration(domain: Domain) -> None:
    truth = domain.model
    state = domain.problems[0]
    found = evaluation.successors(truth, state)
    assert found == {
        action: {domains.successor(truth, state, action)} for action in domains.applicable(truth, state)
    }
    assert evaluation.equivalent(truth, truth, domain.problems)
    learned = replace(truth, actions=tuple(replace(s, add=s.add | s.delete) for s in truth.actions))
    same = all(
        domains.successor(truth, state, action) == domains.successor(learned, state, action)
        for action in domains.applicable(truth, state)
    )
    assert evaluation.equivalent(learned, truth, [state]) is same


@thorough(40)
@given(domains.domains(), st.data())
def test_accuracy_counts_arguments_named_twice_only_if_asked_to(domain: Domain, data: st.DataObject) -> None:
    """As in p(?x, ?x), which P* lacks without repeated arguments: the agent may depend on it all the same."""
    truth = domain.model
    pals = pals_of(truth, repeated=True)
    twice = sorted(set(pals) - set(pals_of(truth)), key=str)
    assume(twice)
    learned = one_mode_changed(data, truth, twice)
    assert not evaluation.exact(learned, truth)
    assert evaluation.accuracy(learned, truth) == 1
    assert evaluation.accuracy(learned, truth, repeated=True) == pytest.approx(1 - 1 / len(pals))


REFLEXIVE = """(define (domain d) (:predicates (r ?a ?b) (on ?a))
  (:action press :parameters (?x) :precondition (and (r ?x ?x) (not (on ?x))) :effect (on ?x)))"""
ONE = "(define (problem p) (:domain d) (:objects a b) (:init (r a a) (r a b)) (:goal (on a)))"


def test_a_condition_outside_of_the_hypotheses_is_missed_and_said_to_be(tmp_path: Path) -> None:
    """That r(?x, ?x) is required is learned by a run that asks for repeated arguments, or goes on to them from its diagnosis."""
    (tmp_path / "d.pddl").write_text(REFLEXIVE)
    (tmp_path / "p.pddl").write_text(ONE)
    truth = read_domain(tmp_path / "d.pddl")
    for repeated, goes_on in [(False, False), (False, True), (True, False)]:
        agent = symbolic_agent(tmp_path / "d.pddl", [tmp_path / "p.pddl"], repeated_arguments=repeated)
        learned = interrogate(agent, repeated_arguments=repeated, go_on=goes_on, raises=False).model
        assert evaluation.exact(learned, truth) is (repeated or goes_on)


def test_a_model_without_palm_tuples_is_right() -> None:
    empty = Model(Vocabulary("empty", (), Types({})), (ActionSchema(ActionHeader("wait")),))
    assert evaluation.accuracy(empty, empty) == 1
    assert evaluation.exact(empty, empty)


@thorough(60)
@given(domains.domains(repeated=True, constants=True), st.data())
def test_arguments_may_be_named_twice_where_that_is_asked_for(domain: Domain, data: st.DataObject) -> None:
    truth = domain.model

    def by_enumeration(model: Model, state: State) -> dict[GroundAction, set[State]]:
        return {
            GroundAction(schema.header.name, row): {schema.successor(state, row)}
            for schema in model.actions
            for row in domains.all_bindings(schema.header, state.objects, repeated=True)
            if schema.applicable(state, row)
        }

    for state in domain.problems:
        assert evaluation.successors(truth, state, repeated=True) == by_enumeration(truth, state)
    pals = pals_of(truth, repeated=True)
    assume(pals)
    learned = one_mode_changed(data, truth, pals)
    assert evaluation.equivalent(truth, truth, domain.problems, repeated=True)
    same = all(by_enumeration(truth, state) == by_enumeration(learned, state) for state in domain.problems)
    assert evaluation.equivalent(learned, truth, domain.problems, repeated=True) is same
    assert evaluation.equivalent(truth, learned, domain.problems, repeated=True) is same


def test_a_repeated_argument_decides_about_equivalence_only_where_it_may_be_given() -> None:
    same = LiftedAtom("p", (0, 0))
    vocabulary = Vocabulary("d", (Predicate("p", ("object", "object")),), Types({}))
    header = ActionHeader("a", ("x", "y"), ("object", "object"))
    goes, refuses = (
        Model(vocabulary, (ActionSchema(header, positive=frozenset(needed)),)) for needed in ((), (same,))
    )
    one = State(frozenset(), Objects({"o": "object"}, Types({})))
    assert evaluation.equivalent(goes, refuses, [one])
    assert not evaluation.equivalent(goes, refuses, [one], repeated=True)


def test_an_effect_left_out_shows_on_held_out_problems() -> None:
    truth, initial = ground_truth_model("doors"), [one.initial for one in held_out_problems("doors")]
    states = evaluation.sample_states(truth, initial, 60, np.random.default_rng(0))
    assert evaluation.equivalent(truth, truth, states)
    schema = truth.actions[0]
    for atom in sorted(schema.add, key=str):
        wrong = with_mode(truth, PalTuple(atom, schema.header.name, Location.EFF), Mode.ABSENT)
        assert not evaluation.equivalent(wrong, truth, states)


# Plans with a model, and plans that tell two models apart.


@thorough(40)
@given(domains.domains(constants=True), st.data())
def test_a_plan_is_found_exactly_for_what_can_be_reached(domain: Domain, data: st.DataObject) -> None:
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
def test_a_disagreement_is_a_shortest_plan_answered_differently(domain: Domain, data: st.DataObject) -> None:
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
    said = {
        GO: "can be done: +at(r1), -at(r0)",
        halted: "cannot be done",
        stays: "can be done: +at(r1)",
        idle: "can be done: nothing changes",
    }
    plan = (GroundAction("go", ("r0", "r1")),)
    for first, second in permutations(said, 2):
        models = [Model(CORRIDOR, (schema,)) for schema in (first, second)]
        told = (f"go(r0, r1) {said[first]}", f"go(r0, r1) {said[second]}")
        found = evaluation.shortest_disagreement(*models, standing(0), 100)
        assert found == evaluation.Disagreement(plan, told, 1, exhausted=False)


def test_a_disagreement_that_shows_late_has_the_whole_way_to_it() -> None:
    models = [Model(CORRIDOR, (GO, ring)) for ring in (RING, replace(RING, add=frozenset()))]
    found = evaluation.shortest_disagreement(*models, standing(0), 100)
    way = tuple(GroundAction("go", (f"r{n}", f"r{n + 1}")) for n in range(3))
    assert found.plan == (*way, GroundAction("ring", ("r3",)))
    assert found.outcomes == ("ring(r3) can be done: +locked()", "ring(r3) can be done: nothing changes")
    assert found.states == 4


@pytest.mark.parametrize(("max_states", "looked"), [(1, 1), (3, 3), (9, 9), (10, 9)])
def test_a_search_for_a_disagreement_keeps_to_its_states(max_states: int, looked: int) -> None:
    model = Model(CORRIDOR, (GO,))
    found = evaluation.shortest_disagreement(model, model, standing(0), max_states)
    assert found == evaluation.Disagreement(None, ("", ""), looked, exhausted=looked == 9)


# The states that models are compared in: reachable ones, and more than the initial ones.


@pytest.mark.parametrize(
    ("starts", "count", "wanted"), [([0], 5, range(6)), ([0, 5], 5, [0, 1, 2, 5, 6, 7]), ([6], 5, [6, 7, 8])]
)
def test_walks_share_the_states_and_end_at_dead_ends(
    starts: list[int], count: int, wanted: list[int]
) -> None:
    model = Model(CORRIDOR, (GO,))
    initial = [standing(start) for start in starts]
    states = evaluation.sample_states(model, initial, count, np.random.default_rng(0))
    assert set(states) == {standing(place) for place in wanted}
    assert len(states) == len(wanted)


def test_no_problems_give_no_states() -> None:
    assert evaluation.sample_states(Model(CORRIDOR, (GO,)), [], 5, np.random.default_rng(0)) == []


@thorough(40)
@given(domains.domains(), st.integers(0, 10**6))
def test_sampled_states_are_reachable_and_more_than_the_initial_ones(domain: Domain, seed: int) -> None:
    """Every initial state in which something can be done is followed by one of its successors."""
    states = evaluation.sample_states(domain.model, domain.problems, 30, np.random.default_rng(seed))
    assert len(states) == len(set(states)) <= 30 + len(domain.problems)
    reachable = domains.reachable(domain.model, domain.problems, limit=500)
    assert set(domain.problems) <= set(states) <= (set(states) if reachable is None else set(reachable))
    for state in domain.problems:
        after = [
            domains.successor(domain.model, state, action)
            for action in domains.applicable(domain.model, state)
        ]
        assert not after or set(after) & set(states)
