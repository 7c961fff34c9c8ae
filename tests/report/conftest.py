"""Runs of the command, made once for all tests of what is told about them."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from aam_vision.run.arguments import Arguments
from aam_vision.run.command import interrogate_agent
from tests.interrogation.chance.domains import PROBLEM, SLIPPERY

Runs = Callable[..., Path]
ChanceRuns = Callable[..., Path]


@pytest.fixture(scope="session")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The folder of a finished run of an environment, for reading only."""
    made: dict[tuple[object, ...], Path] = {}

    def run(env: str, **options: float) -> Path:
        key = (env, *sorted(options.items()))
        if key not in made:
            made[key] = tmp_path_factory.mktemp(env)
            with contextlib.redirect_stdout(io.StringIO()):
                assert interrogate_agent(Arguments(env, out=made[key], quiet=True, **options)) == 0  # type: ignore[arg-type]
        return made[key]

    return run


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
def chance_run_of(tmp_path_factory: pytest.TempPathFactory) -> ChanceRuns:
    """The folder of a finished run of an agent with chance, for reading only: of the hand that slips, or of another domain."""
    made: dict[tuple[object, ...], Path] = {}

    def run(domain: str = SLIPPERY, problem: str = PROBLEM, **options: object) -> Path:
        key = (domain, problem, *sorted(options.items()))
        if key not in made:
            place = tmp_path_factory.mktemp("chance")
            (place / "d.pddl").write_text(domain)
            (place / "p.pddl").write_text(problem)
            given = {"within": 0.1, **options}
            asked = Arguments(
                domain=place / "d.pddl",
                problem=[str(place / "p.pddl")],
                chance=True,
                out=place / "run",
                quiet=True,
                **given,  # type: ignore[arg-type]
            )
            with contextlib.redirect_stdout(io.StringIO()):
                assert interrogate_agent(asked) == 0
            made[key] = place / "run"
        return made[key]

    return run
