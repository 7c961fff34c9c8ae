"""Checkpoints of a policy: what the gate and an interrogation say of it is held against episodes of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.checkpoints import STARTS, WIDTH, _agent, _arrivals, _assessed, amiss, room


def straight(seen: Any, *, deterministic: bool) -> tuple[int, None]:
    """Goes on, and never turns: it arrives if it begins in the last row or column, and looks to the green square."""
    return 2, None


def test_how_often_a_policy_arrives_is_found_and_is_as_in_other_episodes(tmp_path: Path) -> None:
    (tmp_path / "network.zip").touch()
    low, high = _assessed(_agent(straight, tmp_path / "network.zip"), 0)
    episodes = 150
    assert low <= _arrivals(straight, episodes) / episodes <= high
    assert 0 < low < high < 0.4


def test_what_is_seen_tells_the_places_and_directions_apart() -> None:
    environment, seen = room(), {}
    for seed in range(STARTS // 4):
        observation, _ = environment.reset(seed=seed)
        assert observation in environment.observation_space
        here = (*environment.unwrapped.agent_pos, environment.unwrapped.agent_dir)
        assert np.array_equal(seen.setdefault(tuple(map(int, here)), observation), observation)
    assert len({value.tobytes() for value in seen.values()}) == len(seen) > 2 * (WIDTH - 2) ** 2


RIGHT: dict[str, Any] = {
    "seed": 3, "lost": "lost", "kept": "not lost", "late": [0.9, 1.0], "late_otherwise": 0.97, "early": [0.1, 0.2],
    "early_otherwise": 0.14, "less": [0.1, 0.95],
}  # fmt: skip


def test_checkpoints_that_are_not_told_apart_or_figures_that_are_wrong_are_named() -> None:
    assert amiss(RIGHT) == ""
    for change, told in (
        ({"lost": "not sure"}, "late to early is not sure, early to late not lost"),
        ({"kept": "lost"}, "late to early is lost, early to late lost"),
        ({"late": [0.98, 1.0]}, "late is 0.970 in independent episodes, and 0.980 to 1.000 by the gate"),
        ({"less": [0.1, 0.8]}, "less is 0.830 in independent episodes, and 0.100 to 0.800 by the gate"),
    ):
        assert amiss({**RIGHT, **change}) == f"seed 3: {told}"
