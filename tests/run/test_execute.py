"""``python -m aam_vision.execute``: plans over discovered operators, given to the environment as controls."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
from pathlib import Path
from unittest import mock

import pytest
from PIL import Image

from aam_vision.ask import ask_model
from aam_vision.execute import execute_plan
from aam_vision.run.arguments import Arguments
from aam_vision.run.command import interrogate_agent
from aam_vision.support.commandline import run_command
from tests.finished import Runs


def execute(*arguments: str | Path) -> tuple[int, str, str]:
    """The exit code, and what is printed to stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["execute", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        return run_command(execute_plan), out.getvalue(), err.getvalue()


def test_a_plan_may_name_the_control_as_one_action_with_conditional_effects(
    lamps_run: Path, tmp_path: Path
) -> None:
    figures = json.loads((lamps_run / "result.json").read_text(encoding="utf-8"))
    assert [one["action"] for one in figures["conditional"]] == ["press(?l - lamp)"]
    assert "(:action press\n" in (lamps_run / "model-when.pddl").read_text(encoding="utf-8")
    assert "(when (off ?l)" in (lamps_run / "report.html").read_text(encoding="utf-8")
    (tmp_path / "plan.txt").write_text("press(b)\npress(b)\npress-off(a)\n", encoding="utf-8")
    code, said, _ = execute(lamps_run, "--plan", tmp_path / "plan.txt")
    assert (code, said.splitlines()[-1]) == (0, "Carried out: all 3 steps came out as predicted.")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        ask_model(lamps_run, tmp_path / "plan.txt")
    assert "1. press(b), here press-on(b): done" in out.getvalue()
    assert "2. press(b), here press-off(b): done" in out.getvalue()


@pytest.fixture
def doors(run_of: Runs) -> Path:
    """A run of Doors by its controls, from images."""
    return run_of("doors", controls=True)


def copied(run: Path, to: Path) -> Path:
    return shutil.copytree(run, to / "copy")


def test_a_goal_is_reached_in_an_environment_that_is_seen_in_images(doors: Path, tmp_path: Path) -> None:
    film = tmp_path / "film.gif"
    code, said, _ = execute(doors, "--problem", "1", "--goal", "(unlocked room-1)", "--record", film)
    assert code == 0
    assert "doors, problem test/1: 2 steps of the goal, by pyperplan" in said
    assert "pick(key-0): as predicted; +unlocked(room-1)" in said
    assert said.endswith("Goal reached: all 2 steps came out as predicted.\n")
    with Image.open(film) as images:
        assert getattr(images, "n_frames", 1) == 3


def test_a_plan_is_carried_out_and_a_goal_may_be_a_file(lamps_run: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text("(press-on b)\npress-off(a) ; off again\n", encoding="utf-8")
    code, said, _ = execute(lamps_run, "--plan", tmp_path / "plan.txt")
    assert (code, said.splitlines()[-1]) == (0, "Carried out: all 2 steps came out as predicted.")
    assert "   press(b): as predicted; +on(b), -off(b)" in said.splitlines()
    (tmp_path / "goal").write_text("(and (off a)\n(not (off b)))", encoding="utf-8")
    code, said, _ = execute(lamps_run, "--goal", tmp_path / "goal")
    assert (code, len(said.splitlines())) == (0, 6)


def test_a_problem_that_the_run_has_never_seen(lamps_run: Path) -> None:
    code, said, _ = execute(
        lamps_run, "--problem", lamps_run.parent / "other.pddl", "--goal", "(on b) (on c)"
    )
    assert code == 0
    assert "problem other.pddl: 2 steps" in said


def test_a_board_that_was_not_interrogated(doors: Path) -> None:
    code, said, _ = execute(doors, "--problem", "test/7", "--goal", "(unlocked room-1)")
    assert code == 0, said
    assert "doors, problem test/7: " in said
    assert (
        "use a number from 0 to 9" in execute(doors, "--problem", "test/99", "--goal", "(unlocked room-1)")[2]
    )


def test_what_comes_out_otherwise_is_named_and_ends_the_plan(lamps_run: Path, tmp_path: Path) -> None:
    wrong = copied(lamps_run, tmp_path)
    model = (wrong / "model.pddl").read_text(encoding="utf-8")
    (wrong / "model.pddl").write_text(model.replace("(not (off ?l))", "", 1), encoding="utf-8")
    code, said, _ = execute(wrong, "--goal", "(on b) (off a)")
    assert code == 4
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
        (("--goal", "(on a)", "--problem", "3"), "--problem 3: the run has problems 0 to 0"),
        (("--goal", "(on a)", "--problem", "nowhere.pddl"), "nowhere.pddl"),
        (("--goal", "(on a)", "--planner", "guess"), "--planner guess: unknown"),
        (("--goal", "(on a)", "--record", "film.gif"), "shows no images"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_nothing_is_done(
    lamps_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in lamps_run.rglob("*.*") if path.is_file()}
    code, printed, errors = execute(lamps_run, *given)
    assert (code, printed) == (2, "")
    (line,) = [one for one in errors.splitlines() if not one.startswith("Loading")]
    assert line.startswith("error: ")
    assert said in line
    assert {path: path.read_bytes() for path in lamps_run.rglob("*.*") if path.is_file()} == before
    assert list(tmp_path.iterdir()) == []


def test_a_plan_with_an_unknown_operator_is_refused(lamps_run: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text("(press-on b)\n(light a)\n", encoding="utf-8")
    code, _, errors = execute(lamps_run, "--plan", tmp_path / "plan.txt")
    assert code == 2
    assert "line 2: no action 'light'; the model has press-off, press-on" in errors


def test_a_folder_without_such_a_run_is_refused(lamps_run: Path, tmp_path: Path) -> None:
    goal = "--goal", "(on a)"
    assert "no such folder" in execute(tmp_path / "nothing", *goal)[2]
    assert "no run is recorded" in execute(tmp_path, *goal)[2]
    for name, content, said in (
        ("controls.json", None, "holds no controls.json"),
        ("controls.json", "[", "damaged"),
        ("controls.json", json.dumps([{"operator": "press-on", "control": "kick", "arguments": []}]), "kick"),
        ("controls.json", json.dumps([]), "no control is given for press-off"),
        ("model.pddl", None, "holds no model"),
        ("transcript.sqlite", None, "no run is recorded"),
    ):
        run = shutil.copytree(lamps_run, tmp_path / "copy", dirs_exist_ok=True)
        if content is None:
            (run / name).unlink()
        else:
            (run / name).write_text(content, encoding="utf-8")
        code, printed, errors = execute(run, *goal)
        assert (code, printed) == (2, ""), name
        assert said in errors
        shutil.rmtree(run)


def test_a_run_that_knew_the_instructions_has_nothing_to_carry_out(tmp_path: Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        interrogate_agent(Arguments("gripper", out=tmp_path / "run", quiet=True, max_queries=1))
    code, _, errors = execute(tmp_path / "run", "--goal", "(free left)")
    assert code == 2
    assert "a run that knew the instructions; give one with --controls, --bare or --chance" in errors
