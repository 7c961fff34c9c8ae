"""Can a result be trusted? Interrogations under noise, of faulty programs, and of agents outside STRIPS.

``python -m experiments.trust --runs 1000`` mixes domains, accesses, rates of misread atoms and of refused steps, faults
of programs, the families of agents that no STRIPS model describes (``experiments.faults``), and honest agents. The
engine is told nothing of this. A run is *silently wrong* if it calls a palm tuple certain that is not the true model's,
or is ``complete`` though its model does not predict 500 steps of the agent with random histories.

Exit code: 1 if any run is silently wrong, or a job failed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from aam_vision.model import domains
from aam_vision.model.query import Access
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import UnusableInput
from experiments.faults.registry import FAMILIES, HONEST, SEVERAL
from experiments.jobs import Experiment, Parameters, Scale
from experiments.options import Accesses, Domains, Exam, FirstSeed, Names, Size, about, chosen
from experiments.programs import FAULTS
from experiments.tables import (
    Column,
    Row,
    Summary,
    Table,
    as_named,
    average,
    grouped,
    share,
    spread_of,
    total,
)
from experiments.trust_runs import PER_LOOK, PER_SITUATION, trusted

ACCESSES = tuple(access.value for access in Access)
DOMAINS = ("gripper", "blocksworld", "miconic", "logistics", "satellite")
SLOW = (("satellite", "trajectory"),)
"""Domains and accesses that are left out: a run takes more than half a minute."""
FLIPS = (0.0, 0.01, 0.05, 0.1, 0.2)
REFUSALS = (0.0, 0.02)
MISREAD_TOO = ("effect depends on own atom", "silent no-op")
"""Families that are also run with misread atoms, 5% of them at every look."""
REMEMBERING = (
    "hidden counter", "hidden fuel", "fault after k uses in an episode", "refused for a spoiled object",
)  # fmt: skip
"""Families that count as several faults at once where atoms are misread, too."""
KINDS = ("noise", "program", "fault", "honest")
BOTH = "several"
"""The kind of agents with several faults at once, which is interrogated only if it is asked for."""
NAMED = ("agent", "access", "flip_rate", "refusal_rate", "flips", "exam", "seed", "size")
"""The parameters of a job: with these ``trust_runs.trusted`` repeats a run."""
DETAILS = (
    "over the bound", "open, unnamed", "diagnosed, right", "literal", "frequency", "exam", "steps", "seconds",
)  # fmt: skip
"""Columns that the terminal has no room for."""

QUESTION = (
    "Does any run end silently wrong: `complete` with a model that fails to predict the agent, or with a wrong line called "
    "certain? [The agents, the columns, and what follows](../how-to/noise.md#measured)."
)


def trust(
    runs: Annotated[int, about("Interrogations, spread evenly over what there is.", min=1)] = 1000,
    kind: Annotated[Names, about(f"Only {', '.join(KINDS)}, or {BOTH} (repeatable).", metavar="KIND")] = None,
    family: Annotated[Names, about("Only these families (repeatable).")] = None,
    access: Accesses = None,
    domain: Domains = None,
    first_seed: FirstSeed = 0,
    size: Size = 2,
    exam: Exam = None,
    copies: Annotated[int, about("Ask what so many copies would be asked (run --workers).", min=1)] = 1,
    goes_on: Annotated[bool, about("Go on from diagnoses, and say what was learned.", "--goes-on")] = False,
    scale: Scale = Scale(processes=1, out=Path("runs/trust")),
) -> int:
    """Whether any run ends silently wrong, over noise, faults and domains.

    Examples:
        python -m experiments.trust --runs 1000
        python -m experiments.trust --runs 50 --kind noise --domain gripper
        python -m experiments.trust --runs 40 --family "hidden fuel"
    """
    names = chosen("domain", domain, domains.DOMAINS, DOMAINS)
    kinds = chosen("kind", kind, (*KINDS, BOTH), KINDS)
    families = chosen("family", family, (*FAMILIES, *SEVERAL))
    accesses = chosen("access", access, ACCESSES)
    cases = [
        case
        for case in [*mixture(names), *several_at_once()]
        if kind_of(case) in kinds
        and (not family or case["agent"].partition(": ")[2] in families)
        and case["access"] in accesses
    ]
    if not cases:
        raise UnusableInput("no agent is of this kind and of this family; leave one of the two out")
    several = {**({"copies": copies} if copies > 1 else {}), **({"go_on": True} if goes_on else {})}
    jobs: list[Parameters] = [
        {**cases[n % len(cases)], "exam": exam, **several, "seed": first_seed + n // len(cases), "size": size}
        for n in range(runs)
    ]
    shown = [column for column in LINES.columns if column not in DETAILS]
    lines, page = summary, [by_kind, by_access, by_fault]
    if goes_on:
        lines, page, shown = learned, [learned], list(LEARNED.columns)
    told = Experiment(
        "trust", trusted, lines, shown=shown, page=page, question=QUESTION, amiss=_silently_wrong
    )
    return told.run(jobs, scale)


def _silently_wrong(row: Row) -> str:
    """How the run is made once more, if it is silently wrong."""
    case = ", ".join(f"{name}={row[name]!r}" for name in NAMED)
    return f"silently wrong: trusted({case})" if row["silently_wrong"] else ""


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


def several_at_once() -> list[dict[str, Any]]:
    """Agents with chance and a condition, and agents that remember something and are misread."""
    families = [*((family, 0.0) for family in SEVERAL), *((family, 0.05) for family in REMEMBERING)]
    still = {"refusal_rate": 0.0, "flips": PER_LOOK}
    return [
        {**still, "agent": f"{BOTH}: {family}", "access": access, "flip_rate": rate}
        for (family, rate), access in product(families, ACCESSES)
    ]


def kind_of(case: Parameters) -> str:
    """Which of ``KINDS`` a case is."""
    start, _, what = str(case["agent"]).partition(": ")
    if what in HONEST or not (what or case["flip_rate"] or case["refusal_rate"]):
        return "honest"
    return start if what else "noise"


def _label(row: Row) -> str:
    start, _, what = str(row["agent"]).partition(": ")
    label = what if start in ("fault", BOTH) else start
    if start != "program" and not what and kind_of(row) == "noise":
        label += ", refusals only" if not row["flip_rate"] else f", misread {row['flips']}"
    return label + (", misread" if what and start in ("fault", BOTH) and row["flip_rate"] else "")


def _ended(status: str) -> Callable[[Row], bool]:
    return lambda row: bool(row["status"] == status)


def _assumed(row: Row) -> bool:
    """Whether a model is proven, but not examined enough, or weighed."""
    return row["status"] == "open" and bool(row["complete"])


def _unnoticed(row: Row) -> bool:
    """Whether a model is wrong with nothing said."""
    return _assumed(row) and row["equivalent"] is False and row["diagnosis"] is None


def _missed(row: Row) -> bool:
    """Whether a fault was not found or not named rightly."""
    return _unnoticed(row) or (_showed(row) and not row["right"])


def _showed(row: Row) -> bool:
    """Whether a fault could be noticed in what was asked."""
    return bool(row["showed"]) and row["right"] is not None


COLUMNS: dict[str, Column] = {
    "runs": len,
    "complete": total(_ended("complete")),
    "open": total(_assumed),
    "not proven": total(lambda row: (not row["complete"]) - _ended("not-strips")(row)),
    "not-strips": total(_ended("not-strips")),
    "silently wrong": total("silently_wrong"),
    "over the bound": total("over_bound"),
    "wrong certain": total("wrong"),
    "open, unnamed": total(_unnoticed),
    "showed": lambda rows: total(_showed)(rows) or None,
    "named right": share(lambda row: row["right"] if _showed(row) else None),
    "diagnosed, right": share(
        lambda row: row["right"] if _showed(row) and row["diagnosis"] is not None else None
    ),
    "literal": share("literal_right"),
    "frequency": share("frequency_right"),
    "accused": share(lambda row: row["accused"] if kind_of(row) == "honest" else None),
    "exam": spread_of("exam_steps"),
    "steps": spread_of("steps"),
    "seconds": average("seconds"),
}
"""``over the bound``: of the silently wrong ones, those whose model is wrong about a greater share of the 500 steps than
the run's own figure allows (``exam_bound``). ``open``: proven, but not examined enough, or weighed; ``open, unnamed``: of those,
wrong with nothing said. ``named right``: of those that showed; ``diagnosed, right``: of those in which an answer
contradicted the others, which leaves out faults that nobody could notice in what was asked; ``literal`` and ``frequency``:
of those that were named right. ``accused``: honest agents of which anything was said."""


def _table(title: str, by: Sequence[str], *columns: str) -> Summary:
    """A line for each of these, with some of ``COLUMNS``."""
    return Summary(title, {**as_named(*by), **{name: COLUMNS[name] for name in columns}}, by=by)


LINES = Summary(
    "Results under noise and faults",
    {"agents": "agents", "access": "shown access", **COLUMNS},
    by=("agents", "shown access"),
)
BY_KIND = _table(
    LINES.title, ("agents",), "runs", "complete", "open", "not proven", "not-strips", "silently wrong", "wrong certain",
    "open, unnamed", "named right", "literal", "frequency", "accused", "steps", "seconds",
)  # fmt: skip
BY_ACCESS = _table(
    "By access", ("agents", "access"), "runs", "open", "not proven", "not-strips", "silently wrong", "open, unnamed",
    "named right",
)  # fmt: skip
BY_FAULT = _table(
    "Agents with one fault, by its family", ("agents",), "runs", "not-strips", "open, unnamed", "named right"
)


def _learned(way: str) -> Callable[[Row], bool]:
    return lambda row: (row["learned"] or "").startswith(way)


LEARNED = Summary(
    "What is learned after a diagnosis",
    {
        "agents": "agents",
        "access": "access",
        "runs": len,
        "diagnosed": total(lambda row: row["diagnosis"] is not None),
        **{way: total(_learned(way)) for way in ("outcomes", "memory", "anew")},
        "complete": total(lambda row: (row["learned"] or "").endswith(", complete")),
        "right": total(lambda row: bool(row["learned_right"])),
        "complete and wrong": total(lambda row: bool(row["learned_false"])),
        "share right": share("learned_right"),
        "steps": average("learned_steps"),
    },
    by=("agents", "access"),
)
"""``right``: at least 99% of 500 held-out steps come out as the model says, of those diagnosed."""


def _ordered(rows: Sequence[Row]) -> list[Row]:
    """Rows by kind, family and access, with the family as ``agents``."""
    kinds = (*KINDS, BOTH)
    places = [(kinds.index(kind_of(row)), _label(row), ACCESSES.index(row["access"]), row) for row in rows]
    return [{**row, "agents": label} for _, label, _, row in sorted(places, key=lambda place: place[:3])]


def _kinds(rows: Sequence[Row], of: str = "") -> list[Row]:
    """Rows by kind, with it as ``agents``."""
    return [{**row, "agents": of + kind} for kind in KINDS for row in rows if kind_of(row) == kind]


def summary(rows: Sequence[Row]) -> Table:
    """One line per family of agents and access, one for each kind, and one for all."""
    lines = [{**row, "shown access": row["access"]} for row in _ordered(rows)]
    every = [*_kinds(rows, "all: "), *({**row, "agents": "all"} for row in rows)]
    return LINES([*lines, *({**row, "shown access": ""} for row in every)])


def learned(rows: Sequence[Row]) -> Table:
    """One line for each family, one for each access, and one for all."""
    ordered = sorted(_ordered(rows), key=lambda row: row["agents"])
    lines = [{**row, "access": "", "shown": row["access"]} for row in ordered]
    accesses = sorted(rows, key=lambda row: ACCESSES.index(row["access"]))
    return LEARNED([*lines, *({**row, "agents": "all"} for row in accesses)])


def by_kind(rows: Sequence[Row]) -> Table:
    """One line for each kind of agents, and one for all."""
    return BY_KIND([*_kinds(rows), *({**row, "agents": "all"} for row in rows)])


def by_access(rows: Sequence[Row]) -> Table:
    """One line for each access, of agents under noise and of those with a fault."""
    ordered = sorted(rows, key=lambda row: ACCESSES.index(row["access"]))
    return BY_ACCESS([row for row in _kinds(ordered) if row["agents"] in ("noise", "fault")])


def by_fault(rows: Sequence[Row]) -> Table:
    """One line for each family of which a fault was not named rightly, or left a wrong model unnoticed, and one for the others."""
    families = grouped([row for row in _ordered(rows) if kind_of(row) == "fault"], "agents").values()
    missed = [row for family in families if any(map(_missed, family)) for row in family]
    named = [row for family in families if not any(map(_missed, family)) for row in family]
    number = len({row["agents"] for row in named})
    return BY_FAULT([*missed, *({**row, "agents": f"{number} others"} for row in named)])


if __name__ == "__main__":
    sys.exit(run_command(trust))
