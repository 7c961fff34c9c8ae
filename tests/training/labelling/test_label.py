"""The command that labels from zero: its files are those of other commands, and bad input is told in one line."""

import json

import pytest

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.registry import board_domain
from aam_vision.support.commandline import run_command
from aam_vision.training.folder import labelled_images, read_labels
from aam_vision.training.label import label
from aam_vision.training.labelling import boards, pool
from tests.commands import called

SIMULATED = ("--env", "sokoban", "--labels", "simulator")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(boards, "STEPS", 10)
    monkeypatch.setattr(boards, "MOST_STEPS", 10)
    monkeypatch.setattr(boards, "FREE", 6)


def _ended(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["label", *arguments])
    return run_command(label)


def test_labels_and_weights_that_other_commands_read(tmp_path, monkeypatch, capsys):
    options = [*SIMULATED, "--pictures", "4", "--steps", "15", "--out", str(tmp_path / "few")]
    assert _ended(monkeypatch, *options) in (0, None)
    domain = board_domain("sokoban")
    labels = read_labels(domain, tmp_path / "few")
    told = json.loads((tmp_path / "few" / "labelling.json").read_text())
    assert len(labels) == told["labelled_pictures"] == 4
    assert told["labelled_atoms"] == sum(int((one.example.labels >= 0).sum()) for one in labels)
    assert not told["sure"]
    assert 0 < told["bound"] <= 1
    assert told["other_layouts"]["wrong"] == 0
    perception = BoardPerception.load(domain.visual, "sokoban", tmp_path / "few")
    assert perception.card.looks_sha256 is not None
    assert perception.card.figures["positives"]["player"] >= 4
    assert "4 of" in capsys.readouterr().err
    options = ("--env", "sokoban", "--images", "few", "--out", "w", "--fast-dev-run", "--no-cache")
    assert called("aam_vision.training.train", *options, cwd=tmp_path).returncode == 0
    assert (tmp_path / "w" / "sokoban.safetensors").exists()


def test_single_answers_that_other_commands_read(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "few"
    options = [*SIMULATED, "--ask", "atoms", "--answers", "10", "--steps", "15"]
    assert _ended(monkeypatch, *options, "--out", str(folder)) in (0, None)
    images = labelled_images(board_domain("sokoban"), folder)
    told = json.loads((folder / "labelling.json").read_text())
    assert len(images) == told["labelled_pictures"] <= 10
    assert sum(int((one.labels >= 0).sum()) for one in images) == told["labelled_atoms"] == 10
    assert not told["sure"]
    error = capsys.readouterr().err
    assert "10 answers about" in error
    card = BoardPerception.load(board_domain("sokoban").visual, "sokoban", folder).card
    assert told["untaught"] == [head for head, seen in card.figures["positives"].items() if not seen]
    assert told["untaught"]
    for head in told["untaught"]:
        assert f"warning: classifier {head} never saw a positive example" in error
    assert _ended(monkeypatch, "--env", "sokoban", "--steps", "15", "--out", str(folder)) == 2
    assert "its labels belong to --ask atoms --labels simulator; give the same" in capsys.readouterr().err


def test_answers_that_tell_too_little_end_in_one_line(tmp_path, monkeypatch, capsys):
    options = [*SIMULATED, "--ask", "atoms", "--answers", "1", "--steps", "3"]
    monkeypatch.setattr(pool, "walked_problems", lambda domain: domain.walked[:1])
    assert _ended(monkeypatch, *options, "--out", str(tmp_path / "few")) == 2
    assert "error: no place is known by 1 answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--env", "chess"], "no environment 'chess'"),
        (["--env", "tabletop", "--ask", "atoms"], "no cells to ask about one by one"),
        (["--env", "sokoban", "--labels", "oracle"], "no --labels oracle: use page or simulator"),
        (["--env", "sokoban", "--ask", "them"], "no --ask them: use pictures or atoms"),
        (["--env", "sokoban", "--pictures", "0"], "0"),
        (["--env", "sokoban", "--answers", "9"], "--answers 9: goes with --ask atoms only"),
        (["--env", "sokoban", "--ask", "atoms", "--pictures", "9"], "give --answers"),
        (["--env", "sokoban", "--images", "mine", "--steps", "9"], "--steps 9: is about walks"),
    ],
)
def test_what_cannot_be(tmp_path, monkeypatch, capsys, arguments, told):
    monkeypatch.chdir(tmp_path)
    assert _ended(monkeypatch, *arguments) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "Traceback" not in error
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "runs"])
