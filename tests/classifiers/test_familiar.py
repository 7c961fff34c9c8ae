"""Classifiers that passed their test: what looks unlike everything learned from is left unknown, and all else is as they say."""

import numpy as np
import pytest

from aam_vision.classifiers.recognition import Familiarity, unlike

from .test_recognition import _known, _look

SURE = np.full((1, 1), 0.1, np.float32), np.full((1, 1), 0.9, np.float32)


def _doubted(known, probability, *values):
    asked, cells = np.ones((1, 1), bool), np.stack([_look(value) for value in values])
    found = Familiarity(known).doubted(np.array([[probability]], np.float32), [cells], asked, SURE)
    assert bool(unlike(found, asked)[0]) == (found[0, 0] == 0.5)
    return float(found[0, 0])


@pytest.mark.parametrize(
    ("value", "probability", "left"),
    [
        (100, 0.02, True),
        (104, 0.02, True),
        (104, 0.4, True),  # it is for the classifier to be unsure
        (104, 0.97, False),  # which is what no such look was
        (140, 0.97, True),
        (120, 0.02, False),  # like nothing
        (250, 0.97, False),
    ],
)
def test_a_classifier_is_believed_where_a_look_is_familiar_and_was_labelled_so(value, probability, left):
    found = _doubted(_known(([100], 0), ([140], 1)), probability, value)
    assert found == (pytest.approx(probability) if left else 0.5)


def test_where_equal_looks_were_labelled_otherwise_the_classifier_decides():
    """It sees beyond the pixels that are compared."""
    for probability in (0.02, 0.97):
        assert _doubted(_known(([100], 0), ([101], 1)), probability, 100) == pytest.approx(probability)


def test_every_cell_of_a_place_must_be_familiar():
    known = _known(([100, 60], 1), ([100, 200], 0))
    assert _doubted(known, 0.97, 100, 60, 100) == pytest.approx(0.97)
    assert _doubted(known, 0.97, 100, 30) == 0.5
    assert _doubted(known, 0.97, 100, 200) == 0.5  # so looked what was labelled no


def test_places_that_are_asked_about_otherwise_are_not_compared_and_answers_are_remembered():
    known = Familiarity(_known(([100], 0)))
    asked, cells = np.array([[True, False, True]]), [_look(value)[None] for value in (100, 100, 30)]
    given = np.array([[0.02, 0.3, 0.02]], np.float32)
    for _ in range(2):
        found = known.doubted(given, cells, asked, SURE)
        assert found.tolist() == [[pytest.approx(0.02), 0.5, 0.5]]
        assert unlike(found, asked).tolist() == [False, False, True]
