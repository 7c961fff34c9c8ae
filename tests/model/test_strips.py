"""States, schemas and models mean what STRIPS says."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    LiftedAtom,
    Location,
    Mode,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
    lifted_atoms,
)
from tests import domains, small
from tests.domains import Domain
from tests.profiles import thorough

TYPES = Types({"box": "thing", "thing": "object", "place": "object"})


def test_lifted_atoms_are_the_type_correct_choices_of_parameters_and_constants() -> None:
    at, late = Predicate("at", ("thing", "place")), Predicate("late")
    vocabulary = Vocabulary("toy", (at, late), TYPES, {"home": "place"})
    header = ActionHeader("carry", ("b", "t", "p"), ("box", "thing", "place"))
    pairs = {(thing, place) for thing in (0, 1) for place in (2, "home")}
    assert set(lifted_atoms(vocabulary, header)) == {
        LiftedAtom("late", ()),
        *(LiftedAtom("at", pair) for pair in pairs),
    }


@thorough(80)
@given(domains.domains(constants=True), st.data())
def test_lifted_atoms_ground_to_facts_and_a_plan_is_run_as_its_parts(
    domain: Domain, data: st.DataObject
) -> None:
    model, vocabulary = domain.model, domain.model.vocabulary
    for state in domain.problems:
        facts = set(domains.ground_atoms(vocabulary, state.objects))
        for header in model.headers:
            once = lifted_atoms(vocabulary, header)
            assert set(once) <= set(lifted_atoms(vocabulary, header, repeated=True))
            assert all(len(set(atom.arguments)) == len(atom.arguments) for atom in once)
            for row in domains.all_bindings(header, state.objects)[:20]:
                assert {atom.ground(row) for atom in once} <= facts
        if actions := domains.instances(model.headers, state.objects, 6):
            plan = data.draw(st.lists(st.sampled_from(actions), max_size=5))
            cut = data.draw(st.integers(0, len(plan)))
            first, middle = model.run(state, plan[:cut])
            rest, end = model.run(middle, plan[cut:])
            assert model.run(state, plan) == ((first + rest, end) if first == cut else (first, middle))


@thorough(80)
@given(domains.domains(constants=True), st.data())
def test_hiding_makes_no_step_possible_and_no_outcome_wrong(domain: Domain, data: st.DataObject) -> None:
    """Three-valued states are a set of two-valued ones: what is said of the former holds in all of them."""
    model, state = domain.model, domain.problems[0]
    facts = domains.ground_atoms(model.vocabulary, state.objects)
    assume(facts)
    hidden = data.draw(st.frozensets(st.sampled_from(facts)))
    partial = State(state.true - hidden, state.objects, hidden)
    assert all(partial.value(fact) in (None, state.value(fact)) for fact in facts)
    for action in domains.applicable(model, partial):
        assert model.schema(action.name).applicable(state, action.objects)
        after, partly = (domains.successor(model, each, action) for each in (state, partial))
        assert all(partly.value(fact) in (None, after.value(fact)) for fact in facts)
        assert partly.unknown <= hidden


@thorough(80)
@given(domains.domains(constants=True))
def test_a_step_has_exactly_the_effects_of_the_schema(domain: Domain) -> None:
    model, state = domain.model, domain.problems[0]
    for action in domains.applicable(model, state):
        schema = model.schema(action.name)
        after = schema.successor(state, action.objects)
        modes: dict[Atom, set[Mode]] = {}
        for atom in lifted_atoms(model.vocabulary, schema.header):
            fact = atom.ground(action.objects)
            modes.setdefault(fact, set()).add(schema.mode(atom, Location.EFF))
            if schema.mode(atom, Location.PRE) is not Mode.ABSENT:
                assert (fact in state.true) is (schema.mode(atom, Location.PRE) is Mode.POSITIVE)
        for fact in domains.ground_atoms(model.vocabulary, state.objects):
            ways = modes.get(fact, {Mode.ABSENT})
            kept = fact in state.true and Mode.NEGATIVE not in ways
            assert (fact in after.true) is (Mode.POSITIVE in ways or kept), "adding comes after deleting"


def test_objects_are_compared_by_content_and_grouped_by_type() -> None:
    kinds = {"a": "box", "b": "thing", "c": "place"}
    objects = Objects(kinds, TYPES)
    assert objects == Objects(dict(reversed(kinds.items())), TYPES)
    assert hash(objects) == hash(Objects(kinds, TYPES))
    assert objects != Objects({**kinds, "c": "thing"}, TYPES)
    assert objects.of_type("thing") == ("a", "b")
    assert objects.of_type("object") == ("a", "b", "c")
    assert objects.members("box") == {"a"}
    assert objects.of_type("unheard-of") == ()
    for kind, ancestors in (("box", ["box", "thing", "object"]), ("object", ["object"])):
        assert list(TYPES.ancestry(kind)) == ancestors
        assert TYPES.is_a(kind, "object")


def test_states_differ_by_what_is_unknown_and_by_their_objects() -> None:
    (atom,) = small.atoms("p a")
    states = [small.state("a", "p a"), small.state("a"), small.state("a", "", "p a"), small.state("b")]
    assert [state.value(atom) for state in states] == [True, False, None, False]
    assert all((one == other) is (one is other) for one in states for other in states)
