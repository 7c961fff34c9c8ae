"""The factored hypotheses are exactly the models that agree with the answers, up to what factoring drops."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals, bits
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses
from aam_vision.model.strips import ActionHeader, Location, Mode, Predicate, Vocabulary
from aam_vision.support.errors import InconsistentAgent
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import assert_sound
from tests.profiles import promised, thorough

ATOMS = 3
EVERYTHING = (1 << ATOMS) - 1
INDEX = AtomIndex(
    Vocabulary("toy", tuple(Predicate(f"p{number}") for number in range(ATOMS))), ActionHeader("act")
)
Precondition = tuple[Mode, ...]


def _executable(precondition: Precondition, held: int) -> bool:
    return all(
        mode is Mode.ABSENT or bool(held >> number & 1) is (mode is Mode.POSITIVE)
        for number, mode in enumerate(precondition)
    )


def _modes(action: ActionHypotheses, number: int) -> set[Mode]:
    masks = (action.positive, action.negative, action.absent)
    return {mode for mode, mask in zip(Mode, masks, strict=True) if mask >> number & 1}


preconditions = st.tuples(*[st.sampled_from(Mode)] * ATOMS)
situations = st.lists(st.integers(0, EVERYTHING), max_size=12)


@promised(300)
@given(preconditions, situations)
def test_the_product_of_modes_under_the_clauses_is_the_set_of_all_consistent_preconditions(
    truth: Precondition, asked: list[int]
) -> None:
    """The version space by enumeration: every precondition that answers as the true one did."""
    action = ActionHypotheses(INDEX)
    for held in asked:
        (action.succeeded if _executable(truth, held) else action.failed)(held, 0)
    consistent = {
        candidate
        for candidate in product(Mode, repeat=ATOMS)
        if all(_executable(candidate, held) == _executable(truth, held) for held in asked)
    }

    def admitted(candidate: Precondition) -> bool:
        if any(mode not in _modes(action, number) for number, mode in enumerate(candidate)):
            return False
        positive = sum(1 << n for n, mode in enumerate(candidate) if mode is Mode.POSITIVE)
        negative = sum(1 << n for n, mode in enumerate(candidate) if mode is Mode.NEGATIVE)
        return all(clause.positive & positive or clause.negative & negative for clause in action.clauses)

    assert {candidate for candidate in product(Mode, repeat=ATOMS) if admitted(candidate)} == consistent
    for number in range(ATOMS):
        left = {candidate[number] for candidate in consistent}
        proven = action.proven
        if proven.positive >> number & 1:
            assert left == {Mode.POSITIVE}
        if proven.negative >> number & 1:
            assert left == {Mode.NEGATIVE}


@thorough(150)
@given(preconditions, situations)
def test_an_outcome_is_called_certain_only_if_every_possible_precondition_agrees(
    truth: Precondition, asked: list[int]
) -> None:
    action = ActionHypotheses(INDEX)
    for held in asked:
        (action.succeeded if _executable(truth, held) else action.failed)(held, 0)
    for held in range(EVERYTHING + 1):
        answers = {
            _executable(candidate, held)
            for candidate in product(Mode, repeat=ATOMS)
            if all(_executable(candidate, other) == _executable(truth, other) for other in asked)
        }
        violated = action.violated(held, 0)
        assert answers == {False} or not action.certain_to_fail(violated)
        assert answers == {True} or violated


@thorough(150)
@given(
    st.sampled_from(Mode),
    st.lists(st.tuples(st.sampled_from([True, False, None]), st.booleans()), max_size=6),
)
def test_an_effect_keeps_the_modes_that_explain_every_step(
    truth: Mode, steps: list[tuple[bool | None, bool]]
) -> None:
    """Values before may be hidden, those after too: what is left is what some hidden value explains."""
    action = ActionHypotheses(INDEX)
    outcome = {
        Mode.POSITIVE: lambda was: True,
        Mode.NEGATIVE: lambda was: False,
        Mode.ABSENT: lambda was: was,
    }
    possible = set(Mode)
    for was, shown in steps:
        really = bool(was)
        now = outcome[truth](really)
        before = (really and was is not None, was is None)
        after = (now and shown, not shown)
        action.changed((int(before[0]), int(before[1])), (int(after[0]), int(after[1])))
        if shown:
            worlds = (False, True) if was is None else (really,)
            possible &= {mode for mode in Mode if any(outcome[mode](world) == now for world in worlds)}
    masks = zip(Mode, (action.adds, action.deletes, action.keeps), strict=True)
    assert {mode for mode, mask in masks if mask & 1} == possible
    assert truth in possible


def test_refusing_where_nothing_is_left_to_blame_is_a_contradiction() -> None:
    action = ActionHypotheses(INDEX)
    action.succeeded(0b111, 0)
    with pytest.raises(InconsistentAgent, match="refused although"):
        action.failed(0b111, 0)


def test_executing_where_a_proven_precondition_is_violated_is_a_contradiction() -> None:
    action = ActionHypotheses(INDEX)
    action.succeeded(0b111, 0)
    action.failed(0b110, 0)
    assert action.proven == Literals(0b001, 0)
    with pytest.raises(InconsistentAgent, match=r"p0\(\)"):
        action.succeeded(0b110, 0)


def test_a_clause_disappears_once_a_proof_explains_it_and_shrinks_when_a_literal_is_cleared() -> None:
    action = ActionHypotheses(INDEX)
    action.succeeded(0b111, 0)
    action.failed(0b000, 0)
    action.failed(0b001, 0)
    assert action.clauses == [Literals(0b110, 0)], "the weaker clause goes"
    action.succeeded(0b011, 0)
    assert action.clauses == []
    assert action.proven == Literals(0b010, 0)
    assert action.undecided == Literals(0b001, 0)


def test_an_unknown_value_is_neither_held_nor_violated_for_sure() -> None:
    action = ActionHypotheses(INDEX)
    action.succeeded(0b001, 0b110)
    assert action.positive == 0b111, "what was not seen may have held"
    assert action.negative == 0b110, "p0 was seen to hold"
    assert action.violated(0b001, 0b110) == Literals(0b110, 0b110)


@thorough(60)
@given(domains.domains())
def test_at_first_everything_is_possible(domain: Domain) -> None:
    hypotheses = Hypotheses(domain.model.vocabulary, domain.model.headers)
    assert_sound(hypotheses, domain.model)
    pals = list(hypotheses.pal_tuples())
    assert len(pals) == len(set(pals)) == hypotheses.size
    assert all(hypotheses.modes(pal) == tuple(Mode) for pal in pals)
    assert hypotheses.decided() == 0
    assert sum(pal.location is Location.PRE for pal in pals) * 2 == len(pals)


@thorough(100)
@given(st.integers(0, 2**70))
def test_bits_take_a_mask_apart(mask: int) -> None:
    parts = list(bits(mask))
    assert sum(parts) == mask
    assert all(part.bit_count() == 1 for part in parts)
    assert parts == sorted(parts)
