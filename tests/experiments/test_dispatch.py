"""A failure of a job or its worker costs that job only, and is reported."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
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

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs ray")

EATEN = 400 << 20
"""Bytes that a job eats: three times as many are over a limit under which each has room."""


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
        return {"eaten": len(bytearray(EATEN))}
    return {"square": number**2}


def outcomes(folder: Path, *acts: str, said: list[str] | None = None, **limits: Any) -> dict[int, Any]:
    """The outcomes of jobs that do these acts, two at a time."""
    jobs = [{"number": number, "act": act, "folder": str(folder)} for number, act in enumerate(acts)]
    with workforce("loky", 2, None) as workers:
        dispatcher = Dispatcher(
            jobs, work, workers, JobLimits(**limits), (said if said is not None else []).append
        )
        return {job["number"]: outcome for job, outcome in dispatcher.outcomes()}


def squares(found: dict[int, Any]) -> list[int]:
    return sorted(number for number, outcome in found.items() if outcome == {"result": {"square": number**2}})


def test_a_lost_worker_is_tried_once_more_and_what_fails_fails_alone(tmp_path: Path) -> None:
    said: list[str] = []
    found = outcomes(tmp_path, "do", "die once", "do", "die", "raise", "do", said=said)
    assert squares(found) == [0, 1, 2, 5]
    assert "lost its worker 2 times" in found[3]["error"]
    assert found[4] == {"error": "ValueError: no"}
    assert len(said) == 2
    assert all("a worker was lost" in line and "trying again" in line for line in said)


def test_a_job_over_its_time_or_memory_fails_and_the_next_has_all_of_its_own(tmp_path: Path) -> None:
    found = outcomes(tmp_path, "do", "hang", "eat", "do", seconds=5, gibibytes=0.3)
    assert squares(found) == [0, 3]
    assert [found[number]["error"] for number in (1, 2)] == [
        f"over its limit of {what}" for what in ("5 s", "0.3 GiB")
    ]
    eaten = {"result": {"eaten": EATEN}}
    assert outcomes(tmp_path, "eat", "eat", "eat", gibibytes=0.8) == dict.fromkeys(range(3), eaten)


def test_a_job_may_have_a_process_of_its_own(tmp_path: Path) -> None:
    for alone in (False, True):
        found = outcomes(tmp_path, *["who"] * 3, alone=alone).values()
        assert (len({one["result"]["process"] for one in found}) == 3) is alone


def test_leaving_early_ends_every_worker(tmp_path: Path) -> None:
    jobs = [{"number": n, "act": act, "folder": str(tmp_path)} for n, act in enumerate(["do", "hang"])]
    with workforce("loky", 2, None) as workers:
        found = Dispatcher(jobs, work, workers, JobLimits(), lambda said: None).outcomes()
        assert next(found)[0]["number"] == 0
        found.close()  # returns although the other job sleeps


# The same jobs on a real Ray cluster of two worker processes, one of which is killed in mid-run.


def interrogation_killed_once(policy: str, seed: int, folder: str) -> Row:
    """An interrogation of gripper; the first one with seed 1 has its process killed."""
    if seed == 1 and not (Path(folder) / "killed").exists():
        (Path(folder) / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    job = {"env": "gripper", "access": "settable", "planner": "pyperplan", "problems": ["0"]}
    return interrogation(policy=policy, seed=seed, **job)


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


@needs_ray
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


@needs_ray
def test_an_unreachable_cluster_is_reported_in_one_line() -> None:
    silent = "no Ray cluster answers there"
    places = {f"127.0.0.1:{free_port()}": silent, "nowhere": "give host:port", "127.0.0.1:99999": silent}
    for address, said in places.items():
        with pytest.raises(UnusableInput, match=f"address {address}: {said}"), workforce("ray", 2, address):
            pass
