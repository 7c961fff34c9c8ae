"""The commands that tell about runs and models: what they print, and what they refuse in one line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model import domains
from aam_vision.model.pddl import domain_text
from aam_vision.model.strips import Location
from aam_vision.report.account import account_of
from aam_vision.report.recorded import read_run
from aam_vision.report.written import named
from aam_vision.support.errors import UnusableInput
from tests.commands import ROOT, called, refused
from tests.finished import Runs, copied

GRIPPER = """(define (problem p) (:domain gripper-typed) (:objects a b - room x - ball l - gripper)
  (:init (at_robby a) (at x a) (free l)) (:goal (and (at x b))))"""


@pytest.fixture(autouse=True)
def _columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def printed(name: str, *arguments: str | Path) -> str:
    """What a command prints that ends well."""
    return called(f"aam_vision.{name}", *arguments, cwd=ROOT, code=0).stdout


def _refused(name: str, *arguments: str | Path) -> str:
    return refused(f"aam_vision.{name}", *arguments, cwd=ROOT)


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    path = tmp_path / "p.pddl"
    path.write_text(GRIPPER)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.pddl"
    path.write_text(domain_text(domains.load("gripper")))
    return path


# --- explain ---------------------------------------------------------------------------------------------------------


def test_explain_shows_what_every_action_needs_and_the_proof_of_a_line(run_of: Runs) -> None:
    done = printed("explain", run_of("gripper"))
    assert "free(?gripper)" in done
    assert "Exactly the ground truth." in done
    done = printed("explain", run_of("gripper"), "--why", "free(?gripper) in pre of pick")
    told = " ".join(done.split())
    assert "could not be done" in told
    assert "So free(?gripper) is required: nothing else in this vocabulary can have been the reason." in told


def test_explain_refuses_a_folder_without_a_run_in_one_line(run_of: Runs, tmp_path: Path) -> None:
    assert "no such folder" in _refused("explain", tmp_path / "nothing")
    assert "no run is recorded" in _refused("explain", tmp_path)
    unknown = _refused("explain", run_of("gripper"), "--why", "free(?griper) in pre of pick")
    assert "did you mean free(?gripper)" in unknown


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM entries",
        "DELETE FROM entries WHERE number = 2",
        "UPDATE entries SET kind = 'joke' WHERE number > 1",
        'UPDATE states SET content = \'{"true": [["at", "nobody", "nowhere"]]}\'',
        "INSERT OR REPLACE INTO about VALUES ('scenes', '[{\"a\": 1}]')",
        "INSERT OR REPLACE INTO about VALUES ('sources', '7')",
    ],
)
def test_explain_refuses_a_damaged_journal_in_one_line(run_of: Runs, tmp_path: Path, damage: str) -> None:
    copy = copied(run_of("gripper"), tmp_path)
    with sqlite3.connect(copy / "transcript.sqlite") as connection:
        connection.execute(damage)
    connection.close()
    with pytest.raises(UnusableInput, match="damaged"):
        account_of(read_run(copy))


def test_explain_works_on_a_run_that_has_not_ended(run_of: Runs, tmp_path: Path) -> None:
    files = ("result.json", "model.pddl", "truth.pddl", "report.html")
    done = printed("explain", copied(run_of("gripper"), tmp_path, *files))
    assert "not come to its end" in done


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("free(?g) in pre of pick", Location.PRE),
        ("not free( ?g ) in effects of pick", Location.EFF),
        ("FREE ( ?g ) in the precondition of PICK", Location.PRE),
    ],
)
def test_a_pal_tuple_can_be_named_in_several_ways(text: str, location: Location) -> None:
    model = domains.load("gripper")
    text = text.replace("?g ", "?gripper ").replace("?g)", "?gripper)")
    pal = named(text, {header.name: AtomIndex(model.vocabulary, header) for header in model.headers})
    assert (pal.action, pal.location, pal.atom.predicate) == ("pick", location, "free")


# --- compare ---------------------------------------------------------------------------------------------------------


def test_compare_finds_no_difference_between_equal_models(model: Path, problem: Path) -> None:
    done = printed("compare", model, model, "--problem", problem)
    assert "no difference" in done
    assert "a plan on which they disagree: none" in done


def test_compare_names_the_difference_and_a_shortest_plan_for_it(model: Path, problem: Path) -> None:
    other = model.with_name("other.pddl")
    other.write_text(model.read_text().replace("(free ?gripper)\n", "\n"))
    assert other.read_text() != model.read_text()
    done = printed("compare", model, other, "--problem", problem)
    assert "free(?gripper) in eff of drop: + and ∅" in done
    assert "(2 steps)" in done
    assert done.index("(pick x a l)") < done.index("(drop x a l)")


def test_compare_refuses_models_of_other_agents(model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.pddl"
    other.write_text(domain_text(domains.load("blocksworld")))
    assert "other actions" in _refused("compare", model, other)
    assert "cannot be read" in _refused("compare", model, tmp_path / "none.pddl")


# --- ask -------------------------------------------------------------------------------------------------------------


def _asked(model: Path, problem: Path, plan: str) -> tuple[str | Path, ...]:
    """What is to be predicted for a plan."""
    path = problem.with_name("plan.txt")
    path.write_text(plan)
    return "ask", model, "--problem", problem, "--plan", path


def test_ask_predicts_step_by_step_up_to_the_first_that_cannot_be_done(model: Path, problem: Path) -> None:
    done = printed(*_asked(model, problem, "(pick x a l) ; first\n\nmove(a, b)\n(PICK x a l)\n(move b a)\n"))
    lines = done.splitlines()
    assert lines[0] == "1. pick(x, a, l): done; +carry(x, l), -at(x, a), -free(l)"
    assert lines[2].startswith("3. pick(x, a, l): cannot be done: ")
    assert lines[-1] == "2 of 4 steps are done"


def test_ask_says_where_an_undetermined_part_matters(model: Path, problem: Path) -> None:
    undetermined = [
        {"action": "pick", "location": "pre", "group": ["free(?gripper)"], "known": ""},
        {"action": "move", "location": "eff", "group": ["+at_robby(?to) or ∅"], "known": ""},
    ]
    model.with_name("result.json").write_text(json.dumps({"undetermined": undetermined}))
    sure = printed(*_asked(model, problem, "(pick x a l)"))
    assert "certain" not in sure
    doubted = printed(*_asked(model, problem, "(move a b)\n(move b a)"))
    assert "?at_robby(b)" in doubted
    assert "whether at_robby(b) holds is not certain" in doubted
    problem.write_text(GRIPPER.replace("(free l)", ""))
    unsure = printed(*_asked(model, problem, "(pick x a l)"))
    assert "cannot be done, but that is not certain" in unsure
    assert "it is not determined whether free(l) is required" in unsure


@pytest.mark.parametrize(
    ("plan", "complaint"),
    [
        ("(pick x a l", "line 1: '(pick x a l' is not a step"),
        ("(move a b)\n(fly a b)", "line 2: no action 'fly'"),
        ("(move a)", "1 argument instead of 2"),
        ("(move a c)", "no object 'c'"),
        ("(move a x)", "x is a ball, and move wants a room there"),
    ],
)
def test_ask_names_the_line_that_is_not_a_step(model: Path, problem: Path, plan: str, complaint: str) -> None:
    assert complaint in _refused(*_asked(model, problem, plan))


def test_ask_takes_the_initial_states_that_a_run_has_seen(run_of: Runs, model: Path, tmp_path: Path) -> None:
    """Agents that are seen in images have no problem files."""
    run, plan = run_of("doors", max_queries=2), tmp_path / "plan.txt"
    recorded = read_run(run).transcript
    query, response = next((e.query, e.response) for e in recorded.entries if isinstance(e, Asked))
    number = [start.state for start in recorded.initial].index(query.initial.state)
    plan.write_text("\n".join(str(step) for step in query.plan[: response.executed]))
    for given in (run, run / "model.pddl"):
        printed("ask", given, "--problem", str(number), "--plan", plan)
    plan.write_text("")
    assert "problems 0 to 4" in _refused("ask", run, "--problem", "5", "--plan", plan)
    printed("ask", run, "--plan", plan)
    assert "give --problem P.pddl" in _refused("ask", model, "--plan", plan)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    assert "holds no model" in _refused("ask", foreign, "--plan", plan)
    for name, source in (("model.pddl", model), ("transcript.sqlite", run / "transcript.sqlite")):
        (foreign / name).write_bytes(source.read_bytes())
    assert "other actions or predicates" in _refused("ask", foreign, "--plan", plan)


def test_ask_refuses_figures_of_another_model(model: Path, problem: Path) -> None:
    other = [{"action": "fly", "location": "pre", "group": ["up(?x)"], "known": ""}]
    model.with_name("result.json").write_text(json.dumps({"undetermined": other}))
    assert "about another model" in _refused(*_asked(model, problem, "(move a b)"))


# --- runs that knew only controls ------------------------------------------------------------------------------------


def test_explain_and_ask_tell_of_controls_and_operators(run_of: Runs, tmp_path: Path) -> None:
    run = run_of("doors", controls=True)
    done = printed("explain", run)
    told = " ".join(done.split())
    assert "It has 2 controls. moveto: if ?room is unlocked" in told
    assert "moveto(?location - location) given in " in told
    assert "keyforroom(?key, ?room) proven query" in told
    why = printed("explain", run, "--why", "unlocked(?room) in pre of moveto")
    assert "So unlocked(?room) is required" in " ".join(why.split())
    printed("explain", run, "--html", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == (run / "report.html").read_text()
    assert f"--html {tmp_path}: is a folder" in _refused("explain", run, "--html", tmp_path)
    plan = tmp_path / "plan.txt"
    plan.write_text("moveto(loc-3-0, loc-0-0, room-0)\npick(key-0, loc-3-0, room-1)\n")
    asked = printed("ask", run, "--plan", plan)
    assert asked.endswith("2 of 2 steps are done\n")
