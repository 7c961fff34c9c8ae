"""``run --chance`` as a user runs it: files, text, resuming, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aam_vision.pddl import read_chance_domain
from aam_vision.summary import TIMES
from tests.chance.domains import PROBLEM, SLIPPERY

from .commands import command


@pytest.fixture
def files(tmp_path: Path) -> list[str | Path]:
    (tmp_path / "d.pddl").write_text(SLIPPERY)
    (tmp_path / "p.pddl").write_text(PROBLEM)
    return ["--domain", tmp_path / "d.pddl", "--problem", tmp_path / "p.pddl"]


def test_a_run_leaves_model_and_figures_and_can_be_made_again(
    files: list[str | Path], tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    done = command(*files, "--chance", "--within", "0.1", "--out", folder, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    figures = json.loads((folder / "result.json").read_text())
    assert figures["status"] == "complete"
    assert figures["exact"]
    assert figures["wrong_certain"] == 0
    assert figures["variational_distance"] < 0.1
    for outcomes in figures["outcomes"].values():
        assert sum(one["probability"] for one in outcomes) == pytest.approx(1, abs=1e-5)
        for one in outcomes:
            low, high = one["interval"]
            assert low <= one["probability"] <= high
            assert (high - low) / 2 <= 0.1
            assert one["hits"] <= one["trials"] <= figures["steps"]
    model = read_chance_domain(folder / "model.pddl")
    assert [len(schema.outcomes) for schema in model.actions] == [3, 2]
    assert "% of the time (" in done.stdout
    assert "Not excluded" in done.stdout
    (folder / "result.json").unlink()
    again = command("--resume", folder, "--quiet", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    repeated = json.loads((folder / "result.json").read_text())
    assert {k: v for k, v in repeated.items() if k not in TIMES} == {
        k: v for k, v in figures.items() if k not in TIMES
    }


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--within", "0.1"], "--within: says how sure"),
        (["--chance", "--within", "0"], "--within 0: give a number from 0.002 to 0.4"),
        (["--chance", "--policy", "aia"], "--policy: cannot be used with --chance"),
        (["--chance", "--access", "full"], "--access full: cannot be used"),
        ([], "add --chance to interrogate"),
    ],
)
def test_what_cannot_be_used_is_one_line(
    files: list[str | Path], tmp_path: Path, options: list[str], told: str
) -> None:
    done = command(*files, *options, "--out", tmp_path / "out", "--quiet", cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_it_needs_a_symbolic_agent(tmp_path: Path) -> None:
    done = command("--env", "sokoban", "--chance", "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "--chance: needs a symbolic agent" in done.stderr
