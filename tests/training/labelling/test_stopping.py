"""Bounds are exact, and the test is passed only by answers since the last mistake."""

from math import comb

import pytest

from aam_vision.training.labelling.rounds import (
    CONFIDENCE,
    IN_A_ROW,
    TOLERATED,
    Examination,
    upper_bound,
)


@pytest.mark.parametrize(("wrong", "number"), [(0, 1), (0, 59), (0, 299), (1, 10), (3, 40), (9, 10)])
def test_the_bound_leaves_exactly_the_chance_that_it_says(wrong, number):
    share = upper_bound(wrong, number)
    chance = sum(comb(number, k) * share**k * (1 - share) ** (number - k) for k in range(wrong + 1))
    assert chance == pytest.approx(1 - CONFIDENCE, rel=1e-6)


def test_the_bound_without_a_mistake_is_the_known_formula():
    assert upper_bound(0, 299) == pytest.approx(1 - 0.05 ** (1 / 299))
    assert upper_bound(0, 0) == upper_bound(5, 5) == 1.0


def test_bounds_fall_with_answers_and_rise_with_mistakes():
    assert upper_bound(0, 100) < upper_bound(0, 50) < upper_bound(1, 50) < upper_bound(2, 50)


def test_a_mistake_begins_the_test_anew():
    test = Examination()
    for _ in range(IN_A_ROW):
        assert not test.passed
        test.add(right=400, wrong=0, refused=0)
    assert test.passed
    assert test.bound <= TOLERATED
    test.add(right=400, wrong=1, refused=0)
    assert not test.passed
    assert (test.answers, test.mistakes) == (0, 1)
    for _ in range(IN_A_ROW):
        test.add(right=400, wrong=0, refused=0)
    assert test.passed
    assert test.mistakes == 1


def test_what_is_refused_is_no_mistake_and_no_pass():
    test = Examination()
    for _ in range(5):
        test.add(right=400, wrong=0, refused=3)
    assert not test.passed
    assert test.bound <= TOLERATED


def test_few_answers_are_not_enough():
    test = Examination()
    for _ in range(IN_A_ROW + 1):
        test.add(right=10, wrong=0, refused=0)
    assert test.whole > IN_A_ROW
    assert not test.passed
