"""The account, the page and the words of runs that learned how often."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from aam_vision.interrogation.chance.intervals import Precision
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.pddl import domain_text
from aam_vision.model.strips import ActionHeader, Atom, Objects, Predicate, State, Types, Vocabulary
from aam_vision.report import chance
from aam_vision.report.chance_account import ChanceAccount
from aam_vision.report.page import page
from aam_vision.report.recorded import read_run
from aam_vision.support.errors import UnusableInput
from tests.finished import ChanceRuns, copied, result_of
from tests.interrogation.chance.domains import DOOR_PROBLEM, DOORS
from tests.report.shown import in_terminal


@pytest.fixture(scope="module")
def account(chance_run_of: ChanceRuns) -> ChanceAccount:
    """Of the hand that slips."""
    return ChanceAccount(read_run(chance_run_of()))


@pytest.fixture(scope="module")
def doors(chance_run_of: ChanceRuns) -> ChanceAccount:
    """Of an agent whose actions do something else under conditions."""
    return ChanceAccount(read_run(chance_run_of(DOORS, DOOR_PROBLEM, within=0.2, seed=1)))


def block(*facts: str) -> State:
    """Two blocks, with facts about them."""
    objects = Objects({"a": "object", "b": "object"}, Types({}))
    atoms = [fact.split() for fact in facts]
    return State(frozenset(Atom(name, tuple(arguments)) for name, *arguments in atoms), objects)


def stacked(well: int, badly: int) -> ActionKnowledge:
    """What is known of stacking a on b after so many trials."""
    predicates = (Predicate("on", ("object", "object")), Predicate("on-the-table", ("object",)))
    vocabulary = Vocabulary("blocks", predicates, Types({}))
    header = ActionHeader("stack", ("x", "y"), ("object", "object"))
    known = ActionKnowledge(AtomIndex(vocabulary, header), Precision(0.05, 0.05, 75.0))
    for number in range(well + badly):
        after = block("on a b") if number < well else block("on-the-table a")
        known.was_executed(block(), ("a", "b"), after)
    return known


def test_an_action_that_mostly_works_is_told_in_one_sentence() -> None:
    told = chance.sentence(stacked(184, 16))
    form = r"stack works 92% of the time \((\d+)-(\d+)%\): \?x is on \?y; else \?x is on the table\. (.*)"
    found = re.fullmatch(form, told)
    assert found is not None
    assert 80 <= int(found[1]) < 92 < int(found[2]) <= 100
    assert re.fullmatch(r"Not excluded: a further outcome with a probability of up to \d%\.", found[3])


def test_an_action_never_works_where_its_likeliest_outcome_changes_nothing() -> None:
    known = stacked(0, 1)
    for _ in range(3):
        known.was_executed(block(), ("a", "b"), block())
    assert "works" not in chance.sentence(known)


def test_an_action_that_always_does_the_same_says_in_how_many_trials() -> None:
    assert "in all of 30 trials" in chance.sentence(stacked(30, 0))
    assert "in the only trial" in chance.sentence(stacked(1, 0))


def test_limits_are_rounded_to_the_safe_side() -> None:
    assert chance.limits(0.638, 0.741) == "63-75%"


def test_the_account_says_what_the_run_printed(account: ChanceAccount) -> None:
    run = account.run.folder
    for action in account.actions:
        for one, told in zip(action.outcomes, result_of(run)["outcomes"][action.name], strict=True):
            assert round(one.way.found.probability, 6) == told["probability"]
            assert one.way.found.hits == told["hits"]
            assert {*one.effects} == {*told["effects"]}
            assert one.example is not None
            assert {text.replace("+", "").replace("-", "not ") for text in one.example.changes} <= {
                *one.effects
            }
    assert domain_text(account.model) == (run / "model.pddl").read_text()


def test_every_proven_condition_has_a_refusal_without_it(account: ChanceAccount) -> None:
    lines = [line for action in account.actions for line in (*action.needs, *action.open)]
    proven = [(line.text, account.why(line)[-1].event) for line in lines]
    assert {text for text, _ in proven} == {"free(?h)", "not broken(?b)", "holding(?b)"}
    for text, refusal in proven:
        assert refusal is not None
        assert not refusal.executed
        held = refusal.held or ()
        assert (text.removeprefix("not ") in held) is text.startswith("not ")


def test_the_trials_of_all_kinds_are_the_executions(account: ChanceAccount) -> None:
    for action in account.actions:
        counted = sum(sum(kind.hits) for kind in action.kinds if kind.counted)
        assert counted == action.outcomes[0].way.found.trials


def test_chance_comes_first_on_the_first_screen(account: ChanceAccount) -> None:
    told = account.screen.abilities
    assert [deed.action for deed in told.deeds] == ["grab", "drop"]
    assert re.match(r"if .*, then it works \d+% of the time", told.deeds[0].words), told.deeds[0].words
    assert told.beginning.startswith("It has 2 actions")


def test_every_action_has_a_row_and_a_bar_if_it_has_one_case(doors: ChanceAccount) -> None:
    told = doors.screen.abilities
    cases = {action.name: {id(one.way.case) for one in action.outcomes or ()} for action in doors.actions}
    assert {deed.action for deed in told.deeds} == cases.keys()
    assert told.others == ""
    assert len(cases["pull"]) > 1
    for deed in told.deeds:
        assert (deed.found is None) is (len(cases[deed.action]) > 1)


def test_a_run_that_was_stopped_is_told_as_far_as_it_went(chance_run_of: ChanceRuns, tmp_path: Path) -> None:
    account = ChanceAccount(read_run(copied(chance_run_of(), tmp_path, "result.json")))
    assert account.verdict.title == "not at its end"
    assert "not at its end" in page(account)


def test_another_kind_of_run_is_refused(run_of: Callable[..., Path]) -> None:
    with pytest.raises(UnusableInput, match="no run with --chance"):
        ChanceAccount(read_run(run_of("gripper")))


@pytest.mark.parametrize(
    ("why", "told"),
    [
        (None, ["Verdict: complete", "grab works", "not broken(?b)", "proven"]),
        ("broken(?b) in pre of grab", ["not broken(?b) in pre of grab: proven", "could not be done"]),
        ("broken(?b) in eff of grab", ["makes it true", "leaves it as it is", "+broken(?b)"]),
        (
            "broken(?b) in eff of drop",
            ["Not seen: whether it also makes not broken(?b) true; that held in every"],
        ),
        (
            "free(?h) in pre of drop",
            ["not needed", "executed where it was true", "executed where it was false"],
        ),
    ],
)
def test_explain_tells_the_evidence(account: ChanceAccount, why: str | None, told: list[str]) -> None:
    said = " ".join(in_terminal(account, why).split())
    for text in told:
        assert text in said
