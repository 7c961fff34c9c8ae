"""Grounding finds every operator that can ever be applied, and obeys its limit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given

from aam_vision.model.strips import Model
from aam_vision.planning.grounding import Grounding, TooManyOperators, ground
from tests import domains, small
from tests.domains import Domain
from tests.profiles import thorough


def _ground(model: Model, *arguments: Any, **options: Any) -> Grounding:
    return ground([domains.lifted_operator(schema) for schema in model.actions], *arguments, **options)


@thorough(120)
@given(domains.domains(constants=True) | domains.domains(constants=True, alike=True))
def test_every_operator_that_is_applicable_somewhere_is_found(domain: Domain) -> None:
    model, start = domain.model, domain.problems[0]
    starts = [state for state in domain.problems if state.objects == start.objects]
    states = domains.reachable(model, starts, limit=300)
    assume(states is not None)
    initial, always = (
        frozenset(combine(*(state.true for state in starts)))
        for combine in (frozenset.union, frozenset.intersection)
    )
    grounding = _ground(model, initial, start.objects, always=always)
    found = {operator.action: operator for operator in grounding.operators}
    assert len(found) == len(grounding.operators)
    for state in states or ():
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
    facts, relaxed, size = set(start.true), set[tuple[str, tuple[str, ...]]](), -1
    while len(facts) != size:
        size = len(facts)
        for schema in domain.model.actions:
            for row in domains.all_bindings(schema.header, start.objects):
                if all(atom.ground(row) in facts for atom in schema.positive):
                    facts |= {atom.ground(row) for atom in schema.add}
                    relaxed.add((schema.header.name, row))
    grounding = _ground(domain.model, start.true, start.objects)
    assert grounding.reachable.keys() == facts
    assert {tuple(operator.action) for operator in grounding.operators} <= relaxed


@pytest.mark.parametrize(
    ("actions", "options", "found"),
    [
        (["act x: not p x -> q x"], {}, "act(b)"),
        (["act x: not p x -> q x", "rid x: -> not p x"], {}, "act(a) act(b) rid(a) rid(b)"),
        (["act x: not p x -> q x"], {"always": []}, "act(a) act(b)"),  # it is true in one of the starts only
    ],
)
def test_what_stays_and_must_be_false_drops_the_operator(
    actions: list[str], options: dict[str, Any], found: str
) -> None:
    grounding = _ground(small.model(*actions), small.atoms("p a"), small.objects("a b"), **options)
    assert " ".join(sorted(str(one.action) for one in grounding.operators)) == found
    assert small.atoms("q b") <= grounding.fluent


def test_more_operators_than_the_limit_are_refused() -> None:
    objects = small.objects(" ".join(f"o{number}" for number in range(30)))
    with pytest.raises(TooManyOperators, match="1000"):
        _ground(small.model("act x y z"), [], objects, limit=1000)
