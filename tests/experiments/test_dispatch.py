"""A failure of a job or its worker costs that job only, and is reported."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from aam_vision.support.errors import UnusableInput
from experiments.dispatch import Dispatcher, JobLimits, workforce


def work(number: int, act: str, folder: str) -> dict[str, Any]:
    """A job that leaves a trace, and then does what the test is about."""
    first = not (Path(folder) / str(number)).exists()
    (Path(folder) / str(number)).touch()
    if act == "die" or (act == "die once" and first):
        os.kill(os.getpid(), signal.SIGKILL)
    if act == "hang":
        sleep(600)
    if act == "raise":
        raise ValueError("no")
    if act == "who":
        return {"process": os.getpid()}
    if act == "eat":
        return {"eaten": len(bytearray(2**30))}
    return {"square": number**2}


def outcomes(
    folder: Path, *acts: str, limits: JobLimits | None = None, said: list[str] | None = None
) -> dict[int, Any]:
    """The outcomes of jobs that do these acts, two at a time."""
    jobs = [{"number": number, "act": act, "folder": str(folder)} for number, act in enumerate(acts)]
    say: Callable[[str], None] = (said if said is not None else []).append
    with workforce("loky", 2, None) as workers:
        found = Dispatcher(jobs, work, workers, limits or JobLimits(), say).outcomes()
        return {job["number"]: outcome for job, outcome in found}


def squares(found: dict[int, Any]) -> list[int]:
    return sorted(number for number, outcome in found.items() if outcome == {"result": {"square": number**2}})


def test_a_lost_worker_costs_no_job_if_the_second_try_succeeds(tmp_path: Path) -> None:
    said: list[str] = []
    found = outcomes(tmp_path, "do", "die once", "do", "do", "die once", "do", said=said)
    assert squares(found) == [0, 1, 2, 3, 4, 5]
    assert len(said) == 2
    assert all("a worker was lost" in line and "trying again" in line for line in said)


def test_a_job_that_kills_every_worker_fails_alone(tmp_path: Path) -> None:
    found = outcomes(tmp_path, "do", "die", "do", "raise", "do")
    assert squares(found) == [0, 2, 4]
    assert "lost its worker 2 times" in found[1]["error"]
    assert found[3] == {"error": "ValueError: no"}


def test_a_job_over_its_time_fails_and_its_process_ends(tmp_path: Path) -> None:
    found = outcomes(tmp_path, "do", "hang", "do", limits=JobLimits(seconds=3))
    assert squares(found) == [0, 2]
    assert found[1] == {"error": "over its limit of 3 s"}


def test_a_job_may_have_a_process_of_its_own(tmp_path: Path) -> None:
    shared = {found["result"]["process"] for found in outcomes(tmp_path, *["who"] * 6).values()}
    alone = outcomes(tmp_path, *["who"] * 6, limits=JobLimits(alone=True))
    assert len(shared) <= 2
    assert len({found["result"]["process"] for found in alone.values()}) == 6


def test_a_job_over_its_memory_fails_and_the_next_has_all_of_its_own(tmp_path: Path) -> None:
    found = outcomes(tmp_path, "do", "eat", "do", limits=JobLimits(gibibytes=0.5))
    assert squares(found) == [0, 2]
    assert found[1] == {"error": "over its limit of 0.5 GiB"}
    assert outcomes(tmp_path, "eat", "eat", "eat", limits=JobLimits(gibibytes=1.5)) == {
        number: {"result": {"eaten": 2**30}} for number in range(3)
    }


def test_leaving_early_ends_every_worker(tmp_path: Path) -> None:
    jobs = [{"number": n, "act": act, "folder": str(tmp_path)} for n, act in enumerate(["do", "hang"])]
    with workforce("loky", 2, None) as workers:
        found = Dispatcher(jobs, work, workers, JobLimits(), lambda said: None).outcomes()
        job, _ = next(found)
        assert job["number"] == 0
        found.close()  # returns although the other job sleeps


@pytest.mark.parametrize(
    ("backend", "processes", "address", "said"),
    [
        ("cloud", -1, None, "backend cloud: unknown; use loky or ray"),
        ("loky", 0, None, "processes 0: give a number from 1 on"),
        ("loky", -1, "head:6379", "address head:6379: only with the backend ray"),
    ],
)
def test_options_that_cannot_work_are_refused_at_once(
    backend: str, processes: int, address: str | None, said: str
) -> None:
    with pytest.raises(UnusableInput, match=said), workforce(backend, processes, address):
        pass
