"""What every experiment does with its jobs: run what is missing, show a table, write it all down."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from aam_vision.commandline import write_atomically
from experiments.interrogations import interrogation
from experiments.jobs import Parameters, Results, Row, sweep
from experiments.tables import Table


def report(
    name: str,
    jobs: Sequence[Parameters],
    summary: Callable[[Sequence[Row]], Table],
    out: Path,
    *,
    processes: int,
    shown: Sequence[str] = (),
) -> int:
    """Interrogate, job by job, and report.

    Args:
        name: of the files ``name.csv``, ``name.md`` and ``name.json``.
        jobs: parameters of ``interrogation``.
        summary: makes the table of all finished jobs.
        out: folder of results; a sweep that is there goes on.
        processes: jobs at a time.
        shown: columns for the terminal; default all.

    Returns:
        The exit code: 1 if a job failed.
    """
    results = Results(out / "results.jsonl")
    failed = sweep(jobs, interrogation, results, processes=processes)
    rows = results.rows(jobs)
    table = summary(rows)
    table.print(shown)
    table.save(out, name)
    write_atomically(out / f"{name}.json", json.dumps(rows, indent=2) + "\n")
    return int(failed > 0)
