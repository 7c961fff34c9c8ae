"""What the command refuses, in one line."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from tests.finished import result_of
from tests.interrogation.chance.domains import PROBLEM as BLOCKS
from tests.interrogation.chance.domains import SLIPPERY

from .commands import WEIGHTS, command, refusal
from .test_controls import LAMP
from .test_controls import PROBLEM as TWO

FILES = {"lamp.pddl": LAMP, "two.pddl": TWO, "hand.pddl": SLIPPERY, "blocks.pddl": BLOCKS}
LAMPS = ("--domain", "lamp.pddl", "--problem", "two.pddl")
ONE_AND_OTHER = ("--problem", "0", "--problem", "1")
HANDS = ("--domain", "hand.pddl", "--problem", "blocks.pddl")
"""A domain with chance."""


def _weights(folder: Path, source: str = "sokoban") -> Path:
    """A copy of shipped weights of another environment under the name of doors."""
    folder.mkdir()
    for ending in ("safetensors", "json"):
        shutil.copy(WEIGHTS / f"{source}.{ending}", folder / f"doors.{ending}")
    return folder


def _corrupt(folder: Path) -> None:
    """No safetensors any more, though the card agrees."""
    content = b"these are no tensors"
    (_weights(folder, "doors") / "doors.safetensors").write_bytes(content)
    card = json.loads((folder / "doors.json").read_text())
    card["weights_sha256"] = hashlib.sha256(content).hexdigest()
    (folder / "doors.json").write_text(json.dumps(card))


def _changed(folder: Path) -> None:
    """One byte of the weights is not what the card says."""
    path = _weights(folder, "doors") / "doors.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "--env"),
        (["--env", "chess"], "chess"),
        (["--domain", "d.pddl", "--agent", "true"], "give either"),
        (["--env", "doors", "--agent", "true"], "exit code 0"),
        (["--env", "gripper", "--problem-size", "101"], "--problem-size 101"),
        (["--env", "gripper", "--seed", "9" * 30], "--seed: give a number below 2^63"),
        (["--env", "doors", "--problem", "9" * 5000], "problems 0 to 4"),
        (["--agent", "no-such-program"], "no such program"),
        (["--agent", "true"], "exit code 0"),
        (["--agent", "true", "--agent-seconds", "0"], "--agent-seconds 0"),
        (["--env", "doors", "--problem", "5"], "problems 0 to 4"),
        (["--env", "doors", "--problem", "-1"], "-1"),
        (["--env", "doors", "--access", "telepathy"], "--access telepathy"),
        (["--env", "doors", "--access", "trajectory", *ONE_AND_OTHER], "one problem only"),
        (["--env", "doors", "--policy", "lazy"], "--policy lazy"),
        (["--env", "doors", "--planner", "oracle"], "--planner oracle"),
        (["--env", "doors", "--repeated-arguments"], "--repeated-arguments: doors"),
        (["--env", "doors", "--seed", "-3"], "-3"),
        (["--env", "doors", "--seed", "some"], "some"),
        (["--env", "doors", "--max-queries", "-1"], "-1"),
        (["--env", "doors", "--image-noise", "-0.1"], "--image-noise -0.1"),
        (["--env", "doors", "--image-noise", "nan"], "--image-noise nan"),
        (["--env", "gripper", "--image-noise", "0.1"], "gripper shows no images"),
        (["--env", "gripper", "--flip-rate", "2"], "--flip-rate 2: give a number from 0 to 1"),
        (["--env", "gripper", "--refusal-rate", "-1"], "--refusal-rate -1"),
        (["--env", "gripper", "--confidence", "1"], "--confidence 1"),
        (["--env", "doors", "--max-seconds", "0"], "give a number of CPU seconds above 0"),
        (["--env", "doors", "--controls", "--max-seconds", "nan"], "--max-seconds nan"),
        (["--env", "river", "--chance", "--max-seconds", "inf"], "--max-seconds inf"),
        (["--env", "doors", "--backend", "abacus"], "no backend 'abacus'"),
        (["--env", "doors", "--colour", "red"], "--colour"),
        (["--env", "doors", "--cache", "answers"], "--cache answers"),
        (["--env", "doors", "--classifiers", "nowhere"], "no classifiers at nowhere"),
        (["--env", "doors", "--classifiers", "foreign"], "another vocabulary"),
        (["--env", "doors", "--classifiers", "corrupt"], "no safetensors file"),
        (["--env", "doors", "--classifiers", "changed"], "sha256"),
        (["--env", "doors", "--out", "out/result.json"], "cannot write"),
        (["--env", "doors", "--out", "out/result.json/inside"], "cannot write"),
        # videos
        (["--env", "doors", "--record", "video.mp4"], "--record video.mp4: give a file that ends in .gif"),
        (["--env", "doors", "--record", "nowhere/video.gif"], "nowhere/video.gif: there is no folder"),
        (["--env", "doors", "--record", "folder.gif"], "--record folder.gif: is a folder"),
        (["--env", "gripper", "--record", "video.gif"], "gripper shows no images"),
        # labels
        (["--env", "sokoban", "--label", "--classifiers", "x"], "--classifiers names some"),
        (["--env", "sokoban", "--labels", "simulator"], "--labels: is about labels: give --label"),
        (["--env", "sokoban", "--pictures", "5"], "--pictures: is about labels"),
        (["--env", "sokoban", "--ask", "atoms"], "--ask: is about labels"),
        (["--resume", "earlier", "--ask", "atoms"], "--resume earlier: the run has its options already"),
        (["--env", "sokoban", "--label", "--answers", "5"], "--answers 5: goes with --ask atoms only"),
        ([*LAMPS, "--label"], "--label: labels pictures of an environment"),
        (["--env", "sokoban", "--agent", "cat", "--label"], "--label: labels pictures of an environment"),
        (["--env", "sokoban", "--label", "--labels", "oracle"], "no --labels oracle"),
        (["--env", "tabletop", "--label", "--ask", "atoms"], "no cells to ask about one by one"),
        (["--env", "gripper", "--label"], "gripper"),
        # controls
        (["--env", "gripper", "--controls"], "the controls of gripper are not known"),
        (["--env", "sokoban", "--bare", "a()=b"], "--bare"),
        (["--env", "sokoban", "--controls", "--policy", "aia"], "--policy: cannot be used with --controls"),
        (["--env", "sokoban", "--controls", "--access", "reset"], "--access reset: cannot be used"),
        ([*LAMPS, "--bare", "press(?l)=fly"], "no operator 'fly'"),
        ([*LAMPS, "--bare", "press"], "write e.g."),
        # chance
        (
            [*HANDS, "--bare", "grab(?b)=pick-up"],
            "chance and conditional effects may stand in the domain file",
        ),
        ([*HANDS, "--within", "0.5"], "--within 0.5: give a number from 0.002 to 0.4"),
        ([*HANDS, "--chance", "--within", "0"], "--within 0: give a number from 0.002 to 0.4"),
        ([*HANDS, "--chance", "--policy", "aia"], "--policy: cannot be used with --chance"),
        ([*HANDS, "--chance", "--access", "full"], "--access full: cannot be used"),
        (
            [*HANDS, "--chance", "--confirm"],
            "--access settable: a state that is asked for and was seen wrongly",
        ),
        ([*HANDS, "--chance", "--confidence", "0.9"], "--chance, says how sure looks are to be: give"),
        ([*HANDS, "--chance", "--refusal-rate", "0.1"], "--refusal-rate: cannot be used with --chance"),
        (
            ["--env", "sokoban", "--chance"],
            "--chance: sokoban has no chance; leave it out, or use one of explo",
        ),
        (
            ["--env", "explodingblocks", "--access", "settable"],
            "cannot be used with explodingblocks; use snap",
        ),
        (["--env", "tireworld", "--workers", "2"], "--workers 2: cannot be used with tireworld: copies of a"),
        (["--env", "river", "--chance", "--problem", "1"], "--problem 1: river has problems 0 to 0"),
        (["--env", "river", "--chance", "--image-noise", "0.1"], "river shows no images"),
        (["--env", "explodingblocks", "--chance", "--access", "settable"], "use snapshot or reset"),
    ],
    ids=lambda value: " ".join(value[2:] or value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_nothing_is_overwritten(arguments: list[str], told: str, tmp_path: Path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "result.json").write_text('{"precious": true}\n')
    (tmp_path / "folder.gif").mkdir()
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    for name, spoil in (("foreign", _weights), ("corrupt", _corrupt), ("changed", _changed)):
        if name in arguments:
            spoil(tmp_path / name)
    place = [] if {"--out", "--resume"} & {*arguments} else ["--out", "out", "--force"]
    assert told in refusal(*arguments, *place, cwd=tmp_path)


def test_a_refused_run_leaves_no_folder(tmp_path: Path) -> None:
    refusal("--env", "gripper", "--record", "video.gif", "--out", "new", cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_overwritten_by_force_only(tmp_path: Path) -> None:
    options = ("--env", "gripper", "--quiet", "--out", "out")
    command(*options, cwd=tmp_path)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"model.pddl", "result.json", "report.html", "transcript.sqlite"} <= names
    for told in ("a finished run; name another folder", "model.pddl, result.json"):
        line = refusal(*options, "--seed", "1", cwd=tmp_path)
        assert line.startswith("error: out: holds ")
        assert told in line
        assert "--force" in line
        (tmp_path / "out" / "transcript.sqlite").unlink(missing_ok=True)
    command(*options, "--seed", "1", "--max-queries", "0", "--force", cwd=tmp_path)
    assert result_of(tmp_path / "out")["seed"] == 1
