"""A run goes on from its diagnosis: nobody has to say beforehand that an agent is random, and nothing is asked twice."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from aam_vision.agents import reference_agent
from aam_vision.agents.journal import WENT_ON, Journal
from aam_vision.model.pddl import read_domain
from tests.commands import called
from tests.finished import cut_short, result_of

from .commands import command

DOES = "    return (state - before) | after if before <= state else None\n"
"""What the reference agent does in a state."""
SLIPS = "    if before <= state and random.random() < 0.2:\n        return state\n"
EVERY_FIFTH = (
    "    TRIED.append(name)\n    if before <= state and len(TRIED) % 5 == 0:\n        return state\n"
)


def program(folder: Path, fault: str) -> str:
    """The command that starts the reference agent with a fault."""
    source = Path(reference_agent.__file__).read_text(encoding="utf-8")
    assert DOES in source
    path = folder / "program.py"
    path.write_text(
        source.replace(DOES, fault + DOES).replace("def do(", "random.seed(7)\nTRIED = []\n\n\ndef do(")
    )
    return f"{sys.executable} {path}"


def explained(folder: Path) -> str:
    """What ``explain`` says of a run."""
    done = called("aam_vision.explain", folder, cwd=folder)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


@pytest.fixture(scope="module")
def slipping(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The command that starts an agent that slips, and the folder of a run of it."""
    folder = tmp_path_factory.mktemp("slipping")
    agent = program(folder, SLIPS)
    asked = ("--agent", agent, "--access", "reset", "--within", "0.2", "--quiet")
    done = command(*asked, "--out", folder / "run", cwd=folder)
    assert done.returncode == 0, done.stderr
    return agent, folder / "run"


def went_on_after(run: Path) -> int:
    """The number of entries after which a run went on from its diagnosis."""
    with Journal.open(run) as journal:
        return int(journal.about(WENT_ON)["after"])


