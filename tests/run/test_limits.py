"""Limits on the time of a run: it ends with all that is known, and goes on where it is resumed."""

from __future__ import annotations

from pathlib import Path

import pytest

from aam_vision.planning.planner import cpu_seconds
from aam_vision.run.checks import RESULTS
from tests.finished import result_of

from .commands import command

ENDING = 15.0
"""CPU seconds, at most, until a run has ended once its time is spent."""


@pytest.mark.parametrize("asked", ["doors", "doors --controls", "river --chance --within 0.03"])
def test_a_run_whose_time_is_spent_writes_what_it_knows_and_goes_on(asked: str, tmp_path: Path) -> None:
    folder, seconds, before = tmp_path / "run", 0.2, cpu_seconds()
    limit = ("--max-seconds", str(seconds), "--quiet")
    command("--env", *asked.split(), *limit, "--out", folder, cwd=tmp_path)
    written = {name for name in RESULTS if (folder / name).exists()}
    assert written >= {"model.pddl", "result.json", "report.html"}
    figures = result_of(folder)
    assert figures["status"] == "budget"
    assert figures["missing"] == f"{seconds:g} CPU seconds were spent (--max-seconds)"
    assert seconds <= figures["cpu_s"] - before < seconds + ENDING, "of this process"
    command("--resume", folder, "--max-seconds", "0.5", "--quiet", cwd=tmp_path)
    further = result_of(folder)
    assert further["steps"] > figures["steps"] or further["status"] == "complete"
