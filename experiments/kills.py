"""``python -m experiments.kills``: runs that are killed with ``kill -9`` at random moments, again and again.

Every run must go on from its journal, or by itself where only its agent is killed, and end as one that was left alone:
with the same model, figures and transcript. The log of an agent has what it was asked: only the question that was open
when the agent, or the run, was killed may be asked again.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from shutil import rmtree
from time import monotonic, sleep
from typing import Annotated, Any

import numpy as np

from aam_vision.run.summary import TIMES
from aam_vision.support.commandline import Progress, check_writable, run_command
from experiments.options import about
from experiments.programs import command
from experiments.tables import Row, Table

# Runs that are killed with ``kill -9`` at random moments, and compared with one that was left alone.


ANSWER_SECONDS = 0.02  # seconds that agents in processes of their own take for an answer
PATIENCE = 600.0  # seconds after which a run that does not end has failed


@dataclass(frozen=True)
class Case:
    """An agent, and the process that is killed: the command, or the agent that is a program of its own."""

    name: str
    options: tuple[str, ...]
    access: str | None = None  # the access that the program claims; None if the agent is not a program
    victim: str = "command"


@dataclass(frozen=True)
class Ended:
    """The results of a run."""

    seconds: float
    model: str
    figures: dict[str, Any]
    transcript: list[tuple[Any, ...]]
    asked: list[str]  # the program's log: its questions, in order


@dataclass
class Tally:
    """The outcomes of the kills of one case."""

    kills: int = 0
    runs: int = 0
    before_anything: int = 0
    asked_again: int = 0
    faults: list[str] = field(default_factory=list)


class Runs:
    """The runs of one case, each in a folder of its own."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case = case
        self._folder = folder
        rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    def paths(self, number: int) -> tuple[Path, Path]:
        return self._folder / f"run-{number}", self._folder / f"log-{number}"

    def start(self, number: int, *, resume: bool) -> subprocess.Popen[str]:
        """Start a process that begins the run, or resumes it."""
        out, log = self.paths(number)
        run = [sys.executable, "-m", "aam_vision.run", "--quiet"]
        run += ["--resume", str(out)] if resume else ["--out", str(out), *self.case.options]
        if self.case.access is not None:
            run += ["--agent", command("slow", log, self.case.access, ANSWER_SECONDS)]
        return subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def ended(self, number: int, seconds: float) -> Ended:
        out, log = self.paths(number)
        figures = json.loads((out / "result.json").read_text())
        with closing(sqlite3.connect(out / "transcript.sqlite")) as connection:
            entries = connection.execute("SELECT * FROM entries ORDER BY number").fetchall()
            entries += connection.execute("SELECT * FROM states ORDER BY number").fetchall()
        return Ended(
            seconds,
            (out / "model.pddl").read_text(),
            {name: value for name, value in figures.items() if name not in TIMES},
            entries,
            [line for line in _lines(log) if "process" not in line and '"hello"' not in line],
        )

    def agents(self, number: int) -> list[int]:
        """The processes that the program has had."""
        return [json.loads(line)["process"] for line in _lines(self.paths(number)[1]) if "process" in line]


def _lines(log: Path) -> list[str]:
    """The whole lines of a log: a kill may have cut the last one short."""
    text = log.read_text() if log.exists() else ""
    return text[: text.rfind("\n") + 1].splitlines()


def kill_runs(case: Case, kills: int, folder: Path, rng: np.random.Generator) -> Iterator[Tally]:
    """Kill runs of a case so many times; the same tally, which grows, after each kill."""
    runs, tally = Runs(case, folder), Tally()
    began = monotonic()
    process = runs.start(0, resume=False)
    code, said = process.wait(PATIENCE), _said(process)
    if code != 0:
        tally.faults.append(f"{case.name}: fails even if nobody kills it: {said}")
        yield tally
        return
    expected = runs.ended(0, monotonic() - began)
    while tally.kills < kills and not tally.faults:
        tally.runs += 1
        before = tally.kills
        yield from _one_run(runs, tally, expected, kills, rng)
        if not tally.faults:
            tally.faults += _differences(runs, tally, expected, tally.kills - before)
    yield tally


