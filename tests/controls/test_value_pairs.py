"""Pairs of values that were met one by one are new until they are met together."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.controls.checking import ValuePairs
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.strips import ActionHeader, Atom, Objects, Predicate, State, Types, Vocabulary

FLAGS = ("p", "q", "r")
VOCABULARY = Vocabulary("flags", tuple(Predicate(name, ()) for name in FLAGS), Types({}))
OBJECTS = Objects({}, VOCABULARY.types)
INDEX = AtomIndex(VOCABULARY, ActionHeader("press", (), ()))

values = st.fixed_dictionaries({name: st.sampled_from([True, False, None]) for name in FLAGS})


def state(of: dict[str, bool | None]) -> State:
    true = frozenset(Atom(name, ()) for name, value in of.items() if value)
    return State(true, OBJECTS, frozenset(Atom(name, ()) for name, value in of.items() if value is None))


def pairs(of: dict[str, bool | None]) -> set[frozenset[tuple[str, bool]]]:
    known = [(name, value) for name, value in of.items() if value is not None]
    return {frozenset(pair) for pair in combinations(known, 2)}


@given(st.lists(values, max_size=6), values)
def test_a_pair_is_new_if_each_of_its_values_was_met_and_they_never_were_together(
    tried: list[dict[str, bool | None]], here: dict[str, bool | None]
) -> None:
    met = ValuePairs(INDEX)
    for one in tried:
        met.add(state(one), ())
    single = {(name, value) for one in tried for name, value in one.items() if value is not None}
    together = {pair for one in tried for pair in pairs(one)}
    expected = {pair for pair in pairs(here) if pair <= single} - together
    assert met.new(state(here), ()) == len(expected)
    more = any((name, value) not in single for name, value in here.items() if value is not None)
    assert met.add(state(here), ()) == more
    assert met.new(state(here), ()) == 0
