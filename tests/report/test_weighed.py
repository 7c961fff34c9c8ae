"""Runs whose answers proved unreliable: the account counts what the engine counted, and says how probable all is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aam_vision.interrogation.statistics.assessment import assess
from aam_vision.model.strips import Location, PalTuple
from aam_vision.report.account import account_of
from aam_vision.report.page import page
from aam_vision.report.recorded import read_run
from aam_vision.report.told_account import WeighedAccount
from tests.finished import Runs, copied, result_of
from tests.refusals import told_by
from tests.report.shown import in_terminal


@pytest.fixture(scope="module")
def run(run_of: Runs) -> Path:
    return run_of("blocksworld", flip_rate=0.1)


@pytest.fixture(scope="module")
def account(run: Path) -> WeighedAccount:
    found = account_of(read_run(run))
    assert isinstance(found, WeighedAccount)
    return found


def test_the_answers_are_those_that_the_engine_has_weighed(account: WeighedAccount) -> None:
    assessment = assess(account.run.transcript)
    for name, action in assessment.actions.items():
        for number, atom in enumerate(action.index.atoms):
            counted = {
                (bool(before), bool(seen)): int(action.counts.seen[number, before, seen])
                for before in (0, 1)
                for seen in (0, 1)
            }
            found = account.weights.answers(PalTuple(atom, name, Location.EFF))
            assert {(one.before, one.outcome): len(one.steps) for one in found} == {
                kind: count for kind, count in counted.items() if count
            }


def test_the_answers_support_every_certain_palm_tuple(account: WeighedAccount) -> None:
    pals = list(account.weights.probabilities)
    assert all(account.weights.certain(pal) for pal in pals)
    for pal in pals:
        answers = account.weights.answers(pal)
        assert sum(one.weight for one in answers) > 0, pal
        strengths = [abs(one.weight) for one in answers]
        assert strengths == sorted(strengths, reverse=True)


def test_every_pal_tuple_is_on_the_page_with_its_probability(run: Path, account: WeighedAccount) -> None:
    text = page(account)
    assert text == (run / "report.html").read_text(encoding="utf-8")
    told = result_of(run)["palm_tuples"]
    assert account.decided == (len(told), len(told))
    assert len(re.findall(r"certain, (?:over )?\d", text)) == len(told)
    assert "How reliable the answers are" in text
    assert "contradict" not in text


def test_the_reason_is_given_in_words(account: WeighedAccount) -> None:
    said = in_terminal(account, "holding(?x) in eff of pick-up") + in_terminal(account)
    for text in (
        "holding(?x) is made true with a probability of over 99.99%, if errors are independent from look to look.",
        "Speaks for it: holding(?x) was seen true after pick-up in",
        "times more probable",
        "nothing is proven",
    ):
        assert text in said


@pytest.mark.parametrize(
    ("name", "value"),
    [("palm_tuples", []), ("palm_tuples", None), ("confidence", "high"), ("noise", {"refusals": 2})],
)
def test_figures_that_are_damaged_are_named(run: Path, tmp_path: Path, name: str, value: object) -> None:
    copy = copied(run, tmp_path, **{name: value})
    assert "result.json: damaged" in told_by(lambda: account_of(read_run(copy)))
