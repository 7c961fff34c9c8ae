"""A run goes on to facts that are counted: a room with place for two is learned, explained, planned with and resumed."""

from __future__ import annotations

from pathlib import Path

import pytest

from aam_vision.model.derived import AtLeast
from aam_vision.model.pddl import read_domain
from aam_vision.model.strips import LiftedAtom
from tests.commands import called
from tests.finished import result_of

from .commands import command
from .reference import DOES, changed_program
from .test_going_on import assert_no_prior, assert_same_again, explained

FULL = {
    DOES: """    if name == "put" and sum(atom[0] == "lies-in" and atom[2] == things[1] for atom in state) >= 2:
        return None
"""
    + DOES,
    'ROOMS, BALLS = ("kitchen", "hall", "garden"), ("red", "blue")': (
        'ROOMS, BALLS = ("kitchen", "hall", "garden"), ("red", "blue", "green", "white")'
    ),
    '("free",)}\nHELLO': '("free",), ("lies-in", "green", "hall"), ("lies-in", "white", "garden")}\nHELLO',
}
"""What the reference agent is given so that a room has place for two balls."""
NAME = "at-least-2-lies-in-any-x"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The command that starts such an agent, and the folder of a run of it."""
    folder = tmp_path_factory.mktemp("full")
    program = changed_program(folder, FULL)
    # with this seed a ball is put into a full room soon
    asked = ("--agent", program, "--access", "reset", "--exam", "60", "--seed", "1")
    done = command(*asked, "--out", folder / "run", cwd=folder)
    said = " ".join(done.stdout.split())
    assert f"{NAME}(?x1) says that at least 2 facts lies-in(_, ?x1) hold." in said
    assert "the robot is in room ?where and fewer than 2 facts lies-in(_, ?where) hold" in said
    return program, folder / "run"


def test_how_many_there_are_is_a_precondition(run: tuple[str, Path]) -> None:
    result = result_of(run[1])
    assert (result["status"], result["diagnosis"] is None) == ("complete", False)
    assert result["why"].startswith(f"deterministic, with {NAME} derived from other facts: ")
    model = read_domain(run[1] / "model.pddl")
    (one,) = model.vocabulary.derived
    assert one == AtLeast(model.vocabulary.predicate("lies-in"), (1,), 2)
    assert LiftedAtom(NAME, (1,)) in model.schema("put").negative
    assert NAME not in {
        atom.predicate for schema in model.actions for atom in schema.add | schema.delete | schema.positive
    }
    assert f"not {NAME}(?where) proven" in explained(run[1])
    assert NAME in (run[1] / "report.html").read_text()


def test_steps_are_foretold_with_what_follows_from_them(run: tuple[str, Path], tmp_path: Path) -> None:
    (plan := tmp_path / "plan.txt").write_text(
        "(take blue hall)\n(go hall kitchen)\n(put blue kitchen)\n(go kitchen garden)\n"
        "(take white garden)\n(go garden kitchen)\n(put white kitchen)\n"
    )
    foretold = called("aam_vision.ask", run[1], "--plan", plan, cwd=tmp_path, code=0).stdout
    assert f"3. put(blue, kitchen): done; +{NAME}(kitchen)" in foretold
    assert "7. put(white, kitchen): cannot be done" in foretold
    asked = (run[1], "--agent", run[0], "--plan", plan)
    tried = called("aam_vision.execute", *asked, cwd=tmp_path, code=4).stdout
    assert "Step 7 of 7, put(white, kitchen): refused, as predicted." in tried


def test_plans_make_room(run: tuple[str, Path], tmp_path: Path) -> None:
    asked = (run[1], "--agent", run[0])
    goal = "(and (lies-in white hall) (lies-in red garden))"
    done = called("aam_vision.execute", *asked, "--goal", goal, cwd=tmp_path, code=0)
    assert done.stdout.splitlines()[-1] == "Goal reached: 9 steps, 1 plan."
    goal = "(and (lies-in white garden) (lies-in red garden) (lies-in blue garden))"
    none = called("aam_vision.execute", *asked, "--goal", goal, cwd=tmp_path, code=2)
    assert "no plan of the learned operators" in none.stderr


def test_it_resumes_with_what_was_seen(run: tuple[str, Path], tmp_path: Path) -> None:
    assert_same_again(run[1], run[0], tmp_path, 20)


def test_its_model_is_no_prior_of_the_agent_and_is_compared_with_itself(
    run: tuple[str, Path], tmp_path: Path
) -> None:
    assert_no_prior(run[1], run[0], tmp_path)
