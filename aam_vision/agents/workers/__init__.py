"""Copies of something that answers slowly, each in a thread, a process or an actor of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from aam_vision.agents.workers.crew import Copy, Crew
from aam_vision.support.errors import UnusableInput

MOST = 256
"""Copies at most."""


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
            from aam_vision.agents.workers.crew import ProcessCopy, load

            load(modules)
            return Crew(self.number, here or partial(ProcessCopy, make), prove)
        from aam_vision.agents.workers.crew import RayCopy, connected

        ray = connected(self.address, None if self.address != "local" else self.number)
        return Crew(self.number, partial(RayCopy, ray, make), prove, end=ray.shutdown)
