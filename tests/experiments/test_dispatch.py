"""A failure of a job or its worker costs that job only, and is reported."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

import pytest

from aam_vision.support.errors import UnusableInput
from experiments.dispatch import Dispatcher, JobLimits, workforce
from experiments.interrogations import interrogation
from experiments.jobs import Results, Scale
from experiments.tables import Row


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
    shared = {found["result"]["process"] for found in outcomes(tmp_path, *["who"] * 3).values()}
    alone = outcomes(tmp_path, *["who"] * 3, limits=JobLimits(alone=True))
    assert len(shared) <= 2
    assert len({found["result"]["process"] for found in alone.values()}) == 3


def test_a_job_over_its_memory_fails_and_the_next_has_all_of_its_own(tmp_path: Path) -> None:
    found = outcomes(tmp_path, "do", "eat", "do", limits=JobLimits(gibibytes=0.5))
    assert squares(found) == [0, 2]
    assert found[1] == {"error": "over its limit of 0.5 GiB"}
    assert outcomes(tmp_path, "eat", "eat", limits=JobLimits(gibibytes=1.5)) == {
        number: {"result": {"eaten": 2**30}} for number in range(2)
    }


def test_leaving_early_ends_every_worker(tmp_path: Path) -> None:
    jobs = [{"number": n, "act": act, "folder": str(tmp_path)} for n, act in enumerate(["do", "hang"])]
    with workforce("loky", 2, None) as workers:
        found = Dispatcher(jobs, work, workers, JobLimits(), lambda said: None).outcomes()
        job, _ = next(found)
        assert job["number"] == 0
        found.close()  # returns although the other job sleeps


# The same jobs on a real Ray cluster of two worker processes, one of which is killed in mid-run.


pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="needs ray")


def interrogation_killed_once(policy: str, seed: int, folder: str) -> Row:
    """An interrogation of gripper; the first one with seed 1 has its process killed."""
    if seed == 1 and not (Path(folder) / "killed").exists():
        (Path(folder) / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return interrogation(
        env="gripper", access="settable", policy=policy, planner="pyperplan", seed=seed, problems=["0"]
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The head of a cluster with two cores; it ends with the tests."""
    port = free_port()
    # sockets lie in this folder, and their paths may have a hundred characters: pytest's folders are too deep
    folder = TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True)
    options = ["--num-cpus=2", "--object-store-memory=80000000", "--include-dashboard=false", "--block"]
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", f"--port={port}", *options]
    command.append(f"--temp-dir={folder.name}")
    head = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        give_up = monotonic() + 60
        while True:
            assert head.poll() is None
            assert monotonic() < give_up, "the cluster does not start"
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                sleep(0.2)
        yield f"127.0.0.1:{port}"
    finally:
        head.terminate()
        head.wait()
        folder.cleanup()


@pytest.mark.nightly
def test_a_killed_worker_costs_its_job_and_figures_are_those_of_loky(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By night: it starts a second cluster, beside that of tests/agents/workers."""
    found: dict[str, list[Row]] = {}
    for backend, head in (("ray", address), ("loky", None)):
        folder = tmp_path / backend
        folder.mkdir()
        jobs = [{"policy": policy, "seed": seed} for policy in ("economical", "aia") for seed in (0, 1)]
        results = Results(folder / "results.jsonl")
        killing = partial(interrogation_killed_once, folder=str(folder))
        assert Scale(2, backend, head).sweep(jobs, killing, results) == 0
        assert capsys.readouterr().err.count("a worker was lost") == 1
        assert (folder / "killed").exists()
        found[backend] = [{**row, "seconds": None} for row in results.rows(jobs)]
    assert found["ray"] == found["loky"]
    assert len(found["ray"]) == 4


def test_an_unreachable_cluster_is_reported_in_one_line() -> None:
    for address, said in (
        (f"127.0.0.1:{free_port()}", "no Ray cluster answers there"),
        ("nowhere", "give host:port"),
        ("127.0.0.1:99999", "no Ray cluster answers there"),
    ):
        with pytest.raises(UnusableInput, match=f"address {address}: {said}"), workforce("ray", 2, address):
            pass
