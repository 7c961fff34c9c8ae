"""Runs that are killed at random moments go on as if nothing had been; ``make kills`` does it 200 times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.kills import CASES, Case, kill_runs
from tests.profiles import first


@pytest.mark.parametrize(
    "case", first(1, [CASES[6], CASES[5], CASES[3]]), ids=lambda case: f"{case.name}, {case.victim}"
)
def test_a_run_survives_kills_of_itself_and_of_its_agent(case: Case, tmp_path: Path) -> None:
    *_, tally = kill_runs(case, 2, tmp_path / "runs", np.random.default_rng(3))
    assert (tally.faults, tally.kills) == ([], 2)


def test_a_run_that_fails_by_itself_is_reported(tmp_path: Path) -> None:
    *_, tally = kill_runs(Case("nothing", ("--env", "chess")), 2, tmp_path / "runs", np.random.default_rng(0))
    (fault,) = tally.faults
    assert "chess" in fault
