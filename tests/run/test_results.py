"""What a run prints and writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aam_vision
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.interrogation.task.verdict import COMPLETE, OPEN
from aam_vision.model.query import Query, Response
from aam_vision.run.summary import not_excluded, sentence
from tests import documentation
from tests.commands import ROOT
from tests.finished import OUTPUT, Runs, StartedRuns, result_of, started, timeless

from .commands import PROMISED, command


def test_the_readme_shows_what_the_demo_prints(runs: StartedRuns) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "-m aam_vision.run --env sokoban --seed 0 --out runs/demo" in makefile, "as the run here"
    demo, *_ = documentation.commands(documentation.blocks(ROOT / "README.md")[0])
    assert demo.words == ("make", "demo")
    assert len(demo.shown) > 10
    assert documentation.is_shown(demo.shown, runs["sokoban"].done.stdout)


@pytest.mark.parametrize(("env", "queries"), [("doors", 10), ("sokoban", 30)])
def test_the_agent_is_learned_exactly_with_few_questions(runs: StartedRuns, env: str, queries: int) -> None:
    run = runs[env]
    assert run.done.returncode == 0, run.done.stderr
    figures = run.figures
    assert (figures["status"], figures["missing"]) == (COMPLETE, None)
    assert figures["exam_bound"] <= 0.05
    assert (figures["exact"], figures["equivalent"], figures["accuracy"]) == (True, True, 1.0)
    assert figures["lower_bound"] <= figures["queries"] <= queries
    assert figures["walk_steps"] <= 400
    assert figures["failed_steps"] <= figures["queries"]


@pytest.mark.parametrize("env", ["doors", "sokoban"])
def test_the_figures_are_those_promised_and_add_up(runs: StartedRuns, env: str) -> None:
    figures = runs[env].figures
    assert set(PROMISED) <= set(figures)
    assert (figures["env"], figures["seed"]) == (env, 0)
    assert (figures["access"], figures["policy"]) == ("snapshot", "economical")
    curve = figures["curve"]
    assert len(curve) == figures["queries"]
    assert curve[-1][0] == figures["queries"]
    assert [point[:2] for point in curve] == sorted(point[:2] for point in curve)
    assert all(0 <= accuracy <= 1 for _, _, accuracy in curve)
    assert figures["steps"] >= figures["walk_steps"] + figures["queries"]
    assert figures["cpu_s"] > figures["interrogation_s"] > figures["perception_s"] > 0
    assert figures["planner_s"] >= 0
    from aam_vision.model.strips import lifted_atoms
    from tests.envs.ground_truth import ground_truth_model

    truth = ground_truth_model(env)
    atoms = [lifted_atoms(truth.vocabulary, schema.header) for schema in truth.actions]
    assert figures["pal_tuples"] == 2 * sum(map(len, atoms))
    assert figures["actions"] == len(truth.actions)


@pytest.mark.parametrize("env", ["doors", "sokoban"])
def test_the_model_is_pddl_that_other_tools_read(runs: StartedRuns, env: str) -> None:
    from unified_planning.io import PDDLReader

    from aam_vision.model.pddl import read_domain
    from tests.envs.ground_truth import ground_truth_model

    truth = ground_truth_model(env)
    parsed = PDDLReader().parse_problem(str(runs[env].model))
    assert {action.name for action in parsed.actions} == {header.name for header in truth.headers}
    assert {fluent.name for fluent in parsed.fluents} == {p.name for p in truth.vocabulary.predicates}
    learned = read_domain(runs[env].model)
    for schema in truth.actions:
        other = learned.schema(schema.header.name)
        assert (other.positive, other.negative) == (schema.positive, schema.negative)
        assert (other.add, other.delete - schema.delete) == (schema.add, frozenset())


@pytest.mark.parametrize("env", ["doors", "sokoban"])
def test_results_go_to_stdout_and_progress_to_stderr(runs: StartedRuns, env: str) -> None:
    run = runs[env]
    assert run.model.read_text() in run.done.stdout
    assert "queries" in run.done.stdout
    assert "lines" in run.done.stderr
    assert "(define" not in run.done.stderr
    assert "Warning" not in run.done.stderr
    assert "\x1b" not in run.done.stdout + run.done.stderr, "no terminal, no control characters"
    assert {"model.pddl", "result.json"} <= {path.name for path in run.folder.iterdir()}
    assert not list(run.folder.glob("*.partial"))


def test_the_same_seed_gives_the_same_figures_in_another_process(runs: StartedRuns, tmp_path: Path) -> None:
    asked = ("--env", "doors", "--seed", "0", "--out", "again", "--quiet")
    again = started(*asked, cwd=tmp_path, hash_seed="4711")
    assert (again.returncode, again.stderr) == (0, "")
    first, second = runs["doors"].folder, tmp_path / "again"
    assert (second / "model.pddl").read_bytes() == (first / "model.pddl").read_bytes()
    assert timeless(second) == timeless(first)


@pytest.mark.parametrize("env", ["doors", "sokoban"])
def test_a_plan_reaches_the_goal_in_the_simulator(runs: StartedRuns, env: str, tmp_path: Path) -> None:
    """PDDL files only, pyperplan's own parser, grounder and search, and PDDLGym to judge."""
    from pyperplan.grounding import ground
    from pyperplan.pddl.parser import Parser
    from pyperplan.search import breadth_first_search

    from aam_vision.envs.registry import board_domain
    from tests.envs.ground_truth import held_out_problems

    file = tmp_path / "problem.pddl"
    file.write_text(held_out_problems(env)[0].pddl)
    parser = Parser(str(runs[env].model), str(file))
    plan = breadth_first_search(ground(parser.parse_problem(parser.parse_domain())))
    assert plan
    simulator = board_domain(env).simulator(board_domain(env).held_out[0])
    simulator.start()
    for position, operator in enumerate(plan):
        assert not simulator._node.goal_reached, f"reached after {position} of {len(plan)} steps"
        name, *objects = operator.name.strip("()").split()
        assert simulator.instruct(name, tuple(objects)), f"step {position}: {operator.name}"
    assert simulator._node.goal_reached


