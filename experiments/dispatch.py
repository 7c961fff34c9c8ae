"""Jobs handed to workers, one at a time each, within limits.

A failure costs only its own job: a job that raises or takes too much has failed, a job whose worker
was lost (killed, crashed, or its node gone) is tried once more. A worker whose job failed is replaced, so that
nothing of the failure reaches the next job.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

from aam_vision.agents.workers import connected
from aam_vision.support.errors import UnusableInput

ATTEMPTS = 2  # how often a job is begun whose worker is lost: the first loss may have had another cause
FAILED_STARTS = 5  # workers in a row that never get ready, after which no more are started
PATIENCE_S = 30.0  # seconds without any worker, after which a message says so

Outcome = dict[str, Any]  # the outcome of a job: ``{"result": ...}``, or ``{"error": why}``


@dataclass(frozen=True)
class JobLimits:
    """Limits of one job; None for no limit."""

    seconds: float | None = None  # wall-clock time, from the moment its worker has it
    gibibytes: float | None = None  # private memory that it may add to what its process holds already (Linux)
    alone: bool = False  # whether its process has had no other job before

    def __post_init__(self) -> None:
        if self.gibibytes is not None and not sys.platform.startswith("linux"):
            raise UnusableInput("can be enforced on Linux only", "job_memory", f"{self.gibibytes:g}")


@dataclass(frozen=True)
class _Assignment:
    worker: Worker
    job: Any
    attempt: int
    deadline: float


@dataclass
class Dispatcher:
    """Has jobs, the keywords of calls of ``work``, done by workers within limits; ``say`` hears what happens besides."""

    jobs: Sequence[Any]
    work: Callable[..., Any]
    workers: Workforce
    limits: JobLimits
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        self._waiting = deque((job, 1) for job in self.jobs)
        self._starting: dict[Future[None], Worker] = {}
        self._running: dict[Future[Any], _Assignment] = {}
        self._failed_starts = 0

    def outcomes(self) -> Iterator[tuple[Any, Outcome]]:
        """Every job with its outcome, as they end; UnusableInput if no worker can be started."""
        try:
            while self._waiting or self._running:
                free = self.workers.size - len(self._starting) - len(self._running)
                for _ in range(min(free, len(self._waiting) - len(self._starting))):
                    worker = self.workers.hire()
                    self._starting[worker.run(ready, self.work)] = worker
                for future in self._ended():
                    if future in self._starting:
                        self._started(future)
                        continue
                    given = self._running.pop(future)
                    outcome = self._outcome(future, given)
                    if outcome is None or "error" in outcome or self.limits.alone:
                        given.worker.kill()
                    else:
                        self._assign(given.worker)
                    if outcome is not None:
                        yield given.job, outcome
        finally:
            for worker in (*self._starting.values(), *(given.worker for given in self._running.values())):
                worker.kill()

    def _ended(self) -> list[Future[Any]]:
        """The jobs and starts that are done or out of time, in the order in which they began."""
        futures = [*self._starting, *self._running]
        now = monotonic()
        left = min((given.deadline for given in self._running.values()), default=inf) - now
        timeout = PATIENCE_S if not self._running else None if left == inf else max(0.0, left)
        done, _ = wait(futures, timeout, return_when=FIRST_COMPLETED)
        if not done and not self._running:
            self.say("waiting for workers: no core is free")
        now = monotonic()
        late = {future for future, given in self._running.items() if given.deadline <= now}
        return [future for future in futures if future in done or future in late]

    def _started(self, future: Future[None]) -> None:
        """Give a worker that is ready its first job, or drop one that failed to start."""
        worker = self._starting.pop(future)
        try:
            future.result()
        except Exception as error:  # of any kind: it depends on the backend
            worker.kill()
            self._failed_starts += 1
            if self._failed_starts == FAILED_STARTS:
                raise UnusableInput(f"no worker process can be started: {_told(error)}") from None
            return
        self._failed_starts = 0
        self._assign(worker)

    def _assign(self, worker: Worker) -> None:
        """Give a worker the next job, or end it if there is none."""
        if not self._waiting:
            worker.kill()
            return
        job, attempt = self._waiting.popleft()
        try:
            future = worker.run(guarded, self.work, job, self.limits.gibibytes)
        except Exception:  # the idle worker was lost
            worker.kill()
            self._waiting.appendleft((job, attempt))
            return
        seconds = self.limits.seconds
        deadline = inf if seconds is None else monotonic() + seconds
        self._running[future] = _Assignment(worker, job, attempt, deadline)

    def _outcome(self, future: Future[Any], given: _Assignment) -> Outcome | None:
        """The outcome of the job; None if it is to be tried again."""
        if not future.done():
            return {"error": f"over its limit of {self.limits.seconds:g} s"}
        try:
            found: Outcome = future.result()
        except Exception as error:  # of any kind: it depends on the backend
            if given.attempt == ATTEMPTS:
                return {"error": f"lost its worker {ATTEMPTS} times: {_told(error)}"}
            self.say(f"a worker was lost ({_told(error)}): trying again {given.job}")
            self._waiting.append((given.job, given.attempt + 1))
            return None
        return found


def ready(work: Callable[..., Any]) -> None:
    """Do nothing: a new worker that receives ``work`` imports its module, outside any job's time."""


