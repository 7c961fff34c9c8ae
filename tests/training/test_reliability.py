"""Calibration error, cross entropy, and risk against coverage, on cases worked out by hand."""

import numpy as np
import pytest

from aam_vision.agents.perception import NO_LABEL
from aam_vision.training.assessment import Reliability


def _added(*images):
    found = Reliability()
    for probabilities, labels in images:
        found.add(np.array([probabilities], np.float32), np.array([labels], np.int8))
    return found


def test_perfect_answers():
    found = _added(([1, 0], [1, 0]), ([0, 1], [0, 1]))
    assert found.ece == pytest.approx(0)
    assert found.nll == pytest.approx(0)
    assert found.risk(1.0) == 0


def test_the_error_is_the_distance_from_the_frequency():
    found = _added(([0.8] * 10, [1] * 6 + [0] * 4))
    assert found.ece == pytest.approx(0.2, abs=1e-6)
    assert found.nll == pytest.approx(-(0.6 * np.log(0.8) + 0.4 * np.log(0.2)), abs=1e-6)


def test_risk_falls_when_the_least_confident_image_was_the_wrong_one():
    right = [([0.99, 0.01], [1, 0])] * 9
    found = _added(([0.6, 0.01], [0, 0]), *right)
    assert found.risk(1.0) == pytest.approx(0.1)
    assert found.risk(0.9) == 0


def test_what_has_no_label_does_not_matter():
    assert _added(([0.5, 1], [NO_LABEL, 1])).nll == pytest.approx(0)
    assert Reliability().summary() == {}
