"""Interrogations of slow agents with several workers, as they are timed."""

from __future__ import annotations

import pytest

from aam_vision.agents.workers import Workers
from experiments.parallel import AGENTS, interrogated


@pytest.mark.nightly
@pytest.mark.parametrize("env", AGENTS)
def test_any_number_of_workers_is_asked_the_same(env: str) -> None:
    two, three = (interrogated(env, 0, 0.0, Workers(number)) for number in (2, 3))
    assert two.same(three)
    assert two.equivalent
    assert two.lost == 0