def _one_run(
    runs: Runs, tally: Tally, expected: Ended, kills: int, rng: np.random.Generator
) -> Iterator[Tally]:
    number, resume = tally.runs, False
    while True:
        process = runs.start(number, resume=resume)
        killed = tally.kills < kills and _kill(runs, number, process, expected, rng.uniform())
        tally.kills += killed
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
            tally.faults.append(f"run {number} hangs")
            return
        said = _said(process)
        yield tally
        if code == 0:
            return
        if code == 2 and "nothing is recorded" in said:
            tally.before_anything += 1
            resume = False
        elif code == -signal.SIGKILL and killed and runs.case.victim == "command":
            resume = True
        else:
            tally.faults.append(f"run {number} ends with exit code {code}: {said}")
            return


def _said(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    with process.stderr as stream:
        return " ".join(stream.read().split())[-300:]


def _kill(runs: Runs, number: int, process: subprocess.Popen[str], expected: Ended, share: float) -> bool:
    """Kill the victim after such a share of the time that it should live; False if there is none any more."""
    begun, program = monotonic(), runs.case.victim == "agent"
    lifetime = ANSWER_SECONDS * len(expected.asked) if program else expected.seconds
    while process.poll() is None:
        if program and not runs.agents(number):
            begun = monotonic()
        elif monotonic() - begun >= share * lifetime:
            break
        sleep(0.002)
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.kill(runs.agents(number)[-1] if program else process.pid, signal.SIGKILL)
            return True
    return False


def _differences(runs: Runs, tally: Tally, expected: Ended, kills: int) -> Iterator[str]:
    """The differences between a run that was killed and one that was not."""
    found = runs.ended(tally.runs, expected.seconds)
    for what, told in (
        ("model", "another model"),
        ("figures", "other figures"),
        ("transcript", "another transcript: answers are lost or others"),
    ):
        if getattr(found, what) != getattr(expected, what):
            yield f"run {tally.runs}: {told}"
    if runs.case.access == "settable":  # other programs are also led back to where they were
        again = len(found.asked) - len(expected.asked)
        tally.asked_again += again
        once, wanted = ([question for question, _ in groupby(run.asked)] for run in (found, expected))
        if once != wanted or again > kills:
            yield f"run {tally.runs}: an answered question was asked again"
    for agent in runs.agents(tally.runs):
        if _lives(agent, patience=30.0):
            yield f"run {tally.runs}: process {agent} of the agent is still there"


def _lives(agent: int, patience: float) -> bool:
    """Whether a process (with a command line) is still an agent of ours after seconds of patience: a busy machine takes a while."""
    until = monotonic() + patience
    while monotonic() < until:
        try:
            if b"experiments.programs" not in Path(f"/proc/{agent}/cmdline").read_bytes():
                return False
        except OSError:
            return False
        sleep(0.05)
    return True


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
    kills: Annotated[int, about("How many kills, shared out over the cases.", min=1)] = 200,
    seed: Annotated[int, about("Of the moments.", min=0)] = 0,
    out: Annotated[Path, about("Folder for the runs and the table.")] = Path("runs/kills"),
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
        row: Row = {
            "agent": case.name,
            "killed": case.victim,
            "kills": tally.kills,
            "runs": tally.runs,
            "nothing recorded yet": tally.before_anything,
            "asked again": tally.asked_again if case.access == "settable" else None,
            "ended otherwise": len(tally.faults),
        }
        rows.append(row)
        faults += [f"{name}: {fault}" for fault in tally.faults]
    table = Table.of(f"Kills at random moments (seed {seed})", rows)
    table.print()
    table.save(out, "kills")
    for fault in faults:
        print(f"failed: {fault}", file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(run_command(kills))
