"""The list of ready-made worlds: the page has the tasks of the command, and the command tells what is not covered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("minigrid")

from experiments.worlds import TASKS, covered, interrogated

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "ready-worlds.md"


def test_the_page_has_the_tasks_of_the_command() -> None:
    assert tuple(re.findall(r"^\| `([^`]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)) == TASKS


def test_what_is_not_covered_is_listed_with_its_reason() -> None:
    lines = [line.split("\t") for line in covered()]
    for name, told in lines:
        assert name != "not covered" or re.search("move at random|hide keys|cannot make it here", told), told
    assert {name for name in TASKS if name.startswith("minigrid:")} <= {name for name, _ in lines}


def test_an_interrogation_is_compared_with_what_is_intended() -> None:
    row = interrogated("minigrid:Empty-5x5", 0, None)
    assert list(row) == ["world", "instructions", "queries", "at least", "steps", "status", "model", "CPU s"]
    assert row["model"] == "exact"
