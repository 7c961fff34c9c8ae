"""The commands end with a table that a person can read, and files that a program can."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.commands import called, refused


def test_table1_interrogates_and_reports_beside_the_paper(tmp_path: Path) -> None:
    options = ("--domain", "gripper", "--problems", "2", "--processes", "1", "--out", tmp_path)
    first = called("experiments.table1", *options, cwd=tmp_path, code=0)
    assert "gripper" in first.stdout
    assert "paper" in first.stdout
    rows = json.loads((tmp_path / "table1.json").read_text())
    assert [(row["policy"], row["exact"]) for row in rows] == [("economical", True)] * 2 + [("aia", True)] * 2
    with (tmp_path / "table1.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["paper"], line["lower bound"], line["exact"]) for line in lines] == [("17", "6", "2/2")] * 2
    page = (tmp_path / "table1.md").read_text()
    assert "\\|P*\\|" in page
    assert "| gripper | 5 | 17 | 6 | 6 |" in page
    assert (tmp_path / "table1.svg").read_text().startswith("<?xml")
    again = called("experiments.table1", *options, cwd=tmp_path)
    assert "4 of 4 jobs were done before" in again.stderr
    assert again.stdout == first.stdout


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("table1 --domain chess", "--domain chess: unknown"),
        ("table1 --benchmarks .", "--benchmarks .: no gripper/domain.pddl"),
        ("table1 --policy aia --policy lucky", "--policy lucky: unknown"),
        ("table1 --address head:6379", "--address head:6379: only with the backend ray"),
        ("simulators --env chess", "no environment 'chess'"),
        ("simulators --planner oracle", "--planner oracle: unknown"),
        ("trust --kind x", "--kind x: unknown; use one of noise, program"),
        ("trust --family x", "--family x: unknown; use one of honest"),
        ("trust --access x", "--access x: unknown; use one of"),
        ("digests --kind magic", "--kind magic: unknown; use one of ipc, access"),
        ("fama --domain chess", "--domain chess: unknown; use one of blocksworld, gripper"),
    ],
)
def test_bad_input_is_one_line_before_any_job_runs(asked: str, said: str, tmp_path: Path) -> None:
    name, *options = asked.split()
    assert said in refused(f"experiments.{name}", *options, "--out", "out", cwd=tmp_path, kept=tmp_path)
    assert not (tmp_path / "out").exists()


def test_a_failed_job_is_named_beside_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", SimpleNamespace(name="experiments.table1"))
    options = ("--domain", "gripper", "--problems", "1", "--policy", "economical", "--job-memory", "0.001")
    done = called("experiments.table1", *options, "--processes", "1", "--out", tmp_path, cwd=tmp_path, code=1)
    page, said = (tmp_path / "table1.md").read_text(), "over its limit of 0.001 GiB"
    assert said in done.stderr
    assert said in page
    assert "0 of 1 jobs are in the table" in page
    assert "Made by `python -m experiments.table1 --domain gripper" in page
    assert [row["error"] for row in json.loads((tmp_path / "table1.json").read_text())]
