"""Lists of independent jobs, run side by side, each at most once.

A finished job leaves one line of JSON in ``results.jsonl``; a sweep that was cut short goes on with what is missing.
A job that fails leaves a line that says why, and is tried again next time.
"""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import platform
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import mean
from time import monotonic
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

import aam_vision
from aam_vision.commandline import Progress, check_writable, write_atomically
from aam_vision.errors import UnusableInput
from aam_vision.options import option
from experiments.dispatch import Dispatcher, JobLimits, check_backend, workforce

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Parameters = Mapping[str, Any]
"""The parameters of a job: names and values that JSON can hold. Jobs with the same parameters are one job."""
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
        """Keep other sweeps away from the file; remove a line that a crash cut short: that job runs again.

        Raises:
            UnusableInput: another sweep is at it.
        """
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

    def rows(self, jobs: Iterable[Parameters]) -> list[Row]:
        """The finished jobs: parameters and results in one row."""
        return [{**entry["job"], **entry["result"]} for entry in self._known(jobs) if "result" in entry]

    def failed(self, jobs: Iterable[Parameters]) -> list[Row]:
        """The failed jobs: their parameters, and ``error``."""
        return [{**entry["job"], "error": entry["error"]} for entry in self._known(jobs) if "error" in entry]

    def all(self, jobs: Iterable[Parameters]) -> list[Row]:
        """All of these jobs that have run, in their order: finished ones as ``rows``, others as ``failed`` has them."""
        return [{**e["job"], **e.get("result", {"error": e.get("error")})} for e in self._known(jobs)]

    def failures(self, jobs: Iterable[Parameters]) -> list[str]:
        """A line for every failed job."""
        return [f"{key(entry['job'])}: {entry['error']}" for entry in self._known(jobs) if "error" in entry]

    def made_with(self, jobs: Iterable[Parameters]) -> list[str]:
        """The versions that made these results, each combination once."""
        texts = [
            ", ".join(f"{name} {version}" for name, version in entry.get("versions", {}).items())
            for entry in self._known(jobs)
        ]
        return list(dict.fromkeys(filter(None, texts)))

    def _known(self, jobs: Iterable[Parameters]) -> list[Row]:
        return [self._rows[name] for name in dict.fromkeys(map(key, jobs)) if name in self._rows]


def sweep(
    jobs: Sequence[Parameters],
    work: Callable[..., Row],
    results: Results,
    *,
    processes: int = -1,
    backend: str = "loky",
    address: str | None = None,
    limits: JobLimits | None = None,
    progress: Progress | None = None,
) -> int:
    """Run the missing jobs, ``processes`` jobs at a time (-1: one per core).

    Args:
        jobs: the parameters of every job.
        work: a function at the top level of a module; called with a job's parameters as keywords.
        results: where the outcomes are kept, as each job ends.
        processes: how many at a time.
        backend: ``loky`` for processes on this machine, ``ray`` for a Ray cluster.
        address: of the Ray cluster.
        limits: what one job may take.
        progress: says how far it is, and how long it may still take.

    Returns:
        How many jobs failed or could not be written down.

    Raises:
        UnusableInput: the backend cannot be used, or another sweep writes the results; what was finished is kept.
    """
    progress = progress or Progress()
    with results.alone():
        missing = results.missing(jobs)
        progress.stage(f"{len(jobs) - len(missing)} of {len(jobs)} jobs were done before")
        if missing:
            with workforce(backend, processes, address) as workers:
                dispatcher = Dispatcher(missing, work, workers, limits or JobLimits(), progress.stage)
                _collect(dispatcher, len(missing), results, progress)
    failures = results.failures(jobs)
    for line in failures:
        print(f"failed: {line}", file=sys.stderr)
    if results.unwritten:
        print(f"not written: {len(results.unwritten)} results ({results.refusal})", file=sys.stderr)
    return len(failures) + len(results.unwritten)


def _collect(dispatcher: Dispatcher, count: int, results: Results, progress: Progress) -> None:
    """Write down every outcome as it comes."""
    began, refused = monotonic(), False
    for done, (job, outcome) in enumerate(dispatcher.outcomes(), 1):
        results.add(job, outcome)
        if results.unwritten and not refused:
            progress.stage(f"{results.refusal}: going on; results are written as soon as they can be")
        refused = bool(results.unwritten)
        left = (monotonic() - began) / done * (count - done)
        progress.step(done, count, f"jobs, about {left:.0f} s left")


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


