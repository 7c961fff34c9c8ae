"""Regions grown from points, neither shadows nor neighbours; and outlines in label files, which are COCO's."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aam_vision.support.errors import UnusableInput
from aam_vision.training.labels import outline_facts, read_outline
from aam_vision.training.regions import Colours, Regions, middle, outline_path

BEHIND = np.full((60, 80, 3), (195, 160, 120), np.uint8)
ONE, OTHER = np.s_[20:32, 30:42], np.s_[32:44, 32:46]


def _drawn(noise=0.0, *, both=True, larger=1):
    frame = BEHIND.copy()
    frame[24:46, 40:56] = BEHIND[24:46, 40:56] * 0.5  # a shadow
    frame[ONE] = (200, 30, 30)
    if both:
        frame[OTHER] = (30, 60, 200)
    frame = frame.repeat(larger, 0).repeat(larger, 1)
    chance = np.random.default_rng(0).normal(0, noise, frame.shape)
    return (frame + chance).clip(0, 255).round().astype(np.uint8)


def _mask(part):
    mask = np.zeros(BEHIND.shape[:2], bool)
    mask[part] = True
    return mask


def _overlap(one, other):
    return (one & other).sum() / (one | other).sum()


@given(st.integers(20, 31), st.integers(30, 41), st.sampled_from([0.0, 2.0, 4.0]))
def test_a_thing_by_itself_is_found_from_any_of_its_pixels(row, column, noise):
    found = Regions(_drawn(noise, both=False), BEHIND).grown({"one": [(row, column)]})
    assert _overlap(found["one"], _mask(ONE)) > 0.9


@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_things_that_touch_meet_at_the_edge_between_them(noise):
    found = Regions(_drawn(noise), BEHIND).grown({"one": [(25, 35)], "other": [(38, 39)]})
    assert _overlap(found["one"], _mask(ONE)) > 0.9
    assert _overlap(found["other"], _mask(OTHER)) > 0.9
    assert not (found["one"] & found["other"]).any()


def test_what_was_outlined_before_tells_things_of_two_colours_apart():
    """Of a checkered thing and a red one that touch, one point each: by edges alone, a check is taken for a thing's end."""
    frame = BEHIND.copy()
    checks = np.indices((16, 16)).sum(0) // 4 % 2 * 200 + 20
    frame[10:26, 30:46] = checks[..., None]
    frame[26:42, 30:46] = (200, 30, 30)
    one, other = _mask(np.s_[10:26, 30:46]), _mask(np.s_[26:42, 30:46])
    points = {"one": [(18, 38)], "other": [(34, 38)]}
    looks = {"one": "checkered", "other": "red"}
    colours = Colours()
    before = Regions(frame, BEHIND, colours, looks).grown(points)
    colours.add(frame, {"checkered": one, "red": other})
    found = Regions(frame, BEHIND, colours, looks).grown(points)
    assert _overlap(found["one"], one) > 0.9
    assert _overlap(found["other"], other) > 0.9
    assert _overlap(found["one"], one) >= _overlap(before["one"], one)


def test_a_further_point_extends_a_region_and_one_beside_a_thing_leads_to_it():
    both = Regions(_drawn(), BEHIND).grown({"one": [(25, 35), (38, 39)]})["one"]
    assert _overlap(both, _mask(ONE) | _mask(OTHER)) > 0.95
    regions = Regions(_drawn(both=False), BEHIND)
    assert _overlap(regions.grown({"one": [(17, 35)]})["one"], _mask(ONE)) > 0.9
    assert regions.grown({"one": [(0, 0)]})["one"].sum() <= 9
    assert regions.grown({}) == {}


def test_a_point_at_nothing_takes_away_what_stands_out_beside_a_thing():
    """Where a thing stands in most pictures, what is behind it stands out once it is gone."""
    points = {"one": [(25, 35)]}
    regions = Regions(_drawn(), BEHIND)
    assert _overlap(regions.grown(points)["one"], _mask(ONE)) < 0.7
    found = regions.grown(points, [(38, 39)])
    assert list(found) == ["one"]
    assert _overlap(found["one"], _mask(ONE)) > 0.9


def test_what_is_there_in_most_pictures_is_found_by_its_colour():
    """A drawer that is mostly shut does not stand out; what has been put before it does."""
    behind = BEHIND.copy()
    behind[16:40, 20:60] = (120, 90, 150)
    found = Regions(behind, behind).grown({"drawer": [(20, 50)]})["drawer"]
    assert _overlap(found, _mask(np.s_[16:40, 20:60])) > 0.95
    frame = behind.copy()
    frame[ONE] = (200, 30, 30)
    found = Regions(frame, behind).grown({"drawer": [(20, 50)], "one": [(25, 35)]})
    assert _overlap(found["one"], _mask(ONE)) > 0.9
    assert _overlap(found["drawer"], _mask(np.s_[16:40, 20:60]) & ~_mask(ONE)) > 0.95


def test_large_pictures_are_looked_at_more_coarsely():
    frame, behind = _drawn(larger=8), BEHIND.repeat(8, 0).repeat(8, 1)
    found = Regions(frame, behind).grown({"one": [(25 * 8, 35 * 8)], "other": [(38 * 8, 39 * 8)]})
    assert found["one"].shape == frame.shape[:2]
    assert _overlap(found["one"], _mask(ONE).repeat(8, 0).repeat(8, 1)) > 0.85


def test_the_middle_of_a_region_is_in_it_and_its_outline_around_it():
    mask = _mask(ONE) | _mask(OTHER)
    assert mask[middle(mask)]
    numbers = np.array(re.findall(r"([\d.]+) ([\d.]+)", outline_path(mask)), float)
    rows, columns = np.nonzero(mask)
    for found, size, own in ((numbers[:, 1], 60, rows), (numbers[:, 0], 80, columns)):
        assert found.min() * size == pytest.approx(own.min(), abs=0.6)
        assert found.max() * size == pytest.approx(own.max() + 1, abs=0.6)


# --- outlines -------------------------------------------------------------------------------------


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
