"""A run without faults is a plain one; what the table counts as silently wrong is just that."""

from __future__ import annotations

import pytest

from experiments.noise import noisy_interrogation, summary
from tests.profiles import crossed

JOB = {"env": "gripper", "seed": 0, "size": 2, "max_steps": 1000, "confirm": False}


@pytest.mark.parametrize(
    ("access", "rate"), crossed(["settable", "snapshot", "reset", "trajectory"], [0.1, 0.0])
)
def test_a_run_is_exact_or_says_that_it_is_in_doubt(access: str, rate: float) -> None:
    rates = {"access": access, "flip_rate": rate, "refusal_rate": 0.0}
    row = noisy_interrogation(**JOB, **rates)  # type: ignore[arg-type]
    assert row["exact"] or row["doubtful"]
    assert row["wrong"] == 0
    assert row["weighed"] is (rate > 0)
    (line,) = summary([{**JOB, **rates, **row}]).rows
    assert line[:4] == ["gripper", access, rate, 0.0]
    assert line[6] == 0


def test_a_complete_model_that_is_not_exact_is_silently_wrong() -> None:
    rates = {"access": "settable", "flip_rate": 0.1, "refusal_rate": 0.0}
    row = {**JOB, **rates, "exact": False, "complete": True}
    row |= {"doubtful": False, "certain": 20, "wrong": 1, "steps": 10, "queries": 9, "seconds": 0.1}
    (line,) = summary([row, {**row, "exact": True, "wrong": 0}]).rows
    assert line[4:9] == ["1/2", 0, 1, 40, 1]
