"""``run --chance`` as a user runs it: files, text, resuming, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from aam_vision.agents.image import ChanceImageAgent
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.model.pddl import read_domain
from aam_vision.report.chance_account import ChanceAccount
from aam_vision.report.recorded import read_run
from aam_vision.run import targets
from aam_vision.run.arguments import Arguments
from aam_vision.support.errors import UnusableInput
from tests.commands import called
from tests.finished import OUTPUT, ChanceRuns, copied, cut_short, result_of, timeless
from tests.interrogation.chance.domains import DOOR_PROBLEM, DOORS, PROBLEM, SLIPPERY
from tests.profiles import first

from .commands import command
from .reference import DOES, changed_program


def files(folder: Path, domain: str, problem: str) -> tuple[str | Path, ...]:
    (folder / "d.pddl").write_text(domain)
    (folder / "p.pddl").write_text(problem)
    named = ("--domain", folder / "d.pddl", "--problem", folder / "p.pddl")
    return *named, "--chance", "--within", "0.2", "--quiet"


def test_a_run_leaves_model_and_figures_and_can_be_made_again(chance_run_of: ChanceRuns, tmp_path: Path):
    run = chance_run_of()
    folder, printed = copied(run, tmp_path), (run.parent / OUTPUT).read_text(encoding="utf-8")
    figures = result_of(folder)
    assert (figures["status"], figures["exact"], figures["wrong_certain"]) == ("complete", True, 0)
    assert figures["variational_distance"] < 0.15
    for outcomes in figures["outcomes"].values():
        assert sum(one["probability"] for one in outcomes) == pytest.approx(1, abs=1e-5)
        for one in outcomes:
            low, high = one["interval"]
            assert low <= one["probability"] <= high
            assert (high - low) / 2 <= 0.15
            assert one["hits"] <= one["trials"] <= figures["steps"]
    model = read_domain(folder / "model.pddl", chance=True)
    assert [len(schema.outcomes) for schema in model.actions] == [3, 2]
    assert "% of the time (" in printed
    assert "Not excluded" in printed
    _assert_made_again(folder)


def _right(folder: Path, *, intervals: int) -> dict[str, Any]:
    """The figures of a run, in which nothing is certain and wrong; ``intervals``: so many there are."""
    figures = result_of(folder)
    assert figures["exact"] or figures["equivalent"]
    assert figures["wrong_certain"] == 0
    assert figures["intervals_right"] == figures["intervals"] == intervals
    return figures


def _assert_made_again(folder: Path) -> None:
    """Resumed, the run comes to the same figures."""
    before = timeless(folder)
    (folder / "result.json").unlink()
    command("--resume", folder, "--quiet", cwd=folder.parent)
    assert timeless(folder) == before


LEVER = """(define (domain lever) (:requirements :typing :probabilistic-effects) (:types place) (:constants home - place)
  (:predicates (up ?p - place))
  (:action pull :parameters (?p - place) :precondition (up ?p) :effect (probabilistic 0.7 (not (up ?p)) 0.3 (up home))))
"""
TWO_PLACES = (
    "(define (problem one) (:domain lever) (:objects far - place) (:init (up far) (up home)) (:goal (and)))"
)


def test_steps_in_which_a_constant_makes_two_atoms_one_are_said_not_to_be_tried(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = command(*files(tmp_path, LEVER, TWO_PLACES), "--out", folder, cwd=tmp_path)
    assert result_of(folder)["not_tried"] == {"pull": ["home"]}
    said = "steps of pull that name home where two of the action's atoms would be one fact"
    assert said in " ".join(done.stdout.split())
    account = ChanceAccount(read_run(folder))
    assert f"Not tried, and nothing is claimed of them: {said}." in account.verdict.details
    asked = [entry.query.plan for entry in account.run.transcript.entries if isinstance(entry, Asked)]
    assert {step.objects for plan in asked for step in plan} == {("far",)}


ICE = """(define (domain ice) (:requirements :typing :probabilistic-effects) (:types cell way) (:constants up down - way)
  (:predicates (at ?c - cell) (next ?c ?d - cell ?w - way) (thin ?c - cell))
  (:action go :parameters (?c ?d - cell ?w - way) :precondition (and (at ?c) (next ?c ?d ?w))
    :effect (and (not (at ?c)) (probabilistic 0.7 (at ?d) 0.3 (and (at ?d) (thin ?d))))))