CUT_SHORT = 130
"""Exit code after Ctrl-C, as of any program that it ends."""


@dataclass(frozen=True)
class Presentation:
    """How the results of an experiment are shown."""

    summary: Callable[[Sequence[Row]], Table]
    """Makes the table of all finished jobs."""
    further: Callable[[Sequence[Row]], Table] | None = None
    """Makes a second table, for the terminal and the page."""
    shown: Sequence[str] = ()
    """Columns of the first table in the terminal; default all."""
    figure: Callable[[Sequence[Row], Path], None] | None = None
    """Draws the rows into a file."""
    failures: bool = False
    """Whether tables and figure get the failed jobs, too: rows with ``error`` in place of results."""

    def rows(self, results: Results, jobs: Sequence[Parameters]) -> list[Row]:
        """The rows that tables and figure are made of."""
        return results.all(jobs) if self.failures else results.rows(jobs)

    def tables(self, rows: Sequence[Row]) -> list[Table]:
        """The one or two tables of these rows."""
        return [make(rows) for make in (self.summary, self.further) if make is not None]


def report(
    name: str,
    jobs: Sequence[Parameters],
    presentation: Presentation,
    scale: Scale,
    *,
    work: Callable[..., Row] | None = None,
    alone: bool = False,
) -> int:
    """Run the jobs, and report.

    Args:
        name: of the files ``name.csv``, ``name.md``, ``name.json`` and ``name.svg``.
        jobs: parameters of ``work``.
        presentation: the tables and the figure.
        scale: where jobs run, within which limits, and where the results go; a sweep that is there goes on.
        work: what every job does; default an interrogation.
        alone: whether every job has a process of its own.

    Returns:
        The exit code: 1 if a job failed or something could not be written, 130 if the sweep was cut short.

    Raises:
        UnusableInput: the workers cannot be had, or the folder holds something else.
    """
    scale.check()
    if work is None:
        from experiments.interrogations import interrogation

        work = interrogation
    results = Results(scale.out / "results.jsonl")
    try:
        code = int(scale.sweep(jobs, work, results, alone=alone) > 0)
    except KeyboardInterrupt:
        print("cut short: what is finished is kept, the same command goes on with the rest", file=sys.stderr)
        code = CUT_SHORT
    try:
        tables = presentation.tables(presentation.rows(results, jobs))
    except KeyError as missing:
        raise UnusableInput(
            f"{scale.out}: results of another version, without {missing}; name another --out"
        ) from None
    for table, columns in zip(tables, (presentation.shown, ()), strict=False):
        table.print(columns)
    try:
        _save(scale.out, name, presentation, tables, results, jobs)
    except OSError as error:
        print(f"not written: the tables in {scale.out} ({error.strerror or error})", file=sys.stderr)
        code = code or 1
    return code


def _save(
    out: Path,
    name: str,
    presentation: Presentation,
    tables: Sequence[Table],
    results: Results,
    jobs: Sequence[Parameters],
) -> None:
    """Write the rows, the tables and the figure into the folder ``out``."""
    finished = results.rows(jobs)
    rows = [*finished, *results.failed(jobs)]
    write_atomically(out / f"{name}.json", json.dumps(rows, indent=2) + "\n")
    tables[0].save(out, name)
    # Tables with notes below them, in Markdown.
    (first, *others) = tables
    text = f"# {first.title}\n\n{first.markdown()}\n"
    text += "".join(f"## {one.title}\n\n{one.markdown()}\n" for one in others)
    page = text + "".join(f"- {note}\n" for note in provenance(len(jobs), results, jobs))
    if presentation.figure is not None and finished:
        presentation.figure(presentation.rows(results, jobs), out / f"{name}.svg")
        page += f"\n![{tables[0].title}]({name}.svg)\n"
    write_atomically(out / f"{name}.md", page)


def provenance(count: int, results: Results, jobs: Sequence[Parameters]) -> list[str]:
    """How to make these results again, and what is missing from them: lines for a page."""
    seeds = sorted({job["seed"] for job in jobs if "seed" in job})
    notes = [f"Made by `{command()}`"]
    if seeds:
        told = (
            f"{seeds[0]} to {seeds[-1]}" if seeds == [*range(seeds[0], seeds[-1] + 1)] else str(seeds)[1:-1]
        )
        notes.append(f"Seeds: {told if len(seeds) > 1 else seeds[0]}")
    notes += [f"With {versions}" for versions in results.made_with(jobs)]
    done = len(results.rows(jobs))
    if done < count:
        notes.append(f"{done} of {count} jobs are in the table")
    for row in results.failed(jobs):
        error = row.pop("error")
        notes.append(
            f"Failed: {', '.join(f'{k} {v}' for k, v in row.items() if v not in ([], None))}: {error}"
        )
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


