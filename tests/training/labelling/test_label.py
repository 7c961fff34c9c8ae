"""The command that labels from zero: its files are those of other commands."""

import json

import pytest

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs import board
from aam_vision.envs.registry import board_domain
from aam_vision.training import session
from aam_vision.training.folder import labelled_images, read_labels
from aam_vision.training.labelling import boards, pool
from tests.commands import called

DOMAIN = board_domain("sokoban")


@pytest.fixture
def label(monkeypatch, tmp_path):
    """Calls the command, with few pictures and steps; returns what it told on stderr."""
    for name, value in (("STEPS", 4), ("MOST_STEPS", 4), ("FREE", 6)):
        monkeypatch.setattr(boards, name, value)
    monkeypatch.setattr(board, "SYNTHETIC", 8)
    monkeypatch.setattr(session, "STATES", 20)
    monkeypatch.setattr(pool, "walked_problems", lambda domain: domain.walked[:2])

    def run(options, code=0):
        asked = f"--env sokoban --out few {options}".split()
        return called("aam_vision.training.label", *asked, cwd=tmp_path, code=code).stderr

    return run


def test_labels_and_weights_that_other_commands_read(label, tmp_path):
    error = label("--labels simulator --pictures 4 --steps 15")
    labels = read_labels(DOMAIN, tmp_path / "few")
    told = json.loads((tmp_path / "few" / "labelling.json").read_text())
    assert len(labels) == told["labelled_pictures"] == 4
    assert told["labelled_atoms"] == sum(int((one.example.labels >= 0).sum()) for one in labels)
    assert not told["sure"]
    assert 0 < told["bound"] <= 1
    assert told["other_layouts"]["wrong"] == 0
    perception = BoardPerception.load(DOMAIN.visual, "sokoban", tmp_path / "few")
    assert perception.card.looks_sha256 is not None
    assert perception.card.figures["positives"]["player"] >= 4
    assert "4 of" in error
    options = ["--env", "sokoban", "--images", "few", "--out", "w", "--fast-dev-run", "--no-cache"]
    called("aam_vision.training.train", *options, cwd=tmp_path, code=0)
    assert (tmp_path / "w" / "sokoban.safetensors").exists()


def test_single_answers_that_other_commands_read(label, tmp_path):
    error = label("--labels simulator --ask atoms --answers 10 --steps 15")
    images = labelled_images(DOMAIN, tmp_path / "few")
    told = json.loads((tmp_path / "few" / "labelling.json").read_text())
    assert len(images) == told["labelled_pictures"] <= 10
    assert sum(int((one.labels >= 0).sum()) for one in images) == told["labelled_atoms"] == 10
    assert not told["sure"]
    assert "10 answers about" in error
    card = BoardPerception.load(DOMAIN.visual, "sokoban", tmp_path / "few").card
    assert told["untaught"] == [head for head, seen in card.figures["positives"].items() if not seen]
    assert told["untaught"]
    for head in told["untaught"]:
        assert f"warning: classifier {head} never saw a positive example" in error
    assert "its labels belong to --ask atoms --labels simulator; give the same" in label("--steps 15", 2)


def test_answers_that_tell_too_little_end_in_one_line(label):
    options = "--labels simulator --ask atoms --answers 1 --steps 3"
    assert "error: no place is known by 1 answer" in label(options, 2)
