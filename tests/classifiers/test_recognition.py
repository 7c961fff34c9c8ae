"""Labelled looks: which places are recognised, what is believed of them, and the file that holds them, which may be anybody's."""

from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save as dump_tensors

from aam_vision.classifiers.looks import LabelledLooks
from aam_vision.classifiers.recognition import Familiarity, Recognition, unlike
from aam_vision.classifiers.store import from_bytes, to_bytes
from aam_vision.support.errors import UnusableInput
from tests.refusals import told_by

SIDE = 16
SURE = np.full((1, 1), 0.1, np.float32), np.full((1, 1), 0.9, np.float32)


def _look(value):
    """A plain cell."""
    return np.full((3, SIDE + 2, SIDE + 2), value, np.uint8)


def _known(*places, limit=6.0):
    """Labelled places with one classifier: (values of the cells, label) each."""
    values = sorted({value for cells, _ in places for value in cells})
    return LabelledLooks(
        np.stack([_look(value) for value in values]),
        np.array([values.index(value) for cells, _ in places for value in cells], np.int32),
        np.repeat(np.arange(len(places), dtype=np.int32), [len(cells) for cells, _ in places]),
        np.ones((len(places), 1), bool),
        np.array([[label] for _, label in places], np.int8),
        np.full(len(places), limit, np.float32),
    )


def _label(known, *values, asked=True):
    cells = np.stack([_look(value) for value in values])
    (found,) = Recognition(known).labels([cells], np.array([[asked]]))
    return None if found is None else int(found[0])


TWO = _known(([100], 0), ([140], 1))
SAME = _known(([100], 0), ([101], 1))
NEAR, ALONE = _known(([100], 0), ([116], 1)), _known(([100], 0), ([200], 1))
ROOMS = _known(([100, 100, 60], 1), ([100, 100], 1), ([100, 200], 0))
"""Fences (200) are what tells; a cell with a player (60) was seen in an open room only."""


@pytest.mark.parametrize(
    ("known", "values", "label"),
    [
        (TWO, [100], 0),
        (TWO, [104], 0),
        (TWO, [138], 1),
        (TWO, [120], None),  # as near to the one as to the other
        (TWO, [200], None),  # like nothing
        (SAME, [100], None),  # the same but for their labels
        (SAME, [101], None),
        (NEAR, [108], None),
        (ALONE, [108], 0),  # what is far from all others may differ more
        (ALONE, [120], None),
        (ROOMS, [100, 100, 100, 100], 1),
        (ROOMS, [100, 60], 1),
        (ROOMS, [100, 200, 200, 100], 0),
        (ROOMS, [60, 200], None),  # neither looks like that
        (ROOMS, [100, 30], None),
        (ROOMS, [100], 1),
        # all of either kind have what this lacks
        (_known(([100, 60], 1), ([100, 200], 0)), [100, 100], None),
    ],
)
def test_a_place_has_the_labels_of_the_nearest_looks_unless_it_is_strange_or_between(known, values, label):
    assert _label(known, *values) == label
    assert _label(known, *values, asked=False) is None  # other classifiers are asked


def test_a_network_is_believed_only_where_the_look_agrees():
    known = Recognition(TWO)
    cells = [_look(value)[None] for value in (103, 103, 137, 137, 250)]
    probabilities = np.array([[0.02, 0.97, 0.6, 0.01, 0.99]], np.float32)
    found = known.doubted(probabilities, cells, np.ones((1, 5), bool), SURE)
    assert found.tolist() == [[0.0, 0.5, 1.0, 0.5, 0.5]]
    assert probabilities[0, 1] == np.float32(0.97)


def test_where_the_network_contradicts_one_label_the_place_was_taken_for_another():
    """A robot with a person that nobody labelled looks much like one that faces elsewhere, without a person."""
    two_heads = replace(_known(([100], 0)), asked=np.ones((1, 2), bool), labels=np.array([[1, 0]], np.int8))
    sure = np.full((2, 1), 0.1, np.float32), np.full((2, 1), 0.9, np.float32)
    probabilities, cells = np.array([[0.01, 0.95], [0.02, 0.02]], np.float32), [_look(103)[None]] * 2
    found = Recognition(two_heads).doubted(probabilities, cells, np.ones((2, 2), bool), sure)
    assert found.tolist() == [[0.5, 1.0], [0.5, 0.0]]


def test_the_pixels_of_a_labelled_cell_have_its_label_whatever_the_network_says():
    """Unless something with the same pixels was labelled otherwise; of rooms, cells are only parts of what they are asked about."""
    rooms = _known(([100, 100], 0), ([140, 140], 1))
    for known, cells, found in ((TWO, 1, 0.0), (SAME, 1, 0.5), (rooms, 2, 0.5)):
        places, asked = [np.stack([_look(100)] * cells)], np.ones((1, 1), bool)
        assert Recognition(known).doubted(np.array([[0.99]], np.float32), places, asked, SURE) == found


