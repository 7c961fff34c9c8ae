"""Worse images: same shape, as strong as they say, repeatable."""

import numpy as np
import pytest

from aam_vision.training.corruptions import CAMERA_CORRUPTIONS, CLEAN, CORRUPTIONS

ALL = {**CORRUPTIONS, **CAMERA_CORRUPTIONS}


def _frame():
    values = np.random.default_rng(0).integers(60, 190, (64, 48, 3))
    return np.kron(values[::8, ::8], np.ones((8, 8, 1))).astype(np.uint8)


@pytest.mark.parametrize("name", ALL)
def test_an_image_becomes_worse_and_the_same_with_the_same_seed(name):
    frame = _frame()
    before = frame.copy()
    worse = ALL[name].corrupt(frame, np.random.default_rng(1))
    assert worse.shape == frame.shape
    assert worse.dtype == np.uint8
    assert (worse != frame).any()
    assert (frame == before).all()
    assert (ALL[name].corrupt(frame, np.random.default_rng(1)) == worse).all()


def test_strengths_are_what_the_names_say():
    frame, rng = _frame(), np.random.default_rng(2)

    def change(name):
        return (CORRUPTIONS[name].corrupt(frame, rng).astype(float) - frame) / 255

    assert 0.09 < change("noise 0.1").std() < 0.11
    assert np.allclose(abs(change("brightness 0.2")), 0.2, atol=0.01)
    assert np.allclose(abs(change("channels 0.2")), 0.2, atol=0.01)
    assert 0.03 < (change("salt-pepper 5%") != 0).any(axis=2).mean() < 0.07
    assert (CLEAN.corrupt(frame, rng) == frame).all()
