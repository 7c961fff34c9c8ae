"""Tables and figures of results: how rows become lines, and lines text for the terminal, CSV, Markdown or a picture.

An experiment declares its table as a ``Summary``: each column is the name of a value, or says how the values of a group of rows
become one (``total``, ``share``, ``average``, ``spread_of``).
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from aam_vision.support.commandline import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, Any]  # the parameters and results of a job, by name
Value = str | Callable[[Row], Any]  # the name of a value of a row, or what it follows from
Column = str | Callable[[list[Row]], Any]
"""The name of a value that all rows of a group share, or what becomes of their values."""
WIDE = 160  # characters in a line that goes to a file


@dataclass(frozen=True)
class Table:
    """A title, names of columns, and rows of as many values; None is shown as a dash."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    @staticmethod
    def of(title: str, lines: Sequence[Row]) -> Table:
        """The table of lines that have the same columns."""
        return Table(title, [*lines[0]] if lines else [], [[*line.values()] for line in lines])

    def only(self, columns: Sequence[str]) -> Table:
        """The table with these columns, in its own order; with all if none are named."""
        kept = [column in (columns or self.columns) for column in self.columns]
        return Table(
            self.title, [*compress(self.columns, kept)], [[*compress(row, kept)] for row in self.rows]
        )

    def print(self, columns: Sequence[str] = ()) -> None:
        """Show it in the terminal, or only some columns of it."""
        told = self.only(columns)
        console = Console()
        if not console.is_terminal:
            console.width = WIDE
        shown = RichTable(title=told.title, title_justify="left", box=box.SIMPLE_HEAD)
        for place, column in enumerate(told.columns):
            shown.add_column(column, justify="right" if place else "left", no_wrap=True)
        for row in told.rows:
            shown.add_row(*map(_text, row))
        console.print(shown)

    def csv(self) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(["" if value is None else value for value in row] for row in self.rows)
        return out.getvalue()

    def markdown(self) -> str:
        header, *rows = [
            [_text(value).replace("|", "\\|") for value in line] for line in (self.columns, *self.rows)
        ]
        lines = [header, ["---", *(["---:"] * (len(header) - 1))], *rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"

    def save(self, folder: Path, name: str) -> None:
        """Write ``name.csv`` and ``name.md``."""
        write_atomically(folder / f"{name}.csv", self.csv())
        write_atomically(folder / f"{name}.md", f"{self.title}\n\n{self.markdown()}")


def _text(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Summary:
    """The declaration of a table, which makes it of rows: a line for every group of them, or for every row."""

    title: str
    columns: Mapping[str, Column]
    by: Sequence[str] = ()
    """The values that rows of one group have in common; none where every row has a line."""

    def __call__(self, rows: Sequence[Row]) -> Table:
        groups = grouped(rows, *self.by).values() if self.by else [[row] for row in rows]
        return Table(self.title, [*self.columns], [self.line(group) for group in groups])

    def line(self, group: list[Row]) -> list[Any]:
        return [group[0][cell] if isinstance(cell, str) else cell(group) for cell in self.columns.values()]


def as_named(*names: str, column: Callable[[str], Column] = str) -> dict[str, Column]:
    """Columns that are called as the values in them, or as those of which they are made."""
    return {name: column(name) for name in names}


def told(rows: Iterable[Row]) -> Iterator[Row]:
    """Print rows as they come, with tabs between their values, below a line of the names."""
    for number, row in enumerate(rows):
        if not number:
            print("\t".join(row))
        print("\t".join(map(str, row.values())), flush=True)
        yield row


def grouped(rows: Iterable[Row], *by: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by their values under some names, in the order in which these values come first."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in by), []).append(row)
    return found


def values(rows: Iterable[Row], what: Value) -> list[Any]:
    """The values that are known; a row with an ``error`` in place of results has none."""
    found = (row[what] if isinstance(what, str) else what(row) for row in rows if "error" not in row)
    return [value for value in found if value is not None]


def pooled(rows: Iterable[Row], name: str) -> list[Any]:
    """The values of rows that have a list of them each: rows of batches."""
    return [value for row in rows for value in row[name]]


def part(name: str, of: str) -> Callable[[Row], Any]:
    """A number of rows that have several of them by name; 0 where they do not have it."""
    return lambda row: row[of].get(name, 0)


def total(what: Value) -> Callable[[list[Row]], Any]:
    """A column of sums, or of how many rows have something."""
    return lambda rows: sum(values(rows, what))


def share(what: Value) -> Callable[[list[Row]], str | None]:
    """A column of how many have something, of those of which it is known: ``2/3``; None where it is not known of any."""

    def cell(rows: list[Row]) -> str | None:
        known = values(rows, what)
        return f"{sum(known)}/{len(known)}" if known else None

    return cell


def average(what: Value, digits: int | None = None) -> Callable[[list[Row]], float | None]:
    """A column of means; None where no value is known."""

    def cell(rows: list[Row]) -> float | None:
        known = values(rows, what)
        if not known:
            return None
        middle: float = mean(known)
        return middle if digits is None else round(middle, digits)

    return cell


def counts(what: Value) -> Callable[[list[Row]], str]:
    """A column of how many have each value: ``2 complete, 1 budget``."""
    return lambda rows: ", ".join(f"{number} {how}" for how, number in Counter(values(rows, what)).items())


def per(what: Value, number: Value, digits: int) -> Callable[[list[Row]], float]:
    """A column of one total for each of another."""
    return lambda rows: round(sum(values(rows, what)) / max(1, sum(values(rows, number))), digits)


def percent(what: Value, of: Value | None = None) -> Callable[[list[Row]], str]:
    """A column of one total in a hundred of another, or of the rows."""
    return lambda rows: f"{100 * total(what)(rows) / max(1, total(of)(rows) if of else len(rows)):.1f}"


def among(column: Callable[[list[Row]], Any], **wanted: Any) -> Callable[[list[Row]], Any]:
    """A column about those rows of a group that have these values."""
    return lambda rows: column([row for row in rows if all(row[name] == wanted[name] for name in wanted)])


def spread_of(what: Value) -> Callable[[list[Row]], str]:
    """A column of means with their extremes, as ``spread`` writes them."""
    return lambda rows: spread(values(rows, what))


def spread(known: Sequence[float]) -> str:
    """The mean, with the least and the greatest value where they differ; a dash where there is none."""
    if not known:
        return "-"
    low, high = min(known), max(known)
    return f"{mean(known):.4g}" if low == high else f"{mean(known):.4g} ({low:.4g}-{high:.4g})"


# Figures, as SVG that changes only when the figures in it do.


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


def queries_figure(paper: Mapping[str, int], rows: Sequence[Row], path: Path) -> None:
    """Queries by environment: the paper's, each method's with the least and the most, and the lower bound."""
    from matplotlib.figure import Figure

    environments, methods = grouped(rows, "env"), grouped(rows, "policy", "planner")
    figure = Figure(figsize=(1.5 + 0.9 * len(environments), 3.6), layout="constrained")
    axes, width = figure.subplots(), 0.8 / (len(methods) + 1)
    known = [(place, paper[name]) for place, (name,) in enumerate(environments) if name in paper]
    axes.bar(
        [place for place, _ in known], [q for _, q in known], width, color=PAPER_COLOUR, label="the paper"
    )
    found = grouped(rows, "policy", "planner", "env")
    for number, method in enumerate(methods, 1):
        for place, (name,) in enumerate(environments):
            if asked := values(found.get((*method, name), ()), "queries"):
                middle = mean(asked)
                axes.bar(
                    place + number * width, middle, width, yerr=[[middle - min(asked)], [max(asked) - middle]], capsize=2,
                    color=COLOURS[(number - 1) % len(COLOURS)], label="_" if place else ", ".join(method),
                )  # fmt: skip
    for place, runs in enumerate(environments.values()):
        left, right = place - width / 2, place + (len(methods) + 0.5) * width
        bound = mean(values(runs, "lower_bound"))
        axes.hlines(bound, left, right, color="black", label="_" if place else "lower bound")
    axes.set_yscale("log")
    axes.set_ylim(bottom=1)  # bars of a logarithmic axis have no other common foot
    axes.set_ylabel("queries")
    middles = [place + len(methods) * width / 2 for place in range(len(environments))]
    axes.set_xticks(middles, [name for (name,) in environments], rotation=20)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
    save_svg(figure, path)
