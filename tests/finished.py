"""Finished runs, made once for all tests that look at them, whatever process they run in. They are for reading only."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from aam_vision.agents.journal import WENT_ON
from aam_vision.run.arguments import Arguments
from aam_vision.run.command import interrogate_agent
from aam_vision.run.summary import TIMES
from tests.commands import ROOT
from tests.interrogation.chance.domains import PROBLEM, SLIPPERY

Runs = Callable[..., Path]
ChanceRuns = Callable[..., Path]
OUTPUT = "stdout"
"""The file beside the folder of a run with what the run has printed."""


def result_of(run: Path) -> dict[str, Any]:
    """The contents of its ``result.json``."""
    found: dict[str, Any] = json.loads((run / "result.json").read_text(encoding="utf-8"))
    return found


def timeless(run: Path) -> dict[str, Any]:
    """The same, but for the seconds that it took."""
    return {name: value for name, value in result_of(run).items() if name not in TIMES}


def copied_to(run: Path, place: Path) -> Path:
    """A copy of a run, which others may be reading: they put files beside its journal that are gone once they have read it."""
    return shutil.copytree(run, place, ignore=shutil.ignore_patterns("*.sqlite-shm", "*.sqlite-wal"))


def copied(run: Path, folder: Path, *without: str, **figures: Any) -> Path:
    """A copy of a run in a folder, without some of its files, and with other figures in ``result.json``."""
    copy = copied_to(run, folder / "run")
    for name in without:
        if (copy / name).is_dir():
            shutil.rmtree(copy / name)
        else:
            (copy / name).unlink()
    if figures:
        (copy / "result.json").write_text(json.dumps(result_of(copy) | figures))
    return copy


def cut_short(run: Path, kept: int | None = None) -> list[tuple[Any, ...]]:
    """Leave so many entries in its journal, or half of them, as if it had been killed after them; returns these."""
    with contextlib.closing(sqlite3.connect(run / "transcript.sqlite")) as journal:
        if kept is None:
            kept = journal.execute("SELECT count(*) FROM entries").fetchone()[0] // 2
        journal.execute("DELETE FROM entries WHERE number > ?", (kept,))
        journal.execute("DELETE FROM workers WHERE entry > ?", (kept,))
        journal.execute("DELETE FROM about WHERE name IN ('finished', ?)", (WENT_ON,))
        journal.commit()
        return journal.execute("SELECT * FROM entries").fetchall()


def place_for_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of these tests share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def made_once(place: Path, make: Callable[[Path], None]) -> Path:
    """The folder, in which ``make`` is called by whichever process comes first; others wait for it."""
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.with_suffix(".made").exists():
            shutil.rmtree(place, ignore_errors=True)  # left by a test that failed
            place.mkdir()
            make(place)
            place.with_suffix(".made").touch()
    return place


def started(*arguments: str | Path, cwd: Path, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hash_seed}
    return subprocess.run(
        [sys.executable, "-m", "aam_vision.run", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
        check=False,
        timeout=300,
    )


@dataclass(frozen=True)
class Run:
    """A finished run in a process of its own, and what it left behind."""

    env: str
    done: subprocess.CompletedProcess[str]
    folder: Path

    @property
    def figures(self) -> dict[str, Any]:
        return result_of(self.folder)

    @property
    def model(self) -> Path:
        return self.folder / "model.pddl"


class StartedRuns:
    """The run of each environment with seed 0, as a user starts it."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def __getitem__(self, env: str) -> Run:
        def make(place: Path) -> None:
            (place / "envs").mkdir()  # a user's own package of that name is none of ours
            (place / "envs" / "__init__.py").write_text("raise RuntimeError('the wrong envs')")
            done = started("--env", env, "--seed", "0", "--out", place / "out", cwd=place)
            (place / "answer.json").write_text(json.dumps([done.returncode, done.stdout, done.stderr]))

        place = made_once(self._place / f"started-{env}", make)
        answer = json.loads((place / "answer.json").read_text())
        return Run(env, subprocess.CompletedProcess([], *answer), place / "out")


def _finished(arguments: Arguments, place: Path) -> None:
    """Make a run in this process."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert interrogate_agent(arguments) == 0
    (place / OUTPUT).write_text(printed.getvalue(), encoding="utf-8")


def runs_of(place: Path) -> Runs:
    """The folder of a run of an environment with some options."""
    alone = StartedRuns(place)

    def run(env: str, **options: Any) -> Path:
        if env in ("doors", "sokoban") and not options:
            return alone[env].folder
        return made_once(
            place / _name(env, options),
            lambda made: _finished(Arguments(env, out=made / "run", quiet=True, **options), made),
        ) / "run"  # fmt: skip

    return run


def chance_runs_of(place: Path) -> ChanceRuns:
    """The folder of a run of an agent with chance: of the hand that slips, or of another domain."""

    def run(domain: str = SLIPPERY, problem: str = PROBLEM, **options: Any) -> Path:
        def make(made: Path) -> None:
            (made / "d.pddl").write_text(domain)
            (made / "p.pddl").write_text(problem)
            given = {"within": 0.15, **options}
            files = {"domain": made / "d.pddl", "problem": [str(made / "p.pddl")]}
            _finished(Arguments(**files, chance=True, out=made / "run", quiet=True, **given), made)

        return made_once(place / _name(domain + problem, options, "chance"), make) / "run"

    return run


def _name(of: str, options: dict[str, Any], kind: str | None = None) -> str:
    return f"{kind or of}-{crc32(repr((of, sorted(options.items()))).encode()):08x}"
