"""Worse images are as strong as they say, and figures of calibration are right on cases worked out by hand."""

import numpy as np
import pytest

from aam_vision.agents.perception import NO_LABEL
from aam_vision.training.assessment import Reliability
from aam_vision.training.corruptions import CAMERA_CORRUPTIONS, CLEAN, CORRUPTIONS

VALUES = np.random.default_rng(0).integers(60, 190, (64, 48, 3))[::8, ::8]
FRAME = np.kron(VALUES, np.ones((8, 8, 1))).astype(np.uint8)


@pytest.mark.parametrize("corruption", [*CORRUPTIONS.values(), *CAMERA_CORRUPTIONS.values()])
def test_an_image_becomes_worse_and_the_same_with_the_same_seed(corruption):
    frame = FRAME.copy()
    worse, again = (corruption.corrupt(frame, np.random.default_rng(1)) for _ in range(2))
    assert (worse.shape, worse.dtype) == (frame.shape, np.uint8)
    assert (worse != frame).any()
    assert (frame == FRAME).all()
    assert (worse == again).all()


def test_strengths_are_what_the_names_say():
    rng = np.random.default_rng(2)

    def change(name):
        return (CORRUPTIONS[name].corrupt(FRAME, rng).astype(float) - FRAME) / 255

    assert 0.09 < change("noise 0.1").std() < 0.11
    assert np.allclose(abs(change("brightness 0.2")), 0.2, atol=0.01)
    assert np.allclose(abs(change("channels 0.2")), 0.2, atol=0.01)
    assert 0.03 < (change("salt-pepper 5%") != 0).any(axis=2).mean() < 0.07
    assert (CLEAN.corrupt(FRAME, rng) == FRAME).all()


@pytest.mark.parametrize(
    ("images", "figures"),
    [
        ([([1, 0], [1, 0]), ([0, 1], [0, 1])], {"ece": 0, "nll": 0, "all": 0}),
        # the error is the distance from the frequency
        ([([0.8] * 10, [1] * 6 + [0] * 4)], {"ece": 0.2, "nll": -(0.6 * np.log(0.8) + 0.4 * np.log(0.2))}),
        # risk falls when the least confident image was the wrong one
        ([([0.6, 0.01], [0, 0]), *[([0.99, 0.01], [1, 0])] * 9], {"all": 0.1, "most": 0}),
        ([([0.5, 1], [NO_LABEL, 1])], {"nll": 0}),
    ],
)
def test_figures_of_reliability(images, figures):
    found = Reliability()
    assert found.summary() == {}
    for probabilities, labels in images:
        found.add(np.array([probabilities], np.float32), np.array([labels], np.int8))
    told = {"ece": found.ece, "nll": found.nll, "all": found.risk(1.0), "most": found.risk(0.9)}
    for name, figure in figures.items():
        assert told[name] == pytest.approx(figure, abs=1e-6)
