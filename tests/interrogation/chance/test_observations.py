"""The outcomes that are found explain every change, are as few as can be, and are sure only where they were all shown."""

from __future__ import annotations

import numpy as np

from aam_vision.interrogation.chance.observations import Change, change, explain

ATOMS = 4
EVERYTHING = (1 << ATOMS) - 1


def drawn(rng: np.random.Generator) -> list[tuple[int, int]]:
    """Some outcomes: what each adds and deletes."""
    found = set()
    for _ in range(int(rng.integers(1, 4))):
        adds = int(rng.integers(1 << ATOMS))
        found.add((adds, int(rng.integers(1 << ATOMS)) & ~adds))
    return sorted(found)


def seen(outcomes: list[tuple[int, int]], before: int) -> list[Change]:
    """What a situation shows if every outcome comes about in it."""
    return [change(before, (before | adds) & ~deletes, EVERYTHING) for adds, deletes in outcomes]


def test_every_change_is_shown_by_an_outcome_and_no_more_are_found_than_there_are() -> None:
    for seed in range(150):
        rng = np.random.default_rng(seed)
        outcomes = drawn(rng)
        changes = [one for before in rng.integers(1 << ATOMS, size=5) for one in seen(outcomes, int(before))]
        found = explain(changes)
        assert all(any(one.shows(shown) for one in found.outcomes) for shown in changes)
        assert len(found.outcomes) <= len(outcomes)


def test_what_is_sure_is_right() -> None:
    several = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        outcomes = drawn(rng)
        changes = [one for before in rng.integers(1 << ATOMS, size=6) for one in seen(outcomes, int(before))]
        found = explain(changes)
        if not found.sure:
            continue
        several += len(found.outcomes) > 1
        for one in found.outcomes:
            assert any(
                not (
                    one.adds & ~adds
                    or one.deletes & ~deletes
                    or one.adds_not & adds
                    or one.deletes_not & deletes
                )
                for adds, deletes in outcomes
            )
    assert several > 20


def test_a_situation_that_reveals_all_outcomes_settles_them() -> None:
    outcomes = [(0b0001, 0b0100), (0b0011, 0b0100), (0, 0)]
    found = explain(seen(outcomes, 0b0100))
    assert found.sure
    assert {(one.adds, one.deletes) for one in found.outcomes} == set(outcomes)


def test_hidden_effects_are_explained_by_the_fewest_outcomes() -> None:
    # one outcome adds two atoms, of which one held at first
    found = explain([*seen([(0b11, 0)], 0b01), *seen([(0b11, 0)], 0b10)])
    assert [(one.adds, one.deletes) for one in found.outcomes] == [(0b11, 0)]


def test_outcomes_that_no_situation_shows_together_are_not_sure() -> None:
    toggle = [(0b1, 0), (0, 0b1)]
    found = explain([*seen(toggle, 0), *seen(toggle, 1)])
    assert len(found.outcomes) == 2
    assert not found.sure


def test_no_change_at_all_is_one_outcome() -> None:
    found = explain([change(0b01, 0b01, EVERYTHING), change(0b10, 0b10, EVERYTHING)])
    assert [(one.adds, one.deletes) for one in found.outcomes] == [(0, 0)]
    assert found.outcomes[0].adds_not == EVERYTHING
