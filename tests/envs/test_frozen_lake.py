"""A Gymnasium environment that we did not make: Frozen Lake, slippery or not."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest

from aam_vision.agents.perception import Scene
from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.envs.meaning import Instruction
from aam_vision.model.strips import ActionHeader, Objects
from aam_vision.support.errors import AamWarning
from tests.envs.corridor import (
    TYPES,
)
from tests.refusals import told_by


def _frozen_lake(restore: Any, **options: Any) -> GymnasiumSimulator:
    """Gymnasium's FrozenLake; it holds a clock of pygame's, which nobody can copy."""
    pytest.importorskip("pygame")
    places = {f"cell-{i}": ((i // 4, i % 4),) for i in range(16)}
    board = Scene(Objects(dict.fromkeys(places, "cell"), TYPES), 4, 4, places)
    walk = [
        Instruction(ActionHeader(name, ("from",), ("cell",)), action, lambda env: (f"cell-{env.s}",))
        for action, name in enumerate(("left", "down", "right", "up"))
    ]
    env = gymnasium.make("FrozenLake-v1", render_mode="rgb_array", **options)
    return GymnasiumSimulator(env, walk, board, restore)


def test_a_lake_that_is_not_slippery_can_be_walked() -> None:
    assert "cannot be copied (TypeError" in told_by(lambda: _frozen_lake("copy", is_slippery=False))
    simulator = _frozen_lake("replay", is_slippery=False)
    assert not simulator.instruct("up", ("cell-0",)), "the edge"
    assert simulator.instruct("right", ("cell-0",))
    there = simulator.snapshot()
    assert simulator.instruct("down", ("cell-1",)), "into a hole"
    with pytest.warns(AamWarning, match="after an episode's end"):
        assert not simulator.instruct("left", ("cell-5",)), "and that is the end"
    simulator.restore(there)
    assert simulator.instruct("left", ("cell-1",))


def test_a_slippery_lake_is_told_to_be_no_agent_for_us() -> None:
    assert "switch its chance off (slippery floors" in told_by(
        lambda: _frozen_lake("replay", is_slippery=True)
    )
