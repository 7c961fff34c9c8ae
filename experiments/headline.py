"""The figures in short, each from the results of its own command: ``python -m experiments.headline``.

One table for each kind of access that an agent may allow: figures under different accesses cannot be compared.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from aam_vision.commandline import check_writable, run_command, write_atomically
from aam_vision.errors import UnusableInput
from experiments import simulators, table1
from experiments.jobs import Row, Table, spread

BEGIN = "<!-- the tables of python -m experiments.headline -->"
END = "<!-- end of the tables -->"


def headline(
    results: Annotated[
        Path, typer.Option(help="Folder with a folder of results for each experiment.")
    ] = Path("runs/results"),
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("docs/results"),
    readme: Annotated[
        Path | None, typer.Option(help="A page to fill with the same tables, between its two marks.")
    ] = None,
) -> int:
    """Write README.md with a short table for each experiment that has results.

    Examples:
        python -m experiments.headline
        python -m experiments.headline --results runs/results --readme README.md
    """
    makers = {"table1": settable, "simulators": snapshot, "peers": trajectory}
    found = {name: results / name / f"{name}.json" for name in makers}
    if not any(path.exists() for path in found.values()):
        raise UnusableInput(f"--results {results}: nothing there; run the experiments first, or make results")
    check_writable(out)
    marked = None if readme is None else _between_marks(readme)
    tables = ""
    for name, path in found.items():
        if not path.exists():
            continue
        rows = [row for row in json.loads(path.read_text(encoding="utf-8")) if "error" not in row]
        table = makers[name](rows)
        table.print()
        tables += f"\n### {table.title}\n\n{table.markdown()}\nFrom `python -m experiments.{name}`: [{name}.md]({name}.md)\n"
    heading = "# Results in short\n\nMade by `make results`, which runs the commands named here.\n"
    write_atomically(out / "README.md", heading + tables.replace("\n### ", "\n## "))
    if readme is not None and marked is not None:
        before, after = marked
        linked = tables.replace("](", f"]({out.as_posix()}/")
        write_atomically(readme, f"{before}{BEGIN}\n{linked}\n{END}{after}")
    return 0


def _between_marks(page: Path) -> tuple[str, str]:
    """The text before and after the tables.

    Raises:
        UnusableInput: there is no such page, or it does not have both marks.
    """
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise UnusableInput(f"--readme {page}: has no place for the tables; put {BEGIN} and {END} there")
    return before, after


def settable(rows: Sequence[Row]) -> Table:
    """Queries of every policy beside the paper's (Table 1) and the lower bound."""
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    lines = []
    for name in dict.fromkeys(row["env"] for row in rows):
        runs = [row for row in rows if row["env"] == name]
        asked = [spread([run["queries"] for run in runs if run["policy"] == policy]) for policy in policies]
        bound = spread([run["lower_bound"] for run in runs])
        lines.append([name, table1.PAPER[name], *asked, bound, _share(run["exact"] for run in runs)])
    title = "Queries to agents whose state can be set (walks come first)"
    return Table(title, ("domain", "paper", *(f"{p} here" for p in policies), "lower bound", "exact"), lines)


def snapshot(rows: Sequence[Row]) -> Table:
    """Queries and steps in images, beside the paper's simulators."""
    lines = []
    for name in dict.fromkeys(row["env"] for row in rows):
        runs = [row for row in rows if row["env"] == name]
        lines.append(
            [
                name,
                simulators.PAPER.get(name),
                *(spread([run[what] for run in runs]) for what in ("queries", "lower_bound", "steps")),
                *(_share(run[what] for run in runs) for what in ("exact", "equivalent")),
            ]
        )
    title = "Queries to agents seen in images only, which can be taken back to what was seen"
    return Table(
        title, ("environment", "paper", "queries", "lower bound", "steps", "exact", "equivalent"), lines
    )


def trajectory(rows: Sequence[Row]) -> Table:
    """Attempted steps after which the model is right and stays so, when the learner stopped, and how often it is."""
    learners = list(dict.fromkeys(row["peer"] for row in rows))
    lines = []
    for name in dict.fromkeys(row["env"] for row in rows):
        cells = []
        for learner in learners:
            runs = [row for row in rows if row["env"] == name and row["peer"] == learner]
            done = [run for run in runs if run["ended"] == "learned"]
            right = spread([run.get("right_after") for run in done])
            stopped = spread([run["steps_taken"] for run in done])
            share = _share(run.get("equivalent", False) for run in runs)
            cells.append(f"{right} of {stopped}; {share}")
        lines.append([name, *cells])
    most = max(row["steps"] for row in rows)
    title = (
        f"Steps on one trajectory until the model is right (of all until the learner stops, {most} at most); "
        "runs that end right"
    )
    return Table(title, ("domain", *learners), lines)


def _share(values: Any) -> str:
    known = list(values)
    return f"{sum(known)}/{len(known)}"


if __name__ == "__main__":
    sys.exit(run_command(headline))
