"""Each domain is interrogated once, however many tests look at the results."""

from __future__ import annotations

import os

import pytest

from .commands import Runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    base = tmp_path_factory.getbasetemp()
    return Runs(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)
