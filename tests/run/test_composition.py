"""What goes with every kind of run: a video of its images, Ctrl-C and going on, and a folder that held another kind of run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from aam_vision.run.summary import TIMES

from .commands import ROOT, command
from .test_controls import LAMP, PROBLEM

KINDS = {
    "told": ("--env", "doors"),
    "controls": ("--env", "maze", "--controls"),
    "chance": ("--env", "explodingblocks", "--chance", "--within", "0.2", "--max-steps", "90"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_images_of_any_run_become_a_video(kind: str, tmp_path: Path) -> None:
    film = tmp_path / "film.gif"
    done = command(*KINDS[kind], "--record", film, "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{film}: " in done.stderr
    with Image.open(film) as shown:
        assert shown.n_frames > 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", KINDS)
def test_any_run_that_was_interrupted_goes_on_to_the_same_result(kind: str, tmp_path: Path) -> None:
    whole = command(*KINDS[kind], "--out", "whole", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    started = subprocess.Popen(
        [sys.executable, "-m", "aam_vision.run", *KINDS[kind], "--out", "cut"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while started.poll() is None and _recorded(tmp_path / "cut") < 60_000:
        time.sleep(0.02)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=120)
    assert started.returncode == 130, said
    assert said.endswith("interrupted; go on with --resume cut\n")
    again = command("--resume", "cut", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    results = [json.loads((tmp_path / run / "result.json").read_text()) for run in ("whole", "cut")]
    first, second = ({name: one[name] for name in one if name not in TIMES} for one in results)
    assert first == second


def _recorded(folder: Path) -> int:
    """The bytes that a run has recorded as yet."""
    path = folder / "transcript.sqlite-wal"
    return path.stat().st_size if path.exists() else 0


@pytest.mark.parametrize("kind", KINDS)
def test_any_run_ends_at_a_budget_of_queries(kind: str, tmp_path: Path) -> None:
    done = command(*KINDS[kind], "--max-queries", "2", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "run" / "result.json").read_text())
    assert found["queries"] <= 2
    # in a maze all is told without a query: every control is given in every situation
    assert found["status"] == ("complete" if kind == "controls" else "budget")


def test_controls_are_learned_of_an_agent_that_is_misread(tmp_path: Path) -> None:
    given = ("--env", "maze", "--controls", "--flip-rate", "0.05")
    refused = command(*given, "--out", "run", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("error: --flip-rate: one look does not tell what a control did")
    done = command(*given, "--confirm", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "run" / "result.json").read_text())
    assert (found["status"], found["native_equivalent"]) == ("complete", 1.0)
    assert found["looks"] > found["situations"] > 0
    assert 0.04 < found["misread"] < 0.06


def test_a_domain_behind_controls_is_learned_though_it_is_misread(tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(LAMP, encoding="utf-8")
    (tmp_path / "p.pddl").write_text(PROBLEM, encoding="utf-8")
    given = ("--domain", "d.pddl", "--problem", "p.pddl", "--bare", "press(?l)=light,quench")
    done = command(*given, "--flip-rate", "0.05", "--confirm", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "run" / "result.json").read_text())
    assert (found["status"], found["native_equivalent"]) == ("complete", 1.0)
    assert found["operators"] == ["press-off(?l - lamp)", "press-on(?l - lamp)"]


def test_nothing_is_left_of_a_run_that_another_kind_overwrites(tmp_path: Path) -> None:
    assert command(*KINDS["controls"], "--out", "run", cwd=tmp_path).returncode == 0
    assert (tmp_path / "run" / "controls.json").exists()
    assert list((tmp_path / "run" / "operators").iterdir())
    done = command("--env", "gripper", "--out", "run", "--force", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "run" / "controls.json").exists()
    assert not list((tmp_path / "run" / "operators").iterdir())
