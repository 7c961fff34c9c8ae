"""The same jobs on a real Ray cluster of two worker processes, one of which is killed in mid-run."""

from __future__ import annotations

import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep

import pytest

from aam_vision.errors import UnusableInput
from experiments.backends import workforce
from experiments.interrogations import interrogation
from experiments.jobs import Results, Row, sweep
from tests.experiments.test_dispatch import work

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="needs ray")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module", autouse=True)
def _token() -> Iterator[None]:
    """A token of our own for cluster and sweep: Ray looks at these variables when it is first imported."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RAY_AUTH_MODE", "token")
        environment.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        yield


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The head of a cluster with two cores; it ends with the tests."""
    port = free_port()
    options = ["--num-cpus=2", "--object-store-memory=80000000", "--include-dashboard=false", "--block"]
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", f"--port={port}", *options]
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


def test_a_killed_worker_costs_its_job_and_figures_are_those_of_loky(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    acts = ["do", "die once", "do", "die", "do"]
    jobs = [{"number": number, "act": act, "folder": str(tmp_path)} for number, act in enumerate(acts)]
    results = Results(tmp_path / "results.jsonl")
    assert sweep(jobs, work, results, processes=2, backend="ray", address=address) == 1
    said = capsys.readouterr().err
    assert said.count("a worker was lost") == 2
    assert "lost its worker 2 times" in said
    assert [row["square"] for row in results.rows(jobs)] == [0, 1, 4, 16]

    runs = [
        {"env": "gripper", "access": "settable", "policy": policy, "planner": "pyperplan", "seed": 0, "problems": ["0"]}
        for policy in ("economical", "aia")
    ]  # fmt: skip
    found: dict[str, list[Row]] = {}
    for backend, head in (("loky", None), ("ray", address)):
        results = Results(tmp_path / f"{backend}.jsonl")
        assert sweep(runs, interrogation, results, processes=2, backend=backend, address=head) == 0
        found[backend] = [{**row, "seconds": None} for row in results.rows(runs)]
    assert found["ray"] == found["loky"]


def test_a_cluster_that_cannot_be_reached_is_told_in_one_line() -> None:
    for address, said in (
        (f"127.0.0.1:{free_port()}", "no Ray cluster answers there"),
        ("nowhere", "give host:port"),
        ("127.0.0.1:99999", "no Ray cluster answers there"),
    ):
        with (
            pytest.raises(UnusableInput, match=f"--address {address}: {said}"),
            workforce("ray", 2, address),
        ):
            pass
