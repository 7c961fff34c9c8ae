"""The report of a run that knew only controls: what each does, in words and pictures, and what is certain of that."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from aam_vision.agents.bare import BareSymbolicAgent
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.report.account import account_of
from aam_vision.report.page import page
from aam_vision.report.recorded import read_run
from aam_vision.run import targets
from aam_vision.run.arguments import Arguments
from aam_vision.support.errors import UnusableInput
from tests.finished import Runs, copied, result_of
from tests.interrogation.controls.runs import lamps
from tests.interrogation.controls.worlds import Moody
from tests.report.shown import in_terminal, text_of


@pytest.fixture(params=["doors", "lamps"])
def run(request: pytest.FixtureRequest, run_of: Runs) -> Path:
    if request.param == "doors":
        return run_of("doors", controls=True)
    found: Path = request.getfixturevalue("lamps_run")
    return found


def test_every_control_is_told_with_its_cases_and_every_line_of_these_has_its_proof(run: Path) -> None:
    account = account_of(read_run(run))
    told = account.controls
    assert told is not None
    html = (run / "report.html").read_text(encoding="utf-8")
    text = text_of(html)
    mapping = json.loads((run / "controls.json").read_text(encoding="utf-8"))
    assert [case.action for one in told.told for case in one.cases] == [one["operator"] for one in mapping]
    for one in told.told:
        assert f'id="control-{one.header.name}"' in html
        assert 0 <= one.changed <= one.given
        for case in one.cases:
            assert case.sentence in text
            assert case.example is not None
            assert case.example.executed
            assert case.example.step.startswith(f"{case.action}(")
    for action in account.actions:
        for line in (*action.needs, *action.changes):
            assert account.why(line)


def test_the_two_statements_stand_apart_on_the_page_and_in_the_terminal(run: Path) -> None:
    figures = result_of(run)
    account = account_of(read_run(run))
    printed = in_terminal(account)
    text = text_of((run / "report.html").read_text(encoding="utf-8"))
    within, beyond = figures["certain_within"], figures["certain_beyond"]
    assert account.verdict.main == f"{within[:1].upper()}{within[1:]}."
    assert f"Beyond these cases: {beyond}." in account.verdict.details
    for sentence in account.verdict.sentences:
        assert sentence in printed
        assert sentence in text
    certain = text.index("What is certain")
    assert certain < text.index(within, certain) < text.index(beyond, certain)


def test_each_case_has_a_picture_before_it_and_another_one_after_it(run_of: Runs) -> None:
    account = account_of(read_run(run_of("doors", controls=True)))
    told = account.controls
    assert told is not None
    screen = account.screen
    html = page(account)
    for one in told.told:
        for case in one.cases:
            assert case.example is not None
            before, after = case.example.shown
            assert before.image != after.image
            assert f'id="frame-{before.image}"' in html
            assert f'id="frame-{after.image}"' in html
    first = told.telling(screen.abilities.deeds[0].action)
    assert first is not None
    assert screen.shown == first.shown


def test_a_control_that_never_did_anything_is_named(lamps_run: Path) -> None:
    account = account_of(read_run(lamps_run))
    assert "Never seen to do anything: kick." in account.abilities.beginning
    assert [deed.action for deed in account.abilities.deeds] == ["press"]
    assert "It was never seen to do anything." in (lamps_run / "report.html").read_text(encoding="utf-8")


def test_where_cases_are_missing_the_verdict_begins_with_that(lamps_run: Path, tmp_path: Path) -> None:
    figures = {"status": "open", "certain_beyond": "kick never did anything", "idle_covered": False}
    verdict = account_of(read_run(copied(lamps_run, tmp_path, **figures))).verdict
    assert (verdict.title, verdict.main) == ("open", "kick never did anything.")


def test_what_no_case_explains_is_shown(tmp_path: Path) -> None:
    code, run = lamps(tmp_path, max_steps=3)
    assert code == 0
    account = account_of(read_run(run))
    told = account.controls
    assert told is not None
    assert account.run.figures is not None
    assert len(told.unexplained) == account.run.figures["unexplained"] > 0
    text = text_of((run / "report.html").read_text(encoding="utf-8"))
    assert "No case of press is known." in text
    for one in told.unexplained:
        assert f"{one.step}: {one.outcome}" in text
    assert json.loads((run / "controls.json").read_text(encoding="utf-8")) == []


def test_what_depends_on_something_unseen_is_shown_first(tmp_path, monkeypatch):
    usual = targets.of

    def moody(arguments: Arguments) -> targets.Target:
        known = usual(arguments)
        agent = known.agent
        assert isinstance(agent, BareSymbolicAgent)
        return replace(known, agent=NumberedAgent(Moody(agent)))

    monkeypatch.setattr(targets, "of", moody)
    code, run = lamps(tmp_path)
    assert code == 4
    account = account_of(read_run(run))
    screen = account.screen
    assert (screen.wrong, screen.verdict.title) == (True, "not-strips: no STRIPS model fits")
    one, other = screen.examples
    assert one.step == other.step
    assert one.outcome != other.outcome
    text = text_of((run / "report.html").read_text(encoding="utf-8"))
    assert text.index("went two ways in situations that look alike") < text.index("It has 2 controls")
    assert f"{other.step}: {other.outcome}" in text


def test_a_run_that_has_not_found_its_operators_is_refused(lamps_run: Path, tmp_path: Path) -> None:
    copy = copied(lamps_run, tmp_path, "result.json")
    with pytest.raises(UnusableInput, match="before its operators were known; go on with --resume"):
        read_run(copy)
