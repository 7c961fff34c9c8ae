"""Effects of atoms that become one: learned from without losing the truth, remembered until later steps tell more."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.hypotheses.models import (
    ActionHypotheses,
    Changes,
    Effects,
    JointStep,
    changed_together,
    explanation,
    joint_outcomes,
)
from aam_vision.model.strips import Location, Mode
from aam_vision.planning.joins import Fact
from tests import small
from tests.profiles import thorough

SIZE = 3
GROUP = 0b111
choices = st.lists(st.sets(st.sampled_from(Mode), min_size=1), min_size=SIZE, max_size=SIZE)


def _effects(possible: list[set[Mode]]) -> Effects:
    return Effects(*(sum(1 << n for n, modes in enumerate(possible) if mode in modes) for mode in Mode))


def _joint(modes: tuple[Mode, ...], value: bool) -> bool:
    """Deletions come first, then additions."""
    return Mode.POSITIVE in modes or (value and Mode.NEGATIVE not in modes)


POSSIBLE = [
    [{*modes} for modes in some]
    for some in product([modes for size in (1, 2, 3) for modes in combinations(Mode, size)], repeat=SIZE)
]
"""All modes that the effects on a group of atoms may have."""


@pytest.mark.parametrize("was", [True, False, None])
def test_the_outcomes_of_joint_effects_are_those_of_all_combinations(was: bool | None) -> None:
    values = (False, True) if was is None else (was,)
    for possible in POSSIBLE:
        assert joint_outcomes(_effects(possible), GROUP, was) == {
            _joint(modes, value) for modes in product(*possible) for value in values
        }


@pytest.mark.parametrize("was", [True, False, None])
@pytest.mark.parametrize("now", [True, False])
def test_joint_effects_lose_no_mode_that_explains_what_was_seen(was: bool | None, now: bool) -> None:
    values = (False, True) if was is None else (was,)
    for possible in POSSIBLE:
        shown = [m for m in product(*possible) if any(now == _joint(m, value) for value in values)]
        if not shown:
            continue
        before = _effects(possible)
        left = changed_together(before, JointStep(GROUP, was, now))
        explained = _effects([{modes[n] for modes in shown} for n in range(SIZE)])
        for kept, needed, had in zip(left, explained, before, strict=True):
            assert not needed & ~kept
            assert not kept & ~had
        if not now or was is False:
            assert left == explained


def test_a_certain_deletion_was_undone_by_the_one_that_may_add_and_without_any_nothing_was_deleted() -> None:
    either = {Mode.POSITIVE, Mode.ABSENT}
    for possible, left in (
        ([{Mode.NEGATIVE}, either], [{Mode.NEGATIVE}, {Mode.POSITIVE}]),
        ([{Mode.NEGATIVE, Mode.ABSENT}, {Mode.ABSENT}], [{Mode.ABSENT}, {Mode.ABSENT}]),
    ):
        assert changed_together(_effects(possible), JointStep(0b11, True, True)) == _effects(left)


# --- an action whose arguments may name one object, or a constant ------------------------------------

PAIR, PLAIN = (small.model("act x y", predicates="p/1 q/0", constants=one) for one in ("k", ""))
TWO = AtomIndex(PAIR.vocabulary, PAIR.headers[0], repeated=True)
ROWS = [("a", "b"), ("a", "a"), ("a", "k"), ("k", "a"), ("k", "k")]
every_mode = st.lists(
    st.sets(st.sampled_from(Mode), min_size=1), min_size=len(TWO.atoms), max_size=len(TWO.atoms)
)
facts_of = st.sets(st.sampled_from([("p", ("a",)), ("p", ("b",)), ("p", ("k",)), ("q", ())]))


def _with_effects(possible: list[set[Mode]]) -> ActionHypotheses:
    action = ActionHypotheses(TWO)
    action.adds, action.deletes, action.keeps = _effects(possible)
    return action


def _after(modes: tuple[Mode, ...], facts: dict[int, Fact], true: set[Fact]) -> set[Fact]:
    added = {facts[1 << n] for n, mode in enumerate(modes) if mode is Mode.POSITIVE}
    return true - {facts[1 << n] for n, mode in enumerate(modes) if mode is Mode.NEGATIVE} | added


def _truth(data: st.DataObject, possible: list[set[Mode]]) -> tuple[Mode, ...]:
    return tuple(data.draw(st.sampled_from(sorted(modes, key=str))) for modes in possible)


def _take(action: ActionHypotheses, row: tuple[str, str], true: set[Fact], truth: tuple[Mode, ...]) -> None:
    """Learn from a step of an action with these true effects."""
    facts = dict(TWO.grounded(row))
    after = _after(truth, facts, true)
    shared = TWO.shared(row)
    action.changed((_bits(facts, true), shared), (_bits(facts, after), shared))
    for group in TWO.coinciding(row):
        fact = facts[group & -group]
        action.changed_together(group, fact in true, fact in after)


def _bits(facts: dict[int, Fact], true: set[Fact]) -> int:
    return sum(bit for bit, fact in facts.items() if fact in true)


@thorough(400)
@given(every_mode, st.sampled_from(ROWS), facts_of, facts_of)
def test_predictions_are_what_all_combinations_of_effects_agree_on(
    possible: list[set[Mode]], row: tuple[str, str], some: set[Fact], hidden: set[Fact]
) -> None:
    facts = dict(TWO.grounded(row))
    true = some - hidden
    always = never = TWO.everything
    for modes in product(*possible):
        for extra in (set(), hidden):  # hidden atoms are independent of each other
            now = _bits(facts, _after(modes, facts, true | extra))
            always &= now
            never &= ~now
    held, dim = _bits(facts, true), _bits(facts, hidden)
    assert _with_effects(possible).after(held, dim, row) == (always, TWO.everything & ~always & ~never)


@thorough(300)
@given(every_mode, st.sampled_from(ROWS), facts_of, st.data())
def test_what_atoms_that_are_one_did_together_is_learned_without_losing_the_truth(
    possible: list[set[Mode]], row: tuple[str, str], true: set[Fact], data: st.DataObject
) -> None:
    truth = _truth(data, possible)
    facts = dict(TWO.grounded(row))
    after = _after(truth, facts, true)
    action = _with_effects(possible)
    for group in TWO.coinciding(row):
        fact = facts[group & -group]
        before, version, outcomes = action.effects, action.version, action.joint_outcomes(group, fact in true)
        assert not action.changed_together(group, fact in true, None), (
            "nothing is told where the end is hidden"
        )
        told = action.changed_together(group, fact in true, fact in after)
        alone = changed_together(before, JointStep(group, fact in true, fact in after))
        assert all(not kept & ~left for kept, left in zip(action.effects, alone, strict=True))
        assert told is (len(outcomes) > 1) is (action.version > version)
        assert told or action.effects == before
        assert action.joint_outcomes(group, fact in true) == {fact in after}
    for number, mode in enumerate(truth):
        assert dict(zip(Mode, action.effects, strict=True))[mode] >> number & 1


@thorough(300)
@given(every_mode, st.lists(st.tuples(st.sampled_from(ROWS), facts_of), max_size=5), st.data())
def test_steps_are_predicted_and_are_what_the_model_does_in_whatever_order_they_were_taken(
    possible: list[set[Mode]], steps: list[tuple[tuple[str, str], set[Fact]]], data: st.DataObject
) -> None:
    """Although it may be open which of several effects brought them about, until others are excluded."""
    truth = _truth(data, possible)
    action, other = _with_effects(possible), _with_effects(possible)
    for told, order in ((action, steps), (other, data.draw(st.permutations(steps)))):
        for row, true in order:
            _take(told, row, true, truth)
    assert other.effects == action.effects
    schema = action.schema()
    chosen = tuple(schema.mode(atom, Location.EFF) for atom in TWO.atoms)
    for row, true in steps:
        facts = dict(TWO.grounded(row))
        after = _after(truth, facts, true)
        assert action.after(_bits(facts, true), 0, row) == (_bits(facts, after), 0)
        assert _after(chosen, facts, true) == after


@thorough(300)
@given(
    choices, st.lists(st.tuples(st.integers(1, GROUP), st.booleans(), st.booleans()), max_size=6), st.data()
)
def test_steps_are_explained_by_changes_that_are_possible_and_all_that_are_certain(
    possible: list[set[Mode]], seen: list[tuple[int, bool, bool]], data: st.DataObject
) -> None:
    truth = _truth(data, possible)
    steps = []
    for group, value, hidden in seen:
        together = tuple(mode for number, mode in enumerate(truth) if group >> number & 1)
        steps.append(JointStep(group, None if hidden else value, _joint(together, value)))
    effects = _effects(possible)
    certain = Changes(*_effects([modes if len(modes) == 1 else set() for modes in possible])[:2])
    found = explanation(effects, steps)
    assert not found.adds & found.deletes
    for some, known, may in zip(found, certain, effects, strict=False):
        assert known & ~some == some & ~may == 0
    for group, was, now in steps:
        together = tuple(
            Mode.POSITIVE if found.adds >> n & 1 else Mode.NEGATIVE if found.deletes >> n & 1 else Mode.ABSENT
            for n in range(SIZE)
            if group >> n & 1
        )
        assert any(_joint(together, value) == now for value in ((False, True) if was is None else (was,)))


def test_steps_that_contradict_each_other_are_explained_by_no_more_than_the_certain_changes() -> None:
    everything = (1 << 60) - 1
    for group in (GROUP, everything - 1):
        steps = [JointStep(group, True, now) for now in (False, True)]
        added = everything & ~group & -(everything & ~group)
        effects = Effects(everything, everything & ~added, everything & ~added)
        assert explanation(effects, steps) == Changes(added, 0)


@pytest.mark.parametrize(
    ("true", "false", "undone"),
    [
        ("", "", True),
        ("p x", "p y", False),  # they are never one where the action can be executed
        ("p x", "q", True),
    ],
)
def test_an_addition_may_undo_a_deletion_of_what_can_be_one(true: str, false: str, undone: bool) -> None:
    index = AtomIndex(PLAIN.vocabulary, PLAIN.headers[0], repeated=True)
    action = ActionHypotheses(index)
    p_x, p_y = (index.bit[small.lifted(atom)] for atom in ("p x", "p y"))
    action.positive, action.negative = (index.bit[small.lifted(one)] if one else 0 for one in (true, false))
    action.absent = index.everything & ~action.positive & ~action.negative
    action.adds, action.deletes, action.keeps = p_x, p_y, index.everything & ~p_x & ~p_y
    assert action.undoing == (p_x if undone else 0)
    assert AtomIndex(PAIR.vocabulary, TWO.header).merges, "a constant may be an argument"
    assert ActionHypotheses(AtomIndex(PLAIN.vocabulary, TWO.header)).undoing == 0
