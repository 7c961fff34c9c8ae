"""A sensor's noise is told from what happens: small and independent everywhere."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.support.noise import MOST_NOISE, only_noise

SCENE = np.full((48, 64, 3), 120, np.uint8)
SCENE[10:30, 20:40] = (200, 60, 40)


def _look(seed, sigma, scene=SCENE):
    noise = np.random.default_rng(seed).normal(0, sigma, scene.shape)
    return (scene + noise).clip(0, 255).round().astype(np.uint8)


SEEDS = st.integers(0, 10_000)


@given(SEEDS, SEEDS, st.floats(0.2, MOST_NOISE - 1))
def test_two_looks_at_one_scene_differ_by_noise_alone(one, other, sigma):
    assert only_noise(_look(one, sigma), _look(other + 20_000, sigma))


CHANGES = st.sampled_from([(3, 90), (8, 25), (12, 12)])


@given(SEEDS, st.floats(0, 3), st.integers(0, 36), st.integers(0, 52), CHANGES)
def test_what_happens_is_no_noise(seed, sigma, row, column, change):
    side, by = change
    after = SCENE.copy()
    after[row : row + side, column : column + side, 1] += np.uint8(by)
    assert not only_noise(_look(seed, sigma), _look(seed + 20_000, sigma, after))


def test_a_brighter_light_and_a_single_pixel_are_no_noise():
    assert not only_noise(_look(0, 1.5), _look(1, 1.5, SCENE + np.uint8(4)))
    one = SCENE.copy()
    one[3, 3, 0] += 1
    assert not only_noise(SCENE, one)
    assert not only_noise(SCENE, SCENE[:-1])
    assert not only_noise(_look(0, 3 * MOST_NOISE), _look(1, 3 * MOST_NOISE))


def test_equal_and_tiny_images():
    assert only_noise(SCENE, SCENE)
    assert only_noise(_look(0, 2, SCENE[:5, :3]), _look(1, 2, SCENE[:5, :3]))
