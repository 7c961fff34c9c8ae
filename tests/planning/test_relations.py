"""Joins of whole columns find what enumeration finds, no more, no less, and nothing twice."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.strips import ActionHeader, LiftedAtom, State, lifted_atoms
from aam_vision.planning import fact_tables, relations
from aam_vision.planning.fact_tables import Absence, Condition, ObjectNumbers, Table
from aam_vision.planning.joins import FactIndex, StateIndex, bindings
from aam_vision.planning.relations import Compatibility, Relation
from tests import domains, small
from tests.profiles import thorough

Query = tuple[State, ActionHeader, list[LiftedAtom], list[LiftedAtom]]


@st.composite
def queries(draw: st.DrawFn, *, repeated: bool) -> Query:
    vocabulary = draw(domains.vocabularies(constants=True))
    state = draw(domains.states(vocabulary))
    header = draw(domains.headers(vocabulary, "act"))
    pool = lifted_atoms(vocabulary, header, repeated=repeated)
    some = st.lists(st.sampled_from(pool), max_size=4, unique=True) if pool else st.just([])
    return state, header, draw(some), draw(some)


def _tables(state: State, numbers: ObjectNumbers) -> dict[str, Table]:
    return {name: numbers.table(numbers.rows(rows, len(rows[0]))) for name, rows in state.rows.items()}


def _relation(query: Query, numbers: ObjectNumbers, *, repeated: bool) -> Relation | None:
    state, header, required, absent = query
    tables = _tables(state, numbers)
    if any(atom.predicate not in tables for atom in required):
        return None
    return Relation(
        [numbers.members(kind) for kind in header.types],
        [Condition(tables[atom.predicate], numbers.arguments(atom)) for atom in required],
        [
            Absence(table, numbers.arguments(atom), np.full(len(table), -1))
            for atom in absent
            if (table := tables.get(atom.predicate)) is not None
        ],
        distinct=not repeated,
    )


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize(("block", "large"), [(2, 1000), (8192, 1000), (8192, 1)])
@thorough(120)
@given(st.data())
def test_solutions_are_those_of_enumeration(
    repeated: bool, block: int, large: int, data: st.DataObject
) -> None:
    query = data.draw(queries(repeated=repeated))
    state, header, required, absent = query
    expected = {
        row
        for row in _by_enumeration(state, header, required, repeated=repeated)
        if not any(atom.ground(row) in state.true for atom in absent)
    }
    numbers = ObjectNumbers(state.objects)
    with mock.patch.object(relations, "BLOCK", block), mock.patch.object(fact_tables, "LARGE", large):
        relation = _relation(query, numbers, repeated=repeated)
        found = Counter(_rows(relation, numbers) if relation else ())
        assert relation is None or relation.any() == bool(expected)
    assert set(found) == expected
    assert set(found.values()) <= {1}


def _rows(relation: Relation, numbers: ObjectNumbers) -> list[tuple[str, ...]]:
    return [
        tuple(numbers.names[number] for number in row)
        for rows in relation.solutions()
        for row in rows.tolist()
    ]


@pytest.mark.parametrize("large", [1000, 1])
@thorough(80)
@given(queries(repeated=False), st.data())
def test_only_bindings_compatible_by_pairs_are_found(large: int, query: Query, data: st.DataObject) -> None:
    state, header, required, _ = query
    numbers, facts = ObjectNumbers(state.objects), sorted(state.true)
    size = len(facts) + 1
    together = np.eye(size, dtype=np.uint8)
    together[-1] = together[:, -1] = 1
    for one, other in combinations(range(size - 1), 2):
        together[one, other] = together[other, one] = data.draw(st.booleans())
    literal = {fact: number for number, fact in enumerate(facts)}
    tables, literals = _tables(state, numbers), {}
    for name, rows in state.rows.items():
        literals[name] = np.array([literal[name, row] for row in rows])
    if any(atom.predicate not in tables for atom in required):
        return
    joined = [
        Condition(tables[atom.predicate], numbers.arguments(atom), literals[atom.predicate])
        for atom in required
    ]
    packed = np.packbits(together, axis=1, bitorder="little")
    allowed = [numbers.members(kind) for kind in header.types]
    with mock.patch.object(fact_tables, "LARGE", large):
        found = set(_rows(Relation(allowed, joined, compatibility=Compatibility(packed)), numbers))
    expected = set()
    for row in _by_enumeration(state, header, required, repeated=False):
        wanted = [literal[atom.ground(row)] for atom in required]
        if all(together[one, other] for one, other in combinations(wanted, 2)):
            expected.add(row)
    assert found == expected


def test_a_query_with_too_many_bindings_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "MAX_BINDINGS", 12_000)
    everything = np.ones(30, dtype=bool)
    with pytest.raises(relations.TooManyBindings, match="12000"):
        list(Relation([everything] * 3, []).solutions())
    assert Relation([everything] * 3, []).any(), "a first answer comes before the limit"


def test_a_query_that_looks_at_too_many_facts_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few of them go together."""
    monkeypatch.setattr(relations, "MAX_SCANNED", 12_000)
    everything = np.ones(200, dtype=bool)
    pairs = np.argwhere(np.ones((200, 200), dtype=bool))
    larger, smaller = (
        Table(pairs[mask], 201) for mask in (pairs[:, 0] < pairs[:, 1], pairs[:, 0] > pairs[:, 1])
    )
    with pytest.raises(relations.TooManyBindings, match="12000 facts"):
        Relation([everything] * 2, [Condition(larger, (0, 1)), Condition(smaller, (0, 1))]).any()


