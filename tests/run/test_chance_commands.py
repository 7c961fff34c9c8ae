"""``compare``, ``ask`` and ``execute`` on runs with ``--chance``."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.model.pddl import read_domain
from aam_vision.model.strips import GroundAction
from aam_vision.planning.engines import planner_named
from aam_vision.report.chance_account import ChanceAccount
from aam_vision.report.prediction import Forecast
from aam_vision.report.recorded import read_run
from aam_vision.run.execution.replanning import Course, pursue
from tests.commands import ROOT, called, refused
from tests.finished import ChanceRuns, Runs, copied, result_of
from tests.interrogation.chance.agents import read
from tests.interrogation.chance.domains import DOOR_PROBLEM, DOORS, SLIPPERY

PLAN = "(grab a h)\n(drop a h)\n(grab b h)\n"


@pytest.fixture(autouse=True)
def _columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def command(name: str, *arguments: str | Path, code: int = 0) -> str:
    """What a command prints."""
    return called(f"aam_vision.{name}", *arguments, cwd=ROOT, code=code).stdout


def in_words(text: str) -> str:
    return " ".join(text.split())


def refusal(name: str, *arguments: str | Path) -> str:
    return refused(f"aam_vision.{name}", *arguments, cwd=ROOT)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.txt"
    path.write_text(PLAN)
    return path


# --- compare -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def versions(chance_run_of: ChanceRuns) -> tuple[Path, Path]:
    """Two runs: of the hand that slips, and of one that slips more and does not mind broken blocks."""
    careful = SLIPPERY.replace("(not (broken ?b))", "").replace("0.7 (and (holding", "0.3 (and (holding")
    return chance_run_of(), chance_run_of(careful, seed=1)


def test_two_versions_are_compared(versions: tuple[Path, Path]) -> None:
    said = in_words(command("compare", *versions))
    for text in (
        "matched: the same starts, access and precision; NOT matched: seed",
        "grab: DIFFERENT",
        "A needs not broken(?b), B does not need broken(?b) (proven)",
        "1 action differs: grab",
        "Bonferroni",
    ):
        assert text in said
    assert re.search(
        r"holding \?b and \?h is no longer free: A \d+% \(.*; B less often by \d+ to \d+ points; not chance",
        said,
    )
    assert "drop: DIFFERENT" not in said
    assert "independent" not in said
    one, other = versions
    told = json.loads(command("compare", one, other, "--json"))
    assert (told["a"], told["b"], told["different"]) == (str(one), str(other), True)
    assert told["not_matched"] == ["seed"]
    grab, drop = told["actions"]
    assert (grab["action"], grab["different"], drop["different"]) == ("grab", True, False)
    assert grab["precondition"]["atoms"] == [{"atom": "broken(?b)", "a": ["negative"], "b": ["absent"]}]
    (held,) = [found for found in grab["outcomes"] if found["effects"] == ["holding(?b)", "not free(?h)"]]
    low, high = held["more_often"]
    assert (
        low <= held["b"]["hits"] / held["b"]["trials"] - held["a"]["hits"] / held["a"]["trials"] <= high < 0
    )
    assert held["p_value"] < 0.05
    assert held["different"]
    assert not any(found["different"] for found in drop["outcomes"])


def test_a_comparison_of_models_is_json_too(run_of: Runs, tmp_path: Path) -> None:
    model = run_of("gripper") / "model.pddl"
    weaker = tmp_path / "weaker.pddl"
    problem = tmp_path / "p.pddl"
    weaker.write_text(re.sub(r"\(free \?\w+\)", "", model.read_text(), count=1))
    problem.write_text(
        "(define (problem p) (:domain gripper-typed) (:objects r - room b c - ball g - gripper)"
        "(:init (at_robby r) (at b r) (at c r) (free g)) (:goal (free g)))"
    )
    told = json.loads(command("compare", model, weaker, "--problem", problem, "--json"))
    assert told["different"]
    (one,) = told["palm_tuples"]
    assert (one["action"], one["location"], one["b"]) == ("pick", "pre", "absent")
    (found,) = told["plans"]
    assert [step[0] for step in found["plan"]][-1] == "pick"
    assert found["a"] != found["b"]


def test_equal_versions_are_the_same_whatever_the_order_in_their_files(chance_run_of: ChanceRuns) -> None:
    one, other = "(holding ?b - block)", "(free ?h - hand)"
    reordered = SLIPPERY.replace(f"{one} {other}", f"{other} {one}")
    assert reordered != SLIPPERY
    said = in_words(command("compare", chance_run_of(), chance_run_of(reordered)))
    assert "matched: the same starts, access, precision and seed" in said
    assert "from the same seed" in said
    assert "nothing differs that chance does not explain" in said


def test_a_stopped_run_is_compared_as_far_as_it_went(chance_run_of: ChanceRuns, tmp_path: Path) -> None:
    run = chance_run_of()
    said = command("compare", run, copied(run, tmp_path, "result.json"))
    assert "B: not at its end" in said
    assert "matched: the same starts, access, precision and seed" in said
    assert "A: not" not in said


def test_what_cannot_be_compared_is_one_line(chance_run_of: ChanceRuns, run_of: Runs) -> None:
    run, other = chance_run_of(), run_of("gripper")
    blocks = chance_run_of(SLIPPERY.replace("grab", "take"), within=0.4)
    for arguments, told in (
        ((run, other), "only one is the folder of a run with --chance"),
        ((run, blocks), "have other actions, parameters' types or predicates"),
        ((run, run, "--problem", "p.pddl"), "leave out --problem and --max-states"),
    ):
        assert told in refusal("compare", *arguments)


# --- ask -----------------------------------------------------------------------------------------------------------


def test_the_limits_of_a_plan_have_its_true_probability(chance_run_of: ChanceRuns) -> None:
    account = ChanceAccount(read_run(chance_run_of()))
    truth, initial = read()
    done = (("grab", "a"), ("drop", "a"), ("grab", "b"))
    steps = [GroundAction(name, (block, "h")) for name, block in done]
    told = Forecast(account, initial, steps)
    states = {initial: 1.0}
    for number, step in enumerate(steps, 1):
        after: Counter[object] = Counter()
        for state, share in states.items():
            schema = truth.schema(step.name)
            if schema.applicable(state, step.objects):
                for reached, more in schema.successors(state, step.objects).items():
                    after[reached] += share * more  # type: ignore[assignment]
        states = dict(after)  # type: ignore[arg-type]
        found = told.done(number)
        assert found.low - 1e-9 <= sum(states.values()) <= found.high + 1e-9
        assert found.low <= found.estimate <= found.high
    assert told.done(0) == (1, 1, 1)
    shares = {end.state: end.chance for end in told.endings}
    assert set(shares) == set(states)
    for state, share in states.items():
        assert shares[state].low <= share <= shares[state].high
    assert sum(chance.estimate for chance in shares.values()) == pytest.approx(told.done(3).estimate)


def test_ask_says_how_probable_every_step_and_ending_is(chance_run_of: ChanceRuns, plan: Path) -> None:
    said = command("ask", chance_run_of(), "--plan", plan)
    lines = said.splitlines()
    assert lines[0] == "1. grab(a, h): carried out 100% of the time (100-100%)"
    assert re.fullmatch(r"2\. drop\(a, h\): carried out \d\d% of the time \(\d\d-\d\d%\)", lines[1])
    assert lines[2] == "   not where holding(a) does not hold"
    assert any("+holding(b), -free(h)" in line for line in lines)
    plan.write_text("(drop a h)")
    assert "carried out 0% of the time (0-0%)" in command("ask", chance_run_of(), "--plan", plan)


def test_ask_promises_nothing_of_what_is_not_known(chance_run_of: ChanceRuns, plan: Path) -> None:
    """A condition that no answer could tell, and an action that was never executed."""
    fly = "(:action fly :parameters () :precondition (flies) :effect (not (flies)))"
    domain = SLIPPERY.replace("(:action drop", f"{fly}\n(:action drop")
    domain = domain.replace("(:predicates", "(:predicates (flies) ")
    run = chance_run_of(domain, access="reset", within=0.3)
    plan.write_text("(fly)")
    said = command("ask", run, "--plan", plan)
    assert "carried out 0% of the time (0-100%)" in said or "(0-0%)" in said
    assert "never executed" in said or "does not hold" in said


# --- execute -------------------------------------------------------------------------------------------------------


def test_a_goal_is_pursued_until_it_holds(chance_run_of: ChanceRuns) -> None:
    said = command("execute", chance_run_of(), "--goal", "(holding b)")
    assert "% of the time by the model" in said
    assert "Goal reached" in said
    goal = "(and (broken a) (broken b))"
    said = command("execute", chance_run_of(), "--goal", goal, "--max-steps", "2", code=4)
    assert "Goal not reached in 2 steps" in said


def test_a_given_plan_goes_as_far_as_it_can(chance_run_of: ChanceRuns, plan: Path) -> None:
    done = called("aam_vision.execute", chance_run_of(), "--plan", plan, cwd=ROOT)
    refused_there = "refused, as predicted. Given up there." in done.stdout
    ended = (done.returncode, "Carried out" in done.stdout, refused_there)
    assert ended in ((0, True, False), (4, False, True))
    plan.write_text("(drop a h)")
    assert "refused, as predicted" in command("execute", chance_run_of(), "--plan", plan, code=4)


def test_what_cannot_be_executed_is_one_line(chance_run_of: ChanceRuns, tmp_path: Path) -> None:
    """Beside a warning that the domain names its instructions."""
    run = chance_run_of()
    other = copied(run, tmp_path)
    (other / "model.pddl").write_text((other / "model.pddl").read_text().replace("grab", "take"))
    for folder, arguments, told in (
        (run, ("--goal", "(and (holding a) (holding b))"), "no plan"),
        (run, ("--goal", "(holding c)"), "no object 'c'"),
        (run, ("--goal", "(holding a)", "--record", tmp_path / "x.gif"), "--record"),
        (other, ("--goal", "(holding a)"), "is of another agent"),
    ):
        assert told in called("aam_vision.execute", folder, *arguments, cwd=ROOT, code=2).stderr


def pursued(run: Path, domain: str, goal: str, seed: int) -> Course:
    """What comes of a goal with the model of a run and an agent of a domain."""
    model, (truth, initial) = read_domain(run / "model.pddl", chance=True), read(domain)
    agent = SymbolicAgent(truth, [initial], refuses_surely=True, chance=np.random.default_rng(seed))
    return pursue(agent, agent.initial()[0], model, (goal, "goal"), planner_named("pyperplan"), 500)


def test_an_outcome_that_the_model_has_not_ends_it(chance_run_of: ChanceRuns) -> None:
    """The agent has changed since: it breaks every block."""
    outcomes = "0.7 (and (holding ?b) (not (free ?h))) 1/10 (broken ?b)"
    breaking = SLIPPERY.replace(outcomes, "1 (and (broken ?b) (not (free ?h)))")
    done = pursued(chance_run_of(), breaking, "(holding a)", 0)
    assert (done.reached, len(done.steps)) == (False, 1)
    assert "NOT an outcome of the model" in done.verdict


def test_goals_that_only_an_unlikely_outcome_reaches_are_reached(chance_run_of: ChanceRuns) -> None:
    assert pursued(chance_run_of(), SLIPPERY, "(broken a)", 1).reached


# --- --prior -------------------------------------------------------------------------------------------------------


def test_a_run_is_verified_and_says_what_has_changed(chance_run_of: ChanceRuns) -> None:
    run = chance_run_of()
    worse = SLIPPERY.replace("0.7 (and (holding ?b)", "0.3 (and (holding ?b)")
    again = chance_run_of(worse, seed=1, prior=run)
    figures = result_of(again)
    assert {one["action"] for one in figures["differences"]} == {"grab"}
    for one in figures["differences"]:
        low, high = one["difference"]
        assert low <= one["now"] - one["before"] <= high
        assert one["p_value"] <= 0.05
    assert list(figures["as_before"]) == ["drop"]
    account = ChanceAccount(read_run(again))
    assert len(account.changed) == len(figures["differences"])
    told = [one.way.found for one in account.actions[0].outcomes]
    assert [[round(one.low, 6), round(one.high, 6)] for one in told] == [
        one["interval"] for one in figures["outcomes"]["grab"]
    ]
    assert "What has changed" in (again / "report.html").read_text()


def test_a_model_is_verified_with_fewer_steps(chance_run_of: ChanceRuns) -> None:
    run = chance_run_of(within=0.1)
    again = chance_run_of(within=0.1, seed=1, prior=run / "model.pddl")
    first, second = (result_of(one) for one in (run, again))
    assert (first["differences"], second["differences"]) == (None, [])
    assert set(second["as_before"]) == {"grab", "drop"}
    assert second["steps"] < first["steps"] / 2


def test_runs_with_conditional_effects_are_told(chance_run_of: ChanceRuns, plan: Path) -> None:
    one = chance_run_of(DOORS, DOOR_PROBLEM, within=0.2, seed=1)
    other = chance_run_of(DOORS, DOOR_PROBLEM, within=0.3, seed=2)
    assert "nothing differs that chance does not explain" in command("compare", one, other)
    assert "Goal reached" in command("execute", one, "--goal", "(open a)")
    plan.write_text("(oil a h)\n(pull a h)\n")
    assert "+oiled(a), +open(a)" in command("ask", one, "--plan", plan)
