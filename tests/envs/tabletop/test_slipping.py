"""A hand that slips: what can be done stays the same, and what comes of a slip is one of two known things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from aam_vision.envs.tabletop.environment import SLIP, TabletopEnv, intended_slippery
from aam_vision.support.errors import UnusableInput
from tests.finished import result_of
from tests.run.commands import command

from .scenes import TRUTH, all_told, possible, random_scene, state

SLIPPERY = intended_slippery()


@pytest.fixture(scope="module")
def clumsy() -> Iterator[TabletopEnv]:
    """An arm that slips half of the time."""
    env = TabletopEnv(slip=0.5)
    yield env
    env.close()


@pytest.mark.parametrize("seed", range(5))
def test_a_slip_is_one_of_the_intended_outcomes_and_never_a_refusal(clumsy: TabletopEnv, seed: int) -> None:
    clumsy.np_random = np.random.default_rng(seed)
    clumsy.set_up(random_scene(seed))
    rng = np.random.default_rng(seed)
    slipped = 0
    for _ in range(25):
        before = state(clumsy)
        offered = possible(clumsy) if rng.random() < 0.7 else all_told(clumsy)
        told = offered[int(rng.integers(len(offered)))]
        refusal = clumsy.carry_out(told.name, *told.objects)
        slipped += clumsy.slipped
        assert (refusal is None) == TRUTH.schema(told.name).applicable(before, told.objects), str(told)
        if refusal is not None:
            assert state(clumsy) == before
            assert not clumsy.slipped
            continue
        outcomes = SLIPPERY.schema(told.name).single
        assert state(clumsy) == outcomes[clumsy.slipped].successor(before, told.objects), str(told)
    assert slipped > 0


def test_a_restored_state_slips_anew(clumsy: TabletopEnv) -> None:
    clumsy.np_random = np.random.default_rng(0)
    clumsy.set_up(random_scene(0))
    told = next(one for one in possible(clumsy) if one.name == "pick-up")
    here, found = clumsy.snapshot(), Counter[bool]()
    for _ in range(40):
        clumsy.restore(here)
        assert clumsy.carry_out(told.name, *told.objects) is None
        found[clumsy.slipped] += 1
    assert 8 <= found[True] <= 32


def test_a_probability_is_from_0_to_1() -> None:
    with pytest.raises(UnusableInput, match=r"no probability 1\.5 of a slip"):
        TabletopEnv(slip=1.5)


@pytest.mark.usefixtures("drawable")
def test_slips_are_learned_from_images(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    asked = ("--env", "tabletop:slippery", "--chance", "--max-steps", "25", "--problem", "0", "--quiet")
    done = command(*asked, "--out", folder, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    figures = result_of(folder)
    assert figures["wrong_certain"] == 0
    for name in ("pick-up", "stack"):
        for low, high in (one["interval"] for one in figures["outcomes"][name]):
            assert any(low <= share <= high for share in (1 - SLIP, SLIP)), name
