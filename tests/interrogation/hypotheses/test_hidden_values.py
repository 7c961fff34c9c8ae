"""The factored hypotheses are exactly the models that agree with the answers: where an image hides atoms, all that some value explains."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals
from aam_vision.interrogation.hypotheses.models import ActionHypotheses
from aam_vision.model.strips import ActionHeader, Mode, Predicate, Vocabulary
from tests.profiles import promised, thorough

ATOMS = 3
EVERYTHING = (1 << ATOMS) - 1
INDEX = AtomIndex(
    Vocabulary("toy", tuple(Predicate(f"p{number}") for number in range(ATOMS))), ActionHeader("act")
)
Modes = tuple[Mode, ...]
MODES = list(product(Mode, repeat=ATOMS))
masks = st.integers(0, EVERYTHING)
seen_masks = st.lists(st.tuples(masks, st.just(0)), max_size=12) | st.lists(
    st.tuples(masks, masks), max_size=10
)
"""The atoms that hold, and those that are hidden."""


def _executable(precondition: Modes, world: int) -> bool:
    return all(
        mode is Mode.ABSENT or bool(world >> number & 1) is (mode is Mode.POSITIVE)
        for number, mode in enumerate(precondition)
    )


def _worlds(held: int, dim: int) -> list[int]:
    """All that may hold where so much is seen to hold, and so much is hidden."""
    return [world for world in range(EVERYTHING + 1) if world & ~dim == held]


def _mask(modes: Modes, wanted: Mode) -> int:
    return sum(1 << number for number, mode in enumerate(modes) if mode is wanted)


def _admitted(action: ActionHypotheses, modes: Modes) -> bool:
    positive, negative = _mask(modes, Mode.POSITIVE), _mask(modes, Mode.NEGATIVE)
    return not (
        positive & ~action.positive
        or negative & ~action.negative
        or _mask(modes, Mode.ABSENT) & ~action.absent
        or any(not (clause.positive & positive or clause.negative & negative) for clause in action.clauses)
    )


def _asked(truth: Modes, situations: list[tuple[int, int]]) -> tuple[ActionHypotheses, list[Modes]]:
    """What was learned, and all preconditions that explain every answer by some hidden values."""
    action, consistent = ActionHypotheses(INDEX), MODES
    for world, dim in situations:
        executed, held = _executable(truth, world), world & ~dim
        version, before = action.version, (action.positive, action.negative, action.absent, action.clauses)
        told = (action.succeeded if executed else action.failed)(held, dim)
        assert told is (before != (action.positive, action.negative, action.absent, action.clauses))
        assert (action.version > version) is told
        consistent = [
            modes
            for modes in consistent
            if any(_executable(modes, other) is executed for other in _worlds(held, dim))
        ]
    return action, consistent


@promised(300)
@given(st.sampled_from(MODES), seen_masks)
def test_what_is_hidden_counts_neither_as_held_nor_as_violated(
    truth: Modes, situations: list[tuple[int, int]]
) -> None:
    action, consistent = _asked(truth, situations)
    assert truth in consistent
    assert [modes for modes in MODES if _admitted(action, modes)] == consistent


@thorough(150)
@given(st.sampled_from(MODES), seen_masks)
def test_proven_undecided_and_possible_literals_are_those_of_all_some_and_any_models(
    truth: Modes, situations: list[tuple[int, int]]
) -> None:
    action, consistent = _asked(truth, situations)
    for literal in Literals(EVERYTHING, EVERYTHING).singles():
        share = {
            bool(
                literal.positive & _mask(modes, Mode.POSITIVE)
                or literal.negative & _mask(modes, Mode.NEGATIVE)
            )
            for modes in consistent
        }
        if literal.within(action.proven):
            assert share == {True}
        assert literal.within(action.candidates) or share == {False}
        assert literal.within(action.undecided) == (
            literal.within(action.candidates) and not literal.within(action.proven)
        )
    cautious = action.cautious
    required = tuple(
        Mode.POSITIVE
        if cautious.positive >> number & 1
        else Mode.NEGATIVE
        if cautious.negative >> number & 1
        else Mode.ABSENT
        for number in range(ATOMS)
    )
    assert not cautious.positive & cautious.negative or action.successes == 0
    bold = action.bold
    assert bold.within(cautious)
    assert action.proven.within(bold)
    assert bold.positive == cautious.positive & (action.held | action.proven.positive)
    for world, dim in situations:
        if not _executable(truth, world) and not cautious.positive & cautious.negative:
            assert any(not _executable(required, other) for other in _worlds(world & ~dim, dim))


@thorough(150)
@given(st.sampled_from(MODES), seen_masks, masks, masks)
def test_a_step_fails_for_certain_only_where_it_does_in_all_models_and_worlds(
    truth: Modes, situations: list[tuple[int, int]], world: int, dim: int
) -> None:
    action, consistent = _asked(truth, situations)
    held = world & ~dim
    outcomes = {_executable(modes, other) for modes in consistent for other in _worlds(held, dim)}
    for_sure = Literals(action.positive & ~(held | dim), action.negative & held)
    assert action.certainly_violated(held, dim) == for_sure
    assert outcomes == {False} or not action.certain_to_fail(for_sure)
    assert outcomes == {True} or action.violated(held, dim)
    some = Literals(held, world)
    violated = action.violated(held, dim, some)
    assert violated.within(some)
    assert violated == Literals(some.positive & ~held, some.negative & (held | dim))


@thorough(100)
@given(st.sampled_from(MODES), seen_masks, masks, masks)
def test_what_if_leaves_what_is_known_alone(
    truth: Modes, situations: list[tuple[int, int]], world: int, dim: int
) -> None:
    if not _executable(truth, world):
        world = _mask(truth, Mode.POSITIVE)
    action, consistent = _asked(truth, situations)
    assumed = action.assuming(world & ~dim, dim)
    assert [modes for modes in MODES if _admitted(action, modes)] == consistent
    left = [m for m in consistent if any(_executable(m, other) for other in _worlds(world & ~dim, dim))]
    assert [modes for modes in MODES if _admitted(assumed, modes)] == left


# --- effects --------------------------------------------------------------------------------------


def _outcome(effect: Modes, world: int) -> int:
    return world & ~_mask(effect, Mode.NEGATIVE) | _mask(effect, Mode.POSITIVE)


def _effects(action: ActionHypotheses) -> list[Modes]:
    return [
        modes
        for modes in MODES
        if not (
            _mask(modes, Mode.POSITIVE) & ~action.adds
            or _mask(modes, Mode.NEGATIVE) & ~action.deletes
            or _mask(modes, Mode.ABSENT) & ~action.keeps
        )
    ]


@promised(200)
@given(st.sampled_from(MODES), st.lists(st.tuples(masks, masks, masks), max_size=8), masks, masks)
def test_an_effect_is_what_some_hidden_values_explain_and_predictions_are_what_all_agree_on(
    truth: Modes, steps: list[tuple[int, int, int]], world: int, dim: int
) -> None:
    action, consistent = ActionHypotheses(INDEX), MODES
    for before, dim_before, dim_after in steps:
        after, held = _outcome(truth, before), before & ~dim_before
        shown = after & ~dim_after
        known = _effects(action)
        assert action.changed((held, dim_before), (shown, dim_after)) is (_effects(action) != known)
        consistent = [
            effect
            for effect in consistent
            if any(_outcome(effect, other) & ~dim_after == shown for other in _worlds(held, dim_before))
        ]
    assert _effects(action) == consistent
    held = world & ~dim
    outcomes = [_outcome(effect, other) for effect in consistent for other in _worlds(held, dim)]
    always = [sum(1 << n for n in range(ATOMS) if all(o >> n & 1 for o in outcomes))]
    ever = [sum(1 << n for n in range(ATOMS) if any(o >> n & 1 for o in outcomes))]
    assert action.after(held, dim, ()) == (always[0], ever[0] & ~always[0])
