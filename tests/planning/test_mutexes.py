"""Literals that are mutex never hold together.

Of every invariant at least one fact is true in every reachable state.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, product

from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.model import domains as packaged
from aam_vision.model.strips import ActionHeader, Atom, LiftedAtom, Model, Objects, State, Types
from aam_vision.planning.grounding import LiftedOperator
from aam_vision.planning.interchangeable import PossibleOperator
from aam_vision.planning.mutexes import MAX_LITERALS, Mutexes, always_one_of
from aam_vision.run import targets
from tests import domains
from tests.domains import Domain
from tests.profiles import promised, thorough


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


@thorough(120)
@given(domains.domains(constants=True), st.sampled_from([0, MAX_LITERALS]), st.data())
def test_only_a_start_that_changes_nothing_is_covered(
    domain: Domain, max_literals: int, data: st.DataObject
) -> None:
    model, start = domain.model, domain.problems[0]
    other = data.draw(domains.states_of(model.vocabulary, start.objects))
    facts = domains.ground_atoms(model.vocabulary, start.objects)
    unknown = data.draw(st.frozensets(st.sampled_from(facts), max_size=2)) if facts else frozenset()
    further = other.true - unknown, unknown
    operators = _operators(model, start)
    mutexes = Mutexes(operators, [(start.true, frozenset())], max_literals)
    with_other = Mutexes(operators, [(start.true, frozenset()), further], max_literals)
    pairs = list(combinations_with_replacement([(fact, sign) for fact in facts for sign in (0, 1)], 2))
    before, after = (
        [
            table.possible(*([fact for fact, value in pair if value is sign] for sign in (1, 0)))
            for pair in pairs
        ]
        for table in (mutexes, with_other)
    )
    if mutexes.covers(*further):
        assert before == after
    assert before == [
        mutexes.possible(*([fact for fact, value in pair if value is sign] for sign in (1, 0)))
        for pair in pairs
    ], "asking changes nothing"
    for state in domains.reachable(model, [start], limit=50) or ():
        assert mutexes.covers(state.true, frozenset())


@thorough(100)
@given(domains.domains(constants=True, alike=True), st.sampled_from([0, MAX_LITERALS]), st.data())
def test_literals_that_hold_together_in_a_reachable_state_are_not_mutex_whatever_is_unknown(
    domain: Domain, max_literals: int, data: st.DataObject
) -> None:
    """Some true effects are only possible ones, some possible ones never happen, some facts are hidden."""
    model, start = domain.model, domain.problems[0]
    states = domains.reachable(model, domain.problems, limit=100)
    assume(states is not None)
    facts = domains.ground_atoms(model.vocabulary, start.objects)
    assume(facts)
    some = st.just(frozenset[Atom]()) | st.frozensets(st.sampled_from(facts), max_size=6)
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
    mutexes = Mutexes(loosened, [(one.true - hidden, hidden) for one in domain.problems], max_literals)
    _assert_possible(mutexes, list(states or ()), facts)


@thorough(100)
@given(domains.domains(constants=True), st.data())
def test_a_table_that_goes_on_from_a_smaller_one_is_the_same(domain: Domain, data: st.DataObject) -> None:
    """The smaller one is of operators that require more, and of some of the states."""
    model, start = domain.model, domain.problems[0]
    starts = [state for state in domain.problems if state.objects == start.objects]
    facts = domains.ground_atoms(model.vocabulary, start.objects)
    assume(facts)
    operators = _operators(model, start)
    some = st.frozensets(st.sampled_from(facts), max_size=3)
    stricter = [
        one._replace(positive=one.positive | data.draw(some), negative=one.negative | data.draw(some))
        for one in operators
        if data.draw(st.booleans())
    ]
    states = [(state.true, frozenset[Atom]()) for state in starts]
    less = Mutexes(stricter, states[: data.draw(st.integers(1, len(states)))])
    anew, further = Mutexes(operators, states), Mutexes(operators, states, less=less)
    for fact, other in product(facts, repeat=2):
        for pair in (([fact, other], []), ([fact], [other]), ([], [fact, other])):
            assert further.possible(*pair) == anew.possible(*pair)


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


def _things_and_places(things: int, places: int) -> tuple[list[PossibleOperator], frozenset[Atom]]:
    """Things that are moved to free places by a hand, which holds one at most."""
    names = [f"thing-{number}" for number in range(things)]
    spots = [f"place-{number}" for number in range(places)]
    moves = []
    for name in names:
        for spot in spots:
            here, free, held = Atom("at", (name, spot)), Atom("free", (spot,)), Atom("held", (name,))
            empty, thing = Atom("empty", ()), Atom("thing", (name,))
            moves.append(
                PossibleOperator(
                    frozenset([here, empty, thing]),
                    frozenset([held]),
                    frozenset([held, free]),
                    frozenset([here, empty]),
                )
            )
            moves.append(
                PossibleOperator(
                    frozenset([held, free, thing]),
                    frozenset([here]),
                    frozenset([here, empty]),
                    frozenset([held, free]),
                )
            )
    start = {Atom("thing", (name,)) for name in names} | {Atom("empty", ())}
    start |= {Atom("at", (name, spot)) for name, spot in zip(names, spots, strict=False)}
    start |= {Atom("free", (spot,)) for spot in spots[things:]}
    return moves, frozenset(start)


def test_representatives_exclude_what_a_table_of_all_things_excludes() -> None:
    operators, start = _things_and_places(4, 6)
    states = [(start, frozenset[Atom]())]
    full, shared = Mutexes(operators, states), Mutexes(operators, states, max_literals=0)
    assert shared.compatibility.packed.size < full.compatibility.packed.size
    facts = sorted({fact for operator in operators for part in operator for fact in part})
    for one in facts:
        for other in facts:
            for signs in ((True, True), (True, False), (False, False)):
                signed = list(zip((one, other), signs, strict=True))
                positive = [fact for fact, sign in signed if sign]
                negative = [fact for fact, sign in signed if not sign]
                assert shared.possible(positive, negative) is full.possible(positive, negative)


@thorough(60)
@given(st.integers(3, 5), st.integers(0, 3), st.data())
def test_things_that_can_be_unknown_or_start_apart_stay_possible(
    things: int, free: int, data: st.DataObject
) -> None:
    """Representatives under several starts, hidden facts and things of which a different thing is true for ever."""
    operators, start = _things_and_places(things, things + free)
    marked = data.draw(st.booleans())
    mark = frozenset([Atom("marked", ("thing-0",))]) if marked else frozenset[Atom]()
    state = State(start | mark, Objects({}, Types()))
    seen = [state]
    for operator in data.draw(st.lists(st.sampled_from(operators), max_size=15)):
        true = seen[-1].true
        if operator.positive <= true and not operator.negative & true:
            seen.append(State((true - operator.delete) | operator.add, state.objects))
    hidden = data.draw(st.frozensets(st.sampled_from(sorted(start)), max_size=3))
    mutexes = Mutexes(operators, [(state.true - hidden, hidden)], max_literals=0)
    facts = sorted({fact for operator in operators for part in operator for fact in part})
    _assert_possible(mutexes, seen, [Atom(*fact) for fact in facts])


@promised(200)
@given(domains.domains(constants=True, alike=True))
def test_one_of_them_is_true_in_every_reachable_state(domain: Domain) -> None:
    states = domains.reachable(domain.model, domain.problems, limit=150)
    assume(states is not None)
    facts = domains.ground_atoms(domain.model.vocabulary, domain.problems[0].objects)
    operators = [domains.lifted_operator(schema) for schema in domain.model.actions]
    starts = [state.true for state in domain.problems]
    for group in always_one_of(operators, facts, starts):
        assert all(group & state.true for state in states or ())


def test_the_invariants_of_blocks() -> None:
    """The hand is empty or holds a block; a block is held, on the table, or on another one."""
    model = packaged.load("blocksworld")
    start = targets.from_environment("blocksworld").agent.initial()[0].state
    operators = [domains.lifted_operator(schema) for schema in model.actions]
    atoms = domains.ground_atoms(model.vocabulary, start.objects)
    facts = [atom for atom in atoms if len(set(atom.objects)) == len(atom.objects)]
    found = always_one_of(operators, facts, [start.true])
    blocks = list(start.objects)
    for block in blocks:
        others = [other for other in blocks if other != block]
        under = {Atom("on", (block, other)) for other in others}
        assert {Atom("holding", (block,)), Atom("ontable", (block,)), *under} in found
        over = {Atom("on", (other, block)) for other in others}
        assert {Atom("holding", (block,)), Atom("clear", (block,)), *over} in found
    assert {Atom("handempty", ()), *(Atom("holding", (block,)) for block in blocks)} in found


def test_a_constant_may_be_the_object_that_a_parameter_stands_for() -> None:
    """The step keeps the key of its parameter, which may be the one that it deletes."""
    key, given_key = LiftedAtom("has", ("k",)), LiftedAtom("has", (0,))
    step = LiftedOperator(ActionHeader("drop", ("x",), ("object",)), positive=(given_key,), delete=(key,))
    facts = [Atom("has", ("k",)), Atom("has", ("m",))]
    starts = [frozenset(facts)]
    assert always_one_of([step], facts, starts) == []
    other = step._replace(positive=(LiftedAtom("has", ("m",)),))
    assert always_one_of([other], facts, starts) == [frozenset(facts)], (
        "different constants are different objects"
    )
