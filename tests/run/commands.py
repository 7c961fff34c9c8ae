"""The command as a user runs it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.commands import ROOT, called, refused

WEIGHTS = ROOT / "aam_vision" / "classifiers" / "weights"
PROMISED = [
    "env", "seed", "access", "policy", "status", "missing", "predicates", "actions", "pal_tuples",
    "queries", "steps", "failed_steps", "walk_steps", "resets", "wall_s", "cpu_s", "interrogation_s",
    "planner_s", "perception_s", "accuracy", "exact", "equivalent", "undetermined", "lower_bound",
    "curve",
]  # fmt: skip


def command(*arguments: str | Path, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """The command in the process of the test, which ends with this code: to import all that a run needs takes seconds."""
    return called("aam_vision.run", *arguments, cwd=cwd, code=code)


def refusal(*arguments: str | Path, cwd: Path) -> str:
    """The one line with which the command refuses its options; the folder stays as it was."""
    return refused("aam_vision.run", *arguments, cwd=cwd, kept=cwd)
