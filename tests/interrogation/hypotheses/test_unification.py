"""Atoms that become one: found by unification as by trying all bindings, and learned from without losing the truth."""

from __future__ import annotations

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
from aam_vision.strips import Mode, Objects, lifted_atoms
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough


@thorough(150)
@given(domains.domains(constants=True, repeated=True), st.booleans(), st.data())
def test_atoms_unify_where_some_binding_makes_them_one(
    domain: Domain, repeated: bool, data: st.DataObject
) -> None:
    vocabulary = domain.model.vocabulary
    header = data.draw(st.sampled_from(domain.model.headers))
    kinds = [*vocabulary.types.parents] or ["object"]
    named = {f"{kind}-{number}": kind for kind in kinds for number in range(3)}
    objects = Objects({**named, **vocabulary.constants}, vocabulary.types)
    atoms = lifted_atoms(vocabulary, header, repeated=True)
    if not atoms:
        return
    first, second = data.draw(st.sampled_from(atoms)), data.draw(st.sampled_from(atoms))
    merged = merge(vocabulary, header, first, second, repeated=repeated)
    rows = [
        row
        for row in domains.all_bindings(header, objects, repeated=repeated)
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


@thorough(100)
@given(domains.domains(constants=True, repeated=True), st.data())
def test_predictions_are_what_all_combinations_of_effects_agree_on(
    domain: Domain, data: st.DataObject
) -> None:
    """Under a binding that makes atoms one as well."""
    header = domain.model.headers[0]
    index = AtomIndex(domain.model.vocabulary, header, repeated=True)
    rows = domains.all_bindings(header, domain.problems[0].objects, repeated=True)
    if not rows or not 0 < len(index.atoms) <= 5:
        return
    row = data.draw(st.sampled_from(rows))
    possible = [data.draw(st.sets(st.sampled_from(Mode), min_size=1)) for _ in index.atoms]
    action = ActionHypotheses(index)
    action.adds, action.deletes, action.keeps = _effects(possible)
    facts = dict(index.grounded(row))
    hidden = data.draw(st.sets(st.sampled_from(sorted(facts.values())), max_size=2))
    true = data.draw(st.sets(st.sampled_from(sorted(facts.values())))) - hidden
    held = sum(bit for bit, fact in facts.items() if fact in true)
    dim = sum(bit for bit, fact in facts.items() if fact in hidden)
    always, never = index.everything, index.everything
    for modes in product(*possible):
        added = {facts[1 << n] for n, mode in enumerate(modes) if mode is Mode.POSITIVE}
        deleted = {facts[1 << n] for n, mode in enumerate(modes) if mode is Mode.NEGATIVE}
        for extra in (set(), hidden):  # hidden atoms are independent of each other
            after = (true | extra) - deleted | added
            now = sum(bit for bit, fact in facts.items() if fact in after)
            always &= now
            never &= ~now
    assert action.after(held, dim, row) == (always, index.everything & ~always & ~never)
