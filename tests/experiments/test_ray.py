"""The same jobs on a real Ray cluster of two worker processes, one of which is killed in mid-run."""

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

import pytest

from aam_vision.support.errors import UnusableInput
from experiments.dispatch import workforce
from experiments.interrogations import interrogation
from experiments.jobs import Results, Scale
from experiments.tables import Row

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
        with (
            pytest.raises(UnusableInput, match=f"address {address}: {said}"),
            workforce("ray", 2, address),
        ):
            pass
