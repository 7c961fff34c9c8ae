"""Running the jobs of an experiment: run those that are missing, show a table, write the results."""

from __future__ import annotations

import csv
import io
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from aam_vision.commandline import write_atomically
from aam_vision.errors import UnusableInput
from experiments.jobs import Parameters, Results, Row, Scale

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
    page = _page(tables, provenance(len(jobs), results, jobs))
    if presentation.figure is not None and finished:
        presentation.figure(presentation.rows(results, jobs), out / f"{name}.svg")
        page += f"\n![{tables[0].title}]({name}.svg)\n"
    write_atomically(out / f"{name}.md", page)


def _page(tables: Sequence[Table], notes: Sequence[str]) -> str:
    """Tables with notes below them, in Markdown."""
    (first, *others) = tables
    text = f"# {first.title}\n\n{first.markdown()}\n"
    text += "".join(f"## {one.title}\n\n{one.markdown()}\n" for one in others)
    return text + "".join(f"- {note}\n" for note in notes)


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
