"""The paper's Table 1 (Sec. "Empirical Evaluation"): the ten IPC domains, ten problems each.

``python -m experiments.table1`` interrogates symbolic agents under settable access, one problem a run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from statistics import mean, pvariance
from typing import Annotated, Any

import typer

from aam_vision.commandline import run_command
from aam_vision.errors import UnusableInput
from experiments.jobs import (
    Parameters,
    Presentation,
    Row,
    Scale,
    Table,
    chosen_domains,
    queries_figure,
    report,
    spread,
)

PAPER = {
    "gripper": 17,
    "blocksworld": 48,
    "miconic": 39,
    "parking": 63,
    "logistics": 68,
    "satellite": 41,
    "termes": 134,
    "rovers": 370,
    "barman": 357,
    "freecell": 535,
}
"""Queries in the paper's Table 1."""

COLUMNS = (
    "domain", "policy", "planner", "|P*|", "|A|", "pal tuples", "queries", "paper", "lower bound", "steps",
    "searches", "ms a query", "variance", "accuracy", "exact", "runs",
)  # fmt: skip
SHOWN = (
    "domain",
    "policy",
    "planner",
    "queries",
    "paper",
    "lower bound",
    "steps",
    "ms a query",
    "accuracy",
    "exact",
)
"""Columns for the terminal; all are in the files."""


def table1(
    policy: Annotated[
        list[str] | None, typer.Option(help="economical, aia (repeatable); default both.")
    ] = None,
    planner: Annotated[list[str] | None, typer.Option(help="Planners (repeatable).")] = None,
    domain: Annotated[list[str] | None, typer.Option(help="Only these domains (repeatable).")] = None,
    problems: Annotated[int, typer.Option(min=1, help="Problems of every domain.")] = 10,
    size: Annotated[int, typer.Option(min=1, help="Size of generated problems.")] = 2,
    benchmarks: Annotated[
        Path | None, typer.Option(help="Original files: DIR/<domain>/domain.pddl and instances/*.pddl.")
    ] = None,
    scale: Scale = Scale(out=Path("runs/table1")),
) -> int:
    """Queries, steps, time and accuracy on the ten IPC domains of the paper.

    Examples:
        python -m experiments.table1
        python -m experiments.table1 --domain gripper --policy economical --problems 3
        python -m experiments.table1 --backend ray --address head:6379
    """
    from aam_vision.interrogation.policies.registry import POLICIES, policy_for
    from aam_vision.planning.engines import PYPERPLAN, planner_named
    from aam_vision.query import Access

    policies, planners = policy or list(POLICIES), planner or [PYPERPLAN]
    for one_policy, one_planner in product(policies, planners):
        policy_for(Access.SETTABLE, one_policy, planner_named(one_planner))  # an unknown one is told now
    jobs = [
        job
        for name in chosen_domains(domain, PAPER)
        for one_policy, one_planner in product(policies, planners)
        for job in _jobs(name, one_policy, one_planner, problems, size, benchmarks)
    ]
    return report("table1", jobs, Presentation(summary, shown=SHOWN, figure=figure), scale)


def _jobs(
    name: str, policy: str, planner: str, problems: int, size: int, benchmarks: Path | None
) -> list[Parameters]:
    common = {"env": name, "access": "settable", "policy": policy, "planner": planner}
    if benchmarks is None:
        return [{**common, "seed": n, "problems": ["0"], "size": size} for n in range(problems)]
    folder = benchmarks / name
    instances = sorted((folder / "instances").glob("*.pddl"))[:problems]
    if not (folder / "domain.pddl").exists() or not instances:
        raise UnusableInput(f"--benchmarks {benchmarks}: no {name}/domain.pddl with {name}/instances/*.pddl")
    return [
        {**common, "seed": n, "problems": [str(instance)], "domain": str(folder / "domain.pddl")}
        for n, instance in enumerate(instances)
    ]


def figure(rows: Sequence[Row], path: Path) -> None:
    """Queries beside the paper's."""
    queries_figure(rows, PAPER, path)


def summary(rows: Sequence[Row]) -> Table:
    """One line per domain, policy and planner; times per query as mean and variance over the runs."""
    lines: list[list[Any]] = []
    for (name, policy, planner), runs in Table.groups(rows, "env", "policy", "planner").items():
        times = [1000 * run["seconds"] / max(1, run["queries"]) for run in runs]
        lines.append(
            [
                name,
                policy,
                planner,
                runs[0]["predicates"],
                runs[0]["actions"],
                runs[0]["pal_tuples"],
                spread([run["queries"] for run in runs]),
                PAPER[name],
                spread([run["lower_bound"] for run in runs]),
                spread([run["steps"] for run in runs]),
                spread([run["searches"] for run in runs]),
                mean(times),
                pvariance(times),
                mean(run["accuracy"] for run in runs),
                f"{sum(run['exact'] for run in runs)}/{len(runs)}",
                len(runs),
            ]
        )
    return Table("Table 1: symbolic agents, settable access (walk steps included in steps)", COLUMNS, lines)


if __name__ == "__main__":
    sys.exit(run_command(table1))
