"""Grounding finds every operator that can ever be applied, and obeys its limit."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from aam_vision.model.strips import ActionHeader, ActionSchema, Atom, LiftedAtom, Objects, Types
from aam_vision.planning.grounding import LiftedOperator, TooManyOperators, ground
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough


@thorough(120)
@given(domains.domains(constants=True) | domains.domains(constants=True, alike=True))
def test_every_operator_that_is_applicable_somewhere_is_found(domain: Domain) -> None:
    model, start = domain.model, domain.problems[0]
    starts = [state for state in domain.problems if state.objects == start.objects]
    states = domains.reachable(model, starts, limit=300)
    assume(states is not None)
    assert states is not None
    initial, always = (
        frozenset(combine(*(state.true for state in starts)))
        for combine in (frozenset.union, frozenset.intersection)
    )
    grounding = ground(
        [domains.lifted_operator(schema) for schema in model.actions], initial, start.objects, always=always
    )
    found = {operator.action: operator for operator in grounding.operators}
    assert len(found) == len(grounding.operators)
    for state in states:
        assert state.true <= grounding.reachable.keys()
        assert state.true ^ start.true <= grounding.fluent | (initial - always)
        for action in domains.applicable(model, state):
            operator = found[action]
            assert operator.positive <= state.true
            assert not operator.negative & state.true
            after = domains.successor(model, state, action)
            assert (state.true - operator.delete) | operator.add == after.true


@thorough(60)
@given(domains.domains(max_problems=1))
def test_operators_with_unreachable_positive_preconditions_are_not_grounded(domain: Domain) -> None:
    """Against the textbook definition of the delete relaxation."""
    start = domain.problems[0]
    facts = set(start.true)
    operators = [
        (schema, row)
        for schema in domain.model.actions
        for row in domains.all_bindings(schema.header, start.objects)
    ]
    size = -1
    while len(facts) != size:
        size = len(facts)
        for schema, row in operators:
            if all(atom.ground(row) in facts for atom in schema.positive):
                facts |= {atom.ground(row) for atom in schema.add}
    relaxed = {
        (schema.header.name, row)
        for schema, row in operators
        if all(atom.ground(row) in facts for atom in schema.positive)
    }
    grounding = ground([domains.lifted_operator(s) for s in domain.model.actions], start.true, start.objects)
    assert grounding.reachable.keys() == facts
    assert {tuple(operator.action) for operator in grounding.operators} <= relaxed


def test_a_negative_precondition_on_a_fact_that_stays_drops_the_operator() -> None:
    objects = Objects({"a": "object", "b": "object"}, Types())
    p, q = LiftedAtom("p", (0,)), LiftedAtom("q", (0,))
    act = ActionSchema(ActionHeader("act", ("x",), ("object",)), negative=frozenset([p]), add=frozenset([q]))
    start = frozenset([Atom("p", ("a",))])
    kept = ground([domains.lifted_operator(act)], start, objects).operators
    assert [operator.action.objects for operator in kept] == [("b",)]
    rid = ActionSchema(ActionHeader("rid", ("x",), ("object",)), delete=frozenset([p]))
    both = ground([domains.lifted_operator(act), domains.lifted_operator(rid)], start, objects).operators
    assert {tuple(o.action) for o in both} == {(n, (o,)) for n in ("act", "rid") for o in ("a", "b")}


def test_a_fact_that_is_true_in_one_start_only_drops_no_operator() -> None:
    """From the other start the operator can be executed."""
    objects = Objects({"a": "object"}, Types())
    p, q = LiftedAtom("p", (0,)), LiftedAtom("q", (0,))
    act = ActionSchema(ActionHeader("act", ("x",), ("object",)), negative=frozenset([p]), add=frozenset([q]))
    start = frozenset([Atom("p", ("a",))])
    grounding = ground([domains.lifted_operator(act)], start, objects, always=[])
    assert [operator.action.objects for operator in grounding.operators] == [("a",)]
    assert Atom("q", ("a",)) in grounding.fluent


def test_more_operators_than_the_limit_are_refused() -> None:
    objects = Objects({f"o{number}": "object" for number in range(30)}, Types())
    free = LiftedOperator(ActionHeader("act", ("x", "y", "z"), ("object",) * 3), positive=())
    with pytest.raises(TooManyOperators, match="1000"):
        ground([free], [], objects, limit=1000)
