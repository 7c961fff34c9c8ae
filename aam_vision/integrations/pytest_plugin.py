"""A plugin of pytest: fixtures that assert what a policy can do, and note its rates for the report of the test.

pytest loads it by itself once the package is installed (entry point ``pytest11``). What is asserted fails with its figures and an example.
A harness that fails (a policy that raises, an environment that cannot be reset) or is used wrongly is an error of the test, and no failure.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import pytest

FIXTURES = {"assert_capability", "assert_nothing_lost"}


@pytest.fixture
def assert_capability(request: pytest.FixtureRequest) -> Callable[..., None]:
    """``aam_vision.assert_capability``; the properties of the test (``<property>`` in a JUnit file) get the rate and its limits."""
    import aam_vision

    return partial(aam_vision.assert_capability, record=_recorder(request))


@pytest.fixture
def assert_nothing_lost(request: pytest.FixtureRequest) -> Callable[..., None]:
    """``aam_vision.assert_nothing_lost``; the properties of the test get both rates of each kind of objective, and what was lost."""
    import aam_vision

    return partial(aam_vision.assert_nothing_lost, record=_recorder(request))


def _recorder(request: pytest.FixtureRequest) -> Callable[[str, object], None]:
    # not ``record_property``, which warns of JUnit files of the usual family though they have properties, too
    return lambda name, value: request.node.user_properties.append((name, value))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, pytest.TestReport]:
    """Call a failure of the harness an error."""
    report: pytest.TestReport = yield
    if call.excinfo is not None and FIXTURES.intersection(getattr(item, "fixturenames", ())):
        from aam_vision.support.errors import AamError

        if isinstance(call.excinfo.value, AamError):
            report.when = "setup"  # that is what pytest, and a JUnit file, call an error
    return report
