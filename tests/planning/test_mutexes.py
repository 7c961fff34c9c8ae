"""Literals that are mutex never hold together.

Of every invariant at least one fact is true in every reachable state.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, permutations, product

from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.model.strips import Atom, Model, State
from aam_vision.planning.interchangeable import PossibleOperator
from aam_vision.planning.joins import Fact
from aam_vision.planning.mutexes import MAX_LITERALS, Mutexes, always_one_of
from tests import domains, small
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
def test_only_a_start_without_news_is_covered(domain: Domain, max_literals: int, data: st.DataObject) -> None:
    model, start = domain.model, domain.problems[0]
    other = data.draw(domains.states_of(model.vocabulary, start.objects))
    facts = domains.ground_atoms(model.vocabulary, start.objects)
    unknown = data.draw(st.frozensets(st.sampled_from(facts), max_size=2)) if facts else frozenset()
    further, operators = (other.true - unknown, unknown), _operators(model, start)
    alone = Mutexes(operators, [(start.true, frozenset())], max_literals)
    with_other = Mutexes(operators, [(start.true, frozenset()), further], max_literals)
    before, after, again = (_pairs(table, facts) for table in (alone, with_other, alone))
    if alone.covers(*further):
        assert before == after
    assert before == again, "asking changes nothing"
    for state in domains.reachable(model, [start], limit=50) or ():
        assert alone.covers(state.true, frozenset())


def _pairs(mutexes: Mutexes, facts: Sequence[Fact]) -> list[bool]:
    """Whether two literals hold together, for all pairs."""
    pairs = combinations_with_replacement([(fact, sign) for fact in facts for sign in (True, False)], 2)
    return [
        mutexes.possible(*([fact for fact, value in pair if value is sign] for sign in (True, False)))
        for pair in pairs
    ]


@thorough(100)
@given(domains.domains(constants=True, alike=True), st.sampled_from([0, MAX_LITERALS]), st.data())
def test_no_mutex_holds_in_a_reachable_state(domain: Domain, max_literals: int, data: st.DataObject) -> None:
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
    facts = domains.ground_atoms(model.vocabulary, start.objects)
    assume(facts)
    operators = _operators(model, start)
    some = st.frozensets(st.sampled_from(facts), max_size=3)
    stricter = [
        one._replace(positive=one.positive | data.draw(some), negative=one.negative | data.draw(some))
        for one in operators
        if data.draw(st.booleans())
    ]
    states = [(one.true, frozenset[Atom]()) for one in domain.problems if one.objects == start.objects]
    less = Mutexes(stricter, states[: data.draw(st.integers(1, len(states)))])
    assert _pairs(Mutexes(operators, states), facts) == _pairs(Mutexes(operators, states, less=less), facts)


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
        for here, there in permutations(places, 2)
    ]
    mutexes = Mutexes(moves, [(frozenset([places[0]]), frozenset())])
    for here in places:
        assert mutexes.possible([here], [other for other in places if other != here])
        assert all(mutexes.possible([here, there]) is (here == there) for there in places)
    assert not mutexes.possible([places[0]], [places[0]])
    assert not mutexes.possible([("never", ())])
    assert mutexes.possible([], [("never", ())])


HAND = small.model(
    "take x p: at x p, empty, thing x, not held x -> held x, free p, not at x p, not empty",
    "put x p: held x, free p, thing x, not at x p -> at x p, empty, not held x, not free p",
)


def _things_and_places(
    things: int, places: int
) -> tuple[list[PossibleOperator], frozenset[Atom], list[Atom]]:
    """Things that are moved to free places by a hand, which holds one at most: operators, a start, and all facts."""
    operators = [
        PossibleOperator(*(frozenset(atom.ground((f"x{x}", f"p{p}")) for atom in part) for part in parts))
        for schema in HAND.actions
        for parts in [(schema.positive, schema.negative, schema.add, schema.delete)]
        for x, p in product(range(things), range(places))
    ]
    true = [f"thing x{n}, at x{n} p{n}" for n in range(things)] + [
        f"free p{n}" for n in range(things, places)
    ]
    facts = {fact for operator in operators for part in operator for fact in part}
    return operators, small.atoms(", ".join(["empty", *true])), sorted(Atom(*fact) for fact in facts)


def test_representatives_exclude_what_a_table_of_all_things_excludes() -> None:
    operators, start, facts = _things_and_places(4, 6)
    states = [(start, frozenset[Atom]())]
    full, shared = Mutexes(operators, states), Mutexes(operators, states, max_literals=0)
    assert shared.compatibility.packed.size < full.compatibility.packed.size
    assert _pairs(shared, facts) == _pairs(full, facts)


@thorough(60)
@given(st.integers(3, 5), st.integers(0, 3), st.data())
def test_things_unknown_or_apart_stay_possible(things: int, free: int, data: st.DataObject) -> None:
    """Representatives under several starts, hidden facts and things of which a different thing is true for ever."""
    operators, start, facts = _things_and_places(things, things + free)
    start |= small.atoms("marked x0") if data.draw(st.booleans()) else frozenset()
    seen = [State(start, small.objects(""))]
    for operator in data.draw(st.lists(st.sampled_from(operators), max_size=15)):
        true = seen[-1].true
        if operator.positive <= true and not operator.negative & true:
            seen.append(State((true - operator.delete) | operator.add, seen[0].objects))
    hidden = data.draw(st.frozensets(st.sampled_from(sorted(start)), max_size=3))
    mutexes = Mutexes(operators, [(start - hidden, hidden)], max_literals=0)
    _assert_possible(mutexes, seen, facts)


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
    model, (start,) = domains.packaged("blocksworld")
    operators = [domains.lifted_operator(schema) for schema in model.actions]
    atoms = domains.ground_atoms(model.vocabulary, start.objects)
    facts = [atom for atom in atoms if len(set(atom.objects)) == len(atom.objects)]
    found = always_one_of(operators, facts, [start.true])
    blocks = list(start.objects)
    for block in blocks:
        others = [other for other in blocks if other != block]
        under = ", ".join([f"holding {block}, ontable {block}", *(f"on {block} {other}" for other in others)])
        over = ", ".join([f"holding {block}, clear {block}", *(f"on {other} {block}" for other in others)])
        assert {small.atoms(under), small.atoms(over)} <= {*found}
    assert small.atoms(", ".join(["handempty", *(f"holding {block}" for block in blocks)])) in found


def test_a_constant_may_be_the_object_that_a_parameter_stands_for() -> None:
    """The step keeps the key of its parameter, which may be the one that it deletes; other constants are other objects."""
    facts = small.atoms("has k, has m")
    for kept, groups in (("x", []), ("m", [facts])):
        step = domains.lifted_operator(small.model(f"drop x: has {kept} -> not has k").actions[0])
        assert always_one_of([step], sorted(facts), [facts]) == groups
