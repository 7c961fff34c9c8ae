"""The figures in short, each from the results of its own command: ``python -m experiments.headline``.

One table for each kind of access that an agent may allow: figures under different accesses cannot be compared.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

from aam_vision.support.commandline import check_writable, run_command, write_atomically
from aam_vision.support.errors import UnusableInput
from experiments import simulators, table1
from experiments.options import about
from experiments.tables import Column, Row, Summary, Table, among, share, spread, spread_of, values


def headline(
    results: Annotated[Path, about("Folder with a folder of results for each experiment.")] = Path(
        "runs/results"
    ),
    out: Annotated[Path, about("Folder for the page.")] = Path("docs/results"),
) -> int:
    """Write README.md with a short table for each experiment that has results.

    Examples:
        python -m experiments.headline
        python -m experiments.headline --results runs/results --out docs/results
    """
    makers: dict[str, Callable[[Sequence[Row]], Table]]
    makers = {"table1": settable, "simulators": snapshot, "peers": trajectory}
    found = {name: results / name / f"{name}.json" for name in makers}
    if not any(path.exists() for path in found.values()):
        raise UnusableInput(f"--results {results}: nothing there; run the experiments first, or make results")
    check_writable(out)
    page = "# Results in short\n\nMade by `make results`, which runs the commands named here.\n"
    for name, path in found.items():
        if not path.exists():
            continue
        rows = [row for row in json.loads(path.read_text(encoding="utf-8")) if "error" not in row]
        table = makers[name](rows)
        table.print()
        page += f"\n## {table.title}\n\n{table.markdown()}\nFrom `python -m experiments.{name}`: [{name}.md]({name}.md)\n"
    write_atomically(out / "README.md", page)
    return 0


def settable(rows: Sequence[Row]) -> Table:
    """Queries of every policy beside the paper's (Table 1) and the lower bound."""
    policies = dict.fromkeys(row["policy"] for row in rows)
    columns: dict[str, Column] = {
        "domain": "env",
        "paper": lambda runs: table1.PAPER[runs[0]["env"]],
        **{f"{policy} here": among(spread_of("queries"), policy=policy) for policy in policies},
        "lower bound": spread_of("lower_bound"),
        "exact": share("exact"),
    }
    return Summary("Queries to agents whose state can be set (walks come first)", columns, by=("env",))(rows)


snapshot = Summary(
    "Queries to agents seen in images only, which can be taken back to what was seen",
    {
        name: simulators.summary.columns[name]
        for name in ("environment", "paper", "queries", "lower bound", "steps", "exact", "equivalent")
    },
    by=("env",),
)
"""Queries and steps in images, beside the paper's simulators."""


def trajectory(rows: Sequence[Row]) -> Table:
    """Attempted steps after which the model is right and stays so, when the learner stopped, and how often it is."""

    def cell(runs: list[Row]) -> str:
        done = [run for run in runs if run["ended"] == "learned"]
        right = spread(values(done, lambda run: run.get("right_after")))
        stopped = spread(values(done, "steps_taken"))
        return f"{right} of {stopped}; {share(lambda run: run.get('equivalent', False))(runs) or '0/0'}"

    most = max(values(rows, "steps"))
    title = (
        f"Steps on one trajectory until the model is right (of all until the learner stops, {most} at most); "
        "runs that end right"
    )
    learners = {one: among(cell, peer=one) for one in dict.fromkeys(row["peer"] for row in rows)}
    return Summary(title, {"domain": "env", **learners}, by=("env",))(rows)


if __name__ == "__main__":
    sys.exit(run_command(headline))