@pytest.mark.parametrize("access", ["settable", "reset"])
def test_an_agent_that_slips_is_learned_with_its_probabilities(access: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    asked = ("--agent", program(tmp_path, SLIPS), "--access", access, "--within", "0.15", "--out", folder)
    done = command(*asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = result_of(folder)
    assert result["status"] == "complete"
    further = result["went_on"]
    assert isinstance(further, dict)
    assert further["family"] == "random"
    assert f"{further['why']}: going on" in done.stderr
    assert "(probabilistic" in (folder / "model.pddl").read_text()
    for outcomes in result["outcomes"].values():
        low, high = outcomes[0]["interval"]
        assert low <= 0.8 <= high
    assert "go works" in (text := explained(folder))
    assert f"The run went on from a diagnosis: {further['why']}." in text
    assert (folder / "report.html").is_file()


def test_what_outcomes_do_not_explain_stays_diagnosed_and_says_more(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    asked = ("--agent", program(tmp_path, EVERY_FIFTH), "--access", "reset", "--out", folder, "--quiet")
    done = command(*asked, cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    result = result_of(folder)
    assert result["status"] == "not-strips"
    diagnosis = result["diagnosis"]
    assert isinstance(diagnosis, dict)
    assert diagnosis["further"].startswith("Outcomes and cases do not explain it either")
    assert "how often an outcome of" in diagnosis["further"]
    assert diagnosis["further"] in explained(folder)


@pytest.mark.parametrize("beyond", [0, 1, 60])
def test_ended_after_it_went_on_it_resumes_with_what_was_seen(
    beyond: int, slipping: tuple[str, Path], tmp_path: Path
) -> None:
    agent, whole = slipping
    folder = shutil.copytree(whole, tmp_path / "run")
    kept = went_on_after(folder) + beyond
    before = cut_short(folder, kept)
    done = command("--agent", agent, "--resume", folder, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = result_of(folder)
    assert (again["status"], again["went_on"]) == ("complete", result_of(whole)["went_on"])
    assert cut_short(folder, kept) == before, "what was seen is kept as it was"


def test_what_only_a_strips_agent_can_be_asked_for_ends_with_the_diagnosis(tmp_path: Path) -> None:
    asked = ("--agent", program(tmp_path, SLIPS), "--access", "settable", "--policy", "aia", "--quiet")
    done = command(*asked, "--out", tmp_path / "run", cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    assert result_of(tmp_path / "run")["status"] == "not-strips"


# A run goes on from its diagnosis to something that the agent remembers: report, explain and resume know the
# invented fact.


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


@pytest.fixture(scope="module")
def remembering(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The command that starts such an agent."""
    source = Path(reference_agent.__file__).read_text(encoding="utf-8")
    for before, after in TIRES.items():
        assert source.count(before) == 1
        source = source.replace(before, after)
    path = tmp_path_factory.mktemp("remembering") / "remembering.py"
    path.write_text(source)
    return f"{sys.executable} {path}"


@pytest.fixture(scope="module")
def run(remembering: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of it."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    done = command("--agent", remembering, "--access", "settable", "--out", folder, cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    assert "going on with what may be remembered" in done.stderr
    assert "memory-1 is an invented fact" in done.stdout
    return folder


def test_what_it_remembers_is_a_predicate_of_its_model(run: Path) -> None:
    result = result_of(run)
    assert result["status"] == "complete"
    assert str(result["why"]).startswith("deterministic with one invented fact, memory-1")
    model = read_domain(run / "model.pddl")
    fact = next(p for p in model.vocabulary.predicates if p.name == "memory-1")
    assert fact.types == ()
    changes = {
        schema.header.name: [
            {atom.predicate for atom in atoms} & {"memory-1"}
            for atoms in (schema.add, schema.delete, schema.negative)
        ]
        for schema in model.actions
    }
    none = set[str]()
    assert changes == {
        "go": [none, {"memory-1"}, none],
        "put": [{"memory-1"}, none, none],
        "take": [none, none, {"memory-1"}],
    }


def test_it_is_explained_with_the_diagnosis_and_two_histories(run: Path) -> None:
    text = explained(run)
    assert "Deterministic with one invented fact, memory-1" in text
    assert "made true by put; made false by go; excluded by take" in text
    assert "In situations that look alike take(" in text
    diagnosis = result_of(run)["diagnosis"]
    assert isinstance(diagnosis, dict)
    assert f"The run went on from a diagnosis: {diagnosis['why']}." in text
    assert diagnosis["family"] == "hidden"
    assert "memory-1" in (run / "report.html").read_text()


def test_two_models_with_the_same_fact_are_compared(run: Path) -> None:
    done = called("aam_vision.compare", run, run / "model.pddl", cwd=run.parent)
    assert done.returncode == 0, done.stderr
    assert "no difference" in done.stdout


@pytest.mark.parametrize("beyond", [0, 1, 40])
def test_so_it_does_with_an_invented_fact(beyond: int, run: Path, remembering: str, tmp_path: Path) -> None:
    folder = shutil.copytree(run, tmp_path / "run")
    cut_short(folder, went_on_after(folder) + beyond)
    done = command("--agent", remembering, "--resume", folder, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, again = result_of(run), result_of(folder)
    for name in ("status", "why", "invented", "queries", "steps", "exam_steps"):
        assert again[name] == first[name], name
    assert (folder / "model.pddl").read_text() == (run / "model.pddl").read_text()


def test_a_journal_whose_fact_is_none_is_refused_in_a_line(run: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(run, tmp_path / "run")
    with closing(sqlite3.connect(folder / "transcript.sqlite")) as journal:
        wrong = json.dumps({"after": 3, "explained": True, "fact": {"name": "free"}})
        journal.execute("UPDATE about SET value = ? WHERE name = ?", (wrong, WENT_ON))
        journal.commit()
    done = called("aam_vision.explain", folder, cwd=tmp_path)
    assert done.returncode == 2
    assert "damaged, or of another version (an invented fact has no name of its own)" in done.stderr
