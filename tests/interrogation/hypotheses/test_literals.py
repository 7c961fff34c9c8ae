"""Literals as bits are sets of literals, and the values of atoms are those of the state."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals, merge, under, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, GroundLiterals
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
    lifted_atoms,
)
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough

masks = st.integers(0, 2**6 - 1)
literals = st.builds(Literals, masks, masks)


def _members(some: Literals) -> set[Literals]:
    return set(some.singles())


@thorough(150)
@given(literals, literals, st.lists(literals, max_size=3))
def test_masks_are_sets_of_literals(one: Literals, other: Literals, more: list[Literals]) -> None:
    assert all(single.positive.bit_count() + single.negative.bit_count() == 1 for single in one.singles())
    assert one.size() == len(_members(one))
    assert bool(one) is bool(_members(one))
    assert one.within(other) is (_members(one) <= _members(other))
    assert one.within(union([one, other]))
    assert _members(one.common(other)) == _members(one) & _members(other)
    assert _members(one.without(other)) == _members(one) - _members(other)
    assert union([one, *more]) == union([*more, one, one])
    assert _members(union([one, *more])) == set().union(_members(one), *map(_members, more))
    assert one.opposite().opposite() == one
    assert {Literals(p, n) for n, p in _members(one)} == _members(one.opposite())


@thorough(60)
@given(domains.domains(constants=True), masks, masks)
def test_literals_are_told_in_the_order_of_the_atoms(domain: Domain, positive: int, negative: int) -> None:
    header = domain.model.headers[0]
    index = AtomIndex(domain.model.vocabulary, header)
    chosen, refused = (
        [atom for number, atom in enumerate(index.atoms) if mask >> number & 1]
        for mask in (positive, negative)
    )
    assert index.select(positive & index.everything) == set(chosen)
    assert [index.atom(index.bit[atom]) for atom in index.atoms] == list(index.atoms)
    names = header.parameters
    told = index.text(Literals(positive & index.everything, negative & index.everything))
    assert told == [a.text(names) for a in chosen] + [f"not {a.text(names)}" for a in refused]


@thorough(100)
@given(domains.domains(constants=True, repeated=True), st.booleans(), st.data())
def test_atoms_have_their_values_in_the_state(domain: Domain, repeated: bool, data: st.DataObject) -> None:
    vocabulary, whole = domain.model.vocabulary, domain.problems[0]
    facts = domains.ground_atoms(vocabulary, whole.objects)
    hidden = frozenset(data.draw(st.lists(st.sampled_from(facts), max_size=4))) if facts else frozenset()
    for state in (whole, State(whole.true - hidden, whole.objects, hidden)):
        for header in domain.model.headers:
            index = AtomIndex(vocabulary, header, repeated=repeated)
            for row in domains.all_bindings(header, state.objects, repeated=repeated):
                facts_of = {index.bit[atom]: atom.ground(row) for atom in index.atoms}
                assert dict(index.grounded(row)) == facts_of
                held, dim = index.values(state, row)
                assert held == sum(bit for bit, fact in facts_of.items() if fact in state.true)
                assert dim == sum(bit for bit, fact in facts_of.items() if fact in state.unknown)
                wanted = Literals(held, index.everything & ~held)
                true, false = GroundLiterals(ActionHypotheses(index), row).holding(wanted)
                assert true == [fact for bit, fact in facts_of.items() if bit & held]
                assert false == [fact for bit, fact in facts_of.items() if not bit & held]
                assert index.facts_in_order(row) == list(facts_of.values())
                assert index.facts(held, row) == {fact for fact in facts_of.values() if fact in state.true}
                groups: dict[Atom, int] = {}
                for bit, fact in facts_of.items():
                    groups[fact] = groups.get(fact, 0) | bit
                one = {mask for mask in groups.values() if mask & (mask - 1)}
                assert set(index.coinciding(row)) == one
                assert index.shared(row) == sum(one)


# Atoms that become one: found by unification as by trying all bindings.


KINDS = Types({"box": "thing", "thing": "object", "place": "object"})
NAMED = Vocabulary(
    "named",
    (
        Predicate("p", ("thing",)),
        Predicate("q", ("object", "object")),
        Predicate("r", ("box", "thing", "object")),
    ),
    KINDS,
    {"k": "box", "m": "place"},
)
OBJECTS = Objects(
    {**{f"{kind}-{n}": kind for kind in ("box", "thing", "place") for n in range(3)}, **NAMED.constants},
    KINDS,
)
kinds = st.lists(st.sampled_from(["object", "thing", "box", "place"]), min_size=1, max_size=3)


@thorough(400)
@given(kinds, st.booleans(), st.data())
def test_atoms_unify_where_they_may_be_one(chosen: list[str], repeated: bool, data: st.DataObject) -> None:
    header = ActionHeader("act", tuple("wxyz"[: len(chosen)]), tuple(chosen))
    atoms = lifted_atoms(NAMED, header, repeated=True)
    if not atoms:
        return
    first = data.draw(st.sampled_from(atoms))
    others = [atom for atom in atoms if atom.predicate != first.predicate]
    assert not any(merge(NAMED, header, first, other, repeated=repeated) for other in others)
    second = data.draw(st.sampled_from([atom for atom in atoms if atom.predicate == first.predicate]))
    merged = merge(NAMED, header, first, second, repeated=repeated)
    rows = [
        row
        for row in domains.all_bindings(header, OBJECTS, repeated=repeated)
        if first.ground(row) == second.ground(row)
    ]
    assert (merged is not None) is bool(rows)
    if merged is not None:
        assert under(first, merged) == under(second, merged)
        for row in rows:  # the least that must be named alike
            assert all(
                row[place] == (symbol if isinstance(symbol, str) else row[symbol])
                for place, symbol in enumerate(merged)
            )


@thorough(60)
@given(domains.domains(constants=True), st.booleans())
def test_all_pairs_that_may_become_one_are_known(domain: Domain, repeated: bool) -> None:
    vocabulary, header = domain.model.vocabulary, domain.model.headers[0]
    index = AtomIndex(vocabulary, header, repeated=repeated)
    assert {(bit, other): merged for bit, other, merged in index.merges} == {
        (index.bit[one], index.bit[two]): merged
        for one, two in product(index.atoms, repeat=2)
        if one != two and (merged := merge(vocabulary, header, one, two, repeated=repeated)) is not None
    }
