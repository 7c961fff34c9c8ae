"""An agent that has changed, as the experiment changes it, is verified in as few queries as need be."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.interrogation.task.result import differences
from aam_vision.model import domains
from experiments.reassessment import changed, reassessed, summary


@pytest.mark.parametrize("name", ["gripper", "blocksworld", "logistics", "satellite"])
def test_an_agent_that_has_not_changed_takes_one_pass_of_verification(name: str) -> None:
    row = reassessed(env=name, changes=0, seed=200, size=3)
    assert (row["exact"], row["changed"]) == (True, 0)
    assert row["queries"] <= row["lower_bound"] + 1


def test_changes_are_found_and_counted() -> None:
    job = {"env": "blocksworld", "changes": 3, "seed": 200, "size": 3}
    row, prior = reassessed(**job), domains.load("blocksworld")
    truth = changed(prior, 3, np.random.default_rng([200, 3]))
    assert row["changed"] == len(differences(prior, truth)) > 0
    assert row["exact"]
    (line,) = summary([{**job, **row}]).rows
    assert (line[:2], line[-2:]) == (["blocksworld", 3], ["1/1", 1])
