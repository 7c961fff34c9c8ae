"""The table for tests: real MuJoCo; pictures are skipped where it cannot draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("mujoco", reason="MuJoCo is not installed (the extra `robot`)")

from aam_vision.envs.tabletop.drawing import gl_context
from aam_vision.support.errors import UnusableInput

if TYPE_CHECKING:
    from aam_vision.envs.tabletop.environment import TabletopEnv


@pytest.fixture(scope="session")
def drawable() -> None:
    """Skip where MuJoCo cannot draw."""
    try:
        gl_context(8, 8).free()
    except UnusableInput as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def table() -> Iterator[TabletopEnv]:
    """An environment that draws nothing before it is asked to."""
    from aam_vision.envs.tabletop.environment import TabletopEnv

    env = TabletopEnv("rgb_array")
    yield env
    env.close()
