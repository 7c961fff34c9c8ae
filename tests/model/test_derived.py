"""Derived predicates: what follows from the facts of a state is what their definitions say, and nothing else is touched."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.derived import AtLeast
from aam_vision.model.strips import Atom, Predicate, State, Vocabulary
from tests.domains import derived, domains, states, vocabularies
from tests.profiles import promised, thorough


@st.composite
def cases(draw: st.DrawFn) -> tuple[Vocabulary, tuple[AtLeast, ...], State]:
    """Derived predicates of a vocabulary, and a state of which some is unknown."""
    vocabulary = draw(vocabularies())
    some = draw(st.lists(derived(vocabulary), min_size=1, max_size=3, unique=True))
    state = draw(states(vocabulary))
    hidden = draw(st.frozensets(st.sampled_from(sorted(state.true)), max_size=3)) if state.true else ()
    return vocabulary, tuple(some), State(state.true - {*hidden}, state.objects, frozenset(hidden))


def holds(one: AtLeast, arguments: tuple[str, ...], facts: frozenset[Atom]) -> bool:
    """Whether it holds for these arguments where these facts do, as its definition says."""
    own, apart = arguments[: len(one.places)], arguments[len(one.places) :]
    rows = [row for predicate, row in facts if predicate == one.of.name]
    fitting = [
        row
        for row in rows
        if tuple(row[place] for place in one.places) == own
        and all(row[place] not in apart for place in range(one.of.arity) if place not in one.places)
    ]
    return len(fitting) >= one.number


@promised(200)
@given(cases())
def test_what_follows_is_what_the_definitions_say(
    case: tuple[Vocabulary, tuple[AtLeast, ...], State],
) -> None:
    _, some, state = case
    found = state.completed(some)
    for one in some:
        for objects in product(*map(state.objects.of_type, one.predicate.types)):
            least = holds(one, objects, state.true)
            most = holds(one, objects, state.true | state.unknown)
            expected = True if least else None if most else False
            assert found.value(Atom(one.predicate.name, objects)) is expected
    assert found.plain(some) == state
    assert found.completed(some) == found
    freed = state.freed(some)
    assert freed.plain(some) == state
    assert found.unknown | {atom for atom in found.true if atom not in state.true} <= freed.unknown


@thorough(100)
@given(cases())
def test_names_tell_definitions_apart(case: tuple[Vocabulary, tuple[AtLeast, ...], State]) -> None:
    vocabulary, some, _ = case
    extended = vocabulary.with_derived(some)
    names = [one.name for one in extended.predicates]
    assert len(set(names)) == len(names) == len(vocabulary.predicates) + len(some)
    assert extended.with_derived(some).predicates == extended.predicates


@thorough(60)
@given(st.data())
def test_a_step_ends_with_what_follows_then(data: st.DataObject) -> None:
    domain = data.draw(domains(max_problems=1))
    some = (data.draw(derived(domain.model.vocabulary)),)
    state = domain.problems[0]
    for schema in domain.model.actions:
        for objects in list(product(*map(state.objects.of_type, schema.header.types)))[:5]:
            plain = schema.successor(state, objects)
            knowing = schema.__class__(
                schema.header, schema.positive, schema.negative, schema.add, schema.delete, derived=some
            )
            assert knowing.successor(state.completed(some), objects) == plain.completed(some)


def test_it_is_said_in_words() -> None:
    at = Predicate("at", ("ball", "room"))
    full = AtLeast(at, (1,), 2)
    assert str(full) == "at-least-2-at-any-x(?x1) says that at least 2 facts at(_, ?x1) hold"
    assert full.told(["?where"], holds=False) == "fewer than 2 facts at(_, ?where) hold"
    other = AtLeast(at, (), 1, ("ball",))
    assert other.predicate == Predicate("some-at-apart-from-ball", ("ball",))
    assert other.told(["?b"], holds=False) == "no fact at(_, _) holds apart from those of ?b"
