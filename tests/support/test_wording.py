"""Numbers and long lines in messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.support import wording


@pytest.mark.parametrize(
    ("number", "word", "told"),
    [
        (0, "step", "0 steps"),
        (1, "step", "1 step"),
        (2, "query", "2 queries"),
        (1, "query", "1 query"),
        (2, "pal tuple", "2 pal tuples"),
        (3, "day", "3 days"),
        (2, "box", "2 boxes"),
    ],
)
def test_one_is_not_several(number: int, word: str, told: str) -> None:
    assert wording.counted(number, word) == told


@given(st.lists(st.text(st.characters(categories=["L", "P"]), min_size=1, max_size=60)), st.integers(0, 8))
def test_no_line_is_longer_than_it_may_be_and_no_word_is_lost(words: list[str], indent: int) -> None:
    lines = wording.lines(" ".join(words), indent)
    assert all(len(line) <= wording.WIDTH for line in lines)
    assert " ".join(lines).split() == words


@given(st.text())
def test_a_line_of_a_log_is_printable_and_not_too_long(text: str) -> None:
    line = wording.one_line(text, 40)
    assert len(line) <= 40
    assert line.isprintable()
    if text.isprintable():
        assert line == text or (len(text) > 40 and line.endswith("..."))
