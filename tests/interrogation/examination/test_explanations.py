"""Literals that tell two kinds of situations apart, read back from their text and checked in each of them."""

from __future__ import annotations

import re

from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.interrogation.examination.trials import Trial, in_own_words, separating_literal
from aam_vision.model.query import Situation
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    GroundAction,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from tests.profiles import thorough

VOCABULARY = Vocabulary("blocks", (Predicate("on", ("block", "block")), Predicate("clear", ("block",))))
MOVE = ActionHeader("move", ("x", "y"), ("block", "block"))
BLOCKS = Objects(dict.fromkeys("abcd", "block"), Types())
ATOMS = [
    *(Atom("clear", (one,)) for one in "abcd"),
    *(Atom("on", (one, other)) for one in "abcd" for other in "abcd"),
]

states = st.frozensets(st.sampled_from(ATOMS)).map(lambda true: State(true, BLOCKS))
steps = st.tuples(states, st.permutations("abcd").map(lambda row: GroundAction("move", tuple(row[:2]))))


def tried(state: State, step: GroundAction) -> Trial:
    return Trial(Situation(state, state), step, None)


def holds(text: str, trial: Trial) -> bool:
    """Whether a literal holds before a step: ``?x`` is an argument, ``another`` an object that is none."""
    positive = not text.startswith("not ")
    match = re.fullmatch(r"(?:not )?(\w+)\((.*)\)", text)
    assert match is not None, text
    own = trial.step.objects
    arguments = dict(zip(("?x", "?y"), own, strict=True))
    choices: list[list[str]] = [[]]
    for name in match[2].split(", "):
        options = (
            [one for one in "abcd" if one not in own] if name == "another" else [arguments.get(name, name)]
        )
        choices = [[*chosen, one] for chosen in choices for one in options]
    true = trial.before.state.true
    return any(Atom(match[1], tuple(chosen)) in true for chosen in choices) is positive


@thorough(150)
@given(st.lists(steps, min_size=2, max_size=6), st.lists(steps, min_size=2, max_size=6))
def test_a_literal_is_false_where_all_was_as_expected_and_true_elsewhere(
    some: list[tuple[State, GroundAction]], others: list[tuple[State, GroundAction]]
) -> None:
    expected, other = ([tried(*one) for one in kind] for kind in (some, others))
    found = separating_literal(VOCABULARY, MOVE, expected, other)
    if found is not None:
        assert not any(holds(found, trial) for trial in expected)
        assert all(holds(found, trial) for trial in other)


@thorough(150)
@given(
    st.sampled_from(
        ["clear(?x)", "on(?x, ?y)", "on(?y, ?y)", "clear(another)", "on(another, ?x)", "on(a, c)"]
    ),
    st.booleans(),
    st.lists(steps, min_size=4, max_size=12),
)
def test_where_one_literal_decides_one_is_found(
    literal: str, negative: bool, some: list[tuple[State, GroundAction]]
) -> None:
    text = f"not {literal}" if negative else literal
    trials = [tried(*one) for one in some]
    expected, other = ([trial for trial in trials if holds(text, trial) is kind] for kind in (False, True))
    assume(len(expected) >= 2 and len(other) >= 2)
    if literal.startswith("on(a") and not expected[0].before.state.true | other[0].before.state.true:
        return
    found = separating_literal(VOCABULARY, MOVE, expected, other)
    assert found is not None
    assert all(holds(found, trial) is (trial in other) for trial in trials)
    if "?" in literal and "another" not in literal:
        assert "another" not in found
        assert "?" in found, "literals over the action's own arguments come first"


@given(st.lists(steps, max_size=1), st.lists(steps, min_size=2, max_size=4))
def test_one_example_of_a_kind_explains_nothing(
    one: list[tuple[State, GroundAction]], more: list[tuple[State, GroundAction]]
) -> None:
    few, many = ([tried(*one) for one in kind] for kind in (one, more))
    assert separating_literal(VOCABULARY, MOVE, few, many) is None
    assert separating_literal(VOCABULARY, MOVE, many, few) is None


def test_a_value_that_was_not_seen_explains_nothing() -> None:
    pair = Objects(dict.fromkeys("ab", "block"), Types())
    atoms = frozenset(atom for atom in ATOMS if {*atom.objects} <= {"a", "b"})
    dark, lit = State(frozenset(), pair, atoms), State(atoms, pair)
    step = GroundAction("move", ("a", "b"))
    assert separating_literal(VOCABULARY, MOVE, [tried(lit, step)] * 2, [tried(dark, step)] * 2) is None


def test_an_atom_is_told_with_the_parameters_of_the_action() -> None:
    step = GroundAction("move", ("c", "a"))
    assert in_own_words(MOVE, step, Atom("on", ("a", "c"))) == "on(?y, ?x)"
    assert in_own_words(MOVE, step, Atom("on", ("c", "b"))) == "on(?x, b)"
