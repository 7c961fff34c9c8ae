"""Sets that are given by their members are the sets that rows of truth values are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.planning.fact_tables import Mask, Sets, distinct
from aam_vision.planning.pyperplan import packed, packed_sets, unpacked
from tests.profiles import thorough


@st.composite
def masks(draw: st.DrawFn) -> Mask:
    """Up to eight sets of numbers below 130: more than two words."""
    count, size = draw(st.integers(0, 8)), draw(st.integers(1, 130))
    pairs = draw(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 129)), max_size=60))
    mask = np.zeros((count, size), dtype=bool)
    for row, member in pairs:
        if row < count and member < size:
            mask[row, member] = True
    return mask


@thorough(150)
@given(masks(), st.data())
def test_the_members_of_some_sets_are_found_together(mask: Mask, data: st.DataObject) -> None:
    sets = Sets(*np.nonzero(mask), *mask.shape)
    assert (len(sets), sets.size) == mask.shape
    places = st.lists(st.integers(0, len(mask) - 1)) if len(mask) else st.just([])
    some = np.array(data.draw(places), dtype=np.int64)
    place, members = sets.of(some)
    expected = [(n, m) for n, row in enumerate(some.tolist()) for m in np.flatnonzero(mask[row]).tolist()]
    assert list(zip(place.tolist(), members.tolist(), strict=True)) == expected
    assert sets.count(some).tolist() == mask[some].sum(axis=1).tolist()


@thorough(150)
@given(masks())
def test_other_forms_have_the_same_members(mask: Mask) -> None:
    sets = Sets(*np.nonzero(mask), *mask.shape)
    count, size = mask.shape
    assert np.array_equal(packed_sets(sets), packed(mask))
    assert np.array_equal(unpacked(packed_sets(sets), size), mask)
    turned = sets.turned()
    assert np.array_equal(packed_sets(turned), packed(np.ascontiguousarray(mask.T)))
    columns = sets.columns(size)
    for number in range(count):
        members = np.flatnonzero(mask[number]).tolist()
        assert columns[:, number].tolist() == members + [size] * (len(columns) - len(members))


def test_a_member_that_is_given_twice_is_one() -> None:
    sets = Sets(np.array([1, 0, 1]), np.array([2, 0, 2]), count=3, size=4)
    assert sets.members.tolist() == [0, 2]
    assert sets.count(np.arange(3)).tolist() == [1, 1, 0]


@thorough(150)
@given(st.integers(0, 3), st.lists(st.integers(0, 2), max_size=24))
def test_different_rows_are_told_apart_as_numpy_does(width: int, values: list[int]) -> None:
    count = len(values) // width if width else len(values)
    rows = np.array(values[: count * width], dtype=np.int64).reshape(count, width)
    first, which = distinct(rows)
    if width and len(rows):
        expected, places, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        assert np.array_equal(rows[first], expected)
        assert first.tolist() == places.tolist()
        assert which.tolist() == inverse.ravel().tolist()
    else:
        assert (len(first), len(which)) == (min(len(rows), 1), len(rows))
