"""The options that every experiment has, and the checks that they share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from aam_vision.commandline import check_writable
from aam_vision.errors import UnusableInput
from aam_vision.options import option
from experiments.backends import check_backend
from experiments.dispatch import JobLimits
from experiments.jobs import Parameters, Results, Row, sweep


@dataclass(frozen=True)
class Scale:
    """Where jobs run, how many at a time, what one may take, and where the results go."""

    processes: int = option("Jobs at a time; -1: one per core.", -1)
    backend: str = option("Where jobs run: loky (this machine) or ray (a cluster).", "loky")
    address: str | None = option("Of the Ray cluster: host:port or auto; default $RAY_ADDRESS, or its own.")
    job_seconds: float | None = option("Seconds a job may take; one over it has failed.", min=0.001)
    job_memory: float | None = option("GiB a job may take; one over it has failed (Linux).", min=0.001)
    out: Path = option("Folder for results; a sweep that is there goes on.", Path("runs"))

    def check(self) -> None:
        """Say at once that an option cannot be used, before any job runs.

        Raises:
            UnusableInput: one of them cannot be used, or nothing can be written to ``out``.
        """
        check_backend(self.backend, self.processes, self.address)
        JobLimits(self.job_seconds, self.job_memory)
        check_writable(self.out)

    def sweep(
        self, jobs: Sequence[Parameters], work: Callable[..., Row], results: Results, *, alone: bool = False
    ) -> int:
        """Run the jobs that are missing among the results; return how many failed or could not be written down.

        ``alone``: every job in a process of its own.
        """
        return sweep(
            jobs,
            work,
            results,
            processes=self.processes,
            backend=self.backend,
            address=self.address,
            limits=JobLimits(self.job_seconds, self.job_memory, alone),
        )


def chosen_domains(
    given: Sequence[str] | None, known: Collection[str], default: Sequence[str] = ()
) -> list[str]:
    """The domains that ``--domain`` names; without one the default, or all.

    Raises:
        UnusableInput: one of them is not known.
    """
    for name in given or ():
        if name not in known:
            raise UnusableInput(f"unknown; use one of {', '.join(known)}", "domain", name)
    return list(given or default or known)
