"""How the cost of an interrogation grows with the world of the agent.

``python -m experiments.growth`` interrogates symbolic agents in worlds of growing size, each in a process of its own, and
fits the exponent of the CPU time in the number of objects (of a Sokoban board: of its cells).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer

from aam_vision.commandline import run_command
from aam_vision.errors import UnusableInput
from aam_vision.query import Access
from experiments.growth_runs import FAMILIES, grown
from experiments.jobs import COLOURS, Parameters, Presentation, Row, Scale, Table, report, save_svg, spread

ACCESSES = tuple(access.value for access in Access)
BOUNDED = "snapshot"
"""The access to which the bounds belong."""
MEGABYTES = 1000
"""The memory that no run should exceed."""
LIMIT_S = 300.0
SMALL = 2
"""Sizes of a family where not all are wanted."""
COLUMNS = (
    "family", "size", "objects", "access", "CPU s", "at most", "MB", "queries", "steps", "status", "equivalent",
    "exact", "wrong certain", "runs",
)  # fmt: skip
"""``objects``: of one problem, of a Sokoban board its cells. ``equivalent``: same applicability and successors in sampled
reachable states of the interrogated problems."""
GROWTH_COLUMNS = ("family", "access", "objects", "exponent", "at most", "runs", "left out")


def growth(
    family: Annotated[
        list[str] | None, typer.Option(help=f"Only {', '.join(FAMILIES)} (repeatable).")
    ] = None,
    size: Annotated[
        list[int] | None,
        typer.Option(min=1, help=f"Sizes (repeatable); default all under {BOUNDED} access, else {SMALL}."),
    ] = None,
    small: Annotated[bool, typer.Option("--small", help=f"Only the {SMALL} smallest sizes.")] = False,
    access: Annotated[
        list[str] | None, typer.Option(help=f"Only {', '.join(ACCESSES)} (repeatable).")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of every size.")] = 1,
    first_seed: Annotated[int, typer.Option(min=0, help="The first of their seeds.")] = 0,
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="Steps of an interrogation; default no limit.")
    ] = None,
    scale: Scale = Scale(processes=1, job_seconds=LIMIT_S, out=Path("runs/growth")),
) -> int:
    """CPU time, memory and result of interrogations in worlds of growing size.

    A run that takes longer than --job-seconds is shown as over the limit, and left out where exponents are
    fitted. Exit code: 1 if there is such a run.

    Examples:
        python -m experiments.growth
        python -m experiments.growth --small --access snapshot
        python -m experiments.growth --family sokoban --size 10 --size 20 --seeds 3
        python -m experiments.growth --family rovers --access settable --access reset
    """
    for option, given, known in (("family", family, FAMILIES), ("access", access, ACCESSES)):
        for name in given or ():
            if name not in known:
                raise UnusableInput(f"unknown; use one of {', '.join(known)}", option, name)
    if size and family == ["blocksworld"] and min(size) < 3:
        raise UnusableInput("has at least 3 blocks", "size", min(size))
    jobs: list[Parameters] = [
        {"family": name, "size": one, "access": allowed, "seed": seed, "max_steps": max_steps}
        for allowed in access or ACCESSES
        for name in family or FAMILIES
        for one in size or _sizes(name, allowed, small=small)
        for seed in range(first_seed, first_seed + seeds)
    ]
    return report(
        "growth",
        jobs,
        Presentation(summary, further=exponents, figure=figure, failures=True),
        scale,
        work=grown,
        alone=True,
    )


def _sizes(family: str, access: str, *, small: bool) -> tuple[int, ...]:
    sizes = FAMILIES[family].sizes
    return sizes[:SMALL] if small or access != BOUNDED else sizes


def summary(rows: Sequence[Row]) -> Table:
    """One line per family, size and access; a run without a result has ``error``."""
    lines: list[list[Any]] = []
    for (name, size, access), runs in _grouped(rows, "family", "size", "access").items():
        done = [run for run in runs if "error" not in run]
        shares = [
            f"{sum(run[what] for run in done)}/{len(done)}" if done else None
            for what in ("equivalent", "exact")
        ]
        lines.append(
            [
                name,
                size,
                done[0]["objects"] if done else None,
                access,
                spread([run["seconds"] for run in done]),
                FAMILIES[name].bounds.get(size) if access == BOUNDED else None,
                max((run["megabytes"] for run in done), default=None),
                spread([run["queries"] for run in done]),
                spread([run["steps"] for run in done]),
                _statuses(runs),
                *shares,
                sum(run["wrong"] for run in done) if done else None,
                len(runs),
            ]
        )
    return Table(f"Growth with the world (memory: at most {MEGABYTES} MB)", COLUMNS, lines)


def _statuses(runs: Sequence[Row]) -> str:
    found = [_status(run) for run in runs]
    counted = {status: found.count(status) for status in found}
    return found[0] if len(counted) == 1 else ", ".join(f"{n} {status}" for status, n in counted.items())


def _status(run: Row) -> str:
    if "error" not in run:
        return str(run["status"])
    return "over the limit" if run["error"].startswith("over its limit") else "failed"


def exponents(rows: Sequence[Row]) -> Table:
    """One line per family and access: the exponent b of the CPU time a n^b that fits the runs best, on a logarithmic scale."""
    lines: list[list[Any]] = []
    for (name, access), runs in _grouped(rows, "family", "access").items():
        done = [run for run in runs if "error" not in run]
        sizes = sorted({run["objects"] for run in done})
        lines.append(
            [
                name,
                access,
                f"{sizes[0]} to {sizes[-1]}" if sizes else None,
                fitted([run["objects"] for run in done], [run["seconds"] for run in done]),
                FAMILIES[name].exponent if access == BOUNDED else None,
                len(done),
                len(runs) - len(done),
            ]
        )
    return Table("Exponents of CPU time in the number of objects", GROWTH_COLUMNS, lines)


def fitted(objects: Sequence[int], seconds: Sequence[float]) -> float | None:
    """The slope of the straight line through the logarithms by least squares; None if there is only one size."""
    import numpy as np

    if len(set(objects)) < 2:
        return None
    slope, _ = np.polyfit(np.log(objects), np.log(np.maximum(seconds, 1e-3)), 1)
    return float(slope)


def _grouped(rows: Sequence[Row], *by: str) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    return groups


def figure(rows: Sequence[Row], path: Path) -> None:
    """CPU time by number of objects, a panel for each access; rings are the bounds."""
    from matplotlib.figure import Figure

    done = [row for row in rows if "error" not in row]
    panels = _grouped(done, "access")
    drawn = Figure(figsize=(0.8 + 3.6 * len(panels), 3.6), layout="constrained")
    axes = drawn.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for panel, ((access,), some) in zip(axes, panels.items(), strict=True):
        for name, runs in _grouped(some, "family").items():
            colour = COLOURS[list(FAMILIES).index(name[0]) % len(COLOURS)]
            by_size = _grouped(runs, "size", "objects")
            middle = sorted(
                (objects, mean(run["seconds"] for run in here)) for (_, objects), here in by_size.items()
            )
            panel.plot(*zip(*middle, strict=True), color=colour, label=name[0])
            panel.scatter(
                [run["objects"] for run in runs], [run["seconds"] for run in runs], s=10, color=colour
            )
            bounds = FAMILIES[name[0]].bounds if access == BOUNDED else {}
            rings = [(objects, bounds[size]) for size, objects in by_size if size in bounds]
            panel.scatter(
                *zip(*rings, strict=True), s=36, facecolors="none", edgecolors=colour
            ) if rings else None
        panel.set(xscale="log", yscale="log", xlabel="objects (Sokoban: cells)", title=access)
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("CPU s")
    axes[0].legend(frameon=False, fontsize="small")
    save_svg(drawn, path)


if __name__ == "__main__":
    sys.exit(run_command(growth))
