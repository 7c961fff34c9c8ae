"""The commands end with a table that a person can read, and files that a program can."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

from experiments.tables import Table, spread

ROOT = Path(__file__).parents[2]


def _run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_table1_interrogates_and_reports_beside_the_paper(tmp_path: Path) -> None:
    options = ("--domain", "gripper", "--problems", "2", "--out", str(tmp_path))
    first = _run("experiments.table1", *options)
    assert first.returncode == 0, first.stderr
    assert "gripper" in first.stdout
    assert "paper" in first.stdout
    rows = json.loads((tmp_path / "table1.json").read_text())
    assert [(row["policy"], row["exact"]) for row in rows] == [("economical", True)] * 2 + [("aia", True)] * 2
    with (tmp_path / "table1.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["paper"], line["lower bound"], line["exact"]) for line in lines] == [("17", "6", "2/2")] * 2
    again = _run("experiments.table1", *options)
    assert "4 of 4 jobs were done before" in again.stderr
    assert again.stdout == first.stdout


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    for options, said in (
        (("--domain", "chess"), "--domain chess: unknown"),
        (("--benchmarks", str(tmp_path)), f"--benchmarks {tmp_path}: no gripper/domain.pddl"),
    ):
        done = _run("experiments.table1", *options, "--out", str(tmp_path / "out"))
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_table_is_the_same_in_csv_and_markdown() -> None:
    table = Table("T", ["a", "b"], [["x|y", 1.5], ["z", None]])
    assert table.csv() == "a,b\nx|y,1.5\nz,\n"
    assert table.markdown() == "| a | b |\n| --- | ---: |\n| x\\|y | 1.5 |\n| z | - |\n"


def test_a_spread_names_the_extremes_only_where_there_are_any() -> None:
    assert (spread([2, 2]), spread([1, 2, 3]), spread([])) == ("2", "2 (1-3)", "-")
