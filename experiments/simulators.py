"""The paper's simulators: agents that show themselves only in images.

``python -m experiments.simulators`` interrogates them under snapshot access with several seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer

from aam_vision.commandline import check_writable, run_command
from aam_vision.envs.registry import board_domain
from experiments.jobs import Parameters, Row
from experiments.report import report
from experiments.tables import Table, spread

PAPER = {"sokoban": 201, "doors": 252}
"""Queries in the paper (Sec. "Empirical Evaluation", simulators)."""

COLUMNS = (
    "environment",
    "queries",
    "paper",
    "steps",
    "CPU s",
    "accuracy",
    "exact",
    "equivalent",
    "complete",
    "runs",
)


def simulators(
    env: Annotated[list[str] | None, typer.Option(help="Environments (repeatable).")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds, from 0 on.")] = 10,
    processes: Annotated[int, typer.Option(help="Jobs at a time; -1: one per core.")] = -1,
    out: Annotated[Path, typer.Option(help="Folder for results; a sweep that is there goes on.")] = Path(
        "runs/simulators"
    ),
) -> int:
    """Queries, steps and time on the image environments, beside the paper's."""
    check_writable(out)
    chosen = env or list(PAPER)
    for name in chosen:
        board_domain(name)  # an unknown one is told now, in one line
    jobs: list[Parameters] = [
        {
            "env": name,
            "access": "snapshot",
            "policy": "economical",
            "planner": "pyperplan",
            "seed": n,
            "problems": [],
        }
        for name in chosen
        for n in range(seeds)
    ]
    return report("simulators", jobs, summary, out, processes=processes)


def summary(rows: Sequence[Row]) -> Table:
    """One line per environment."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["env"], []).append(row)
    lines: list[list[Any]] = []
    for name, runs in groups.items():
        shares = [
            f"{sum(run[what] for run in runs)}/{len(runs)}" for what in ("exact", "equivalent", "complete")
        ]
        lines.append(
            [
                name,
                spread([run["queries"] for run in runs]),
                PAPER.get(name),
                spread([run["steps"] for run in runs]),
                spread([run["seconds"] for run in runs]),
                mean(run["accuracy"] for run in runs),
                *shares,
                len(runs),
            ]
        )
    return Table("Simulators: images only, snapshot access", COLUMNS, lines)


if __name__ == "__main__":
    sys.exit(run_command(simulators))
