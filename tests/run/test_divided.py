"""A run goes on to several actions in place of one, told apart by facts about their objects: report, explain, execute, ask and resume know them."""

from __future__ import annotations

from pathlib import Path

import pytest

from aam_vision.model.pddl import read_domain
from aam_vision.model.strips import LiftedAtom
from tests.commands import called
from tests.finished import result_of
from tests.profiles import first

from .commands import command
from .reference import DOES, changed_program
from .test_going_on import assert_same_again, explained

HEAVY = {
    DOES: """    if name == "take" and not {("small", things[0]), ("ramp", things[1])} & state:
        return None
"""
    + DOES,
    '"free": []}': '"free": [], "small": ["ball"], "ramp": ["room"]}',
    '("free",)}\nHELLO': '("free",), ("small", "red"), ("ramp", "hall")}\nHELLO',
}
"""What the reference agent is given so that it takes what is small anywhere, and all else where there is a ramp."""
SMALL, RAMP = LiftedAtom("small", (0,)), LiftedAtom("ramp", (1,))


@pytest.fixture(scope="module", params=first(1, ["settable", "reset"]))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The command that starts such an agent, and the folder of a run of it."""
    folder = tmp_path_factory.mktemp("heavy")
    program = changed_program(folder, HEAVY)
    done = command("--agent", program, "--access", request.param, "--out", folder / "run", cwd=folder)
    assert (
        "going on with several actions in place of one, told apart by facts about their objects"
        in done.stderr
    )
    assert "take is 2 actions in the model" in done.stdout
    return program, folder / "run"


def test_each_of_the_actions_is_learned(run: tuple[str, Path]) -> None:
    result = result_of(run[1])
    assert (result["status"], result["diagnosis"]["family"]) == ("complete", "conditional")
    assert result["why"].startswith("deterministic, with several actions for take: ")
    learned = {schema.header.name: schema for schema in read_domain(run[1] / "model.pddl").actions}
    own = {
        name: ({SMALL, RAMP} & schema.positive, {SMALL, RAMP} & schema.negative)
        for name, schema in learned.items()
    }
    assert [*own] == ["go", "take-if-small-what", "take-otherwise", "put"]
    assert own["take-if-small-what"] == ({SMALL}, set())
    assert own["take-otherwise"] == ({RAMP}, {SMALL})


def test_it_is_explained_what_tells_them_apart(run: tuple[str, Path]) -> None:
    text = explained(run[1])
    told = "take is 2 actions in the model: take-if-small-what where small(?what), else take-otherwise."
    assert told in text
    assert "small(?what) by definition" in text
    assert "ramp(?where) proven" in text
    assert " needed)" not in text, "a part was proven before: the least number of queries is not known"
    why = called(
        "aam_vision.explain", run[1], "--why", "small(?what) in pre of take-otherwise", cwd=run[1], code=0
    )
    assert "It is one of several actions in place of one instruction" in why.stdout
    assert "take-if-small-what" in (run[1] / "report.html").read_text()


def test_plans_are_made_of_them_and_carried_out(run: tuple[str, Path], tmp_path: Path) -> None:
    program, folder = run
    asked = (folder, "--agent", program, "--goal", "(and (lies-in blue kitchen) (holds red))")
    done = called("aam_vision.execute", *asked, cwd=tmp_path, code=0)
    assert "1. take-otherwise(blue, hall)" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Goal reached")
    (plan := tmp_path / "plan.txt").write_text(
        "(take-otherwise blue hall)\n(put blue hall)\n(take-if-small-what blue hall)\n"
    )
    foretold = called("aam_vision.ask", folder, "--plan", plan, cwd=tmp_path, code=0)
    assert "take-if-small-what(blue, hall): cannot be done" in foretold.stdout
    tried = called("aam_vision.execute", folder, "--agent", program, "--plan", plan, cwd=tmp_path, code=4)
    assert "Step 3 of 3, take-if-small-what(blue, hall): refused, as predicted." in tried.stdout


@pytest.mark.parametrize("beyond", first(1, [0, 20]))
def test_it_resumes_with_what_was_seen(beyond: int, run: tuple[str, Path], tmp_path: Path) -> None:
    assert_same_again(run[1], run[0], tmp_path, beyond)


def test_its_model_is_no_prior_of_the_agent(run: tuple[str, Path], tmp_path: Path) -> None:
    asked = ("--agent", run[0], "--prior", run[1] / "model.pddl", "--out", tmp_path / "run")
    done = command(*asked, cwd=tmp_path, code=2)
    assert "has several actions in place of one, or is of another agent" in done.stderr
