"""Outlines in label files are COCO's: what is written is read again, and what is none is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aam_vision.support.errors import UnusableInput
from aam_vision.training.outlines import outline_facts, read_outline


@given(st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(lambda size: arrays(bool, size)))
def test_run_lengths_are_read_as_they_were_written(mask):
    facts = outline_facts(mask)
    assert sum(facts["counts"]) == mask.size
    if mask.any():
        assert (read_outline(facts, mask.shape) == mask).all()
    else:
        with pytest.raises(UnusableInput, match="no pixel"):
            read_outline(facts, mask.shape)


def test_a_column_comes_before_the_next_one():
    mask = np.zeros((2, 3), bool)
    mask[1, 0] = mask[0, 1] = True
    assert outline_facts(mask) == {"size": [2, 3], "counts": [1, 2, 3]}


def test_polygons_enclose_pixels():
    found = read_outline([[2, 1, 5, 1, 5, 3, 2, 3], [0, 6, 1, 6, 1, 7]], (8, 9))
    assert found[1:4, 2:6].all()
    assert found[6:8].any()
    assert found.sum() < 16


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ([[2, 1, 50, 1, 5, 3]], "the point 50, 1 is outside of the picture of 9x8 pixels"),
        ([[2, 1, -1, 1, 5, 3]], "outside"),
        ([[2, 1, float("nan"), 1, 5, 3]], "outside"),
        ([[2, 1, 5, 1]], "three points at least"),
        ([[2, 1, 5, 1, 5]], "three points at least"),
        ([["2", 1, 5, 1, 5, 4]], "three points at least"),
        ([], "write"),
        ("all of it", "write"),
        ({"size": [9, 8], "counts": [72]}, r"is for a picture of size \[9, 8\]"),
        ({"size": [8, 9], "counts": [1, 2]}, "are of 3 pixels, and the picture has 72"),
        ({"size": [8, 9], "counts": "0P1"}, "compressed ones are not read"),
        ({"size": [8, 9], "counts": [-1, 73]}, "whole numbers"),
    ],
)
def test_what_is_no_outline_is_refused(facts, told):
    with pytest.raises(UnusableInput, match=told):
        read_outline(facts, (8, 9))
