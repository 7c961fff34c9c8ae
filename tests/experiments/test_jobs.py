"""A sweep does every job once, survives what fails, and goes on where it was cut short."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aam_vision.support.errors import UnusableInput
from experiments.jobs import Results, Scale, batches, every
from experiments.options import chosen
from experiments.tables import Row


def work(number: int, folder: str) -> Row:
    """Leaves a trace of every call; refuses number 3 while the folder holds no permission."""
    with (Path(folder) / "calls").open("a") as file:
        file.write(f"{number} {os.getpid()}\n")
    if number == 3 and not (Path(folder) / "permission").exists():
        raise ValueError("three is not allowed")
    return {"square": number**2}


def jobs_of(folder: Path, count: int) -> list[dict[str, Any]]:
    return [{"number": number, "folder": str(folder)} for number in range(count)]


def squares(folder: Path, count: int) -> list[int]:
    return [row["square"] for row in Results(folder / "results.jsonl").rows(jobs_of(folder, count))]


def sweep(folder: Path, jobs: list[dict[str, Any]], processes: int = 1) -> int:
    return Scale(processes=processes).sweep(jobs, work, Results(folder / "results.jsonl"))


def test_each_job_is_done_once_and_one_that_fails_costs_only_itself_and_is_tried_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = jobs_of(tmp_path, 5)
    assert sweep(tmp_path, [*jobs, jobs[0]], 2) == 1
    assert "three is not allowed" in capsys.readouterr().err
    assert squares(tmp_path, 5) == [0, 1, 4, 16]
    (tmp_path / "permission").touch()
    assert sweep(tmp_path, jobs) == 0
    assert squares(tmp_path, 5) == [0, 1, 4, 9, 16]
    calls = [line.split() for line in (tmp_path / "calls").read_text().splitlines()]
    assert sorted(number for number, _ in calls) == ["0", "1", "2", "3", "3", "4"]
    assert str(os.getpid()) not in {process for _, process in calls}


def test_a_line_cut_short_by_a_crash_is_a_job_that_was_not_done(tmp_path: Path) -> None:
    jobs, path = jobs_of(tmp_path, 3), tmp_path / "results.jsonl"
    sweep(tmp_path, jobs)
    path.write_text(path.read_text()[:-15])
    assert len(Results(path).missing(jobs)) == 1
    sweep(tmp_path, jobs)
    assert squares(tmp_path, 3) == [0, 1, 4]


def test_a_file_of_something_else_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text(json.dumps({"fruit": "apple"}) + "\n" + json.dumps([1]) + "\n")
    with pytest.raises(UnusableInput, match=r"results.jsonl:1: not a result of a job"):
        Results(tmp_path / "results.jsonl")


def test_two_sweeps_never_write_to_one_file(tmp_path: Path) -> None:
    held = Results(tmp_path / "results.jsonl").alone()
    with held, pytest.raises(UnusableInput, match="another sweep is writing there"):
        sweep(tmp_path, jobs_of(tmp_path, 1))
    assert not (tmp_path / "calls").exists()
    assert sweep(tmp_path, jobs_of(tmp_path, 1)) == 0


FULL_DISK = """
import resource, sys
from pathlib import Path
from tests.experiments.test_jobs import jobs_of, squares, sweep, work
from experiments.jobs import Results, Scale

folder = Path(sys.argv[1])
assert sweep(folder, jobs_of(folder, 1)) == 0
room = (folder / "results.jsonl").stat().st_size + 20
resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
jobs, results = jobs_of(folder, 3), Results(folder / "results.jsonl")
print(Scale(processes=1).sweep(jobs, work, results), [row["square"] for row in results.rows(jobs)])
"""


def test_a_full_disk_is_reported_and_no_finished_job_is_lost(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: writes fail half-way, as they do there."""
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert done.stdout == "2 [0, 1, 4]\n", "the sweep goes on, and knows what it could not write"
    assert done.stderr.count("going on") == 1
    assert "not written: 2 results (cannot write to" in done.stderr
    assert squares(tmp_path, 3) == [0], "no half line is left behind"
    assert sweep(tmp_path, jobs_of(tmp_path, 3)) == 0
    assert squares(tmp_path, 3) == [0, 1, 4]


def test_jobs_are_combinations_of_values_and_batches_have_all_seeds_once() -> None:
    assert every(env=["a", "b"], seed=range(2), size=3) == [
        {"env": env, "seed": seed, "size": 3} for env in ("a", "b") for seed in (0, 1)
    ]
    assert every(problems=[["0"]]) == [{"problems": ["0"]}]
    assert batches(3, 5, 2) == [{"seed": 3, "count": 2}, {"seed": 5, "count": 2}, {"seed": 7, "count": 1}]


@pytest.mark.parametrize(
    ("scale", "told"),
    [
        (Scale(backend="abacus"), "backend abacus: unknown"),
        (Scale(processes=0), "processes 0"),
        (Scale(address="head:6379"), "address head:6379: only with"),
    ],
)
def test_a_scale_that_cannot_be_used_is_refused_before_its_folder_is_made(
    scale: Scale, told: str, tmp_path: Path
) -> None:
    with pytest.raises(UnusableInput, match=told):
        replace(scale, out=tmp_path / "out").check()
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(UnusableInput, match="cannot write to"):
        Scale(out=tmp_path / "file").check()
    if sys.platform.startswith("linux"):  # memory is limited there only
        Scale(job_seconds=1.0, job_memory=0.5, out=tmp_path / "out").check()
        assert (tmp_path / "out").is_dir()


def test_names_are_those_given_or_the_default_or_all() -> None:
    known = ("a", "b", "c")
    assert chosen("domain", None, known) == ["a", "b", "c"]
    assert chosen("domain", None, known, ("b",)) == ["b"]
    assert chosen("domain", ["c", "a"], known, ("b",)) == ["c", "a"]
    with pytest.raises(UnusableInput, match="domain d: unknown; use one of a, b, c"):
        chosen("domain", ["a", "d"], known)
