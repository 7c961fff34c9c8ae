"""Can a result be trusted? Interrogations under noise, of faulty programs, and of agents outside STRIPS.

``python -m experiments.trust --runs 1000`` mixes domains, accesses, rates of misread atoms and of refused steps, faults
of programs, the families of agents that no STRIPS model describes (``experiments.faults``), and honest agents. The
engine is told nothing of this. A run is *silently wrong* if it calls a palm tuple certain that is not the true model's,
or is ``complete`` though its model does not predict 500 steps of the agent with random histories.

Exit code: 1 if any run is silently wrong, or a job failed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from aam_vision import domains
from aam_vision.commandline import run_command
from aam_vision.errors import UnusableInput
from aam_vision.query import Access
from experiments.faults.registry import FAMILIES, HONEST
from experiments.jobs import (
    Parameters,
    Presentation,
    Results,
    Row,
    Scale,
    Table,
    chosen_domains,
    report,
    spread,
)
from experiments.trust_runs import FAULTS, PER_LOOK, PER_SITUATION, trusted

ACCESSES = tuple(access.value for access in Access)
DOMAINS = ("gripper", "blocksworld", "miconic", "logistics", "satellite")
SLOW = (("satellite", "trajectory"),)
"""Domains and accesses that are left out: a run takes more than half a minute."""
FLIPS = (0.0, 0.01, 0.05, 0.1, 0.2)
REFUSALS = (0.0, 0.02)
MISREAD_TOO = ("effect depends on own atom", "silent no-op")
"""Families that are also run with misread atoms, 5% of them at every look."""
KINDS = ("noise", "program", "fault", "honest")
COLUMNS = (
    "agents", "access", "runs", "complete", "open", "not proven", "not-strips", "silently wrong", "over the bound",
    "wrong certain", "open, unnamed", "showed", "named right", "diagnosed, right", "literal", "frequency", "accused", "exam",
    "steps", "seconds",
)  # fmt: skip
"""``over the bound``: of the silently wrong ones, those whose model is wrong about a greater share of the 500 steps than
the run's own figure allows (``exam_bound``). ``open``: proven, but not examined enough, or weighed; ``open, unnamed``: of those,
wrong with nothing said. ``named right``: of those that showed; ``diagnosed, right``: of those in which an answer
contradicted the others, which leaves out faults that nobody could notice in what was asked; ``literal`` and ``frequency``:
of those that were named right. ``accused``: honest agents of which anything was said."""
NAMED = ("agent", "access", "flip_rate", "refusal_rate", "flips", "exam", "seed", "size")
"""The parameters of a job: with these ``trust_runs.trusted`` repeats a run."""
DETAILS = (
    "over the bound",
    "open, unnamed",
    "diagnosed, right",
    "literal",
    "frequency",
    "exam",
    "steps",
    "seconds",
)
"""Columns that the terminal has no room for."""


def trust(
    runs: Annotated[
        int, typer.Option(min=1, help="Interrogations, spread evenly over what there is.")
    ] = 1000,
    kind: Annotated[
        list[str] | None, typer.Option(help=f"Only {', '.join(KINDS)} (repeatable).", metavar="KIND")
    ] = None,
    family: Annotated[list[str] | None, typer.Option(help="Only these families (repeatable).")] = None,
    access: Annotated[list[str] | None, typer.Option(help="Only these accesses (repeatable).")] = None,
    domain: Annotated[list[str] | None, typer.Option(help="Packaged domains (repeatable).")] = None,
    first_seed: Annotated[int, typer.Option(min=0, help="Seed of the first runs.")] = 0,
    size: Annotated[int, typer.Option(min=1, help="Size of generated problems.")] = 2,
    exam: Annotated[
        int | None, typer.Option(min=0, help="Steps of the examination; default the engine's.")
    ] = None,
    copies: Annotated[
        int, typer.Option(min=1, help="Ask what so many copies would be asked (run --workers).")
    ] = 1,
    scale: Scale = Scale(processes=1, out=Path("runs/trust")),
) -> int:
    """Whether any run ends silently wrong, over noise, faults and domains.

    Examples:
        python -m experiments.trust --runs 1000
        python -m experiments.trust --runs 50 --kind noise --domain gripper
        python -m experiments.trust --runs 40 --family "hidden fuel"
    """
    names = chosen_domains(domain, domains.DOMAINS, DOMAINS)
    cases = _chosen(mixture(names), kind, family, access)
    jobs: list[Parameters] = [
        {
            **cases[number % len(cases)],
            "exam": exam,
            **({"copies": copies} if copies > 1 else {}),
            "seed": first_seed + number // len(cases),
            "size": size,
        }
        for number in range(runs)
    ]
    shown = [column for column in COLUMNS if column not in DETAILS]
    code = report("trust", jobs, Presentation(summary, shown=shown), scale, work=trusted)
    rows = Results(scale.out / "results.jsonl").rows(jobs)
    for row in rows:
        if row["silently_wrong"]:
            case = ", ".join(f"{name}={row[name]!r}" for name in NAMED)
            print(f"silently wrong: trusted({case})", file=sys.stderr)
    return code or int(any(row["silently_wrong"] for row in rows))


def mixture(names: Sequence[str]) -> list[dict[str, Any]]:
    """All combinations, with those of one kind spread out."""
    still = {"flip_rate": 0.0, "refusal_rate": 0.0, "flips": PER_LOOK}
    noisy = [
        {"agent": name, "access": access, "flip_rate": rate, "refusal_rate": refusals, "flips": flips}
        for flips, rate, refusals, access, name in product(
            (PER_LOOK, PER_SITUATION), FLIPS, REFUSALS, ACCESSES, names
        )
        if (name, access) not in SLOW and (rate or flips == PER_LOOK)
    ]
    programs = [
        {**still, "agent": f"program: {fault}", "access": access, "flip_rate": rate}
        for fault, access, rate in product(FAULTS, ACCESSES, (0.0, 0.05))
        if not rate or fault in FAULTS[:2]
    ]
    faults = [
        {**still, "agent": f"fault: {family}", "access": access, "flip_rate": rate}
        for family, access, rate in product(FAMILIES, ACCESSES, (0.0, 0.05))
        if not rate or family in MISREAD_TOO
    ]
    cases = [*noisy, *programs, *faults]
    order = np.random.default_rng(0).permutation(len(cases))
    return [cases[int(number)] for number in order]


def kind_of(case: Parameters) -> str:
    """Which of ``KINDS`` a case is."""
    agent: str = case["agent"]
    start, _, what = agent.partition(": ")
    if what in HONEST or not (what or case["flip_rate"] or case["refusal_rate"]):
        return "honest"
    return start if what else "noise"


def _chosen(
    cases: Sequence[dict[str, Any]],
    kinds: Sequence[str] | None,
    families: Sequence[str] | None,
    accesses: Sequence[str] | None,
) -> list[dict[str, Any]]:
    """The cases that the options name.

    Raises:
        UnusableInput: one of them is not known, or nothing is left.
    """
    for option, given, known in (
        ("kind", kinds, KINDS),
        ("family", families, FAMILIES),
        ("access", accesses, ACCESSES),
    ):
        for name in given or ():
            if name not in known:
                raise UnusableInput(f"unknown; use one of {', '.join(known)}", option, name)
    left = [
        case
        for case in cases
        if (not kinds or kind_of(case) in kinds)
        and (not families or case["agent"].partition(": ")[2] in families)
        and (not accesses or case["access"] in accesses)
    ]
    if not left:
        raise UnusableInput("no agent is of this kind and of this family; leave one of the two out")
    return left


def summary(rows: Sequence[Row]) -> Table:
    """One line per family of agents and access, one for each kind, and one for all."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(rows, key=_place):
        groups.setdefault((_label(row), row["access"]), []).append(row)
    lines = [_line(*group, some) for group, some in groups.items()]
    for kind in KINDS:
        if some := [row for row in rows if kind_of(row) == kind]:
            lines.append(_line(f"all: {kind}", "", some))
    return Table("Results under noise and faults", COLUMNS, [*lines, _line("all", "", rows)])


