"""What is told is taken out of what is closed, wherever it was told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.completeness.indistinguishability import NONE, Closed, may_undo, without
from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, GroundLiterals
from aam_vision.model.strips import ActionHeader, LiftedAtom, Predicate, Types, Vocabulary
from tests.profiles import thorough

masks = st.integers(0, 15)
PAIR = Vocabulary("pair", (Predicate("p", ("object",)), Predicate("q")), Types(), {"k": "object"})


@pytest.mark.parametrize(
    ("row", "adding", "deleted", "undone"),
    [
        (("a", "a"), (0,), (1,), True),
        (("a", "a"), (0,), (0,), False),  # the very atom: an effect is one or the other
        (("a", "b"), (0,), (1,), False),  # two atoms
        (("a", "k"), (0,), (1,), False),
        (("a", "k"), (1,), ("k",), True),  # a constant for an argument
        (("a", "k"), ("k",), (1,), True),
        (("a", "k"), (1,), (0,), False),
    ],
)
def test_an_addition_may_undo_the_deletion_of_another_atom_that_is_the_same(
    row: tuple[str, str], adding: tuple[int | str], deleted: tuple[int | str], undone: bool
) -> None:
    index = AtomIndex(PAIR, ActionHeader("act", ("x", "y"), ("object", "object")), repeated=True)
    action = ActionHypotheses(index)
    action.deletes = index.bit[LiftedAtom("p", deleted)]
    assert may_undo(action, GroundLiterals(action, row), index.bit[LiftedAtom("p", adding)]) is undone


some = st.builds(Closed, st.builds(Literals, masks, masks), masks)


@thorough(100)
@given(st.dictionaries(st.sampled_from("abc"), some), st.lists(st.dictionaries(st.sampled_from("abc"), some)))
def test_whatever_was_told_anywhere_is_taken_out(
    closed: dict[str, Closed], told: list[dict[str, Closed]]
) -> None:
    left = without(closed, told)
    assert left.keys() == closed.keys()
    for name, mine in closed.items():
        others = [one.get(name, NONE) for one in told]
        assert left[name] == Closed(
            Literals(
                mine.literals.positive & ~_any(other.literals.positive for other in others),
                mine.literals.negative & ~_any(other.literals.negative for other in others),
            ),
            mine.effects & ~_any(other.effects for other in others),
        )
        for other in others:
            assert left[name].without(other) == left[name]
            assert mine.joined(other).without(mine) == other.without(mine)
            assert mine.joined(other) == other.joined(mine)


def _any(masks: Iterator[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found