# Tables of results: for the terminal, as CSV, as Markdown.

WIDE = 160
"""Characters in a line that goes to a file."""


@dataclass(frozen=True)
class Table:
    """A title, names of columns, and rows of as many values; None is shown as a dash."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    @staticmethod
    def groups(rows: Iterable[Row], *by: str) -> dict[tuple[Any, ...], list[Row]]:
        """Results by their values under some names, in the order in which these values come first."""
        found: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            found.setdefault(tuple(row[name] for name in by), []).append(row)
        return found

    def print(self, columns: Sequence[str] = (), console: Console | None = None) -> None:
        """Show it in the terminal, or only some columns of it."""
        console = console or Console()
        if not console.is_terminal:
            console.width = WIDE
        shown = RichTable(title=self.title, title_justify="left", box=box.SIMPLE_HEAD)
        places = [place for place, column in enumerate(self.columns) if column in (columns or self.columns)]
        for place in places:
            shown.add_column(self.columns[place], justify="right" if place else "left", no_wrap=True)
        for row in self.rows:
            shown.add_row(*(_text(row[place]) for place in places))
        console.print(shown)

    def csv(self) -> str:
        """As comma-separated values with a header."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(["" if value is None else value for value in row] for row in self.rows)
        return out.getvalue()

    def markdown(self) -> str:
        """As a Markdown table."""
        header, *rows = [
            [_text(value).replace("|", "\\|") for value in line] for line in (self.columns, *self.rows)
        ]
        lines = [header, ["---", *(["---:"] * (len(header) - 1))], *rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"

    def save(self, folder: Path, name: str) -> None:
        """Write ``name.csv`` and ``name.md``."""
        write_atomically(folder / f"{name}.csv", self.csv())
        write_atomically(folder / f"{name}.md", f"{self.title}\n\n{self.markdown()}")


def spread(values: Sequence[float | None]) -> str:
    """The mean of those there are, with the least and the greatest where they differ."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    mean = sum(known) / len(known)
    low, high = min(known), max(known)
    return f"{mean:.4g}" if low == high else f"{mean:.4g} ({low:.4g}-{high:.4g})"


def _text(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


# Figures of results, as SVG that changes only when the figures in it do.


COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Told apart by the colour-blind, too (Okabe and Ito)."""
PAPER_COLOUR = "#999999"


def save_svg(figure: Figure, path: Path) -> None:
    """Write a figure; the same figure gives the same bytes."""
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "aam-vision", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    write_atomically(path, "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n")


def queries_figure(rows: Sequence[Row], paper: Mapping[str, int], path: Path) -> None:
    """Queries by environment: the paper's, each method's with the least and the most, and the lower bound."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["env"] for row in rows))
    methods = list(dict.fromkeys((row["policy"], row["planner"]) for row in rows))
    figure = Figure(figsize=(1.5 + 0.9 * len(names), 3.6), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / (len(methods) + 1)
    known = [(place, paper[name]) for place, name in enumerate(names) if name in paper]
    axes.bar(
        [place for place, _ in known], [q for _, q in known], width, color=PAPER_COLOUR, label="the paper"
    )
    for number, method in enumerate(methods, 1):
        for place, name in enumerate(names):
            runs = [
                row["queries"]
                for row in rows
                if row["env"] == name and (row["policy"], row["planner"]) == method
            ]
            if not runs:
                continue
            middle = mean(runs)
            axes.bar(
                place + number * width,
                middle,
                width,
                yerr=[[middle - min(runs)], [max(runs) - middle]],
                capsize=2,
                color=COLOURS[(number - 1) % len(COLOURS)],
                label=", ".join(method) if name == names[0] else "_",
            )
    for place, name in enumerate(names):
        bound = mean(row["lower_bound"] for row in rows if row["env"] == name)
        axes.hlines(
            bound,
            place - width / 2,
            place + (len(methods) + 0.5) * width,
            color="black",
            label="lower bound" if place == 0 else "_",
        )
    axes.set_yscale("log")
    axes.set_ylim(bottom=1)  # bars of a logarithmic axis have no other common foot
    axes.set_ylabel("queries")
    axes.set_xticks([place + len(methods) * width / 2 for place in range(len(names))], names, rotation=20)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
    save_svg(figure, path)
