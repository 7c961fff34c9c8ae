"""Lists of independent jobs, run side by side, each at most once.

A finished job leaves one line of JSON in ``results.jsonl``; a sweep that was cut short goes on with what is missing.
A job that fails leaves a line, too, which says why: it costs nothing but itself, and is tried again next time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import joblib

from aam_vision.commandline import Progress, write_atomically
from aam_vision.errors import UnusableInput

Parameters = Mapping[str, Any]
"""What one job is about: names and values that JSON can hold. Two jobs with the same ones are one job."""
Row = dict[str, Any]


def key(parameters: Parameters) -> str:
    """The name of a job among the results."""
    return json.dumps(parameters, sort_keys=True)


class Results:
    """The finished jobs of a sweep, on disk line by line.

    Raises:
        UnusableInput: the file holds something else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[str, Row] = {}
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole, _, torn = text.rpartition("\n")
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                entry = json.loads(line)
                self._rows[key(entry["job"])] = entry
            except (ValueError, KeyError, TypeError):
                raise UnusableInput(
                    f"{path}:{number}: not a result of a job; name another --out, or remove the line"
                ) from None
        if torn:  # a crash cut the last line short: that job runs again
            write_atomically(path, f"{whole}\n" if whole else "")

    def missing(self, jobs: Iterable[Parameters]) -> list[Parameters]:
        """The jobs that have not been done, each once, in their order."""
        wanted = {key(job): job for job in jobs}
        return [job for name, job in wanted.items() if "error" in self._rows.get(name, {"error": None})]

    def add(self, job: Parameters, outcome: Row) -> None:
        """Keep what became of a job."""
        entry = {"job": dict(job), **outcome}
        self._rows[key(job)] = entry
        torn = (
            self._path.exists() and not self._path.read_bytes().endswith(b"\n") and self._path.stat().st_size
        )
        with self._path.open("a", encoding="utf-8") as file:
            file.write(("\n" if torn else "") + json.dumps(entry) + "\n")

    def rows(self, jobs: Iterable[Parameters]) -> list[Row]:
        """What is known of these jobs: their parameters and results in one row, failed ones left out."""
        found = [self._rows[name] for name in dict.fromkeys(map(key, jobs)) if name in self._rows]
        return [{**entry["job"], **entry["result"]} for entry in found if "result" in entry]

    def failures(self, jobs: Iterable[Parameters]) -> list[str]:
        """A line for every failed job."""
        found = [self._rows[name] for name in dict.fromkeys(map(key, jobs)) if name in self._rows]
        return [f"{key(entry['job'])}: {entry['error']}" for entry in found if "error" in entry]


def sweep(
    jobs: Sequence[Parameters],
    work: Callable[..., Row],
    results: Results,
    *,
    processes: int = -1,
    backend: str = "loky",
    progress: Progress | None = None,
) -> int:
    """Do what is missing, ``processes`` jobs at a time (-1: one per core).

    Args:
        jobs: the parameters of every job.
        work: a function at the top level of a module; called with a job's parameters as keywords.
        results: where the outcomes are kept, as each job ends.
        processes: how many at a time.
        backend: of joblib; ``loky`` for processes on this machine.
        progress: says how far it is, and how long it may still take.

    Returns:
        How many jobs failed.
    """
    missing = results.missing(jobs)
    progress = progress or Progress()
    progress.stage(f"{len(jobs) - len(missing)} of {len(jobs)} jobs were done before")
    began = monotonic()
    parallel = joblib.Parallel(n_jobs=processes, backend=backend, return_as="generator_unordered")
    outcomes = parallel(joblib.delayed(_guarded)(work, number, job) for number, job in enumerate(missing))
    for done, (number, outcome) in enumerate(outcomes, 1):
        results.add(missing[number], outcome)
        left = (monotonic() - began) / done * (len(missing) - done)
        progress.step(done, len(missing), f"jobs, about {left:.0f} s left")
    failures = results.failures(jobs)
    for line in failures:
        print(f"failed: {line}", file=sys.stderr)
    return len(failures)


def _guarded(work: Callable[..., Row], number: int, job: Parameters) -> tuple[int, Row]:
    """The job's result, or what went wrong: one failing job must not end the others."""
    try:
        return number, {"result": work(**job)}
    except Exception as error:
        return number, {"error": f"{type(error).__name__}: {error}"}
