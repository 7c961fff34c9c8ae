"""What is noted beside weights that learned from few labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aam_vision.agents.perception import ImageTest
from aam_vision.interrogation.examination.findings import Diagnosis, Family
from aam_vision.run.labelling_note import FILE, doubts, labelled, seen, untested, with_other_cause


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"labelled_pictures": "7", "labelled_atoms": -1, "sure": 0}', '{"refused": "x"}']
)
def test_a_note_of_strangers_is_not_believed(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert labelled(tmp_path) == {"labelled_pictures": None, "labelled_atoms": None}
    assert not doubts(tmp_path)


def test_weights_that_have_not_passed_their_test_are_named(tmp_path: Path) -> None:
    note = tmp_path / FILE
    note.write_text('{"labelled_pictures": 10, "labelled_atoms": 900, "sure": false}')
    assert labelled(tmp_path) == {"labelled_pictures": 10, "labelled_atoms": 900}
    (line,) = doubts(tmp_path)
    assert "learned from the labels of 10 pictures and have not passed their test" in line
    assert "may misread pictures; label more" in line
    note.write_text('{"labelled_pictures": 10, "labelled_atoms": 900, "sure": false, "refused": 0.25}')
    assert (
        "may misread pictures, and left something open in 25% of them on walks; label" in doubts(tmp_path)[0]
    )
    note.write_text('{"ask": "atoms", "labelled_pictures": 1, "labelled_atoms": 60, "sure": false}')
    assert "learned from 60 answers about 1 picture and have" in doubts(tmp_path)[0]
    note.write_text('{"labelled_pictures": 10, "labelled_atoms": 900, "sure": true}')
    assert not doubts(tmp_path)


def test_other_weights_have_no_note(tmp_path: Path) -> None:
    assert labelled(None) == labelled(tmp_path) == {"labelled_pictures": None, "labelled_atoms": None}
    assert not doubts(None)


def test_a_diagnosis_by_weights_that_have_not_passed_their_test_names_the_other_cause(tmp_path: Path) -> None:
    found, note = Diagnosis(Family.CONDITIONAL, "move", "move: depends on the state"), tmp_path / FILE
    note.write_text('{"labelled_pictures": 10, "labelled_atoms": 900, "sure": false}')
    assert "pictures were misread" in with_other_cause(found, tmp_path).otherwise
    note.write_text('{"labelled_pictures": 10, "labelled_atoms": 900, "sure": true}')
    assert with_other_cause(found, tmp_path) == with_other_cause(found, None) == found


def test_a_diagnosis_by_classifiers_that_failed_unseen_images_names_misreading() -> None:
    found = Diagnosis(Family.CONDITIONAL, "move", "move: depends on the state")
    assert "read 397 of 400 unseen images" in with_other_cause(found, None, ImageTest(397, 400)).otherwise
    assert with_other_cause(found, None, ImageTest(400, 400)) == found


def test_classifiers_of_ones_own_are_untested_until_they_have_passed(tmp_path: Path) -> None:
    failed = ImageTest(397, 400)
    assert untested(None, failed) == "", "the weights that come with the package are known"
    assert untested(tmp_path, ImageTest(400, 400)) == untested(tmp_path, None) == ""
    assert untested(tmp_path, failed) == (
        "the classifiers read 397 of 400 unseen images exactly: they have not passed their test"
    )
    (tmp_path / FILE).write_text('{"labelled_pictures": 10, "labelled_atoms": 900, "sure": false}')
    assert "label more" in untested(tmp_path, None)


SURE = '{"labelled_pictures": 60, "labelled_atoms": 900, "sure": true, "test": {"pictures": 72, "misread": 0, "bound": 0.0499}}'


def test_labels_pass_by_a_test_in_which_nothing_was_misread(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(SURE)
    assert seen(tmp_path, ImageTest(50, 72)) == (
        "the classifiers misread none of 72 images of their test, and left something open in 22, "
        "so that with 95% confidence at most 5.0% of such images are misread"
    )
    assert untested(tmp_path, ImageTest(50, 72)) == ""
    assert seen(tmp_path, ImageTest(71, 72, 1)) == "", "trained anew since, and worse"
    assert "71 of 72" in untested(tmp_path, ImageTest(71, 72, 1))
    assert seen(None, ImageTest(72, 72)) == seen(tmp_path, None) == ""


def test_labels_of_boards_pass_by_their_own_test(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"labelled_pictures": 10, "labelled_atoms": 900, "sure": true}')
    assert untested(tmp_path, ImageTest(0, 0)) == "", "their cards have no figures of whole states"
    (tmp_path / FILE).unlink()
    assert "0 of 0" in untested(tmp_path, ImageTest(0, 0))


def test_images_that_were_read_exactly_bound_the_others(tmp_path: Path) -> None:
    told = "the classifiers read 400 of 400 unseen images exactly, so that with 95% confidence at most 0.7% of such images are misread"
    assert seen(tmp_path, ImageTest(400, 400)) == told


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ({"pictures": 40, "misread": 0}, "were shown 40 pictures of it; label more"),
        ({"pictures": 12, "misread": 1}, "misread 1 of 12 pictures of it; label more"),
        ({"pictures": "12", "misread": 1}, "may misread pictures; label more"),
        ([], "may misread pictures; label more"),
    ],
)
def test_what_the_test_of_labels_lacks_is_told(tmp_path: Path, test: object, told: str) -> None:
    note = {"labelled_pictures": 60, "labelled_atoms": 900, "sure": False, "test": test}
    (tmp_path / FILE).write_text(json.dumps(note))
    assert untested(tmp_path, ImageTest(0, 0)).endswith(told)
