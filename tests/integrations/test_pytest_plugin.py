"""The plugin of pytest: a policy's rates and examples stand in the report of a test, and a broken harness is an error."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """
from tests.policies.tower import Arm, agent


def breaks(*given):
    raise ZeroDivisionError("no weights")


def test_shown(assert_capability):
    assert_capability(agent(Arm().pursue), "on", at_least=0.7)


def test_missed(assert_capability):
    assert_capability(agent(Arm(clears=False, checks=False).pursue), "on", at_least=0.7, where="not clear(?block2)")


def test_lost(assert_nothing_lost):
    assert_nothing_lost(agent(Arm().pursue), agent(Arm(unable=("c",)).pursue))


def test_broken(assert_capability):
    assert_capability(agent(breaks), "on", at_least=0.7)


def test_misused(assert_capability):
    assert_capability(agent(Arm().pursue), "above", at_least=0.7)


def test_of_others():
    import aam_vision

    raise aam_vision.AgentFailed("of no concern here")
"""


Ran = tuple[str, dict[str, ElementTree.Element]]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """What pytest prints of these tests, and their cases in the JUnit file."""
    folder = tmp_path_factory.mktemp("ci")
    (folder / "test_policy.py").write_text(TESTS)
    options = "-p", "aam_vision.integrations.pytest_plugin", "-p", "no:cacheprovider", "-W", "error"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--junitxml=junit.xml", "test_policy.py"],
        capture_output=True, text=True, cwd=folder, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # it may be installed, too
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    cases = ElementTree.parse(folder / "junit.xml").iter("testcase")
    return done.stdout, {one.attrib["name"]: one for one in cases}


def properties(case: ElementTree.Element) -> dict[str, str]:
    return {one.attrib["name"]: one.attrib["value"] for one in case.iter("property")}


def test_a_broken_harness_is_an_error_and_what_a_policy_cannot_do_a_failure(ran: Ran) -> None:
    printed, cases = ran
    ended = {name: [child.tag for child in case if child.tag != "properties"] for name, case in cases.items()}
    failures = {name: ["failure"] for name in ("test_missed", "test_lost", "test_of_others")}
    assert ended == {"test_shown": [], **failures, "test_broken": ["error"], "test_misused": ["error"]}
    assert "3 failed, 1 passed, 2 errors" in printed
    assert "the policy failed while it pursued on" in printed
    assert "ZeroDivisionError: no weights" in printed


def test_rates_are_properties_of_the_test_whether_it_fails_or_not(ran: Ran) -> None:
    _, cases = ran
    shown, missed, lost = (properties(cases[f"test_{name}"]) for name in ("shown", "missed", "lost"))
    assert float(shown["achieve-on.rate"]) > 0.7
    assert (shown["achieve-on.verdict"], shown["achieve-on.claimed_falsely"]) == ("shown", "0")
    where = "achieve-on where not clear(?block2)"
    assert int(missed[f"{where}.claimed_falsely"]) == int(missed[f"{where}.pursuits"]) > 0
    assert "claimed, not achieved" in missed[f"{where}.example"]
    assert float(lost["achieve-on.a"]) > float(lost["achieve-on.b"])
    assert "?block1 is c" in lost["achieve-on.where"]


def test_a_failing_test_shows_its_own_line_the_figures_and_an_example(ran: Ran) -> None:
    printed, _ = ran
    assert "matched.py" not in printed.split("test_lost ____")[1].split("short test summary")[0]
    assert "E       AssertionError: achieve-on where not clear(?block2): missed: 0 of " in printed
    assert "lost where ?block1 is c: " in printed
    assert "for example seed " in printed


def test_the_package_offers_the_plugin_to_pytest() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    (module,) = declared.values()
    assert {"assert_capability", "assert_nothing_lost"} <= {*vars(import_module(module))}
