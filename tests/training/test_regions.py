"""Regions grown from points: the pixels of what stands out around a point, and neither shadows nor neighbours."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_a_further_point_extends_a_region():
    regions = Regions(_drawn(), BEHIND)
    both = regions.grown({"one": [(25, 35), (38, 39)]})["one"]
    assert _overlap(both, _mask(ONE) | _mask(OTHER)) > 0.95


def test_a_point_beside_a_thing_leads_to_it_and_one_at_nothing_stays():
    regions = Regions(_drawn(both=False), BEHIND)
    assert _overlap(regions.grown({"one": [(17, 35)]})["one"], _mask(ONE)) > 0.9
    assert regions.grown({"one": [(0, 0)]})["one"].sum() <= 9
    assert regions.grown({}) == {}


def test_large_pictures_are_looked_at_more_coarsely():
    larger = 8
    frame = _drawn(larger=larger)
    behind = BEHIND.repeat(larger, 0).repeat(larger, 1)
    found = Regions(frame, behind).grown(
        {"one": [(25 * larger, 35 * larger)], "other": [(38 * larger, 39 * larger)]}
    )
    assert found["one"].shape == frame.shape[:2]
    assert _overlap(found["one"], _mask(ONE).repeat(larger, 0).repeat(larger, 1)) > 0.85


def test_the_middle_of_a_region_is_in_it_and_its_outline_around_it():
    mask = _mask(ONE) | _mask(OTHER)
    assert mask[middle(mask)]
    numbers = np.array(re.findall(r"([\d.]+) ([\d.]+)", outline_path(mask)), float)
    rows, columns = np.nonzero(mask)
    assert numbers[:, 1].min() * 60 == pytest.approx(rows.min(), abs=0.6)
    assert numbers[:, 1].max() * 60 == pytest.approx(rows.max() + 1, abs=0.6)
    assert numbers[:, 0].min() * 80 == pytest.approx(columns.min(), abs=0.6)
    assert numbers[:, 0].max() * 80 == pytest.approx(columns.max() + 1, abs=0.6)
