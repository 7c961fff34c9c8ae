"""Lists of independent jobs, run side by side, each at most once.

A finished job leaves one line of JSON in ``results.jsonl``; a sweep that was cut short goes on with what is missing.
A job that fails leaves a line that says why, and is tried again next time.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any

import aam_vision
from aam_vision.support.commandline import INTERRUPTED, Progress, check_writable, write_atomically
from aam_vision.support.errors import UnusableInput
from aam_vision.support.options import option
from experiments.dispatch import Dispatcher, JobLimits, check_backend, workforce
from experiments.tables import Row, Table

Parameters = Mapping[str, Any]
"""The parameters of a job: names and values that JSON can hold. Jobs with the same parameters are one job."""


def key(parameters: Parameters) -> str:
    """The name of a job among the results."""
    return json.dumps(parameters, sort_keys=True)


class Results:
    """The finished jobs of a sweep, on disk line by line; UnusableInput if the file holds something else."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[str, Row] = {}
        self.unwritten: list[str] = []
        """Lines of results that could not be written; writing them is tried again with every further one."""
        self.refusal = ""
        """Why they could not be written."""
        self._read()

    def _read(self) -> int:
        """Take in every whole line; returns how many bytes they are."""
        whole, end, _ = (self._path.read_bytes() if self._path.exists() else b"").rpartition(b"\n")
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                entry = json.loads(line)
                self._rows[key(entry["job"])] = entry
            except (ValueError, KeyError, TypeError):
                raise UnusableInput(
                    f"{self._path}:{number}: not a result of a job; name another --out, or remove the line"
                ) from None
        return len(whole + end)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other sweeps away (UnusableInput if there is one); remove a line that a crash cut short: that job runs again."""
        with self._path.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UnusableInput(
                    f"{self._path}: another sweep is writing there; wait for it, or name another --out"
                ) from None
            os.truncate(self._path, self._read())
            yield

    def missing(self, jobs: Iterable[Parameters]) -> list[Parameters]:
        """The jobs that have not been done, each once, in their order."""
        wanted = {key(job): job for job in jobs}
        return [job for name, job in wanted.items() if "error" in self._rows.get(name, {"error": None})]

    def add(self, job: Parameters, outcome: Row) -> None:
        """Keep the outcome of a job, on disk if that can be written."""
        entry = {"job": dict(job), **outcome, "versions": versions()}
        self._rows[key(job)] = entry
        self.unwritten.append(json.dumps(entry) + "\n")
        size = self._path.stat().st_size if self._path.exists() else 0
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write("".join(self.unwritten))
            self.unwritten = []
        except OSError as error:
            self.refusal = f"cannot write to {self._path} ({error.strerror or error})"
            if self._path.exists():
                os.truncate(self._path, size)  # keep no partial lines

    def all(self, jobs: Iterable[Parameters]) -> list[Row]:
        """All of these jobs that have run, each once: parameters and results in one row; those of a failed one are its ``error``."""
        return [{**e["job"], **e.get("result", {"error": e.get("error")})} for e in self._known(jobs)]

    def rows(self, jobs: Iterable[Parameters]) -> list[Row]:
        return [row for row in self.all(jobs) if "error" not in row]

    def failed(self, jobs: Iterable[Parameters]) -> list[Row]:
        return [row for row in self.all(jobs) if "error" in row]

    def made_with(self, jobs: Iterable[Parameters]) -> list[str]:
        """The versions that made these results, each combination once."""
        texts = [
            ", ".join(f"{name} {version}" for name, version in entry.get("versions", {}).items())
            for entry in self._known(jobs)
        ]
        return list(dict.fromkeys(filter(None, texts)))

    def _known(self, jobs: Iterable[Parameters]) -> list[Row]:
        return [self._rows[name] for name in dict.fromkeys(map(key, jobs)) if name in self._rows]


# The options that every experiment has, and the checks that they share.


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
        """Say at once (UnusableInput) that an option cannot be used, or nothing can be written to ``out``, before any job runs."""
        check_backend(self.backend, self.processes, self.address)
        JobLimits(self.job_seconds, self.job_memory)
        check_writable(self.out)

    def sweep(
        self, jobs: Sequence[Parameters], work: Callable[..., Row], results: Results, *, alone: bool = False
    ) -> int:
        """Run the jobs that are missing among the results, which are kept as each job ends; how many failed or were not written.

        Args:
            jobs: the parameters of every job.
            work: a function at the top level of a module; called with a job's parameters as keywords.
            results: where the outcomes are kept.
            alone: whether every job has a process of its own.

        Raises:
            UnusableInput: the backend cannot be used, or another sweep writes the results; what was finished is kept.
        """
        progress, limits = Progress(), JobLimits(self.job_seconds, self.job_memory, alone)
        with results.alone():
            missing = results.missing(jobs)
            progress.stage(f"{len(jobs) - len(missing)} of {len(jobs)} jobs were done before")
            if missing:
                with workforce(self.backend, self.processes, self.address) as workers:
                    outcomes = Dispatcher(missing, work, workers, limits, progress.stage).outcomes()
                    _collect(outcomes, len(missing), results, progress)
        failed = results.failed(jobs)
        for row in failed:
            error = row.pop("error")
            print(f"failed: {key(row)}: {error}", file=sys.stderr)
        if results.unwritten:
            print(f"not written: {len(results.unwritten)} results ({results.refusal})", file=sys.stderr)
        return len(failed) + len(results.unwritten)


def _collect(
    outcomes: Iterable[tuple[Parameters, Row]], count: int, results: Results, progress: Progress
) -> None:
    began, refused = monotonic(), False
    for done, (job, outcome) in enumerate(outcomes, 1):
        results.add(job, outcome)
        if results.unwritten and not refused:
            progress.stage(f"{results.refusal}: going on; results are written as soon as they can be")
        refused = bool(results.unwritten)
        left = (monotonic() - began) / done * (count - done)
        progress.step(done, count, f"jobs, about {left:.0f} s left")


# Jobs by the values of their parameters.


def every(**options: Any) -> list[Parameters]:
    """Jobs with every combination of these values, the last name changing fastest; a list or range has several values."""
    several = (value if isinstance(value, list | range) else [value] for value in options.values())
    return [dict(zip(options, row, strict=True)) for row in product(*several)]


def batches(first_seed: int, runs: int, size: int) -> list[Parameters]:
    """Seeds in jobs of ``size`` each: the first ``seed`` of a job, and how many it has (``count``)."""
    end = first_seed + runs
    return [{"seed": seed, "count": min(size, end - seed)} for seed in range(first_seed, end, size)]


# The versions that a result may depend on.

PACKAGES = (
    "numpy", "torch", "pddlgym", "pyperplan", "unified_planning", "up_fast_downward", "python-sat",
    "amlgym", "olam", "information-gain-aml", "n-sam", "nolam",
)  # fmt: skip
"""Their versions can change what is measured."""


@cache
def versions() -> dict[str, str]:
    """Names and versions of this toolkit, Python and the packages behind it that are installed."""
    found = {"aam-vision": aam_vision.__version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


# Running the jobs of an experiment: run those that are missing, show a table, write the results.


@dataclass(frozen=True)
class Experiment:
    """What every job does, and what is shown of the results."""

    name: str  # of the files ``name.csv``, ``name.md``, ``name.json`` and ``name.svg``
    work: Callable[..., Row]  # called with the parameters of a job
    summary: Callable[[Sequence[Row]], Table]  # makes the table of all finished jobs
    further: Callable[[Sequence[Row]], Table] | None = None
    """Makes a second table, for the terminal and the page."""
    shown: Sequence[str] = ()
    """Columns of the first table in the terminal and on the page; default all, which ``name.csv`` has."""
    page: Sequence[Callable[[Sequence[Row]], Table]] = ()
    """Make the tables of the page, where those of the terminal have too many lines for it."""
    question: str = ""
    """What the experiment asks, and where the answer is explained: the first lines of the page."""
    figure: Callable[[Sequence[Row], Path], None] | None = None  # draws the rows into a file
    costs: bool = False
    """Whether it asks what jobs cost: each has a process of its own, and tables and figure get those that failed, too: rows with ``error``
    in place of results."""
    amiss: Callable[[Row], str] | None = None
    """Says what is wrong with a finished job, if anything is; then the exit code is 1."""

    def run(self, jobs: Sequence[Parameters], scale: Scale) -> int:
        """Run the jobs that are missing, and report; UnusableInput if workers cannot be had, or the folder holds something else.

        The exit code is 1 if a job failed, something is amiss or could not be written, 130 if the sweep was cut short.
        """
        scale.check()
        results = Results(scale.out / "results.jsonl")
        try:
            code = int(scale.sweep(jobs, self.work, results, alone=self.costs) > 0)
        except KeyboardInterrupt:
            print(
                "cut short: what is finished is kept, the same command goes on with the rest", file=sys.stderr
            )
            code = INTERRUPTED
        rows = results.all(jobs) if self.costs else results.rows(jobs)
        try:
            tables = [make(rows) for make in (self.summary, self.further) if make is not None]
            paged = [make(rows) for make in self.page] or [tables[0].only(self.shown), *tables[1:]]
        except KeyError as missing:
            raise UnusableInput(
                f"{scale.out}: results of another version, without {missing}; name another --out"
            ) from None
        for table, columns in zip(tables, (self.shown, ()), strict=False):
            table.print(columns)
        try:
            self._save(scale.out, tables[0], paged, results, jobs)
        except OSError as error:
            print(f"not written: the tables in {scale.out} ({error.strerror or error})", file=sys.stderr)
            code = code or 1
        wrong = [told for row in results.rows(jobs) if self.amiss is not None and (told := self.amiss(row))]
        for told in wrong:
            print(told, file=sys.stderr)
        return code or int(bool(wrong))

    def _save(
        self, out: Path, whole: Table, tables: Sequence[Table], results: Results, jobs: Sequence[Parameters]
    ) -> None:
        """Write the rows, the whole table, the page with its tables, and the figure into the folder ``out``."""
        finished = results.rows(jobs)
        rows = [*finished, *results.failed(jobs)]
        write_atomically(out / f"{self.name}.json", json.dumps(rows, indent=2) + "\n")
        whole.save(out, self.name)
        notes = provenance(results, jobs, self.name if self.page or self.shown else "")
        drawn = ""
        if self.figure is not None and finished:
            drawn = self.name
            self.figure(results.all(jobs) if self.costs else finished, out / f"{drawn}.svg")
        write_atomically(out / f"{self.name}.md", page(tables, self.question, notes, drawn))


def page(tables: Sequence[Table], question: str, notes: Sequence[str], figure: str) -> str:
    """Tables with notes below them; ``question`` and the name of the figure may be empty."""
    first, *others = tables
    asked = f"{question}\n\n" if question else ""
    told = f"# {first.title}\n\n{asked}{first.markdown()}\n"
    told += "".join(f"## {table.title}\n\n{table.markdown()}\n" for table in others)
    told += "".join(f"- {note}\n" for note in notes)
    return told + (f"\n![{first.title}]({figure}.svg)\n" if figure else "")


def provenance(results: Results, jobs: Sequence[Parameters], shortened: str = "") -> list[str]:
    """How to make these results again, and what is missing from them: lines for a page; ``shortened``: the name of its table, if it is."""
    seeds = sorted({job["seed"] for job in jobs if "seed" in job})
    notes = [f"Made by `{command()}`"]
    if shortened:
        notes.append(f"`{shortened}.csv`, which it writes into `--out`, has all lines and columns")
    if seeds:
        told = (
            f"{seeds[0]} to {seeds[-1]}" if seeds == [*range(seeds[0], seeds[-1] + 1)] else str(seeds)[1:-1]
        )
        notes.append(f"Seeds: {told if len(seeds) > 1 else seeds[0]}")
    notes += [f"With {versions}" for versions in results.made_with(jobs)]
    done = len(results.rows(jobs))
    if done < len(jobs):
        notes.append(f"{done} of {len(jobs)} jobs are in the table")
    for row in results.failed(jobs):
        error = row.pop("error")
        job = ", ".join(f"{name} {value}" for name, value in row.items() if value not in ([], None))
        notes.append(f"Failed: {job}: {error}")
    return notes


def command() -> str:
    """The command line that runs, without what differs between machines: where jobs run and results go."""
    module = getattr(sys.modules["__main__"].__spec__, "name", None) or Path(sys.argv[0]).stem
    kept: list[str] = []
    arguments = iter(sys.argv[1:])
    for argument in arguments:
        if argument.split("=")[0] in ("--out", "--processes", "--backend", "--address"):
            if "=" not in argument:
                next(arguments, None)
            continue
        kept.append(argument)
    return shlex.join(["python", "-m", module, *kept])
