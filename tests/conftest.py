"""What all tests share."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _ray_token() -> Iterator[None]:
    """One token for all Ray clusters of these tests.

    Ray reads it once a process and keeps it, while the processes it starts read it anew: were it to change from one
    test to the next, a cluster would refuse those who started it. Without one, Ray would write ~/.ray/auth_token.
    """
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RAY_AUTH_MODE", "token")
        environment.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        yield
