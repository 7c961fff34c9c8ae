"""What need not be copied is not, and copies go on apart."""

from __future__ import annotations

from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.support.unchanging import Kept


@given(st.dictionaries(st.integers(), st.lists(st.integers())), st.integers(), st.lists(st.integers()))
def test_a_copy_has_the_same_entries_and_what_is_added_to_it_is_in_none_but_itself(
    entries: dict[int, list[int]], key: int, value: list[int]
) -> None:
    kept = Kept(entries)
    copied = deepcopy(kept)
    assert type(copied) is Kept
    assert copied == kept
    assert all(copied[one] is entries[one] for one in entries)
    copied[key] = value
    assert kept == entries
