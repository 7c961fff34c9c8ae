"""What all tests share."""

from __future__ import annotations

import gc
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests.profiles import PROFILE, WHOLE, thorough

if TYPE_CHECKING:
    from tests.finished import ChanceRuns, Runs, StartedRuns

settings.register_profile(PROFILE, thorough(100))
settings.load_profile(PROFILE)
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("LP_NUM_THREADS", "0")
"""Several tests run at once: threads of numerical libraries, and of what draws (Mesa's llvmpipe), would only wait for each other."""
LONG = (
    "tests/test_tutorial.py",
    "tests/test_docs.py",
    "tests/test_site.py",
    "tests/training/labelling/test_page.py",
    "tests/envs/tabletop/",
    "tests/run/",
    "tests/report/",
)
"""Files with tests that take ten seconds and more: begun last, they would leave one of the workers idle."""


ALLOCATIONS_UNTIL_COLLECTION = 10_000
"""As a run has it (``aam_vision.support.commandline``). With Python's 700, thousands of tests are looked through for cycles all the time."""


def pytest_configure(config: pytest.Config) -> None:
    """Leave out what is for the night, unless somebody says which marks to try. What is collected now stays."""
    gc.disable()
    if not WHOLE and not config.option.markexpr:
        config.option.markexpr = "not nightly"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with long tests."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(ALLOCATIONS_UNTIL_COLLECTION)
    gc.enable()


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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser; what needs it is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield launched
        launched.close()


# What makes a run is not installed where images alone are tested (make test-pillow), so it is imported where it is needed.


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> StartedRuns:
    """The run of each environment, in a process of its own."""
    from tests.finished import StartedRuns, place_for_all

    return StartedRuns(place_for_all(tmp_path_factory))


@pytest.fixture(scope="session")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The folder of a finished run of an environment."""
    from tests.finished import place_for_all, runs_of

    return runs_of(place_for_all(tmp_path_factory))


@pytest.fixture(scope="session")
def lamps_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of two lamps that one control switches; another control never does anything."""
    from tests.finished import made_once, place_for_all
    from tests.interrogation.controls.runs import lamps

    def make(place: Path) -> None:
        assert lamps(place)[0] == 0

    return made_once(place_for_all(tmp_path_factory) / "lamps", make) / "run"


@pytest.fixture(scope="session")
def chance_run_of(tmp_path_factory: pytest.TempPathFactory) -> ChanceRuns:
    """The folder of a finished run of an agent with chance."""
    from tests.finished import chance_runs_of, place_for_all

    return chance_runs_of(place_for_all(tmp_path_factory))