def guarded(work: Callable[..., Any], job: Any, gibibytes: float | None) -> Outcome:
    """The job's result, or what went wrong; runs in the worker."""
    try:
        with _memory_limit(gibibytes):
            return {"result": work(**job)}
    except MemoryError as error:
        return {"error": f"over its limit of {gibibytes:g} GiB" if gibibytes else f"MemoryError: {error}"}
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        # from C code that does not check for memory, or the loader of a library that did not fit
        lacking = isinstance(error, SystemError | ImportError) and not isinstance(error, ModuleNotFoundError)
        return {"error": f"over its limit of {gibibytes:g} GiB ({told})" if gibibytes and lacking else told}


@contextmanager
def _memory_limit(gibibytes: float | None) -> Iterator[None]:
    """Refuse private data (libraries map address space that they never touch) beyond what the process has now and so much more."""
    if gibibytes is None:
        yield
        return
    import resource

    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    held = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = held + int(gibibytes * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (limit if hard < 0 else min(limit, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _told(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else '-'}"


# Where jobs run: worker processes of this machine, or of a Ray cluster.
#
# A worker is one process that does one job at a time, so whatever happens to it costs the job that it has and no
# other. That is why pools are not used here: joblib's loses all its jobs with one process, and so does
# ``ray.util.joblib``, whose pool ends with the first actor that dies.

BACKENDS = ("loky", "ray")


class Worker(Protocol):
    """A process that does one job at a time."""

    def run(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Call a function there; the future fails if the process is lost."""

    def kill(self) -> None:
        """End the process at once, whatever it does."""


@dataclass(frozen=True)
class Workforce:
    """How many workers there may be, and how to get one."""

    size: int
    hire: Callable[[], Worker]


@contextmanager
def workforce(backend: str, processes: int, address: str | None) -> Iterator[Workforce]:
    """The workers of a backend, as many as ``processes`` (-1: one for every core); UnusableInput if they cannot be had.

    Without the address of a Ray cluster (``host:port``, ``auto``), and without the variable RAY_ADDRESS, one is started on this machine.
    """
    check_backend(backend, processes, address)
    if backend == "loky":
        from loky import cpu_count

        yield Workforce(processes if processes > 0 else int(cpu_count()), LokyWorker)
        return
    ray = connected(address or os.environ.get("RAY_ADDRESS"), processes if processes > 0 else None)
    try:
        cores = int(ray.cluster_resources().get("CPU", 1))
        yield Workforce(processes if processes > 0 else max(1, cores), RayWorker)
    finally:
        ray.shutdown()


def check_backend(backend: str, processes: int, address: str | None) -> None:
    """Say at once (UnusableInput) that there is no such backend, it is not installed, or the other values do not go with it."""
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


def _ray() -> Any:
    import ray

    return ray
