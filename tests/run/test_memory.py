"""A run goes on from its diagnosis to something that the agent remembers: report, explain and resume know the invented fact."""

from __future__ import annotations

from pathlib import Path

import pytest

from aam_vision.model.pddl import read_domain
from aam_vision.model.strips import LiftedAtom
from tests.commands import called
from tests.finished import copied, result_of
from tests.profiles import NIGHTLY, first

from .commands import command
from .reference import changed_program
from .test_going_on import assert_same_again, explained, shorten

TIRES = {
    "def do(": "TIRED: list[str] = []\n\n\ndef do(",
    "    name, *things = action\n": '    name, *things = action\n    if name == "take" and TIRED:\n        return None\n',
    "class Robot:": 'def rest(name: str) -> None:\n    """Putting down tires, going refreshes."""\n    TIRED[:] = {"put": ["tired"], "go": []}.get(name, TIRED)\n\n\nclass Robot:',
    '        if where == "start":\n': '        if where != "here":\n            TIRED.clear()\n        if where == "start":\n',
    "            self.state, executed = after, executed + 1\n": "            self.state, executed = after, executed + 1\n"
    '            rest(question["plan"][executed - 1][0])\n',
    "            self.state = do(self.state, action) or START\n": "            self.state = do(self.state, action) or START\n"
    "            rest(action[0])\n",
}
"""What the reference agent is given to remember: it takes nothing after it has put something down, until it goes."""

FIT = TIRES | {
    '("kitchen", "hall", "garden")': '("kitchen", "hall")',
    "    name, *things = action\n": '    name, *things = action\n    if name == "take" and not TIRED:\n        return None\n',
    "class Robot:": 'def rest(name: str) -> None:\n    """Going makes fit for taking."""\n    if name == "go":\n        TIRED.append(name)\n'
    '    elif name == "take":\n        TIRED.pop()\n\n\nclass Robot:',
    '    "access": "settable",': '    "access": "reset",',
}
"""The same of a number: it takes as often as it has gone, less what it took."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The command that starts such an agent."""
    return changed_program(tmp_path_factory.mktemp("program"), TIRES)


@pytest.fixture(scope="module")
def run(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of it."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    done = command("--agent", program, "--access", "settable", "--out", folder, cwd=folder.parent)
    assert "going on with what may be remembered" in done.stderr
    assert "memory-1 is an invented fact" in done.stdout
    return folder


def test_what_it_remembers_is_a_predicate_of_its_model(run: Path) -> None:
    result = result_of(run)
    assert result["status"] == "complete"
    assert result["why"].startswith("deterministic with one invented fact, memory-1")
    model = read_domain(run / "model.pddl")
    fact = next(p for p in model.vocabulary.predicates if p.name == "memory-1")
    assert fact.types == ()
    invented = LiftedAtom("memory-1", ())
    changes = {
        schema.header.name: [invented in atoms for atoms in (schema.add, schema.delete, schema.negative)]
        for schema in model.actions
    }
    assert changes == {"go": [False, True, False], "put": [True, False, False], "take": [False, False, True]}


def test_it_is_explained_with_the_diagnosis_and_two_histories(run: Path) -> None:
    text = explained(run)
    assert "Deterministic with one invented fact, memory-1" in text
    assert "made true by put; made false by go; excluded by take" in text
    assert "In situations that look alike take(" in text
    diagnosis = result_of(run)["diagnosis"]
    assert f"The run went on from a diagnosis: {diagnosis['why']}." in text
    assert diagnosis["family"] == "hidden"
    assert "memory-1" in (run / "report.html").read_text()


def test_two_models_with_the_same_fact_are_compared(run: Path) -> None:
    done = called("aam_vision.compare", run, run / "model.pddl", cwd=run.parent, code=0)
    assert "no difference" in done.stdout


@pytest.mark.parametrize("beyond", first(1, [40, 0, 1]))
def test_it_resumes_with_what_was_seen_and_warns_of_a_name_for_what_was_not_invented(
    beyond: int, run: Path, program: str, tmp_path: Path
) -> None:
    said = assert_same_again(run, program, tmp_path, beyond, "--name", "memory-2=x")
    assert "--name memory-2=x: nothing was invented that is called memory-2" in said


def test_a_plan_takes_what_is_remembered_into_account(run: Path, program: str) -> None:
    asked = (run, "--agent", program, "--goal", "(and (lies-in red garden) (holds blue))")
    done = called("aam_vision.execute", *asked, cwd=run.parent, code=0)
    steps = [line.split(". ")[1] for line in done.stdout.splitlines() if ". " in line[:4]]
    rest = steps[next(n for n, step in enumerate(steps) if step.startswith("put")) + 1 :]
    assert rest[0].startswith("go"), "it has to go before it takes anything again"
    assert done.stdout.splitlines()[-1].startswith("Goal reached")


def test_a_number_is_a_parameter_that_plans_reckon_with_and_runs_resume(tmp_path: Path) -> None:
    program, run = changed_program(tmp_path, FIT), tmp_path / "run"
    command("--agent", program, "--out", run, cwd=tmp_path)
    result = result_of(run)
    assert result["status"] == "complete"
    assert str(result["why"]).startswith("deterministic with one invented number, memory-1")
    told = "memory-1 is an invented number: 0 when a history begins; counted up by go; counted down by take"
    assert told in explained(run)
    assert "at least 1 is needed by take" in explained(run)
    asked = (run, "--agent", program, "--goal", "(and (lies-in red hall) (holds blue))")
    done = called("aam_vision.execute", *asked, cwd=tmp_path, code=0)
    assert done.stdout.splitlines()[-1].startswith("Goal reached")
    steps = [line.split(". ")[1] for line in done.stdout.splitlines() if ". " in line[:4]]
    names = [step.split("(")[0] for step in steps]
    assert all(names[:n].count("go") >= names[:n].count("take") for n in range(len(names) + 1))
    folder = copied(run, tmp_path / "again")
    if NIGHTLY:  # to find the number again takes long
        shorten(folder, 5)
    command("--agent", program, "--resume", folder, "--name", "memory-1=strength", cwd=tmp_path)
    renamed = (run / "model.pddl").read_text().replace("memory-1", "strength")
    assert (folder / "model.pddl").read_text() == renamed
    assert result_of(folder)["steps"] == result["steps"]
    assert told.replace("memory-1", "strength") in explained(folder)


def test_it_is_found_behind_looks_that_err_which_prove_nothing(tmp_path: Path) -> None:
    program, run = changed_program(tmp_path, FIT), tmp_path / "run"
    command("--agent", program, "--flip-rate", "0.04", "--out", run, cwd=tmp_path)
    result, text = result_of(run), explained(run)
    assert (result["status"], result["missing"]) == ("open", "the answers were weighed, so nothing is proven")
    assert result["invented"].startswith("memory-1 is an invented number: 0 when a history begins")
    assert "Looks err, so each situation was looked at until it was certain: nothing is proven." in text
    assert "needs robot-in(?where) certain query" in text
    assert "proven query" not in text
    if NIGHTLY:
        assert_same_again(run, program, tmp_path / "again", 200)
    asked = (run, "--agent", program, "--goal", "(holds blue)")
    done = called("aam_vision.execute", *asked, cwd=tmp_path, code=0)
    assert done.stdout.splitlines()[-1].startswith("Goal reached")
    (run / "read" / "transcript.sqlite").unlink()
    done = called("aam_vision.explain", run, cwd=tmp_path, code=2)
    assert "lacks read/transcript.sqlite, which a run writes at its end; run it anew" in done.stderr


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--name", "memory-1=free"], "--name free: is a predicate already; give another name"),
        (["--name", "memory-1"], "--name memory-1: give memory-1=NAME, each once, with a name that PDDL allows"),
        (["--name", "memory-1=Two words"], "give memory-1=NAME, each once, with a name that PDDL allows"),
        (["--name", "memory-1=x", "--name", "memory-2=x"], "--name memory-2=x: give memory-1=NAME, each once"),
        (["--name", "memory-1=x", "--chance"], "--name: cannot be used with --chance: nothing is invented there"),
        (["--env", "doors", "--name", "memory-1=loc"], "--name loc: is how objects are called already, loc-0-0; give"),
    ],
)  # fmt: skip
def test_a_name_nothing_can_have_is_refused(
    options: list[str], why: str, program: str, tmp_path: Path
) -> None:
    agent = () if "--env" in options else ("--agent", program)
    done = command(*agent, *options, "--out", tmp_path / "run", cwd=tmp_path, code=2)
    assert why in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("access", first(1, ["snapshot", "reset"]))
