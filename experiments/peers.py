"""Today's learners of action models beside this toolkit, judged by AMLGym's own metrics.

``python -m experiments.peers`` has everyone learn the same generated problems on the same step-counting simulator.
Learners that choose what to try on one trajectory are in one table, learners from a given trajectory in another:
accesses are never mixed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer

from aam_vision import domains
from aam_vision.commandline import run_command
from aam_vision.errors import UnusableInput
from experiments.contest import contest
from experiments.jobs import Parameters, Presentation, Row, Scale, Table, chosen_domains, report, spread

ONLINE = ("this toolkit", "OLAM", "information gain")
OFFLINE = ("SAM", "NOLAM")
DEFAULT = ("gripper", "blocksworld", "miconic", "logistics", "satellite")

METRICS = {
    "syntactic P": "syntactic_precision",
    "syntactic R": "syntactic_recall",
    "applicability P": "applicability_mean_precision",
    "applicability R": "applicability_mean_recall",
    "effects P": "predicted_effects_mean_precision",
    "effects R": "predicted_effects_mean_recall",
    "solving": "solving",
    "false plans": "false_plans",
}
"""AMLGym's metrics (P: precision, R: recall), means over the runs that ended with a model."""

COLUMNS = (
    "domain", "learner", "right after", "steps", "equivalent", "claims to be done", "false claims", *METRICS, "s", "ended",
)  # fmt: skip
SHOWN = (
    "domain", "learner", "right after", "steps", "equivalent", "false claims", "applicability R", "solving", "ended",
)  # fmt: skip


def peers(
    domain: Annotated[list[str] | None, typer.Option(help="Only these domains (repeatable).")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds, each with a problem of its own.")] = 3,
    steps: Annotated[int, typer.Option(min=1, help="Steps that a learner may attempt.")] = 200,
    peer_seconds: Annotated[float, typer.Option(min=1, help="Seconds that it may learn.")] = 120,
    size: Annotated[int, typer.Option(min=1, help="Size of generated problems.")] = 2,
    scale: Scale = Scale(out=Path("runs/peers")),
) -> int:
    """OLAM, information gain, SAM, NOLAM and this toolkit on one trajectory, by AMLGym's metrics.

    Examples:
        python -m experiments.peers
        python -m experiments.peers --domain gripper --seeds 1 --steps 50
    """
    chosen = chosen_domains(domain, domains.DOMAINS, DEFAULT)
    if any(find_spec(package) is None for package in ("amlgym", "olam")):
        raise UnusableInput(
            'the peers are not installed; pip install "aam-vision[peers]", in an environment of its own: '
            "OLAM insists on versions that others do without"
        )
    common = {"steps": steps, "seconds": peer_seconds, "size": size}
    codes = []
    for title, learners, file in (
        (
            "Peers, online: one trajectory, no reset, every attempted step chosen by the learner",
            ONLINE,
            "peers",
        ),
        ("Peers, offline: from one random trajectory of successful steps", OFFLINE, "peers_offline"),
    ):
        jobs: list[Parameters] = [
            {"env": name, "peer": learner, "seed": seed, **common}
            for name in chosen
            for learner in learners
            for seed in range(seeds)
        ]
        presentation = Presentation(partial(summary, title), shown=SHOWN)
        codes.append(report(file, jobs, presentation, scale, work=contest))
    return max(codes)


def summary(title: str, rows: Sequence[Row]) -> Table:
    """One line per domain and learner."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["env"], row["peer"]), []).append(row)
    lines = [dict(zip(COLUMNS, (*names, *_line(runs)), strict=True)) for names, runs in groups.items()]
    # who learns from a whole trajectory has no model before its end
    columns = [
        name
        for name in COLUMNS
        if name != "right after" or any(row.get("right_after") is not None for row in rows)
    ]
    return Table(title, columns, [[line[name] for name in columns] for line in lines])


def _line(runs: Sequence[Row]) -> list[Any]:
    done = [run for run in runs if run["ended"] == "learned"]
    claims = [run for run in done if run["claims"] is not None]

    def share(what: Sequence[bool]) -> str | None:
        return f"{sum(what)}/{len(what)}" if what else None

    def average(name: str) -> float | None:
        values = [run[name] for run in done if name in run]
        return mean(values) if values else None

    endings = [run["ended"] for run in runs]
    return [
        spread([run.get("right_after") for run in done]),
        spread([run["steps_taken"] for run in done]),
        share([run.get("equivalent", False) for run in runs]),
        share([run["claims"] for run in claims]),
        share([run["claims"] and not run["equivalent"] for run in claims]),
        *(average(name) for name in METRICS.values()),
        spread([run["learning_s"] for run in runs]),
        ", ".join(f"{endings.count(ending)} {ending}" for ending in dict.fromkeys(endings)),
    ]


if __name__ == "__main__":
    sys.exit(run_command(peers))