def test_rows_too_wide_for_64_bits_are_found_as_well() -> None:
    rows = np.arange(24, dtype=np.int64).reshape(2, 12)
    table = Table(rows, 10**6)
    assert table.find(list(rows.T), 2).tolist() == [0, 1]
    assert table.find(list(rows[::-1].T), 2).tolist() == [1, 0]
    assert table.find(list(rows.T + 1), 2).tolist() == [-1, -1]


def test_no_object_equals_a_constant_that_is_not_there() -> None:
    numbers = ObjectNumbers(small.objects("a"))
    table = numbers.table(numbers.rows([("a",)], 1))
    for constant, there in (("a", True), ("k", False)):
        condition = Condition(table, numbers.arguments(LiftedAtom("p", (constant,))))
        assert Relation([], [condition]).any() is there


# Joins find what enumeration finds, no more, no less, and nothing twice.


def _by_enumeration(
    state: State, header: ActionHeader, required: list[LiftedAtom], *, repeated: bool
) -> set[tuple[str, ...]]:
    return {
        row
        for row in domains.all_bindings(header, state.objects, repeated=repeated)
        if all(atom.ground(row) in state.true for atom in required)
    }


@pytest.mark.parametrize("repeated", [False, True])
@thorough(150)
@given(st.data())
def test_joins_equal_enumeration_over_bindings(repeated: bool, data: st.DataObject) -> None:
    state, header, required, _ = data.draw(queries(repeated=repeated))
    found = Counter(bindings(StateIndex(state), header, required, repeated=repeated))
    assert set(found) == _by_enumeration(state, header, required, repeated=repeated)
    assert set(found.values()) <= {1}


@thorough(80)
@given(queries(repeated=False))
def test_matching_a_fact_keeps_the_bindings_that_ground_the_atom_to_it(query: Query) -> None:
    state, header, required, _ = query
    for atom in required:
        rest = [other for other in required if other is not atom]
        for fact in sorted(state.true):
            if fact.predicate == atom.predicate:
                found = list(bindings(StateIndex(state), header, rest, match=(atom, fact.objects)))
                everything = _by_enumeration(state, header, required, repeated=False)
                assert sorted(found) == sorted(row for row in everything if atom.ground(row) == fact)


@thorough(60)
@given(queries(repeated=False), st.randoms(use_true_random=False))
def test_an_index_that_grew_answers_like_one_made_at_once(query: Query, chance: Random) -> None:
    state, header, required, _ = query
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
    state, header, required, _ = data.draw(queries(repeated=False))
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
    objects = small.objects(" ".join(f"o{number}" for number in range(200)))
    header = ActionHeader("act", ("x", "y", "z"), ("object",) * 3)
    assert next(bindings(FactIndex(objects), header, [])) == ("o0", "o1", "o2"), "of 7.9 million"
