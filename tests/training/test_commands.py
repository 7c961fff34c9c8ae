"""The commands: bad input in one line, and nothing written for it."""

import json

import pytest

from aam_vision.training import assessment
from tests.commands import called

TRAIN, EVALUATE = "aam_vision.training.train", "aam_vision.training.evaluate"
EXPORT = "aam_vision.training.export"


@pytest.mark.parametrize(
    ("module", "arguments", "told"),
    [
        (TRAIN, ["--env", "chess"], "no environment 'chess'"),
        (TRAIN, [], "env"),
        (TRAIN, ["--env", "sokoban", "--steps", "many"], "many"),
        (TRAIN, ["--env", "sokoban", "--seed", "-1"], "-1"),
        (TRAIN, ["--env", "sokoban", "--out", "file/inside"], "cannot write to file/inside"),
        (TRAIN, ["--env", "sokoban", "--ship", "--out", "x"], "exclude each other"),
        (TRAIN, ["--env", "sokoban", "--resume", "nowhere.ckpt"], "nowhere.ckpt: no such file"),
        (TRAIN, ["--env", "sokoban", "--images", "nowhere"], "--images nowhere: no such folder"),
        (
            TRAIN,
            ["--env", "sokoban", "--only", "is-stone", "--out", "."],
            "not a perceived predicate of sokoban",
        ),
        (TRAIN, ["--env", "sokoban", "--ship", "--fast-dev-run"], "exclude each other"),
        (TRAIN, ["--env", "sokoban", "--trunk", "elephant"], "use one of shared, separate"),
        (
            TRAIN,
            ["--env", "sokoban", "--trunk", "separate", "--backbone", "resnet18"],
            "leave one of them out",
        ),
        (TRAIN, ["--env", "sokoban", "--trunk", "separate", "--only", "at"], "leave out --trunk"),
        (TRAIN, ["--env", "sokoban", "--out", ".", "--cache", "file/x"], "give another --cache"),
        (TRAIN, ["--env", "sokoban", "--cache", "x", "--no-cache"], "exclude each other"),
        (TRAIN, ["--env", "sokoban", "--base", "x"], "--base x is for --only"),
        (TRAIN, ["--env", "sokoban", "--only", "at", "--base", "x", "--out", "."], "no classifiers at x"),
        (EXPORT, ["--env", "sokoban", "--out", "nowhere/x.onnx"], "cannot write nowhere/x.onnx"),
        (EVALUATE, ["--env", "sokoban", "--backend", "abacus"], "no backend 'abacus'"),
        (EVALUATE, ["--env", "chess"], "no environment 'chess'"),
        (EVALUATE, ["--env", "sokoban", "--classifiers", "nowhere"], "no classifiers at nowhere"),
        (EVALUATE, ["--env", "sokoban", "--json", "nowhere/x.json"], "cannot write nowhere/x.json"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(module, arguments, told, tmp_path):
    (tmp_path / "file").write_text("precious")
    done = called(module, *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert told in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "precious"


def test_the_shipped_weights_are_evaluated(tmp_path, monkeypatch):
    monkeypatch.setattr(assessment, "ROUNDS", 1)
    monkeypatch.setattr(assessment, "TIMED", 32)
    asked = ("--env", "doors", "--states", "40", "--noise", "0.15", "--json", "figures.json")
    done = called(EVALUATE, *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "keyforroom" in done.stdout
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["unseen"]["states"] == 40
    assert figures["unseen"]["exact_match"] == 1.0
    assert figures["unseen"]["refused"] == figures["unseen"]["wrong"] == 0
    assert figures["unseen"]["ece"] < 0.001
    assert figures["unseen, noise 0.15"]["states"] == 40
    assert figures["speed"]["images_per_s"] > 0