def _label(row: Row) -> str:
    agent: str = row["agent"]
    start, _, what = agent.partition(": ")
    label = what if start == "fault" else start
    if start != "program" and not what and kind_of(row) == "noise":
        label += ", refusals only" if not row["flip_rate"] else f", misread {row['flips']}"
    return label + (", misread" if what and start == "fault" and row["flip_rate"] else "")


def _place(row: Row) -> tuple[Any, ...]:
    return KINDS.index(kind_of(row)), _label(row), ACCESSES.index(row["access"])


def _line(agents: str, access: str, rows: Sequence[Row]) -> list[Any]:
    def status(name: str) -> int:
        return sum(row["status"] == name for row in rows)

    showed = [row for row in rows if row["showed"] and row["right"] is not None]
    assumed = [row for row in rows if row["status"] == "open" and row["complete"]]
    honest = [row for row in rows if kind_of(row) == "honest"]
    return [
        agents,
        access,
        len(rows),
        status("complete"),
        len(assumed),
        sum(not row["complete"] for row in rows) - status("not-strips"),
        status("not-strips"),
        sum(row["silently_wrong"] for row in rows),
        sum(row["over_bound"] is True for row in rows),
        sum(row["wrong"] for row in rows),
        sum(row["equivalent"] is False and row["diagnosis"] is None for row in assumed),
        len(showed) if showed else None,
        _share([row["right"] for row in showed]),
        _share([row["right"] for row in showed if row["diagnosis"] is not None]),
        _share([row["literal_right"] for row in rows]),
        _share([row["frequency_right"] for row in rows]),
        _share([row["accused"] for row in honest]),
        spread([row["exam_steps"] for row in rows]),
        spread([row["steps"] for row in rows]),
        sum(row["seconds"] for row in rows) / len(rows),
    ]


def _share(values: Sequence[bool | None]) -> str | None:
    """So many of those that are known."""
    known = [value for value in values if value is not None]
    return f"{sum(known)}/{len(known)}" if known else None


if __name__ == "__main__":
    sys.exit(run_command(trust))