def test_an_agent_with_a_noisy_camera_is_learned_exactly(tmp_path: Path) -> None:
    asked = ("--env", "doors", "--problem", "0", "--seed", "1", "--image-noise", "0.2")
    command(*asked, "--out", "out", "--quiet", cwd=tmp_path)
    found = result_of(tmp_path / "out")
    assert (found["exact"], found["proven"]) == (True, True)


def test_arguments_may_be_named_twice_if_that_is_asked_for(tmp_path: Path) -> None:
    """Blocksworld has on(?x, ?x) then, and stack(a, a) is asked about."""
    pal_tuples = []
    for number, option in enumerate(([], ["--repeated-arguments"])):
        out = tmp_path / str(number)
        command("--env", "blocksworld", *option, "--quiet", "--out", out, cwd=tmp_path)
        figures = result_of(out)
        assert figures["repeated_arguments"] is bool(option)
        assert (figures["proven"], figures["equivalent"]) == (True, True)
        pal_tuples.append(figures["pal_tuples"])
    assert pal_tuples[0] < pal_tuples[1]


def test_unreliable_answers_are_weighed_and_every_palm_tuple_has_a_confidence(tmp_path: Path) -> None:
    options = ("--env", "gripper", "--flip-rate", "0.1", "--refusal-rate", "0.02", "--out", "out")
    done = command(*options, cwd=tmp_path)
    figures = result_of(tmp_path / "out")
    assert (figures["status"], figures["exact"], figures["confidence"]) == (OPEN, True, 0.999)
    assert figures["missing"] == "the answers were weighed, so nothing is proven"
    assert len(figures["palm_tuples"]) == figures["pal_tuples"]
    assert all(one["confidence"] > 0.999 for one in figures["palm_tuples"])
    assert all(0.02 < rate < 0.25 for rate in figures["noise"]["false_positives"].values())
    assert "weighed: at most" in done.stdout
    assert "weighed from here on" in done.stderr


def test_an_updated_agent_is_compared_with_the_model_learned_earlier(run_of: Runs, tmp_path: Path) -> None:
    learned = (run_of("gripper") / "model.pddl").read_text()
    assert "(free ?gripper)" in learned
    for count, prior in enumerate((learned, learned.replace("(free ?gripper)", "", 1))):
        (tmp_path / "prior.pddl").write_text(prior)
        given = ("--env", "gripper", "--prior", "prior.pddl", "--quiet", "--out", str(count))
        assert "differences" in command(*given, cwd=tmp_path).stdout
        figures = result_of(tmp_path / str(count))
        assert figures["exact"]
        assert figures["queries"] <= figures["lower_bound"] + count + 1
        assert len(figures["differences"]) == count


# A run without chance says what chance of another outcome it does not exclude, and asks nothing more for it.


def test_the_bound_is_that_of_the_executions(run_of: Runs) -> None:
    run = run_of("gripper")
    told, figures = " ".join((run.parent / OUTPUT).read_text().split()), result_of(run)
    name, bound = max(figures["not_excluded"].items(), key=lambda one: one[1])
    up_to = f"another outcome of {name} in up to {100 * bound:.0f}% of its steps"
    assert f"Not excluded, with 95%: {up_to}" in told
    made = np.log(0.05) / np.log(1 - bound)
    assert made == pytest.approx(round(made), abs=0.02)
    assert f"({round(made)} execution" in told
    executions = [round(np.log(0.05) / np.log(1 - one)) for one in figures["not_excluded"].values()]
    assert sum(executions) <= figures["steps"] - figures["failed_steps"] + figures["exam_steps"]


class Useless(AgentDecorator):
    """Can do nothing."""

    def ask(self, query: Query) -> Response:
        return Response(0, query.initial)

    def walk(self, start, steps, rng):  # type: ignore[no-untyped-def]
        return []


def test_nothing_is_said_of_what_was_never_executed() -> None:
    result = aam_vision.interrogate(Useless(aam_vision.agent_for("gripper")))
    assert sentence(result) == ""
    assert set((not_excluded(result) or {}).values()) == {1.0}
