"""The commands end with a table that a person can read, and files that a program can."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

from tests.commands import ROOT, called, refused


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


def test_bad_input_is_one_line_before_any_job_runs(tmp_path: Path) -> None:
    for name, options, said in (
        ("table1", ("--domain", "chess"), "--domain chess: unknown"),
        ("table1", ("--benchmarks", tmp_path), f"--benchmarks {tmp_path}: no gripper/domain.pddl"),
        ("table1", ("--policy", "aia", "--policy", "lucky"), "--policy lucky: unknown"),
        ("table1", ("--planner", "oracle"), "--planner oracle: unknown"),
        ("table1", ("--address", "head:6379"), "--address head:6379: only with the backend ray"),
        ("simulators", ("--env", "chess"), "no environment 'chess'"),
        ("simulators", ("--policy", "lucky"), "--policy lucky: unknown"),
        ("simulators", ("--planner", "oracle"), "--planner oracle: unknown"),
    ):
        out = ("--out", tmp_path / "out")
        assert said in refused(f"experiments.{name}", *options, *out, cwd=tmp_path, kept=tmp_path)
        assert not (tmp_path / "out").exists()


def test_a_failed_job_is_named_beside_the_table(tmp_path: Path) -> None:
    options = ("--domain", "gripper", "--problems", "1", "--policy", "economical", "--job-memory", "0.001")
    command = [sys.executable, "-m", "experiments.table1", *options, "--processes", "1", "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert "over its limit of 0.001 GiB" in done.stderr
    page = (tmp_path / "table1.md").read_text()
    assert "0 of 1 jobs are in the table" in page
    assert "over its limit of 0.001 GiB" in page
    assert "Made by `python -m experiments.table1 --domain gripper" in page
    assert [row["error"] for row in json.loads((tmp_path / "table1.json").read_text())]
