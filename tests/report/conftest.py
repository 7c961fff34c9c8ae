"""Kinds of runs that are told about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import called
from tests.finished import ChanceRuns, Runs, made_once, place_for_all

KINDS = ["gripper", "doors", "controls", "chance"]
"""An agent that tells its states, one that is seen in images, one known by its controls alone, and one with chance."""


@pytest.fixture(scope="session")
def run_of_kind(run_of: Runs, chance_run_of: ChanceRuns) -> Callable[[str], Path]:
    """The folder of a finished run of one of ``KINDS``, for reading only."""

    def run(kind: str) -> Path:
        if kind == "chance":
            return chance_run_of()
        return run_of("doors", controls=True) if kind == "controls" else run_of(kind)

    return run


@pytest.fixture(scope="session")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a finished run of a policy that builds towers."""
    limits = ("--chance", "--within", "0.2", "--max-steps", "200", "--quiet", "--out", "run")

    def run(policy: str) -> Path:
        def make(place: Path) -> None:
            called("aam_vision.run", "--env", f"tests.policies.tower:{policy}", *limits, cwd=place, code=0)

        return made_once(place_for_all(tmp_path_factory) / f"policy-{policy}", make) / "run"

    return run