def test_what_no_picture_shows_is_learned_from_pictures(access: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    asked = ("--env", "tests.run.parked_taxi:ENVIRONMENT", "--access", access, "--out", folder, "--quiet")
    called("aam_vision.run", *asked, cwd=tmp_path, code=0)
    assert result_of(folder)["status"] == "complete"
    learned = {schema.header.name: schema for schema in read_domain(folder / "model.pddl").actions}
    brake = LiftedAtom("memory-1", ())
    assert learned["move"].negative == {brake}
    assert brake in learned["drop-off"].add
    assert brake in learned["pick-up"].delete
    assert "memory-1 is an invented fact" in explained(folder)


@pytest.mark.nightly
@pytest.mark.parametrize("access", ["snapshot", "reset"])
@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_a_key_to_be_turned_twice_is_learned_from_pictures(access: str, seed: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    asked = ("--env", "tests.run.stubborn_door:ENVIRONMENT", "--seed", seed, "--access", access)
    called("aam_vision.run", *asked, "--out", folder, "--quiet", cwd=tmp_path, code=0)
    assert result_of(folder)["status"] == "complete"
    learned = {schema.header.name: schema for schema in read_domain(folder / "model.pddl").actions}
    turned = LiftedAtom("memory-1", ())
    first, second = learned["unlock-without-memory-1"], learned["unlock-with-memory-1"]
    assert (first.add, first.delete) == ({turned}, set())
    assert turned in second.positive
    assert {atom.predicate for atom in second.add} == {"clear"}


def test_what_the_pixels_show_is_not_laid_to_how_they_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "run"  # its problems have doors at other places, so a step of one is none of another
    asked = ("--env", "tests.run.stubborn_door:KNOWN", "--seed", "1", "--out", folder, "--quiet")
    called("aam_vision.run", *asked, cwd=tmp_path, code=4)
    found = result_of(folder)["diagnosis"]
    assert (found["family"], found["culprit"], found["pixels_differ"]) == ("hidden", "unlock", False)
    assert "misread" not in str(found)


def test_an_agent_that_began_to_remember_is_not_said_to_be_as_before(program: str, tmp_path: Path) -> None:
    before = changed_program(tmp_path, {})
    command("--agent", before, "--out", tmp_path / "before", cwd=tmp_path)
    asked = ("--agent", program, "--prior", tmp_path / "before", "--out", tmp_path / "now")
    now = command(*asked, cwd=tmp_path, code=4)
    assert "none in the lines of the model, which do not explain the agent" in " ".join(now.stdout.split())
