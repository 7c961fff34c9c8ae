"""The intended model comes out of skills and states, and with it what physics says and nobody wrote down."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import aam_vision
from aam_vision.agents.image import ImageAgent
from aam_vision.envs.tabletop.environment import TabletopEnv, world
from aam_vision.model.query import Access
from aam_vision.report import evaluation

from .scenes import TRUTH, assert_physics

SMALL = 32
"""Pixels of a picture that nothing is read from."""

pytestmark = pytest.mark.usefixtures("drawable")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 1])
def test_the_intended_model_is_found_in_few_queries(seed: int) -> None:
    """By day, test_shipped.py finds it from images alone."""
    table = replace(world(), make=lambda: TabletopEnv("rgb_array", size=SMALL))
    told, simulators = table.told(), [table.simulator(problem) for problem in table.interrogated]
    words, seen = table.visual.vocabulary(), [told.of(one) for one in simulators]
    agent = ImageAgent(seen, told, words, table.headers, Access.SNAPSHOT, refuses_surely=True)
    result = aam_vision.interrogate(agent, seed=seed, exam=12)
    held_out = []
    for number in table.held_out or ():
        other = table.simulator(("seed", number))
        held_out.append(table.true_state(other.present, other.scene))
    states = evaluation.sample_states(TRUTH, held_out, 300, np.random.default_rng(seed))
    assert evaluation.equivalent(result.model, TRUTH, states)
    assert result.proven
    assert result.counts.queries <= 25
    assert result.counts.steps <= 300
    assert_physics(result.model)