"""
THREE_CELLS = """(define (problem three) (:domain ice) (:objects a b c - cell) (:goal (and))
  (:init (at a) (next a b up) (next b c up) (next b a down) (next c b down)))
"""


def test_directions_that_are_constants_are_what_an_argument_says(tmp_path: Path) -> None:
    """All there is to name is a constant: else every step would name one, and nothing would be tried."""
    folder = tmp_path / "out"
    asked = files(tmp_path, ICE, THREE_CELLS)
    command(*asked, "--access", "reset", "--out", folder, cwd=tmp_path)
    figures = _right(folder, intervals=2)
    assert (figures["status"], figures["exact"], figures["not_tried"]) == ("complete", True, {"go": []})
    command("--prior", folder, *asked, "--access", "reset", "--seed", "1", "--out", "again", cwd=tmp_path)
    assert result_of(tmp_path / "again")["differences"] == []
    _assert_made_again(folder)
    (tmp_path / "p.pddl").write_text(THREE_CELLS.replace("a b c - cell", "a b c - cell aside - way"))
    given = (*asked, "--access", "reset", "--seed", "2", "--out")
    refused = command(*given, "refused", "--prior", folder, cwd=tmp_path, code=2).stderr
    assert "in one of the two runs go can name nothing but constants, in the other it can" in refused
    command(*given, "other", cwd=tmp_path)
    compared = called("aam_vision.compare", folder, "other", cwd=tmp_path).stdout
    assert "nothing differs that chance does not explain" in compared


def test_noise_is_told_from_chance_by_looking_again(tmp_path: Path) -> None:
    """Whether it is resumed from its end or from the middle, a run of many looks comes to the same figures."""
    asked = (*files(tmp_path, SLIPPERY, PROBLEM), "--flip-rate", "0.05", "--access", "reset")
    unlooked = command(*asked, "--out", tmp_path / "once", cwd=tmp_path, code=4)
    assert "noise and chance cannot be told apart by one look" in unlooked.stderr
    assert "sure          nothing:" in unlooked.stdout
    folder = tmp_path / "out"
    command(*asked, "--confirm", "--out", folder, cwd=tmp_path)
    figures = _right(folder, intervals=5)
    assert (figures["status"], figures["exact"]) == ("complete", True)
    assert figures["looks"] > 2 * figures["situations"] > figures["steps"]
    assert figures["misread"] == pytest.approx(0.05, abs=0.01)
    assert "looks at a situation err independently" in re.sub(
        "<[^>]*>", "", (folder / "report.html").read_text()
    )
    account = ChanceAccount(read_run(folder))
    assert {one.name: [way.way.found.hits for way in one.outcomes] for one in account.actions} == {
        name: [way["hits"] for way in ways] for name, ways in figures["outcomes"].items()
    }
    assert 2 * len(cut_short(folder)) >= figures["looks"]
    assert ChanceAccount(read_run(folder)).contradiction is None
    _assert_made_again(folder)


def test_conditional_effects_come_out_as_one_action(chance_run_of: ChanceRuns) -> None:
    folder = chance_run_of(DOORS, DOOR_PROBLEM, within=0.2, seed=1)
    figures = result_of(folder)
    assert (figures["exact"], figures["wrong_certain"]) == (True, 0)
    assert [(one["action"], one["depends_on"], one["certain"]) for one in figures["conditional"]] == [
        ("pull", ["stuck(?d)", "oiled(?d)"], True),
        ("toggle", ["wet(?h)"], True),
    ]
    assert ["stuck(?d)", "not oiled(?d)"] in [one["condition"] for one in figures["outcomes"]["pull"]]
    assert len(read_domain(folder / "model.pddl", chance=True).schema("pull").cases) == 3
    printed = (folder.parent / OUTPUT).read_text(encoding="utf-8")
    assert "if ?h is wet, ?h is no longer wet" in " ".join(printed.split())
    page = re.sub("<[^>]*>", "", (folder / "report.html").read_text())
    assert "if ?h is wet: ?h is no longer wet" in page


def test_a_program_that_slips_is_interrogated_without_the_truth(tmp_path: Path) -> None:
    slips = (
        '    if before <= state and name == "take" and CHANCE.random() < 0.3:\n        return set(state)\n'
    )
    chance = "import random\nCHANCE = random.Random(7)\n"
    program = changed_program(tmp_path, {DOES: slips + DOES, "import random\n": chance})
    folder = tmp_path / "out"
    asked = ("--agent", program, "--access", "reset", "--chance", "--within", "0.15")
    command(*asked, "--quiet", "--out", folder, cwd=tmp_path)
    figures = result_of(folder)
    assert figures["exact"] is figures["variational_distance"] is None
    assert {name: len(found) for name, found in figures["outcomes"].items()} == {"go": 1, "take": 2, "put": 1}
    low, high = figures["outcomes"]["take"][1]["interval"]
    assert low < 0.3 < high


def test_pddlgyms_domains_are_told_as_symbols(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    asked = ("--env", "river", "--chance", "--within", "0.2", "--max-steps", "200", "--quiet")
    command(*asked, "--out", folder, cwd=tmp_path)
    assert _right(folder, intervals=7)["exact"]


@pytest.mark.parametrize(
    "given", first(2, [(("--env", "tireworld"),), ((),), (("--env", "explodingblocks", "--problem", "0"),)])
)
def test_chance_is_found_without_asking_for_it(given: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "out"
    asked = given or files(tmp_path, SLIPPERY, PROBLEM)[:4]
    command(*asked, "--within", "0.3", "--quiet", "--out", folder, cwd=tmp_path)
    figures = result_of(folder)
    assert figures["status"] == "complete"
    assert figures["exact"] or figures["equivalent"]
    assert (figures["wrong_certain"], figures["went_on"]["family"]) == (0, "random")
    assert figures["intervals_right"] == figures["intervals"]
    _assert_made_again(folder)


def test_a_run_that_saw_no_chance_is_compared_with_a_truth_that_has_it(tmp_path: Path) -> None:
    """It ends where the agent is dead, after its first steps."""
    folder = tmp_path / "out"
    command("--env", "river", "--access", "trajectory", "--quiet", "--out", folder, cwd=tmp_path)
    figures = result_of(folder)
    assert (figures["status"], figures["accuracy"], figures["exact"]) == ("open", None, False)
    assert {accuracy for *_, accuracy in figures["curve"]} == {None}
    page = (folder / "report.html").read_text()
    assert "The ground truth as PPDDL" in page
    assert "There is none to compare with" not in page


@pytest.mark.nightly
def test_pixels_tell_chance_from_misreading(tmp_path: Path) -> None:
    """The classifiers misread some images; but from the same pixels a step leads to the same ones, and sometimes to others."""
    folder = tmp_path / "out"
    asked = ("--env", "tabletop:slippery", "--quiet", "--out", folder)
    printed = " ".join(command(*asked, cwd=tmp_path, code=4).stdout.split())
    found = result_of(folder)["diagnosis"]
    assert found["family"] == "random"
    assert not found["otherwise"]
    assert "--chance learns how often each comes" in printed
    assert "misread" not in printed


def test_the_check_of_an_environment_of_ones_own_shows_its_chance() -> None:
    """Then it is the same as with the flag, and has one worker."""
    lane = "tests.envs.test_chance_simulator:ENVIRONMENT"
    found = [targets.of(Arguments(env=lane, chance=chance)) for chance in (False, True)]
    assert [type(one.agent) for one in found] == [ChanceImageAgent] * 2
    with pytest.raises(
        UnusableInput, match=r"workers 2: cannot be used with tests.*copies of a random agent"
    ):
        targets.of(Arguments(env=lane, workers=2))


def test_chance_is_read_off_images(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    asked = ("--env", "explodingblocks", "--chance", "--within", "0.3", "--quiet")
    command(*asked, "--problem", "0", "--out", folder, cwd=tmp_path)
    figures = _right(folder, intervals=6)
    assert figures["status"] == "complete"
    assert {name: len(found) for name, found in figures["outcomes"].items()} == {
        "pick-up": 1, "put-down": 2, "stack": 2, "unstack": 1,
    }  # fmt: skip
    page = (folder / "report.html").read_text()
    assert page.count("data:image/png") >= 6
    assert "After put-down: table-destroyed is true" in page
    cut_short(folder)  # then it is led back by steps that chance may have lead elsewhere
    _assert_made_again(folder)
