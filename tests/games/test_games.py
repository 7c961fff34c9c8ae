"""Small games: what is called complete has no case missing, and what was not tried is named."""

from __future__ import annotations

import pytest

import aam_vision
from aam_vision.interrogation.controls.coverage import Coverage
from aam_vision.interrogation.controls.exploring import found
from aam_vision.interrogation.controls.giving import Giving
from aam_vision.interrogation.controls.reach import Reach
from aam_vision.interrogation.controls.rules import Rules
from tests.profiles import first

from .boards import ENVIRONMENTS
from .measure import measure, reachable


@pytest.mark.parametrize("name", first(3, sorted(ENVIRONMENTS)))
def test_situations_that_look_alike_go_alike(name: str) -> None:
    outcomes = {}
    for step in reachable(ENVIRONMENTS[name]):
        assert outcomes.setdefault((step.before, step.control), step.after) == step.after
    assert any(before != after for (before, _), after in outcomes.items())


@pytest.mark.parametrize("name", first(1, ["levers", "charge", "signals", "teleporters"]))
def test_what_is_called_complete_has_no_case_missing(name: str) -> None:
    measured = measure(name, 0)
    assert measured.result.complete
    assert measured.missing == ()


def test_a_run_that_was_cut_short_names_what_was_not_tried() -> None:
    result = aam_vision.interrogate_controls(ENVIRONMENTS["charge"].bare_agent(), max_steps=120)
    assert (result.status, result.steps) == ("budget", 120)
    told = [str(one) for one in result.untried]
    assert any(one.startswith("use()") for one in told), told


def test_every_way_gives_a_control_in_circumstances_that_are_new() -> None:
    giving = Giving(ENVIRONMENTS["charge"].bare_agent())
    giving.initial()
    rules, coverage = Rules(found(giving), giving), Coverage(Reach(giving))
    while (way := coverage.way(rules)) is not None and giving.steps < 40:
        before = giving.steps
        here = way.start
        for control in way.controls:
            _, here = giving.give(here, control)
        assert giving.steps > before
        rules = Rules(found(giving), giving)
    assert len({one.transition.kind for one in giving.given if one.transition.change}) >= 5
