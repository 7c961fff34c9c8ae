"""A program whose ``unlock`` uses up a key that no predicate speaks of: is a precondition invented for it?

No STRIPS model in the program's vocabulary describes it (``experiments.key_agent``), so no run may be ``complete``.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aam_vision import targets
from aam_vision.commandline import run_command
from aam_vision.strips import LiftedAtom, Location, Mode
from experiments.jobs import Parameters, Presentation, Results, Row, Scale, Table, report
from experiments.trust_runs import interrogated

if TYPE_CHECKING:
    from aam_vision.interrogation.task.result import Result

ACCESSES = ("reset", "snapshot")
SECONDS = 10.0
"""Seconds that the program may take for an answer."""
TRUE = {
    ("go", LiftedAtom("at", (0,))): Mode.POSITIVE,
    ("unlock", LiftedAtom("at", (0,))): Mode.POSITIVE,
    ("unlock", LiftedAtom("locked", (0,))): Mode.POSITIVE,
    ("lock", LiftedAtom("at", (0,))): Mode.POSITIVE,
    ("lock", LiftedAtom("open", (0,))): Mode.NEGATIVE,
    ("open", LiftedAtom("at", (0,))): Mode.POSITIVE,
    ("open", LiftedAtom("locked", (0,))): Mode.NEGATIVE,
    ("open", LiftedAtom("open", (0,))): Mode.NEGATIVE,
    ("close", LiftedAtom("at", (0,))): Mode.POSITIVE,
    ("close", LiftedAtom("open", (0,))): Mode.POSITIVE,
    ("lock", LiftedAtom("locked", (0,))): Mode.NEGATIVE,
    ("switch-on", LiftedAtom("lit", ())): Mode.NEGATIVE,
    ("switch-off", LiftedAtom("lit", ())): Mode.POSITIVE,
}
"""The program's preconditions in its vocabulary, by action and atom. Others are never required, but may coincide with them."""
COLUMNS = ("access", "seed", "status", "diagnosis", "culprit", "invented, certain", "exam", "steps")


def key_counter(
    seeds: Annotated[int, typer.Option(min=1, help="Runs with each access.")] = 20,
    first_seed: Annotated[int, typer.Option(min=0, help="Seed of the first of them.")] = 0,
    exam: Annotated[
        int | None, typer.Option(min=0, help="Steps of the examination; default the engine's.")
    ] = None,
    scale: Scale = Scale(processes=1, out=Path("runs/key-counter")),
) -> int:
    """Whether a key that nobody sees is taken for a precondition that is none.

    Examples:
        python -m experiments.key_counter --seeds 20
    """
    jobs: list[Parameters] = [
        {"access": access, "seed": seed, "exam": exam}
        for access in ACCESSES
        for seed in range(first_seed, first_seed + seeds)
    ]
    code = report("key_counter", jobs, Presentation(summary), scale, work=unlocking)
    rows = Results(scale.out / "results.jsonl").rows(jobs)
    for row in rows:
        if row["status"] == "complete":
            print(f"complete, though wrong: {row['access']} access, seed {row['seed']}", file=sys.stderr)
    return code or int(any(row["status"] == "complete" for row in rows))


def unlocking(*, access: str, seed: int, exam: int | None) -> Row:
    """One interrogation of the program."""
    command = shlex.join([sys.executable, "-m", "experiments.key_agent", access])
    target = targets.from_program(command, [], access=None, seconds=SECONDS, megabytes=1024)
    try:
        result, stopped = interrogated(target.agent, seed, exam)
    finally:
        target.close()
    diagnosis = result.diagnosis
    return {
        "status": result.status,
        "stopped": stopped,
        "diagnosis": None if diagnosis is None else diagnosis.family.value,
        "culprit": None if diagnosis is None else diagnosis.culprit,
        "invented": invented(result),
        "exam_steps": result.exam.steps,
        "exam_wrong": result.exam.wrong,
        "steps": result.counts.steps,
        "why": result.why if diagnosis is None else diagnosis.why,
    }


def invented(result: Result) -> list[str]:
    """The preconditions that the result calls certain, and that the program does not have."""
    return [
        f"{pal.action}: {mode.value}{pal.atom.predicate}"
        for pal, mode in result.certain.items()
        if pal.location is Location.PRE and mode not in (Mode.ABSENT, TRUE.get((pal.action, pal.atom)))
    ]


def summary(rows: Sequence[Row]) -> Table:
    """One line per run, and one with the numbers of runs."""
    lines = [
        [
            row["access"],
            row["seed"],
            row["status"],
            row["diagnosis"],
            row["culprit"],
            ", ".join(row["invented"]) or None,
            row["exam_steps"],
            row["steps"],
        ]
        for row in rows
    ]
    total = [
        "all",
        len(rows),
        f"{sum(row['status'] == 'complete' for row in rows)} complete",
        f"{sum(row['diagnosis'] == 'hidden' for row in rows)} hidden",
        f"{sum(row['culprit'] == 'unlock' for row in rows)} unlock",
        f"{sum(bool(row['invented']) for row in rows)} runs",
        None,
        None,
    ]
    return Table("A key that no predicate speaks of", COLUMNS, [*lines, total])


if __name__ == "__main__":
    sys.exit(run_command(key_counter))
