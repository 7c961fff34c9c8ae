"""What is noted beside weights that learned from few labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aam_vision.agents.perception import ImageTest
from aam_vision.classifiers.store import read
from aam_vision.envs.registry import board_domain
from aam_vision.interrogation.examination.findings import Diagnosis, Family
from aam_vision.run.arguments import Arguments
from aam_vision.run.command import interrogate_agent, with_labels
from aam_vision.run.labelling_note import FILE, doubts, labelled, untested, with_other_cause
from aam_vision.support.commandline import run_command
from aam_vision.training.labelling import boards, pool
from aam_vision.training.labelling.pool import walk


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


# From no label to a model: ``run --label``.


@pytest.fixture
def quick(monkeypatch):
    for name, number in {"STEPS": 10, "MOST_STEPS": 10, "FREE": 6}.items():
        monkeypatch.setattr(boards, name, number)
    monkeypatch.setattr(pool, "walk", lambda *given: walk(*given[:3], 20))


def test_the_run_reads_with_what_it_learned_and_tells_the_labels(tmp_path, quick):
    given = Arguments(env="slidetile", label=True, labels="simulator", pictures=3)
    arguments = with_labels(given, tmp_path / "run")
    assert arguments.classifiers == tmp_path / "run" / "labels"
    read(board_domain("slidetile").visual, "slidetile", arguments.classifiers)
    lines = (arguments.classifiers / "labels.jsonl").read_text().splitlines()
    places, heads = 9, 9
    assert labelled(arguments.classifiers) == {
        "labelled_pictures": len(lines),
        "labelled_atoms": len(lines) * places * heads,
    }
    assert labelled(given.classifiers) == {"labelled_pictures": None, "labelled_atoms": None}


def test_single_answers_are_enough_to_begin_with(tmp_path, quick):
    given = Arguments(env="slidetile", label=True, labels="simulator", ask="atoms", answers=15)
    arguments = with_labels(given, tmp_path / "run")
    read(board_domain("slidetile").visual, "slidetile", arguments.classifiers)
    found = labelled(arguments.classifiers)
    assert found["labelled_atoms"] == 15
    assert found["labelled_pictures"] <= 15
    lines = [json.loads(line) for line in (arguments.classifiers / "labels.jsonl").read_text().splitlines()]
    assert sum(len(line.get("yes", [])) + len(line.get("no", [])) for line in lines) == 15


def test_an_earlier_run_is_not_labelled_over(tmp_path, monkeypatch, capsys):
    (tmp_path / "result.json").write_text(json.dumps({}))
    monkeypatch.setattr(
        "sys.argv", ["run", "--env", "sokoban", "--label", "--labels", "simulator", "--out", str(tmp_path)]
    )
    assert run_command(interrogate_agent) == 2
    assert "holds result.json" in capsys.readouterr().err
    assert not (tmp_path / "labels").exists()
