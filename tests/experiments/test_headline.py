"""The short page says what the results say, one table for each kind of access."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from aam_vision.commandline import run_command
from experiments.headline import BEGIN, END, headline


def test_the_page_is_made_of_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    common = {"env": "gripper", "lower_bound": 6, "exact": True}
    job = {"env": "gripper", "peer": "OLAM", "steps": 200}
    found = {
        "table1": [
            {**common, "policy": "economical", "queries": 6},
            {**common, "policy": "aia", "queries": 11},
            {**common, "policy": "aia", "error": "over its limit"},
        ],
        "peers": [
            {**job, "ended": "learned", "steps_taken": 8, "equivalent": True, "right_after": 7},
            {**job, "ended": "crashed"},
        ],
    }
    for name, rows in found.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.json").write_text(json.dumps(rows))
    monkeypatch.setattr(
        sys, "argv", ["headline", "--results", str(tmp_path), "--out", str(tmp_path / "docs")]
    )
    assert run_command(headline) == 0
    page = (tmp_path / "docs" / "README.md").read_text()
    assert "| gripper | 17 | 6 | 11 | 6 | 2/2 |" in page
    assert "| gripper | 7 of 8; 1/2 |" in page
    assert "simulators.md" not in page


def _one_result(folder: Path) -> None:
    row = {"env": "gripper", "lower_bound": 6, "exact": True, "policy": "economical", "queries": 6}
    (folder / "table1").mkdir()
    (folder / "table1" / "table1.json").write_text(json.dumps([row]))


def test_a_readme_is_filled_between_its_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _one_result(tmp_path)
    readme = tmp_path / "README.md"
    readme.write_text(f"Before.\n{BEGIN}\nold\n{END}\nAfter.\n")
    monkeypatch.chdir(tmp_path)
    argv = ["headline", "--results", ".", "--out", "docs/results", "--readme", "README.md"]
    monkeypatch.setattr(sys, "argv", argv)
    for _ in range(2):  # filling it again changes nothing
        assert run_command(headline) == 0
        text = readme.read_text()
        assert text.startswith("Before.\n")
        assert text.endswith("After.\n")
        assert text.count("| gripper | 17 | 6 | 6 | 1/1 |") == 1
        assert "[table1.md](docs/results/table1.md)" in text
        assert "old" not in text


def test_a_readme_without_marks_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _one_result(tmp_path)
    readme = tmp_path / "README.md"
    readme.write_text("Nothing to fill.\n")
    argv = ["headline", "--results", str(tmp_path), "--out", str(tmp_path / "docs"), "--readme", str(readme)]
    monkeypatch.setattr(sys, "argv", argv)
    assert run_command(headline) == 2
    assert BEGIN in capsys.readouterr().err
    assert readme.read_text() == "Nothing to fill.\n"


def test_a_folder_without_results_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        sys, "argv", ["headline", "--results", str(tmp_path / "none"), "--out", str(tmp_path)]
    )
    assert run_command(headline) == 2
    told = capsys.readouterr().err
    assert "run the experiments first" in told
    assert told.count("\n") == 1
