"""The short page says what the results say, one table for each kind of access."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from aam_vision.support.commandline import run_command
from experiments.headline import headline


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
