"""``python -m aam_vision.execute``: plans over discovered operators, given to the environment as controls."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PIL import Image

from tests.commands import ROOT, called, refused
from tests.finished import Runs, copied, result_of


def execute(*arguments: str | Path, code: int = 0) -> str:
    """What the command prints."""
    return called("aam_vision.execute", *arguments, cwd=ROOT, code=code).stdout


def refusal(*arguments: str | Path, cwd: Path = ROOT, kept: Path | None = None) -> str:
    return refused("aam_vision.execute", *arguments, cwd=cwd, kept=kept)


def test_a_plan_may_name_the_control_as_one_action_with_cases(lamps_run: Path, tmp_path: Path) -> None:
    figures = result_of(lamps_run)
    assert [one["action"] for one in figures["conditional"]] == ["press(?l - lamp)"]
    assert "(:action press\n" in (lamps_run / "model-when.pddl").read_text(encoding="utf-8")
    assert "(when (off ?l)" in (lamps_run / "report.html").read_text(encoding="utf-8")
    (tmp_path / "plan.txt").write_text("press(b)\npress(b)\npress-off(a)\n", encoding="utf-8")
    said = execute(lamps_run, "--plan", tmp_path / "plan.txt")
    assert said.splitlines()[-1] == "Carried out: all 3 steps came out as predicted."
    told = called("aam_vision.ask", lamps_run, "--plan", tmp_path / "plan.txt", cwd=ROOT, code=0).stdout
    assert "1. press(b), here press-on(b): done" in told
    assert "2. press(b), here press-off(b): done" in told


@pytest.fixture
def doors(run_of: Runs) -> Path:
    """A run of Doors by its controls, from images."""
    return run_of("doors", controls=True)


def test_a_goal_is_reached_in_an_environment_that_is_seen_in_images(doors: Path, tmp_path: Path) -> None:
    film = tmp_path / "film.gif"
    said = execute(doors, "--problem", "1", "--goal", "(unlocked room-1)", "--record", film)
    assert "doors, problem test/1: 2 steps of the goal, by pyperplan" in said
    assert "pick(key-0): as predicted; +unlocked(room-1)" in said
    assert said.endswith("Goal reached: all 2 steps came out as predicted.\n")
    with Image.open(film) as images:
        assert getattr(images, "n_frames", 1) == 3


def test_a_plan_is_carried_out_and_a_goal_may_be_a_file(lamps_run: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text("(press-on b)\npress-off(a) ; off again\n", encoding="utf-8")
    said = execute(lamps_run, "--plan", tmp_path / "plan.txt")
    assert said.splitlines()[-1] == "Carried out: all 2 steps came out as predicted."
    assert "   press(b): as predicted; +on(b), -off(b)" in said.splitlines()
    (tmp_path / "goal").write_text("(and (off a)\n(not (off b)))", encoding="utf-8")
    assert len(execute(lamps_run, "--goal", tmp_path / "goal").splitlines()) == 6


def test_a_problem_that_the_run_has_never_seen(lamps_run: Path) -> None:
    said = execute(lamps_run, "--problem", lamps_run.parent / "other.pddl", "--goal", "(on b) (on c)")
    assert "problem other.pddl: 2 steps" in said


def test_a_board_that_was_not_interrogated(doors: Path) -> None:
    goal = ("--goal", "(unlocked room-1)")
    assert "doors, problem test/7: " in execute(doors, "--problem", "test/7", *goal)
    assert "use a number from 0 to 9" in refusal(doors, "--problem", "test/99", *goal)


def test_what_comes_out_otherwise_is_named_and_ends_the_plan(lamps_run: Path, tmp_path: Path) -> None:
    wrong = copied(lamps_run, tmp_path)
    model = (wrong / "model.pddl").read_text(encoding="utf-8")
    (wrong / "model.pddl").write_text(model.replace("(not (off ?l))", "", 1), encoding="utf-8")
    said = execute(wrong, "--goal", "(on b) (off a)", code=4)
    *_, last = said.splitlines()
    assert last.startswith("Not as predicted: step ")
    assert "press-on(b): off(b) is false instead of true. Given up there." in last


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "give either --goal GOAL or --plan FILE"),
        (("--goal", "(on a)", "--plan", "plan.txt"), "give either --goal GOAL or --plan FILE"),
        (("--goal", "(glows a)"), "undeclared predicate 'glows'"),
        (("--goal", "(on z)"), "the problem has no object 'z'; of type lamp it has a, b"),
        (("--goal", "(on a) (off a)"), "no plan of the learned operators"),
        (("--goal", "nowhere.pddl"), "--goal nowhere.pddl: no goal such as"),
        (("--plan", "nowhere.txt"), "cannot read nowhere.txt"),
        (("--plan", "unknown.txt"), "line 2: no action 'light'; the model has press-off, press-on"),
        (("--goal", "(on a)", "--problem", "3"), "--problem 3: the run has problems 0 to 0"),
        (("--goal", "(on a)", "--problem", "nowhere.pddl"), "nowhere.pddl"),
        (("--goal", "(on a)", "--planner", "guess"), "--planner guess: unknown"),
        (("--goal", "(on a)", "--record", "film.gif"), "shows no images"),
    ],
)
def test_what_cannot_be_used_is_refused(lamps_run: Path, tmp_path: Path, given: tuple[str, ...], said: str):
    (tmp_path / "unknown.txt").write_text("(press-on b)\n(light a)\n", encoding="utf-8")
    assert said in refusal(lamps_run, *given, cwd=tmp_path, kept=lamps_run)
    assert [path.name for path in tmp_path.iterdir()] == ["unknown.txt"]


def test_a_folder_without_such_a_run_is_refused(lamps_run: Path, tmp_path: Path) -> None:
    goal = "--goal", "(on a)"
    assert "no such folder" in refusal(tmp_path / "nothing", *goal)
    assert "no run is recorded" in refusal(tmp_path, *goal)
    for name, content, said in (
        ("controls.json", None, "holds no controls.json"),
        ("controls.json", "[", "damaged"),
        ("controls.json", json.dumps([{"operator": "press-on", "control": "kick", "arguments": []}]), "kick"),
        ("controls.json", json.dumps([]), "no control is given for press-off"),
        ("model.pddl", None, "holds no model"),
        ("transcript.sqlite", None, "no run is recorded"),
    ):
        run = copied(lamps_run, tmp_path)
        (run / name).unlink()
        if content is not None:
            (run / name).write_text(content, encoding="utf-8")
        assert said in refusal(run, *goal)
        shutil.rmtree(run)


def test_a_goal_is_reached_by_instructions_that_were_told(run_of: Runs) -> None:
    said = execute(run_of("gripper"), "--goal", "(at ball1 room1)")
    assert "; as predicted" in said
    assert said.splitlines()[-1] == "Goal reached: 4 steps, 1 plan."