# --- classifiers that passed their test: what looks unlike everything learned from is left unknown ---


def _doubted(known, probability, *values):
    asked, cells = np.ones((1, 1), bool), np.stack([_look(value) for value in values])
    found = Familiarity(known).doubted(np.array([[probability]], np.float32), [cells], asked, SURE)
    assert bool(unlike(found, asked)[0]) == (found[0, 0] == 0.5)
    return float(found[0, 0])


@pytest.mark.parametrize(
    ("known", "values", "probability", "left"),
    [
        (TWO, [100], 0.02, True),
        (TWO, [104], 0.02, True),
        (TWO, [104], 0.4, True),  # it is for the classifier to be unsure
        (TWO, [104], 0.97, False),  # which is what no such look was
        (TWO, [140], 0.97, True),
        (TWO, [120], 0.02, False),  # like nothing
        (TWO, [250], 0.97, False),
        (SAME, [100], 0.02, True),  # equal looks were labelled otherwise: it sees beyond the pixels
        (SAME, [100], 0.97, True),
        (ROOMS, [100, 60, 100], 0.97, True),
        (ROOMS, [100, 30], 0.97, False),  # every cell of a place must be familiar
        (ROOMS, [100, 200], 0.97, False),  # so looked what was labelled no
    ],
)
def test_a_classifier_is_believed_where_a_look_is_familiar_and_was_labelled_so(
    known, values, probability, left
):
    assert _doubted(known, probability, *values) == (pytest.approx(probability) if left else 0.5)


def test_places_that_are_asked_about_otherwise_are_not_compared_and_answers_are_remembered():
    known = Familiarity(_known(([100], 0)))
    asked, cells = np.array([[True, False, True]]), [_look(value)[None] for value in (100, 100, 30)]
    for _ in range(2):
        found = known.doubted(np.array([[0.02, 0.3, 0.02]], np.float32), cells, asked, SURE)
        assert found.tolist() == [[pytest.approx(0.02), 0.5, 0.5]]
        assert unlike(found, asked).tolist() == [False, False, True]


# --- the file -------------------------------------------------------------------------------------

PARTS = ("looks", "cells", "places", "asked", "labels", "limits")


def test_the_file_gives_back_what_was_saved():
    known = _known(([100, 60], 1), ([100], 0))
    again = from_bytes(to_bytes(known), 1, SIDE)
    for name in PARTS:
        assert np.array_equal(getattr(known, name), getattr(again, name))
    assert to_bytes(again) == to_bytes(known)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("looks", np.zeros((2, 3, 9, 9), np.uint8), "has looks of shape"),
        ("looks", np.zeros((2, 3, SIDE + 2, SIDE + 2)), "no looks of type uint8"),
        ("cells", np.array([0, 7, 1], np.int32), "mean nothing"),
        ("cells", np.array([0, -1, 1], np.int32), "mean nothing"),
        ("places", np.array([0, 0, 2], np.int32), "mean nothing"),
        ("labels", np.array([[1], [2]], np.int8), "mean nothing"),
        ("labels", np.ones((2, 3), np.int8), "has labels of shape"),
        ("limits", np.array([1, np.nan], np.float32), "mean nothing"),
        ("limits", np.zeros(0, np.float32), "has asked of shape"),
        ("asked", None, "no asked"),
    ],
)
def test_a_file_that_means_nothing_is_refused_in_one_line(name, value, told):
    known = _known(([100, 60], 1), ([100], 0))
    parts = {part: getattr(known, part) for part in PARTS} | {"asked": known.asked.astype(np.uint8)}
    from_bytes(dump_tensors(parts), 1, SIDE)
    parts = {key: part for key, part in (parts | {name: value}).items() if part is not None}
    told_by(lambda: from_bytes(dump_tensors(parts), 1, SIDE), told)


@pytest.mark.parametrize("content", [b"", b"x" * 50, np.random.default_rng(0).bytes(3000)])
def test_what_is_no_such_file_is_refused(content):
    with pytest.raises(UnusableInput, match="safetensors"):
        from_bytes(content, 1, SIDE)


def test_some_classifiers_alone():
    both = {"asked": np.hstack([TWO.asked, ~TWO.asked]), "labels": np.hstack([TWO.labels, 1 - TWO.labels])}
    two = replace(TWO, **both)
    assert np.array_equal(two.of_heads([0]).labels, TWO.labels)
    assert np.array_equal(two.of_heads([1, 0]).asked[:, 1], TWO.asked[:, 0])
