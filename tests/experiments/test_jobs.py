"""A sweep does every job once, survives what fails, and goes on where it was cut short."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from aam_vision.errors import UnusableInput
from experiments.jobs import Results, Row, sweep


def work(number: int, folder: str) -> Row:
    """Leaves a trace of every call; refuses number 3 while the folder holds no permission."""
    with (Path(folder) / "calls").open("a") as file:
        file.write(f"{number} {os.getpid()}\n")
    if number == 3 and not (Path(folder) / "permission").exists():
        raise ValueError("three is not allowed")
    return {"square": number**2}


def _jobs(folder: Path, count: int) -> list[dict[str, object]]:
    return [{"number": number, "folder": str(folder)} for number in range(count)]


def _calls(folder: Path) -> list[int]:
    return sorted(int(line.split()[0]) for line in (folder / "calls").read_text().splitlines())


def test_each_job_is_done_once_in_processes_of_their_own(tmp_path: Path) -> None:
    jobs, path = _jobs(tmp_path, 3), tmp_path / "results.jsonl"
    assert sweep([*jobs, jobs[0]], work, Results(path), processes=2) == 0
    assert _calls(tmp_path) == [0, 1, 2]
    assert str(os.getpid()) not in (tmp_path / "calls").read_text()
    again = Results(path)
    assert sweep(jobs, work, again, processes=2) == 0
    assert _calls(tmp_path) == [0, 1, 2], "a finished job is never run again"
    assert [row["square"] for row in again.rows(jobs)] == [0, 1, 4]


def test_a_failing_job_costs_only_itself_and_is_tried_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs, path = _jobs(tmp_path, 5), tmp_path / "results.jsonl"
    assert sweep(jobs, work, Results(path), processes=2) == 1
    assert "three is not allowed" in capsys.readouterr().err
    assert [row["number"] for row in Results(path).rows(jobs)] == [0, 1, 2, 4]
    (tmp_path / "permission").touch()
    assert sweep(jobs, work, Results(path), processes=1) == 0
    assert _calls(tmp_path) == [0, 1, 2, 3, 3, 4]


def test_a_line_cut_short_by_a_crash_is_a_job_that_was_not_done(tmp_path: Path) -> None:
    jobs, path = _jobs(tmp_path, 3), tmp_path / "results.jsonl"
    sweep(jobs, work, Results(path), processes=1)
    path.write_text(path.read_text()[:-15])
    assert len(Results(path).missing(jobs)) == 1
    sweep(jobs, work, Results(path), processes=1)
    assert [row["square"] for row in Results(path).rows(jobs)] == [0, 1, 4]


def test_a_file_of_something_else_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps({"fruit": "apple"}) + "\n" + json.dumps([1]) + "\n")
    with pytest.raises(UnusableInput, match=r"results.jsonl:1: not a result of a job"):
        Results(path)
