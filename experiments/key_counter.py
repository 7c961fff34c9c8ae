"""A program whose ``unlock`` uses up a key that no predicate speaks of: is a precondition invented for it?

No STRIPS model in the program's vocabulary describes it (``experiments.programs``), so no run may be ``complete``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from aam_vision.interrogation.task.result import Result
from aam_vision.model.strips import LiftedAtom, Location, Mode
from aam_vision.run import targets
from aam_vision.support.commandline import run_command
from experiments.jobs import Exam, Experiment, FirstSeed, Scale, Seeds, every
from experiments.programs import command
from experiments.tables import Row, Summary, Table, as_named
from experiments.trust_runs import interrogated

ACCESSES = ["reset", "snapshot"]
SECONDS = 10.0
"""Seconds that the program may take for an answer."""
AT, LOCKED, OPEN, LIT = (
    LiftedAtom(*one) for one in (("at", (0,)), ("locked", (0,)), ("open", (0,)), ("lit", ()))
)
TRUE = {
    **{(action, AT): Mode.POSITIVE for action in ("go", "unlock", "lock", "open", "close")},
    ("unlock", LOCKED): Mode.POSITIVE,
    ("lock", LOCKED): Mode.NEGATIVE,
    ("lock", OPEN): Mode.NEGATIVE,
    ("open", LOCKED): Mode.NEGATIVE,
    ("open", OPEN): Mode.NEGATIVE,
    ("close", OPEN): Mode.POSITIVE,
    ("switch-on", LIT): Mode.NEGATIVE,
    ("switch-off", LIT): Mode.POSITIVE,
}
"""The program's preconditions in its vocabulary, by action and atom. Others are never required, but may coincide with them."""


def key_counter(
    seeds: Seeds = 20,
    first_seed: FirstSeed = 0,
    exam: Exam = None,
    scale: Scale = Scale(processes=1, out=Path("runs/key-counter")),
) -> int:
    """Whether a key that nobody sees is taken for a precondition that is none.

    Examples:
        python -m experiments.key_counter --seeds 20
    """
    jobs = every(access=ACCESSES, seed=range(first_seed, first_seed + seeds), exam=exam)
    return Experiment("key_counter", unlocking, summary, amiss=_complete).run(jobs, scale)


def _complete(row: Row) -> str:
    told = f"complete, though wrong: {row['access']} access, seed {row['seed']}"
    return told if row["status"] == "complete" else ""


def unlocking(*, access: str, seed: int, exam: int | None) -> Row:
    """One interrogation of the program."""
    target = targets.from_program(
        command("corridor", access), [], access=None, seconds=SECONDS, megabytes=1024
    )
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


RUNS = Summary(
    "A key that no predicate speaks of",
    {
        **as_named("access", "seed", "status", "diagnosis", "culprit"),
        "invented, certain": lambda rows: ", ".join(rows[0]["invented"]) or None,
        "exam": "exam_steps",
        "steps": "steps",
    },
)


def summary(rows: Sequence[Row]) -> Table:
    """One line per run, and one with the numbers of runs."""
    counted = {"complete": "status", "hidden": "diagnosis", "unlock": "culprit"}
    numbers = [f"{sum(row[name] == what for row in rows)} {what}" for what, name in counted.items()]
    invented = f"{sum(bool(row['invented']) for row in rows)} runs"
    table = RUNS(rows)
    return replace(table, rows=[*table.rows, ["all", len(rows), *numbers, invented, None, None]])


if __name__ == "__main__":
    sys.exit(run_command(key_counter))
