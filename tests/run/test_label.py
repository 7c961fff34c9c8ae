"""From no label to a model: ``run --label``."""

import json

import pytest

from aam_vision.classifiers.store import read
from aam_vision.envs.registry import board_domain
from aam_vision.run.arguments import Arguments
from aam_vision.run.command import interrogate_agent, with_labels
from aam_vision.run.labelling_note import labelled
from aam_vision.support.commandline import run_command
from aam_vision.training.labelling import boards, pool
from aam_vision.training.labelling.pool import walk


def test_the_run_reads_with_what_it_learned_and_tells_the_labels(tmp_path, monkeypatch):
    monkeypatch.setattr(boards, "STEPS", 10)
    monkeypatch.setattr(boards, "MOST_STEPS", 10)
    monkeypatch.setattr(boards, "FREE", 6)
    monkeypatch.setattr(pool, "walk", lambda *given: walk(*given[:3], 20))
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


def test_single_answers_are_enough_to_begin_with(tmp_path, monkeypatch):
    monkeypatch.setattr(boards, "STEPS", 10)
    monkeypatch.setattr(boards, "MOST_STEPS", 10)
    monkeypatch.setattr(boards, "FREE", 6)
    monkeypatch.setattr(pool, "walk", lambda *given: walk(*given[:3], 20))
    given = Arguments(env="slidetile", label=True, labels="simulator", ask="atoms", answers=15)
    arguments = with_labels(given, tmp_path / "run")
    read(board_domain("slidetile").visual, "slidetile", arguments.classifiers)
    found = labelled(arguments.classifiers)
    assert found["labelled_atoms"] == 15
    assert found["labelled_pictures"] <= 15
    lines = [json.loads(line) for line in (arguments.classifiers / "labels.jsonl").read_text().splitlines()]
    assert sum(len(line.get("yes", [])) + len(line.get("no", [])) for line in lines) == 15


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--env", "sokoban", "--label", "--classifiers", "x"], "--classifiers names some"),
        (["--env", "sokoban", "--labels", "simulator"], "--labels: is about labels: give --label"),
        (["--env", "sokoban", "--pictures", "5"], "--pictures: is about labels"),
        (["--env", "sokoban", "--ask", "atoms"], "--ask: is about labels"),
        (["--resume", "earlier", "--ask", "atoms"], "--resume earlier: the run has its options already"),
        (["--env", "sokoban", "--label", "--answers", "5"], "--answers 5: goes with --ask atoms only"),
        (
            ["--domain", "D.pddl", "--problem", "P.pddl", "--label"],
            "--label: labels pictures of an environment",
        ),
        (["--env", "sokoban", "--agent", "cat", "--label"], "--label: labels pictures of an environment"),
        (["--env", "sokoban", "--label", "--labels", "oracle"], "no --labels oracle"),
        (["--env", "tabletop", "--label", "--ask", "atoms"], "no cells to ask about one by one"),
        (["--env", "gripper", "--label"], "gripper"),
    ],
)
def test_what_cannot_be(tmp_path, monkeypatch, capsys, arguments, told):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["run", *arguments])
    assert run_command(interrogate_agent) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_an_earlier_run_is_not_labelled_over(tmp_path, monkeypatch, capsys):
    (tmp_path / "result.json").write_text(json.dumps({}))
    monkeypatch.setattr(
        "sys.argv", ["run", "--env", "sokoban", "--label", "--labels", "simulator", "--out", str(tmp_path)]
    )
    assert run_command(interrogate_agent) == 2
    assert "holds result.json" in capsys.readouterr().err
    assert not (tmp_path / "labels").exists()
