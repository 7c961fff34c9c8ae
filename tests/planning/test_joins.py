"""Joins find what enumeration finds, no more, no less, and nothing twice."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.strips import ActionHeader, LiftedAtom, Objects, State, Types, lifted_atoms
from aam_vision.planning.joins import FactIndex, StateIndex, bindings
from tests import domains
from tests.profiles import thorough


@st.composite
def queries(draw: st.DrawFn, *, repeated: bool) -> tuple[State, ActionHeader, list[LiftedAtom]]:
    vocabulary = draw(domains.vocabularies(constants=True))
    state = draw(domains.states(vocabulary))
    header = draw(domains.headers(vocabulary, "act"))
    pool = lifted_atoms(vocabulary, header, repeated=repeated)
    required = draw(st.lists(st.sampled_from(pool), max_size=4, unique=True)) if pool else []
    return state, header, required


def _by_enumeration(
    state: State, header: ActionHeader, required: list[LiftedAtom], *, repeated: bool
) -> set[tuple[str, ...]]:
    return {
        row
        for row in domains.all_bindings(header, state.objects, repeated=repeated)
        if all(atom.ground(row) in state.true for atom in required)
    }


@pytest.mark.parametrize("repeated", [False, True])
def test_joins_equal_enumeration_over_bindings(repeated: bool) -> None:
    @thorough(150)
    @given(queries(repeated=repeated))
    def holds(query: tuple[State, ActionHeader, list[LiftedAtom]]) -> None:
        state, header, required = query
        found = Counter(bindings(StateIndex(state), header, required, repeated=repeated))
        assert set(found) == _by_enumeration(state, header, required, repeated=repeated)
        assert set(found.values()) <= {1}

    holds()


@thorough(80)
@given(queries(repeated=False))
def test_matching_a_fact_keeps_the_bindings_that_ground_the_atom_to_it(
    query: tuple[State, ActionHeader, list[LiftedAtom]],
) -> None:
    state, header, required = query
    for atom in required:
        rest = [other for other in required if other is not atom]
        for fact in sorted(state.true):
            if fact.predicate == atom.predicate:
                found = list(bindings(StateIndex(state), header, rest, match=(atom, fact.objects)))
                everything = _by_enumeration(state, header, required, repeated=False)
                assert sorted(found) == sorted(row for row in everything if atom.ground(row) == fact)


@thorough(60)
@given(queries(repeated=False), st.randoms(use_true_random=False))
def test_an_index_that_grew_answers_like_one_made_at_once(
    query: tuple[State, ActionHeader, list[LiftedAtom]], chance: Random
) -> None:
    state, header, required = query
    facts = sorted(state.true)
    chance.shuffle(facts)
    growing = FactIndex(state.objects)
    for number, fact in enumerate(facts):
        growing.add(*fact)
        if number % 3 == 0:
            list(bindings(growing, header, required))  # whatever was looked up before must not go stale
    assert set(bindings(growing, header, required)) == set(bindings(StateIndex(state), header, required))


@thorough(80)
@given(st.data())
def test_an_index_of_another_state_is_like_one_made_afresh(data: st.DataObject) -> None:
    """The order of the bindings included, on which the choices of walks depend."""
    state, header, required = data.draw(queries(repeated=False))
    index = StateIndex(state)
    list(bindings(index, header, required))  # whatever was looked up before must not go stale
    for _ in range(3):
        facts = sorted(state.true)
        gone = data.draw(st.sets(st.sampled_from(facts))) if facts else set()
        back = data.draw(st.sets(st.sampled_from(sorted(index.state.true)))) if index.state.true else set()
        index = index.of(State((state.true - gone) | back, state.objects))
        found = list(bindings(index, header, required))
        assert found == list(bindings(StateIndex(index.state), header, required))


def test_bindings_are_lazy_and_in_the_order_of_the_facts() -> None:
    objects = Objects({f"o{number}": "object" for number in range(200)}, Types())
    header = ActionHeader("act", ("x", "y", "z"), ("object",) * 3)
    first = next(bindings(FactIndex(objects), header, []))  # of 7.9 million
    assert first == ("o0", "o1", "o2")
