"""The command as a user runs it, and finished runs that all tests of their results share."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.commands import ROOT, called

WEIGHTS = ROOT / "aam_vision" / "classifiers" / "weights"
PROMISED = [
    "env",
    "seed",
    "access",
    "policy",
    "status",
    "missing",
    "predicates",
    "actions",
    "pal_tuples",
    "queries",
    "steps",
    "failed_steps",
    "walk_steps",
    "resets",
    "wall_s",
    "cpu_s",
    "interrogation_s",
    "planner_s",
    "perception_s",
    "accuracy",
    "exact",
    "equivalent",
    "undetermined",
    "lower_bound",
    "curve",
]


def command(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command in the process of the test: to import all that a run needs takes seconds."""
    return called("aam_vision.run", *arguments, cwd=cwd)


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
    """A finished run and what it left behind."""

    env: str
    done: subprocess.CompletedProcess[str]
    folder: Path

    @property
    def figures(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return found

    @property
    def model(self) -> Path:
        return self.folder / "model.pddl"


class Runs:
    """Interrogates each environment once, however many processes share the tests."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def __getitem__(self, env: str) -> Run:
        place = self._place / f"run-{env}"
        place.mkdir(exist_ok=True)
        folder, answer = place / "out", place / "answer.json"
        with (place / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not answer.exists():
                (place / "envs").mkdir()  # a user's own package of that name is none of ours
                (place / "envs" / "__init__.py").write_text("raise RuntimeError('the wrong envs')")
                done = started("--env", env, "--seed", "0", "--out", folder, cwd=place)
                answer.write_text(json.dumps([done.returncode, done.stdout, done.stderr]))
        return Run(env, subprocess.CompletedProcess([], *json.loads(answer.read_text())), folder)
