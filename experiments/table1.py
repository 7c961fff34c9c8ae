"""The paper's Table 1 (Sec. "Empirical Evaluation"): the ten IPC domains, ten problems each.

``python -m experiments.table1`` interrogates symbolic agents under settable access, one problem a run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import pvariance
from typing import Annotated

from aam_vision.interrogation.policies.registry import POLICIES, policy_for
from aam_vision.model.query import Access
from aam_vision.planning.engines import PYPERPLAN, planner_named
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import UnusableInput
from experiments.interrogations import interrogation
from experiments.jobs import Experiment, Parameters, Scale, every
from experiments.options import Domains, Names, Size, about, chosen
from experiments.tables import Row, Summary, Table, among, as_named, average, queries_figure, share, spread_of

PAPER = {
    "gripper": 17, "blocksworld": 48, "miconic": 39, "parking": 63, "logistics": 68, "satellite": 41, "termes": 134,
    "rovers": 370, "barman": 357, "freecell": 535,
}  # fmt: skip
"""Queries in the paper's Table 1."""

SHOWN = (
    "domain", "policy", "planner", "queries", "paper", "lower bound", "steps", "ms a query", "accuracy", "exact",
)  # fmt: skip
"""Columns for the terminal; all are in the files."""


def _time(run: Row) -> float:
    return float(1000 * run["seconds"] / max(1, run["queries"]))


summary = Summary(
    "Table 1: symbolic agents, settable access (walk steps included in steps)",
    {
        "domain": "env",
        **as_named("policy", "planner"),
        "|P*|": "predicates",
        "|A|": "actions",
        "pal tuples": "pal_tuples",
        "queries": spread_of("queries"),
        "paper": lambda runs: PAPER[runs[0]["env"]],
        "lower bound": spread_of("lower_bound"),
        **as_named("steps", "searches", column=spread_of),
        "ms a query": average(_time),
        "variance": lambda runs: pvariance(map(_time, runs)),
        "accuracy": average("accuracy"),
        "exact": share("exact"),
        "runs": len,
    },
    by=("env", "policy", "planner"),
)


def page(rows: Sequence[Row]) -> Table:
    """One line per domain, with the runs of every policy; these have all planners, which differ in time."""
    columns = {name: summary.columns[name] for name in ("domain", "|P*|", "paper", "lower bound")}
    for policy in dict.fromkeys(row["policy"] for row in rows):
        columns |= {
            f"{policy}: {name}": among(spread_of(name), policy=policy) for name in ("queries", "steps")
        }
        for planner in dict.fromkeys(row["planner"] for row in rows):
            columns[f"{policy}: ms, {planner}"] = among(average(_time), policy=policy, planner=planner)
    return Summary(f"{summary.title}; ms a query", {**columns, "exact": share("exact")}, by=("env",))(rows)


QUESTION = (
    "How many queries does it take, beside the paper and the least possible? `economical` is the default policy, `aia` "
    "[the paper's algorithm](../concepts/aia.md)."
)


def table1(
    policy: Annotated[Names, about("economical, aia (repeatable); default both.")] = None,
    planner: Annotated[Names, about("Planners (repeatable).")] = None,
    domain: Domains = None,
    problems: Annotated[int, about("Problems of every domain.", min=1)] = 10,
    size: Size = 2,
    benchmarks: Annotated[
        Path | None, about("Original files: DIR/<domain>/domain.pddl and instances/*.pddl.")
    ] = None,
    scale: Scale = Scale(out=Path("runs/table1")),
) -> int:
    """Queries, steps, time and accuracy on the ten IPC domains of the paper.

    Examples:
        python -m experiments.table1
        python -m experiments.table1 --domain gripper --policy economical --problems 3
        python -m experiments.table1 --backend ray --address head:6379
    """
    policies, planners = policy or list(POLICIES), planner or [PYPERPLAN]
    for one_policy, one_planner in product(policies, planners):
        policy_for(Access.SETTABLE, one_policy, planner_named(one_planner))  # an unknown one is told now
    jobs: list[Parameters] = []
    for name in chosen("domain", domain, PAPER):
        asked = {"env": name, "access": "settable", "policy": policies, "planner": planners}
        if benchmarks is None:
            jobs += every(**asked, seed=range(problems), problems=[["0"]], size=size)
            continue
        file = benchmarks / name / "domain.pddl"
        instances = sorted((benchmarks / name / "instances").glob("*.pddl"))[:problems]
        if not (file.exists() and instances):
            raise UnusableInput(
                f"--benchmarks {benchmarks}: no {name}/domain.pddl with {name}/instances/*.pddl"
            )
        jobs += [
            {**job, "seed": number, "problems": [str(instance)], "domain": str(file)}
            for job in every(**asked)
            for number, instance in enumerate(instances)
        ]
    figure = partial(queries_figure, PAPER)
    told = Experiment(
        "table1", interrogation, summary, shown=SHOWN, page=(page,), question=QUESTION, figure=figure
    )
    return told.run(jobs, scale)


if __name__ == "__main__":
    sys.exit(run_command(table1))
