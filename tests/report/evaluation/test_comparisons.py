"""Comparisons with the truth: equal models are equal, and any difference that shows is seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.model.pddl import read_domain
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
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
from aam_vision.report import evaluation
from aam_vision.run.api import interrogate, symbolic_agent
from tests import domains
from tests.domains import Domain
from tests.envs.ground_truth import ground_truth_model, held_out_problems
from tests.profiles import thorough

from .models import one_mode_changed, pals_of, with_mode


@thorough(80)
@given(domains.domains(constants=True), st.data())
def test_accuracy_counts_the_wrong_palm_tuples(domain: Domain, data: st.DataObject) -> None:
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
@given(domains.domains(), st.data())
def test_atoms_that_name_an_argument_twice_are_part_of_the_truth_but_of_the_accuracy_only_where_arguments_may_repeat(
    domain: Domain, data: st.DataObject
) -> None:
    """As in p(?x, ?x), which P* lacks without repeated arguments: the agent may depend on it all the same."""
    truth = domain.model
    pals = pals_of(truth, repeated=True)
    twice = sorted(set(pals) - set(pals_of(truth)), key=str)
    assume(twice)
    learned = one_mode_changed(data, truth, twice)
    assert not evaluation.exact(learned, truth)
    assert evaluation.accuracy(learned, truth) == 1
    assert evaluation.accuracy(learned, truth, repeated=True) == pytest.approx(1 - 1 / len(pals))


def test_a_condition_outside_of_the_hypotheses_is_missed_and_said_to_be(tmp_path: Path) -> None:
    """A run that does not ask for repeated arguments cannot learn that r(?x, ?x) is required."""
    (tmp_path / "d.pddl").write_text(
        "(define (domain d) (:predicates (r ?a ?b) (on ?a)) (:action press :parameters (?x) "
        ":precondition (and (r ?x ?x) (not (on ?x))) :effect (on ?x)))"
    )
    (tmp_path / "p.pddl").write_text(
        "(define (problem p) (:domain d) (:objects a b) (:init (r a a) (r a b)) (:goal (on a)))"
    )
    truth = read_domain(tmp_path / "d.pddl")
    for repeated in (False, True):
        agent = symbolic_agent(tmp_path / "d.pddl", [tmp_path / "p.pddl"], repeated_arguments=repeated)
        try:
            learned = interrogate(agent, repeated_arguments=repeated).model
        except Interrupted as error:
            learned = error.result.model
        assert evaluation.exact(learned, truth) is repeated


def test_a_model_without_palm_tuples_is_right() -> None:
    empty = Model(Vocabulary("empty", (), Types({})), (ActionSchema(ActionHeader("wait")),))
    assert evaluation.accuracy(empty, empty) == 1
    assert evaluation.exact(empty, empty)


@thorough(60)
@given(domains.domains(repeated=True, constants=True), st.data())
def test_arguments_may_be_named_twice_where_that_is_asked_for(domain: Domain, data: st.DataObject) -> None:
    truth = domain.model

    def by_enumeration(model: Model, state: State) -> dict[GroundAction, frozenset[Atom]]:
        return {
            GroundAction(schema.header.name, row): frozenset(schema.successor(state, row).true)
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


@pytest.mark.parametrize("env", ["doors", "sokoban"])
def test_a_precondition_left_out_shows_on_held_out_problems(env: str) -> None:
    """One palm tuple is enough for a model to be neither exact nor equivalent."""
    truth = ground_truth_model(env)
    initial = [problem.initial for problem in held_out_problems(env)]
    states = evaluation.sample_states(truth, initial, 60, np.random.default_rng(0))
    assert evaluation.equivalent(truth, truth, states)
    schema = truth.actions[0]
    for atom in sorted(schema.add, key=str):
        wrong = with_mode(truth, PalTuple(atom, schema.header.name, Location.EFF), Mode.ABSENT)
        assert not evaluation.exact(wrong, truth)
        assert evaluation.accuracy(wrong, truth) < 1
        assert not evaluation.equivalent(wrong, truth, states)
