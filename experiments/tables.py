"""Tables of results: for the terminal, as CSV, as Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from aam_vision.commandline import write_atomically

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
