"""Atoms that become one: found by unification as by trying all bindings, and learned from without losing the truth."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.hypotheses.unification import (
    Effects,
    changed_together,
    joint_outcomes,
    merge,
    under,
)
from aam_vision.joins import Fact
from aam_vision.strips import (
    ActionHeader,
    LiftedAtom,
    Mode,
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


SIZE = 3
GROUP = 0b111
choices = st.lists(st.sets(st.sampled_from(Mode), min_size=1), min_size=SIZE, max_size=SIZE)


def _effects(possible: list[set[Mode]]) -> Effects:
    return Effects(*(sum(1 << n for n, modes in enumerate(possible) if mode in modes) for mode in Mode))


def _joint(modes: tuple[Mode, ...], value: bool) -> bool:
    """Deletions come first, then additions."""
    return Mode.POSITIVE in modes or (value and Mode.NEGATIVE not in modes)


@thorough(200)
@given(choices, st.sampled_from([True, False, None]))
def test_the_outcomes_of_joint_effects_are_those_of_all_combinations(
    possible: list[set[Mode]], value: bool | None
) -> None:
    values = (False, True) if value is None else (value,)
    assert joint_outcomes(_effects(possible), GROUP, value) == {
        _joint(modes, was) for modes in product(*possible) for was in values
    }


@thorough(300)
@given(choices, st.sampled_from([True, False, None]), st.sampled_from([True, False, None]))
def test_joint_effects_lose_no_mode_that_explains_what_was_seen(
    possible: list[set[Mode]], was: bool | None, now: bool | None
) -> None:
    """What is said of one atom is learned; what is said of several is not kept."""
    values = (False, True) if was is None else (was,)
    shown = [m for m in product(*possible) if any(now in (None, _joint(m, value)) for value in values)]
    if not shown:
        return
    left = changed_together(_effects(possible), GROUP, was, now)
    before = _effects(possible)
    explained = _effects([{modes[n] for modes in shown} for n in range(SIZE)])
    for kept, needed, had in zip(left, explained, before, strict=True):
        assert not needed & ~kept
        assert not kept & ~had
    if now is False:
        assert left == explained
    if now and was is False:
        assert left == explained


@pytest.mark.parametrize(
    ("possible", "was", "now", "left"),
    [
        # one of them is deleted for certain: another one has put it back
        ([{Mode.NEGATIVE}, {Mode.POSITIVE, Mode.ABSENT}], True, True, [{Mode.NEGATIVE}, {Mode.POSITIVE}]),
        # none can add: none has deleted
        ([{Mode.NEGATIVE, Mode.ABSENT}, {Mode.ABSENT}], True, True, [{Mode.ABSENT}, {Mode.ABSENT}]),
        # several may have added: nothing is said of one of them
        ([{Mode.POSITIVE, Mode.ABSENT}] * 2, False, True, [{Mode.POSITIVE, Mode.ABSENT}] * 2),
        # nothing was seen afterwards
        ([set(Mode), set(Mode)], True, None, [set(Mode), set(Mode)]),
    ],
)
def test_what_joint_effects_say_of_one_atom_is_learned(
    possible: list[set[Mode]], was: bool | None, now: bool | None, left: list[set[Mode]]
) -> None:
    assert changed_together(_effects(possible), 0b11, was, now) == _effects(left)


# --- an action whose arguments may name one object, or a constant ------------------------------------

PAIR = Vocabulary("pair", (Predicate("p", ("object",)), Predicate("q")), Types(), {"k": "object"})
TWO = AtomIndex(PAIR, ActionHeader("act", ("x", "y"), ("object", "object")), repeated=True)
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
    truth = tuple(data.draw(st.sampled_from(sorted(modes, key=str))) for modes in possible)
    facts = dict(TWO.grounded(row))
    after = _after(truth, facts, true)
    action = _with_effects(possible)
    for group in TWO.coinciding(row):
        fact = facts[group & -group]
        before, version = action.effects, action.version
        told = action.changed_together(group, fact in true, fact in after)
        alone = changed_together(before, group, fact in true, fact in after)
        assert all(not kept & ~left for kept, left in zip(action.effects, alone, strict=True))
        assert told is (action.effects != before) is (action.version > version)
    for number, mode in enumerate(truth):
        assert dict(zip(Mode, action.effects, strict=True))[mode] >> number & 1


@thorough(300)
@given(every_mode, st.lists(st.tuples(st.sampled_from(ROWS), facts_of), max_size=5), st.data())
def test_steps_tell_the_same_in_whatever_order_they_are_taken(
    possible: list[set[Mode]], steps: list[tuple[tuple[str, str], set[Fact]]], data: st.DataObject
) -> None:
    """A step whose change has several possible reasons tells which it was once another step has excluded the others."""
    truth = tuple(data.draw(st.sampled_from(sorted(modes, key=str))) for modes in possible)
    told = []
    for order in (steps, data.draw(st.permutations(steps))):
        action = _with_effects(possible)
        for row, true in order:
            facts = dict(TWO.grounded(row))
            after = _after(truth, facts, true)
            shared = TWO.shared(row)
            action.changed((_bits(facts, true), shared), (_bits(facts, after), shared))
            for group in TWO.coinciding(row):
                fact = facts[group & -group]
                action.changed_together(group, fact in true, fact in after)
        told.append(action.effects)
    assert told[0] == told[1]


def test_a_deletion_that_was_undone_shows_the_addition_once_it_is_known() -> None:
    """act(?x, ?y) deletes p(?x) and adds p(?y): with one object p stays, and that is remembered."""
    action = ActionHypotheses(TWO)
    x, y = (1 << TWO.atoms.index(LiftedAtom("p", (n,))) for n in (0, 1))
    action.changed((TWO.everything, x | y), (TWO.everything, x | y))
    action.changed_together(x | y, True, True)
    assert action.effects == Effects(*[TWO.everything] * 3)._replace(deletes=x | y)
    action.changed((x | y, 0), (y, 0))
    assert action.deletes == x
    assert action.adds & ~action.keeps == y


@pytest.mark.parametrize(
    ("true", "false", "undone"),
    [
        ([], [], True),
        ([("p", (0,))], [("p", (1,))], False),  # they are never one where the action can be executed
        ([("p", (0,))], [("q", ())], True),
    ],
)
def test_an_addition_may_undo_a_deletion_where_both_atoms_can_be_one(
    true: list[tuple[str, tuple[int, ...]]], false: list[tuple[str, tuple[int, ...]]], undone: bool
) -> None:
    index = AtomIndex(replace(PAIR, constants={}), TWO.header, repeated=True)
    action = ActionHypotheses(index)
    p_x, p_y = (index.bit[LiftedAtom("p", (n,))] for n in (0, 1))
    action.positive = sum(index.bit[LiftedAtom(*atom)] for atom in true)
    action.negative = sum(index.bit[LiftedAtom(*atom)] for atom in false)
    action.absent = index.everything & ~action.positive & ~action.negative
    action.adds, action.deletes, action.keeps = p_x, p_y, index.everything & ~p_x & ~p_y
    assert action.undoing == (p_x if undone else 0)
    assert AtomIndex(PAIR, TWO.header).merges, "a constant may be an argument"
    assert ActionHypotheses(AtomIndex(replace(PAIR, constants={}), TWO.header)).undoing == 0
