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

from aam_vision.commandline import run_command
from experiments.jobs import Parameters, Presentation, Row, Scale, Table, queries_figure, report, spread

PAPER = {"sokoban": 201, "doors": 252}
"""Queries in the paper (Sec. "Empirical Evaluation", simulators)."""

COLUMNS = (
    "environment",
    "queries",
    "paper",
    "lower bound",
    "steps",
    "CPU s",
    "accuracy",
    "exact",
    "equivalent",
    "complete",
    "runs",
)


def simulators(
    env: Annotated[
        list[str] | None, typer.Option(help="Environments (repeatable); default every one.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 10,
    first_seed: Annotated[int, typer.Option(min=0, help="The first of them.")] = 0,
    policy: Annotated[str, typer.Option(help="How questions are chosen.")] = "economical",
    planner: Annotated[str, typer.Option(help="What plans.")] = "pyperplan",
    scale: Scale = Scale(out=Path("runs/simulators")),
) -> int:
    """Queries, steps and time on the image environments, beside the paper's.

    Examples:
        python -m experiments.simulators
        python -m experiments.simulators --env doors --seeds 3 --out runs/doors
    """
    from aam_vision.envs.registry import DOMAINS, board_domain
    from aam_vision.interrogation.policies.registry import policy_for
    from aam_vision.planning.engines import planner_named
    from aam_vision.query import Access

    policy_for(Access.SNAPSHOT, policy, planner_named(planner))  # an unknown one is told now
    chosen = env or list(DOMAINS)
    for name in chosen:
        board_domain(name)  # an unknown one is told now, in one line
    jobs: list[Parameters] = [
        {
            "env": name,
            "access": "snapshot",
            "policy": policy,
            "planner": planner,
            "seed": n,
            "problems": [],
        }
        for name in chosen
        for n in range(first_seed, first_seed + seeds)
    ]
    return report("simulators", jobs, Presentation(summary, figure=figure), scale)


def figure(rows: Sequence[Row], path: Path) -> None:
    """Queries beside the paper's."""
    queries_figure(rows, PAPER, path)


def summary(rows: Sequence[Row]) -> Table:
    """One line per environment."""
    lines: list[list[Any]] = []
    for (name,), runs in Table.groups(rows, "env").items():
        shares = [
            f"{sum(run[what] for run in runs)}/{len(runs)}" for what in ("exact", "equivalent", "complete")
        ]
        lines.append(
            [
                name,
                spread([run["queries"] for run in runs]),
                PAPER.get(name),
                spread([run["lower_bound"] for run in runs]),
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
