"""Where jobs run: worker processes of this machine, or of a Ray cluster.

A worker is one process that does one job at a time, so whatever happens to it costs the job that it has and no
other. That is why pools are not used here: joblib's loses all its jobs with one process, and so does
``ray.util.joblib``, whose pool ends with the first actor that dies.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

from aam_vision.errors import UnusableInput
from aam_vision.workers.cluster import connected

BACKENDS = ("loky", "ray")


class Worker(Protocol):
    """A process that does one job at a time."""

    def run(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Call a function there; the future fails if the process is lost."""
        ...

    def kill(self) -> None:
        """End the process at once, whatever it does."""
        ...


@dataclass(frozen=True)
class Workforce:
    """How many workers there may be, and how to get one."""

    size: int
    hire: Callable[[], Worker]


@contextmanager
def workforce(backend: str, processes: int, address: str | None) -> Iterator[Workforce]:
    """The workers of a backend.

    Args:
        backend: ``loky`` for this machine, ``ray`` for a Ray cluster.
        processes: how many at a time; -1: one for every core, of the machine or of the whole cluster.
        address: of a Ray cluster, ``host:port`` or ``auto``; without one, and without the variable RAY_ADDRESS, a
            cluster of its own is started on this machine.

    Raises:
        UnusableInput: there is no such backend, it is not installed, or the cluster cannot be reached.
    """
    check_backend(backend, processes, address)
    if backend == "loky":
        yield Workforce(processes if processes > 0 else _cores(), LokyWorker)
        return
    ray = connected(address or os.environ.get("RAY_ADDRESS"), processes if processes > 0 else None)
    try:
        cores = int(ray.cluster_resources().get("CPU", 1))
        yield Workforce(processes if processes > 0 else max(1, cores), RayWorker)
    finally:
        ray.shutdown()


def check_backend(backend: str, processes: int, address: str | None) -> None:
    """Say at once which options cannot be used.

    Raises:
        UnusableInput: there is no such backend, it is not installed, or the other values do not go with it.
    """
    if backend not in BACKENDS:
        raise UnusableInput(f"unknown; use {' or '.join(BACKENDS)}", "backend", backend)
    if processes < 1 and processes != -1:
        raise UnusableInput("give a number from 1 on, or -1 for one per core", "processes", processes)
    if address is not None and backend != "ray":
        raise UnusableInput("only with the backend ray", "address", address)
    if find_spec(backend) is None:
        raise UnusableInput('not installed; pip install "aam-vision[cluster]"', "backend", backend)


class LokyWorker:
    """A process of this machine. It ignores Ctrl-C, which the sweep handles."""

    def __init__(self) -> None:
        from loky import ProcessPoolExecutor

        self._executor = ProcessPoolExecutor(
            max_workers=1,
            initializer=signal.signal,
            initargs=(signal.SIGINT, signal.SIG_IGN),
            env={"OMP_NUM_THREADS": "1"},  # as many threads as processes would only wait for each other
        )

    def run(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        found: Future[Any] = self._executor.submit(call, *arguments)
        return found

    def kill(self) -> None:
        self._executor.shutdown(kill_workers=True)


class RayWorker:
    """An actor with a core of the cluster to itself; what it runs waits until the cluster has one to give."""

    def __init__(self) -> None:
        self._actor = _ray().remote(_Caller).options(num_cpus=1, max_restarts=0).remote()

    def run(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        found: Future[Any] = self._actor.call.remote(call, *arguments).future()
        return found

    def kill(self) -> None:
        _ray().kill(self._actor)


class _Caller:
    """A Ray actor that calls functions."""

    def call(self, call: Callable[..., Any], *arguments: Any) -> Any:
        return call(*arguments)


def _cores() -> int:
    from loky import cpu_count

    return int(cpu_count())


def _ray() -> Any:
    import ray

    return ray
