"""Agents and their new versions: what is lost is known, and what Fisher's test needs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, fisher_exact

from aam_vision.envs.matched import Draws
from aam_vision.envs.policies import PolicyAgent
from experiments.gates import LEAST, WORLDS, OwnLuck, amiss, compared, fisher, power, rates, versions_of
from tests.profiles import first


@pytest.mark.parametrize("world", WORLDS)
def test_a_version_achieves_as_much_as_is_said(world: str) -> None:
    versions = versions_of(world, 1, PolicyAgent)
    for agent, truth in (next(versions), next(versions)):
        draws, shares = Draws(agent, np.random.default_rng(0)), rates(agent, truth)
        for header in agent.headers:
            drawn = [draws.draw(header) for _ in range(150)]
            achieved = sum(agent.pursue_from(*one).achieved for one in drawn if one)
            assert abs(achieved / 150 - shares[header.name]) < 0.13


@pytest.mark.parametrize(("often", "now"), [(0.9, 0.4), (1.0, 0.5), (0.6, 0.0)])
def test_episodes_of_fishers_test_are_as_scipy_has_them(often: float, now: float) -> None:
    level, made = 0.05, 12
    found = sum(
        binom.pmf(a, made, often) * binom.pmf(b, made, now)
        for a in range(made + 1)
        for b in range(a)
        if fisher_exact([[a, made - a], [b, made - b]]).pvalue <= level
    )
    assert power(often, now, level, made) == pytest.approx(found)
    needed = fisher(often, now, level)
    assert power(often, now, level, needed) >= 0.8 > power(often, now, level, needed - 1)


@pytest.mark.parametrize("world", first(1, WORLDS))
def test_what_is_lost_is_found_and_nothing_else(world: str) -> None:
    lost = compared(world=world, luck="own", lost=True, seed=0)
    assert (lost["verdict"], lost["shown"], lost["false"]) == ("lost", True, [])
    assert lost["less"] >= LEAST
    equal = compared(world=world, luck="same", lost=False, seed=5)
    assert (equal["verdict"], equal["false"]) == ("not lost", [])
    assert amiss({**equal, "seed": 5, "false": ["achieve-on"]}) == "seed 5: achieve-on"


def test_own_luck_is_other_luck() -> None:
    versions = versions_of("workshop", 0, OwnLuck)
    next(versions)
    agent, _ = next(versions)
    step = agent.drawn(agent.headers[0], np.random.default_rng(0))
    plain = agent.another()
    plain.__class__ = PolicyAgent
    assert agent.pursue_from(3, step, 6) == plain.pursue_from(3, step, 7)
