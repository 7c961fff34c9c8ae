"""The options that every experiment has, and what they say together."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from aam_vision.commandline import check_writable
from experiments.backends import check_backend
from experiments.dispatch import Limits

Processes = Annotated[int, typer.Option(help="Jobs at a time; -1: one per core.")]
Backend = Annotated[str, typer.Option(help="Where jobs run: loky (this machine) or ray (a cluster).")]
Address = Annotated[
    str | None, typer.Option(help="Of the Ray cluster: host:port or auto; default $RAY_ADDRESS, or its own.")
]
JobSeconds = Annotated[
    float | None, typer.Option(min=0.001, help="Seconds a job may take; one over it has failed.")
]
JobMemory = Annotated[
    float | None, typer.Option(min=0.001, help="GiB a job may take; one over it has failed (Linux).")
]
Out = Annotated[Path, typer.Option(help="Folder for results; a sweep that is there goes on.")]


@dataclass(frozen=True)
class Scale:
    """Where jobs run, how many at a time, and what one may take."""

    processes: int = -1
    backend: str = "loky"
    address: str | None = None
    limits: Limits = field(default_factory=Limits)


def scale(
    out: Path,
    processes: int,
    backend: str,
    address: str | None,
    job_seconds: float | None,
    job_memory: float | None,
) -> Scale:
    """The options together, checked, before any job runs.

    Raises:
        UnusableInput: one of them cannot be used, or nothing can be written to ``out``.
    """
    check_backend(backend, processes, address)
    limits = Limits(job_seconds, job_memory)
    check_writable(out)
    return Scale(processes, backend, address, limits)
