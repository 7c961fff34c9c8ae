"""Copies in actors of a Ray cluster."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from aam_vision.errors import AgentFailed, UnusableInput
from aam_vision.workers.crew import CopyLost, told

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
        """What the job returns.

        Raises:
            AgentFailed: the job raises.
            CopyLost: the actor or its node has ended.
        """
        try:
            done, found = self._ray.get(self._actor.call.remote(job, *arguments))
        except self._ray.exceptions.RayError as error:
            raise CopyLost(f"its actor has ended ({type(error).__name__})") from None
        if not done:
            raise AgentFailed(found)
        return found

    def close(self) -> None:
        self._ray.kill(self._actor)


class _Holder:
    """Holds the thing."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._thing: Any = None

    def call(self, job: Callable[..., Any], *arguments: Any) -> tuple[bool, Any]:
        try:
            self._thing = self._make() if self._thing is None else self._thing
            return True, job(self._thing, *arguments)
        except Exception as error:  # of any kind: the agent is anybody's
            return False, told(error)


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
