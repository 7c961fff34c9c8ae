"""Runs of the command, made once for all tests of what is told about them."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from aam_vision.arguments import Arguments
from aam_vision.run import interrogate_agent

Runs = Callable[..., Path]


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
