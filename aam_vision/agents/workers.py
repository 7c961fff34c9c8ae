"""Copies of something that answers slowly, each in a thread, a process or an actor of its own.

A crew has several of them, each of which does one job at a time. A copy that is lost while it works costs the job that it has and no
other: a fresh copy begins the job anew.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Protocol

from aam_vision.support.errors import AamError, AgentFailed, UnusableInput

ATTEMPTS = 20
"""How often a job is begun whose copy is lost."""
PARTING_S = 5.0
"""Seconds for which the end waits for each thread: one whose copy hangs is left to itself."""
MOST = 256
"""Copies at most."""


class CopyLost(AamError):
    """Raised when a copy has ended, or cannot be reached, before it answered."""


class Copy(Protocol):
    """One copy."""

    def call(self, job: Callable[..., Any], *arguments: Any) -> Any:
        """What the job returns: a function of a module, called with the thing itself and the arguments.

        Raises:
            AgentFailed: the job raises, in a process of its own.
            CopyLost: the copy has ended.
        """

    def close(self) -> None:
        """End it, whatever it does."""


class Crew:
    """So many copies, which begin at once.

    Args:
        size: how many.
        hire: makes a copy; called in a thread of its own, and again when a copy was lost.
        prove: a job that tells something of a fresh copy, which must be the same of all: else they are not the same
            thing. It is given what the first one told, or None.
        end: called once all are closed.
    """

    def __init__(
        self,
        size: int,
        hire: Callable[[], Copy],
        prove: Callable[[Any, Any], Any] | None = None,
        end: Callable[[], None] = lambda: None,
    ) -> None:
        self.size = size
        self.lost = 0
        """How many copies were lost at work, and replaced."""
        self.latest = 0
        """The number of the copy, from 1, whose result was collected last."""
        self._hire = hire
        self._prove = prove
        self._end = end
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._lock = Lock()
        self._told: Any = None
        self._begun: list[Future[None]] = [Future() for _ in range(size)]
        self._copies: dict[int, Copy] = {}
        self._closed = False
        self._threads = [
            Thread(target=self._work, args=(number,), name=f"worker {number}", daemon=True)
            for number in range(1, size + 1)
        ]
        for thread in self._threads:
            thread.start()

    def begin(self, job: Callable[..., Any], *arguments: Any) -> Task:
        """Have a job done by the next copy that is free."""
        task = Task(job, arguments)
        self._tasks.put(task)
        return task

    def collect(self, task: Task) -> Any:
        """The result of a job, once it is there.

        Raises:
            AgentFailed: the job raised that, or several copies were lost with it.
        """
        found = task.result.result()
        self.latest = task.worker
        return found

    def close(self) -> None:
        """End all copies; jobs that are not done yet never will be."""
        self._closed = True
        for _ in self._threads:
            self._tasks.put(None)
        with self._lock:
            numbers = list(self._copies)
        for number in numbers:
            self._dismiss(number)
        # a thread that dismisses or hires a copy later would find no cluster, or start another one
        for thread in self._threads:
            thread.join(PARTING_S)
        self._end()

    @property
    def copies(self) -> list[Copy]:
        """The copies at present."""
        with self._lock:
            return list(self._copies.values())

    def ready(self) -> None:
        """Wait until all copies have begun.

        Raises:
            AgentFailed: one cannot begin, or is not the same as the first one.
        """
        for future in self._begun:
            future.result()

    def _work(self, number: int) -> None:
        if number > 1:
            wait([self._begun[0]])
        copy: Copy | None = None
        try:
            copy = self._fresh(number)
            self._begun[number - 1].set_result(None)
        except Exception as error:  # whatever it is, whoever waits is told
            self._begun[number - 1].set_exception(error)
        while (task := self._tasks.get()) is not None and not self._closed:
            copy = self._done(task, number, copy)
        self._dismiss(number)

    def _done(self, task: Task, number: int, copy: Copy | None) -> Copy | None:
        """Do a task; returns the copy that has done it, None if that was lost."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                copy = copy or self._fresh(number)
                found = copy.call(task.job, *task.arguments)
                task.worker = number
                task.result.set_result(found)
                return copy
            except CopyLost as error:
                self._dismiss(number)
                copy = None
                with self._lock:
                    self.lost += not self._closed
                if self._closed or attempt == ATTEMPTS:
                    why = f"worker {number} was lost {attempt} times at one question: {error}"
                    task.result.set_exception(AgentFailed(why))
                    return None
            except Exception as error:  # whatever a copy raises is for whoever waits for the result
                task.result.set_exception(error)
                return copy
        return copy

    def _fresh(self, number: int) -> Copy:
        """A fresh copy.

        Raises:
            AgentFailed: it is not the same as the first one.
        """
        copy = self._hire()
        with self._lock:
            self._copies[number] = copy
        if self._prove is None:
            return copy
        told = copy.call(self._prove, self._told)
        with self._lock:
            if self._told is None:
                self._told = told
        if told != self._told:
            raise AgentFailed(
                f"worker {number} answers the same questions differently from worker 1: "
                "the copies are not the same agent; use one worker, or make it deterministic"
            )
        return copy

    def _dismiss(self, number: int) -> None:
        with self._lock:
            copy = self._copies.pop(number, None)
        if copy is not None:
            copy.close()


