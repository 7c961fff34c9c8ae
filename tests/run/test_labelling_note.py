"""What is noted beside weights that learned from few labels."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

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


def _noted(folder: Path, **told: object) -> Path:
    """Weights whose labelling is noted."""
    (folder / FILE).write_text(json.dumps({"labelled_pictures": 10, "labelled_atoms": 900, **told}))
    return folder


@pytest.mark.parametrize(
    ("note", "told"),
    [
        ({}, "labels of 10 pictures and have not passed their test: they may misread pictures; label more"),
        (
            {"refused": 0.25},
            "may misread pictures, and left something open in 25% of them on walks; label more",
        ),
        (
            {"ask": "atoms", "labelled_pictures": 1, "labelled_atoms": 60},
            "60 answers about 1 picture and have",
        ),
        ({"test": {"pictures": 40, "misread": 0}}, "were shown 40 pictures of it; label more"),
        ({"test": {"pictures": 12, "misread": 1}}, "misread 1 of 12 pictures of it; label more"),
        ({"test": {"pictures": "12", "misread": 1}}, "may misread pictures; label more"),
        ({"test": []}, "may misread pictures; label more"),
    ],
)
def test_weights_that_have_not_passed_are_named(tmp_path: Path, note: dict[str, Any], told: str) -> None:
    _noted(tmp_path, sure=False, **note)
    (line,) = doubts(tmp_path)
    assert told in line
    assert untested(tmp_path, ImageTest(0, 0)) == line


def test_weights_that_have_passed_are_in_no_doubt(tmp_path: Path) -> None:
    assert not doubts(_noted(tmp_path, sure=True))
    assert labelled(tmp_path) == {"labelled_pictures": 10, "labelled_atoms": 900}


def test_other_weights_have_no_note(tmp_path: Path) -> None:
    assert labelled(None) == labelled(tmp_path) == {"labelled_pictures": None, "labelled_atoms": None}
    assert not doubts(None)


def test_a_diagnosis_by_classifiers_that_have_not_passed_their_test_names_misreading(tmp_path: Path) -> None:
    found = Diagnosis(Family.CONDITIONAL, "move", "move: depends on the state")
    assert "pictures were misread" in with_other_cause(found, _noted(tmp_path, sure=False)).otherwise
    assert with_other_cause(found, _noted(tmp_path, sure=True)) == with_other_cause(found, None) == found
    assert "read 397 of 400 unseen images" in with_other_cause(found, None, ImageTest(397, 400)).otherwise
    assert with_other_cause(found, None, ImageTest(400, 400)) == found
    unread = replace(found, unread=True)
    assert with_other_cause(unread, None, ImageTest(397, 400)) == unread


def test_classifiers_of_ones_own_are_untested_until_they_have_passed(tmp_path: Path) -> None:
    failed = ImageTest(397, 400)
    assert untested(None, failed) == "", "the weights that come with the package are known"
    assert untested(tmp_path, ImageTest(400, 400)) == untested(tmp_path, None) == ""
    assert untested(tmp_path, failed) == (
        "the classifiers read 397 of 400 unseen images exactly: they have not passed their test"
    )
    assert "label more" in untested(_noted(tmp_path, sure=False), None)


def test_labels_pass_by_a_test_in_which_nothing_was_misread(tmp_path: Path) -> None:
    _noted(tmp_path, sure=True, test={"pictures": 72, "misread": 0, "bound": 0.0499})
    assert seen(tmp_path, ImageTest(50, 72)) == (
        "the classifiers misread none of 72 images of their test, and left something open in 22, "
        "so that with 95% confidence at most 5.0% of such images are misread"
    )
    assert untested(tmp_path, ImageTest(50, 72)) == ""
    assert seen(tmp_path, ImageTest(71, 72, 1)) == "", "trained anew since, and worse"
    assert "71 of 72" in untested(tmp_path, ImageTest(71, 72, 1))
    assert seen(None, ImageTest(72, 72)) == seen(tmp_path, None) == ""


def test_labels_of_boards_pass_by_their_own_test(tmp_path: Path) -> None:
    """Their cards have no figures of whole states."""
    assert untested(_noted(tmp_path, sure=True), ImageTest(0, 0)) == ""
    (tmp_path / FILE).unlink()
    assert "0 of 0" in untested(tmp_path, ImageTest(0, 0))


def test_images_that_were_read_exactly_bound_the_others(tmp_path: Path) -> None:
    told = "read 400 of 400 unseen images exactly, so that with 95% confidence at most 0.7% of such images are misread"
    assert seen(tmp_path, ImageTest(400, 400)) == f"the classifiers {told}"
