"""Classifiers of piles, trained once for all tests that look at them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of classifiers of piles after ten steps: for reading only."""
    from aam_vision.support.commandline import Progress
    from aam_vision.training.session import train_domain
    from tests.finished import made_once, place_for_all

    from .drawn import FEW_STEPS, DrawnDomain

    def make(place: Path) -> None:
        train_domain(DrawnDomain(), place, FEW_STEPS, Progress(io.StringIO()))

    return made_once(place_for_all(tmp_path_factory) / "piles", make)
