"""What is told is taken out of what is closed, wherever it was told."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.completeness.closed_sets import NONE, Closed, without
from aam_vision.interrogation.hypotheses.literals import Literals
from tests.profiles import thorough

masks = st.integers(0, 15)
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


def _any(masks: Iterator[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found
