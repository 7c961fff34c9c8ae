"""Labelled looks: which places are recognised, and the file that holds them, which may be anybody's."""

from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save as dump_tensors

from aam_vision.classifiers.looks import LabelledLooks
from aam_vision.classifiers.recognition import Recognition
from aam_vision.classifiers.store import from_bytes, to_bytes
from aam_vision.support.errors import UnusableInput
from tests.refusals import told_by

SIDE = 16
RNG = np.random.default_rng(0)


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


def test_a_cell_has_the_labels_of_the_nearest_look_unless_it_is_strange_or_between():
    known = _known(([100], 0), ([140], 1))
    assert [_label(known, value) for value in (100, 104, 138)] == [0, 0, 1]
    assert _label(known, 120) is None  # as near to the one as to the other
    assert _label(known, 200) is None  # like nothing
    assert _label(known, 100, asked=False) is None  # other classifiers are asked


def test_looks_that_are_the_same_but_for_their_labels_say_nothing():
    known = _known(([100], 0), ([101], 1))
    assert _label(known, 100) is None
    assert _label(known, 101) is None


def test_what_is_far_from_all_others_may_differ_more():
    near, alone = _known(([100], 0), ([116], 1)), _known(([100], 0), ([200], 1))
    assert _label(near, 108) is None
    assert _label(alone, 108) == 0
    assert _label(alone, 120) is None


def test_a_place_of_several_cells_is_known_by_all_of_them():
    """Fences (200) are what tells; a cell with a player (60) was seen in an open room only."""
    known = _known(([100, 100, 60], 1), ([100, 100], 1), ([100, 200], 0))
    assert _label(known, 100, 100, 100, 100) == 1
    assert _label(known, 100, 60) == 1
    assert _label(known, 100, 200, 200, 100) == 0
    assert _label(known, 60, 200) is None  # neither looks like that
    assert _label(known, 100, 30) is None
    assert _label(known, 100) == 1


def test_a_place_that_could_be_either_is_unknown():
    """Every labelled place of either kind has something that this one lacks."""
    assert _label(_known(([100, 60], 1), ([100, 200], 0)), 100, 100) is None


def test_a_network_is_believed_only_where_the_look_agrees():
    known = Recognition(_known(([100], 0), ([140], 1)))
    cells = [_look(value)[None] for value in (103, 103, 137, 137, 250)]
    probabilities = np.array([[0.02, 0.97, 0.6, 0.01, 0.99]], np.float32)
    sure = np.full((1, 1), 0.1, np.float32), np.full((1, 1), 0.9, np.float32)
    found = known.doubted(probabilities, cells, np.ones((1, 5), bool), sure)
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
    """Unless something with the same pixels was labelled otherwise."""
    sure = np.full((1, 1), 0.1, np.float32), np.full((1, 1), 0.9, np.float32)
    against, asked = np.array([[0.99]], np.float32), np.ones((1, 1), bool)
    known = Recognition(_known(([100], 0), ([140], 1)))
    assert known.doubted(against, [_look(100)[None]], asked, sure) == 0.0
    contradicting = Recognition(_known(([100], 0), ([101], 1)))
    assert contradicting.doubted(against, [_look(100)[None]], asked, sure) == 0.5
    rooms = Recognition(_known(([100, 100], 0), ([140, 140], 1)))  # only parts of what they are asked about
    assert rooms.doubted(against, [np.stack([_look(100)] * 2)], asked, sure) == 0.5


def test_the_file_gives_back_what_was_saved():
    known = _known(([100, 60], 1), ([100], 0))
    again = from_bytes(to_bytes(known), 1, SIDE)
    for name in ("looks", "cells", "places", "asked", "labels", "limits"):
        assert np.array_equal(getattr(known, name), getattr(again, name))
    assert to_bytes(again) == to_bytes(known)


def _parts(known):
    return {
        "looks": known.looks,
        "cells": known.cells,
        "places": known.places,
        "asked": known.asked.astype(np.uint8),
        "labels": known.labels,
        "limits": known.limits,
    }


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
    parts = _parts(_known(([100, 60], 1), ([100], 0)))
    from_bytes(dump_tensors(parts), 1, SIDE)
    parts = {key: part for key, part in (parts | {name: value}).items() if part is not None}
    told_by(lambda: from_bytes(dump_tensors(parts), 1, SIDE), told)


@pytest.mark.parametrize("content", [b"", b"x" * 50, RNG.bytes(3000)])
def test_what_is_no_such_file_is_refused(content):
    with pytest.raises(UnusableInput, match="safetensors"):
        from_bytes(content, 1, SIDE)


def test_some_classifiers_alone():
    known = _known(([100], 0), ([140], 1))
    two = replace(
        known,
        asked=np.hstack([known.asked, ~known.asked]),
        labels=np.hstack([known.labels, 1 - known.labels]),
    )
    assert np.array_equal(two.of_heads([0]).labels, known.labels)
    assert np.array_equal(two.of_heads([1, 0]).asked[:, 1], known.asked[:, 0])
