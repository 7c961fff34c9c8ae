"""``python -m experiments.kills``: runs that are killed with ``kill -9`` at random moments, again and again.

Every run must go on from its journal, or by itself where only its agent is killed, and end as one that was left alone:
with the same model, figures and transcript. The log of an agent has what it was asked: only the question that was open
when the agent, or the run, was killed may be asked again.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from aam_vision.commandline import Progress, check_writable, run_command
from experiments.jobs import Row, Table
from experiments.killing import Case, Tally, kill_runs

CASES = (
    Case("gripper, settable", ("--env", "gripper")),
    Case("blocksworld, snapshot", ("--env", "blocksworld", "--access", "snapshot")),
    Case("blocksworld, trajectory", ("--env", "blocksworld", "--access", "trajectory")),
    Case("program, settable", (), "settable"),
    Case("program, snapshot", (), "snapshot"),
    Case("program, trajectory", (), "trajectory"),
    Case("gripper, settable, 3 workers", ("--env", "gripper", "--workers", "3")),
    Case("program, snapshot, 3 workers", ("--workers", "3"), "snapshot"),
    Case("program, settable", (), "settable", "agent"),
    Case("program, reset", (), "reset", "agent"),
    Case("program, trajectory", (), "trajectory", "agent"),
)


def kills(
    kills: Annotated[int, typer.Option(min=1, help="How many kills, shared out over the cases.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of the moments.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for the runs and the table.")] = Path("runs/kills"),
) -> int:
    """Kill runs and agents at random moments, and see that they go on as if nothing had been.

    Examples:
        python -m experiments.kills --kills 20
    """
    check_writable(out)
    rng, progress = np.random.default_rng(seed), Progress()
    rows: list[Row] = []
    faults: list[str] = []
    for number, case in enumerate(CASES):
        share = kills * (number + 1) // len(CASES) - kills * number // len(CASES)
        name = f"{case.name}, {case.victim} killed"
        tally = Tally()
        for tally in kill_runs(case, share, out / f"case-{number}", rng):
            progress.step(min(tally.kills, share - 1), share, f"kills: {name}")
        progress.step(share, share, f"kills: {name}")
        rows.append(_row(case, tally))
        faults += [f"{name}: {fault}" for fault in tally.faults]
    table = Table(
        f"Kills at random moments (seed {seed})",
        ("agent", "killed", "kills", "runs", "nothing recorded yet", "asked again", "ended otherwise"),
        [list(row.values()) for row in rows],
    )
    table.print()
    table.save(out, "kills")
    for fault in faults:
        print(f"failed: {fault}", file=sys.stderr)
    return int(bool(faults))


def _row(case: Case, tally: Tally) -> Row:
    return {
        "agent": case.name,
        "killed": case.victim,
        "kills": tally.kills,
        "runs": tally.runs,
        "nothing recorded yet": tally.before_anything,
        "asked again": tally.asked_again if case.access == "settable" else None,
        "ended otherwise": len(tally.faults),
    }


if __name__ == "__main__":
    sys.exit(run_command(kills))