class Task:
    """A job that was begun."""

    def __init__(self, job: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.job = job
        self.arguments = arguments
        self.result: Future[Any] = Future()
        self.worker = 0
        """The copy that has done it, from 1."""


class Held:
    """A copy in this process: what it waits for is elsewhere."""

    def __init__(self, thing: Any, end: Callable[[], None] = lambda: None) -> None:
        self._thing = thing
        self.close = end

    def call(self, job: Callable[..., Any], *arguments: Any) -> Any:
        return job(self._thing, *arguments)


# Copies in processes of this machine.


LOADED = (
    "numpy",
    "typer",
    "aam_vision.agents.copies",
    "aam_vision.agents.symbolic",
)
"""Modules that most copies need."""


def load(modules: Sequence[str]) -> None:
    """Have all processes begin with these modules loaded.

    They are forks of a server that has loaded them once; nothing else of this process is in them. Without effect once a
    process has begun.
    """
    get_context("forkserver").set_forkserver_preload([*LOADED, *modules])


class ProcessCopy:
    """A process that makes the thing, and then does jobs with it. It ends with us, and ignores Ctrl-C.

    ``make``: makes the thing; both it and every job's arguments are sent to the process.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        context = get_context("forkserver")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(make, theirs), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._process.pid is not None, "it has been started"
        return self._process.pid

    def call(self, job: Callable[..., Any], *arguments: Any) -> Any:
        try:
            self._ours.send((job, arguments))
            done, found = self._ours.recv()
        except (EOFError, OSError) as error:
            raise CopyLost(f"its process has ended ({type(error).__name__})") from None
        if not done:
            raise AgentFailed(found)
        return found

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        with contextlib.suppress(OSError):
            self._ours.close()


def _serve(make: Callable[[], Any], theirs: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    holder = _Holder(make)
    while True:
        try:
            job, arguments = theirs.recv()
        except (EOFError, OSError):
            return
        answer = holder.call(job, *arguments)
        with contextlib.suppress(OSError):
            theirs.send(answer)


class _Holder:
    """Makes the thing for its first job, in a process or an actor of its own, and holds it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._thing: Any = None

    def call(self, job: Callable[..., Any], *arguments: Any) -> tuple[bool, Any]:
        """Whether the job was done, and what it has returned; or why not."""
        try:
            self._thing = self._make() if self._thing is None else self._thing
            return True, job(self._thing, *arguments)
        except Exception as error:  # of any kind: the agent is anybody's
            return False, told(error)


def told(error: Exception) -> str:
    """An error in a line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, AamError) else f"{type(error).__name__}: {text}"


# Copies in actors of a Ray cluster.


LOCAL = "local"
"""Instead of an address: a cluster of our own on this machine."""
REACHABLE_S = 5.0
"""Seconds in which the head of a cluster must answer; Ray itself would try for minutes."""
OBJECT_STORE = 80 * 2**20
"""Bytes of shared memory for a cluster of our own: close to the minimum, since what is sent is small."""

LOOPBACK = "127.0.0.1"
"""Where a cluster of our own listens: nobody else needs to reach it."""
STARTS = 2
"""Attempts to start a cluster of our own, which may fail on a busy machine."""
START_S = 60
"""Seconds that its head has to start; by default Ray gives up after some 20."""


class RayCopy:
    """An actor that makes the thing, and then does jobs with it."""

    def __init__(self, ray: Any, make: Callable[[], Any]) -> None:
        self._ray = ray
        self._actor = ray.remote(_Holder).options(num_cpus=1, max_restarts=0).remote(make)

    def call(self, job: Callable[..., Any], *arguments: Any) -> Any:
        try:
            done, found = self._ray.get(self._actor.call.remote(job, *arguments))
        except self._ray.exceptions.RayError as error:
            raise CopyLost(f"its actor has ended ({type(error).__name__})") from None
        if not done:
            raise AgentFailed(found)
        return found

    def close(self) -> None:
        self._ray.kill(self._actor)


def connected(address: str | None, processes: int | None = None) -> Any:
    """Ray, connected to a cluster, or with one of its own on this machine.

    Args:
        address: of the cluster's head, ``host:port`` or ``auto``; None or ``local`` for one of its own.
        processes: cores of a cluster of its own; None for all.

    Raises:
        UnusableInput: Ray is not installed, or the cluster cannot be started or reached.
    """
    if find_spec("ray") is None:
        raise UnusableInput('Ray is not installed; pip install "aam-vision[cluster]"', "address", address)
    import ray

    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    if address is None or address == LOCAL:
        return started(ray, num_cpus=processes, **quiet)
    _check_reachable(address)
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise UnusableInput(f"cannot be used ({told(error)})", "address", address) from None
    return ray


def started(ray: Any, **options: Any) -> Any:
    """Ray, with a cluster of its own on this machine.

    Raises:
        UnusableInput: it does not start.
    """
    os.environ.setdefault("RAY_gcs_server_port_wait_time_s", str(START_S))  # Ray has no other way to say this
    failed: RuntimeError | None = None
    for _ in range(STARTS):
        try:
            ray.init(
                "local",
                include_dashboard=False,
                object_store_memory=OBJECT_STORE,
                _node_ip_address=LOOPBACK,
                **options,
            )
            return ray
        except RuntimeError as error:
            failed = error
            ray.shutdown()
    assert failed is not None, "at least one attempt was made"
    raise UnusableInput(f"a cluster cannot be started here ({told(failed)})", "address", LOCAL)


def _check_reachable(address: str) -> None:
    if address == "auto":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise UnusableInput("give host:port of the cluster's head, or auto", "address", address)
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACHABLE_S).close()
    except (OSError, OverflowError) as error:
        raise UnusableInput(
            f"no Ray cluster answers there ({error}); start one with ray start --head", "address", address
        ) from None


@dataclass(frozen=True)
class Workers:
    """How many copies of an agent answer at a time, and where.

    Raises:
        UnusableInput: so many there cannot be, or there is only one and it needs no cluster.
    """

    number: int = 1
    address: str | None = None
    """Of a Ray cluster; None for processes of this machine."""

    def __post_init__(self) -> None:
        if not 1 <= self.number <= MOST:
            raise UnusableInput(f"use 1 to {MOST}", "workers", self.number)
        if self.address is not None and self.number == 1:
            raise UnusableInput(
                "says where several workers are: give --workers, too", "address", self.address
            )

    def crew(
        self,
        make: Callable[[], Any],
        prove: Callable[[Any, Any], Any],
        here: Callable[[], Copy] | None = None,
        modules: Sequence[str] = (),
    ) -> Crew:
        """The copies.

        Args:
            make: makes the thing in another process, where it is sent to.
            prove: a job that tells something of each copy, by which they are compared.
            here: makes a copy on this machine, where that needs no process of ours.
            modules: what a process of ours needs to make the thing: loaded once for all of them.

        Raises:
            UnusableInput: the cluster cannot be used.
        """
        if self.address is None:
            load(modules)
            return Crew(self.number, here or partial(ProcessCopy, make), prove)
        ray = connected(self.address, None if self.address != "local" else self.number)
        return Crew(self.number, partial(RayCopy, ray, make), prove, end=ray.shutdown)
