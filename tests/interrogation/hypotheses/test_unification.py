"""Atoms that become one: found by unification as by trying all bindings."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.hypotheses.literals import (
    AtomIndex,
    merge,
    under,
)
from aam_vision.model.strips import (
    ActionHeader,
    Objects,
    Predicate,
    Types,
    Vocabulary,
    lifted_atoms,
)
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough

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
def test_atoms_unify_where_some_binding_makes_them_one(
    chosen: list[str], repeated: bool, data: st.DataObject
) -> None:
    header = ActionHeader("act", tuple("wxyz"[: len(chosen)]), tuple(chosen))
    atoms = lifted_atoms(NAMED, header, repeated=True)
    if not atoms:
        return
    first = data.draw(st.sampled_from(atoms))
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


def test_atoms_of_two_predicates_are_never_one() -> None:
    header = ActionHeader("act", ("x",), ("box",))
    for one, other in product(lifted_atoms(NAMED, header, repeated=True), repeat=2):
        if one.predicate != other.predicate:
            assert merge(NAMED, header, one, other, repeated=True) is None


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
