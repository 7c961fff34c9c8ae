"""Literals that are mutex never hold together."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.planning.interchangeable import PossibleOperator
from aam_vision.planning.mutexes import Mutexes
from aam_vision.strips import Atom, Model, State
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough


def _operators(model: Model, state: State) -> list[PossibleOperator]:
    """All operators, grounded by enumeration."""
    return [
        PossibleOperator(
            *(
                frozenset(atom.ground(row) for atom in part)
                for part in (schema.positive, schema.negative, schema.add, schema.delete)
            )
        )
        for schema in model.actions
        for row in domains.all_bindings(schema.header, state.objects)
    ]


def _assert_possible(mutexes: Mutexes, states: Sequence[State], facts: Sequence[Atom]) -> None:
    """All literals of every state hold together, so no part of them may be called impossible."""
    for state in states:
        false = [fact for fact in facts if fact not in state.true]
        assert mutexes.possible(state.true, false)
        beside = mutexes.companions(state.true, ())
        assert beside is not None
        assert not beside.nowhere
        for fact in facts:
            assert beside.allow(fact, fact in state.true)
            assert not beside.beside(fact, fact in state.true).nowhere


@thorough(100)
@given(domains.domains(constants=True))
def test_literals_that_hold_together_in_a_reachable_state_are_not_mutex(domain: Domain) -> None:
    model, start = domain.model, domain.problems[0]
    starts = [state for state in domain.problems if state.objects == start.objects]
    states = domains.reachable(model, starts, limit=150)
    assume(states is not None)
    mutexes = Mutexes(_operators(model, start), [(state.true, frozenset()) for state in starts])
    _assert_possible(mutexes, list(states or ()), domains.ground_atoms(model.vocabulary, start.objects))


@thorough(100)
@given(domains.domains(constants=True, max_problems=1), st.data())
def test_unknown_effects_and_facts_never_make_reachable_states_impossible(
    domain: Domain, data: st.DataObject
) -> None:
    """Some true effects are only possible ones, some possible ones never happen, some facts are hidden."""
    model, start = domain.model, domain.problems[0]
    states = domains.reachable(model, [start], limit=100)
    assume(states is not None)
    facts = domains.ground_atoms(model.vocabulary, start.objects)
    assume(facts)
    some = st.frozensets(st.sampled_from(facts), max_size=6)
    unsure, idle, hidden = data.draw(some), data.draw(some), data.draw(some)
    loosened = [
        PossibleOperator(
            operator.positive,
            operator.negative,
            operator.add - unsure,
            operator.delete - operator.add - unsure,
            (operator.add & unsure) | idle,
            ((operator.delete - operator.add) & unsure) | (idle - operator.add),
        )
        for operator in _operators(model, start)
    ]
    mutexes = Mutexes(loosened, [(start.true - hidden, hidden)])
    _assert_possible(mutexes, list(states or ()), facts)


@thorough(60)
@given(domains.domains(max_problems=1), st.data())
def test_effects_that_come_and_go_are_covered_whenever_they_do(domain: Domain, data: st.DataObject) -> None:
    """Not one model but an agent that decides anew at every step stays within what is possible."""
    model, start = domain.model, domain.problems[0]
    operators = _operators(model, start)[:12]
    assume(operators)
    loose = [
        operator._replace(
            add=frozenset(), delete=frozenset(), may_add=operator.add, may_delete=operator.delete
        )
        for operator in operators
    ]
    mutexes = Mutexes(loose, [(start.true, frozenset())])
    true, seen = start.true, [start]
    for operator in data.draw(st.lists(st.sampled_from(operators), max_size=12)):
        if operator.positive <= true and not operator.negative & true:
            gone = {fact for fact in sorted(operator.delete) if data.draw(st.booleans())}
            come = {fact for fact in sorted(operator.add) if data.draw(st.booleans())}
            true = (true - gone) | come
            seen.append(State(true, start.objects))
    _assert_possible(mutexes, seen, domains.ground_atoms(model.vocabulary, start.objects))


def test_a_token_is_never_in_two_places_nor_nowhere() -> None:
    """The point of pairs: these mutexes are found, in one sweep."""
    places = [("at", (f"place-{number}",)) for number in range(5)]
    moves = [
        PossibleOperator(frozenset([here]), frozenset([there]), frozenset([there]), frozenset([here]))
        for here in places
        for there in places
        if here != there
    ]
    mutexes = Mutexes(moves, [(frozenset([places[0]]), frozenset())])
    for here in places:
        assert mutexes.possible([here], [other for other in places if other != here])
        for there in places:
            assert mutexes.possible([here, there]) is (here == there)
    assert not mutexes.possible([places[0]], [places[0]])
    assert not mutexes.possible([("never", ())])
    assert mutexes.possible([], [("never", ())])
