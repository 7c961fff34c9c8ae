"""A run goes on from its diagnosis: nobody has to say beforehand that an agent is random, and nothing is asked twice."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aam_vision.agents.journal import WENT_ON
from aam_vision.model.pddl import read_domain
from aam_vision.model.strips import Effects, LiftedAtom
from aam_vision.report.account import account_of
from aam_vision.report.recorded import read_run
from tests.commands import called
from tests.finished import Runs, copied, cut_short, result_of
from tests.profiles import first
from tests.refusals import told_by

from .commands import command
from .reference import DOES, changed_program

SLIPS = "    if before <= state and random.random() < 0.2:\n        return state\n"
EVERY_FIFTH = (
    "    TRIED.append(name)\n    if before <= state and len(TRIED) % 5 == 0:\n        return state\n"
)
SWAPS = {
    "    name, *things = action\n": """    name, *things = action
    if name == "go" and random.random() < 0.3:
        things.reverse()
""",
    "def do(": "random.seed(7)\n\n\ndef do(",
    '"walks": True': '"walks": False',
}
"""What the reference agent is given so that now and then it goes the other way round."""
HOLDS_MORE = """
    with open(__file__ + ".tried", "a") as kept:
        tried = kept.write("x") and kept.tell()
    if name == "take" and tried > 60 and before <= state:
        return (state - before) | after | {("free",)}
"""
"""Since its 60th try, which it knows when it is started again, the agent can take a ball more."""


GOES_WITHOUT = """    TRIED.append(1)
    if name == "go" and len(TRIED) > 12 and ("free",) not in state:
        return None
"""
"""Since its 13th try the agent carries nothing to another room."""


FOLLOWED = {
    DOES: """    if name == "go" and ("dog-in", "rex", things[0]) in state:
        before, after = before | {("dog-in", "rex", things[0])}, after | {("dog-in", "rex", things[1])}
"""
    + DOES,
    '"free": []}': '"free": [], "dog-in": ["dog", "room"]}',
    '"ball": "object"}': '"ball": "object", "dog": "object"}',
    '("free",)}\nHELLO': '("free",), ("dog-in", "rex", "hall")}\nHELLO',
    'dict.fromkeys(BALLS, "ball")': 'dict.fromkeys(BALLS, "ball"), "rex": "dog"',
}
"""What the reference agent is given so that a dog goes with it from room to room, which no step names."""


def program(folder: Path, fault: str) -> str:
    """The command that starts the reference agent with a fault."""
    return changed_program(folder, {DOES: fault + DOES, "def do(": "random.seed(7)\nTRIED = []\n\n\ndef do("})


def explained(folder: Path) -> str:
    """What ``explain`` says of a run."""
    done = called("aam_vision.explain", folder, cwd=folder, code=0)
    return " ".join(done.stdout.split())


def shorten(folder: Path, beyond: int) -> list[object]:
    """Have a run as if it had been killed so many exchanges after it went on; returns what is left."""
    with closing(sqlite3.connect(folder / "transcript.sqlite")) as journal:
        (note,) = journal.execute("SELECT value FROM about WHERE name = ?", (WENT_ON,)).fetchone()
    return list(cut_short(folder, json.loads(note)["after"] + beyond))


def noted(folder: Path, **note: object) -> None:
    """Have the journal of a run say that it went on in another way."""
    with closing(sqlite3.connect(folder / "transcript.sqlite")) as journal:
        journal.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (WENT_ON, json.dumps(note)))
        journal.commit()


def assert_same_again(run: Path, agent: str, folder: Path, beyond: int, *options: str) -> str:
    """A copy of a run in a folder, killed so many exchanges after it went on, ends as that run; what it says on stderr."""
    again = copied(run, folder)
    shorten(again, beyond)
    done = command("--agent", agent, "--resume", again, *options, cwd=folder)
    for name in ("status", "why", "invented", "queries", "steps", "exam_steps"):
        assert result_of(again)[name] == result_of(run)[name], name
    assert (again / "model.pddl").read_text() == (run / "model.pddl").read_text()
    return done.stderr


def assert_no_prior(run: Path, agent: str, folder: Path) -> None:
    """The model of a run with predicates of its own is no prior of its agent, and is compared with itself."""
    asked = ("--agent", agent, "--prior", run / "model.pddl", "--out", folder / "run")
    assert "has invented predicates, or is of another agent" in command(*asked, cwd=folder, code=2).stderr
    shutil.copy(run / "model.pddl", folder / "other.pddl")
    same = called("aam_vision.compare", run, folder / "other.pddl", cwd=folder, code=0)
    assert "no difference" in same.stdout


@pytest.fixture(scope="module", params=first(1, ["reset", "trajectory", "settable"]))
def slipped(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, str]:
    """The command of an agent that slips, the folder of a run of it, and what that said."""
    folder = tmp_path_factory.mktemp("slipped")
    agent = program(folder, SLIPS)
    asked = ("--agent", agent, "--access", request.param, "--within", "0.15", "--out", folder / "run")
    return agent, folder / "run", command(*asked, cwd=folder).stderr


def test_an_agent_that_slips_is_learned_with_its_probabilities(slipped: tuple[str, Path, str]) -> None:
    _, folder, said = slipped
    result = result_of(folder)
    further = result["went_on"]
    assert (result["status"], further["family"]) == ("complete", "random")
    assert f"{further['why']}: going on" in said
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
    command(*asked, cwd=tmp_path, code=4)
    result = result_of(folder)
    further = result["diagnosis"]["further"]
    assert result["status"] == "not-strips"
    assert further.startswith("Outcomes and cases do not explain it either")
    assert "how often an outcome of" in further
    assert further in explained(folder)


@pytest.mark.parametrize("beyond", first(2, [0, 60, 1]))
def test_it_resumes_with_what_was_seen(beyond: int, slipped: tuple[str, Path, str], tmp_path: Path) -> None:
    agent, run, _ = slipped
    first, folder = result_of(run), copied(run, tmp_path)
    before = shorten(folder, beyond)
    command("--agent", agent, "--resume", folder, cwd=tmp_path)
    again = result_of(folder)
    assert (again["status"], again["went_on"]) == ("complete", first["went_on"])
    with closing(sqlite3.connect(folder / "transcript.sqlite")) as journal:
        assert journal.execute("SELECT * FROM entries").fetchall()[: len(before)] == before


@pytest.mark.parametrize("access", first(1, ["reset", "trajectory", "settable"]))
def test_a_refusal_that_is_a_matter_of_chance_is_an_outcome(access: str, tmp_path: Path) -> None:
    agent, run = changed_program(tmp_path, SWAPS), tmp_path / "run"
    asked = ("--agent", agent, "--within", "0.1", "--quiet", "--max-steps")
    done = command(*asked, "300", "--access", access, "--out", run, cwd=tmp_path)
    result = result_of(run)
    assert result["invented"].startswith("A refused step of go counts as one that changes nothing")
    assert result["went_on"]["family"] == "random"
    assert result["invented"] in (text := explained(run))
    assert f"{result['failed_steps']} of them refused" in text
    assert "(when (and (robot-in ?from))" in done.stdout
    shorten(again := copied(run, tmp_path / "again"), 60)
    command("--agent", agent, "--resume", again, cwd=tmp_path)
    assert result_of(again)["invented"] == result["invented"]
    goal = ("--agent", agent, "--goal", "(robot-in garden)")
    done = called("aam_vision.execute", run, *goal, cwd=tmp_path, code=0)
    assert "Goal reached" in done.stdout
    command(*asked, "250", "--prior", run, "--out", tmp_path / "later", cwd=tmp_path)
    later = result_of(tmp_path / "later")
    assert (later["invented"], later["differences"]) == (result["invented"], [])
    assert later["failed_steps"] > 20
    same = called("aam_vision.compare", run, tmp_path / "later", cwd=tmp_path, code=0)
    assert "nothing differs that chance does not explain" in same.stdout


def test_what_only_a_strips_agent_can_be_asked_for_ends_with_the_diagnosis(tmp_path: Path) -> None:
    asked = ("--agent", program(tmp_path, SLIPS), "--access", "settable", "--policy", "aia", "--quiet")
    command(*asked, "--out", tmp_path / "run", cwd=tmp_path, code=4)
    assert result_of(tmp_path / "run")["status"] == "not-strips"


@pytest.mark.parametrize("access", first(1, ["reset", "trajectory", "settable"]))
def test_an_agent_that_has_changed_is_learned_as_it_is_now(access: str, tmp_path: Path) -> None:
    agent, folder = program(tmp_path, HOLDS_MORE), tmp_path / "run"
    done = command("--agent", agent, "--access", access, "--out", folder, cwd=tmp_path)
    assert "going on with the agent as it is now" in done.stderr
    first = result_of(folder)
    changed = first["changed"]
    assert first["status"] == "complete"
    assert changed.startswith("The agent has changed after step")
    take = (folder / "model.pddl").read_text().partition("(:action take")[2].partition("(:action")[0]
    assert take.count("(free)") == 1, "it is required, and stays true"
    assert changed in explained(folder)
    shorten(folder, 30)
    command("--agent", agent, "--resume", folder, cwd=tmp_path)
    again = result_of(folder)
    assert (again["changed"], again["queries"], again["steps"]) == (changed, first["queries"], first["steps"])


def test_a_change_is_the_last_that_is_tried_where_there_is_no_way_back(tmp_path: Path) -> None:
    agent, folder = program(tmp_path, GOES_WITHOUT), tmp_path / "run"
    # with this seed it looks at first as if what was taken before told when it is refused
    asked = ("--agent", agent, "--access", "trajectory", "--seed", "1", "--out", folder)
    done = command(*asked, cwd=tmp_path)
    tried = [line for line in done.stderr.splitlines() if "going on with" in line]
    assert ["several actions" in line for line in tried] == [True, False]
    assert "going on with the agent as it is now" in tried[-1]
    result = result_of(folder)
    assert result["status"] == "complete"
    assert result["changed"] == (
        "The agent has changed after step 13 and by step 27: go requires free(): ∅ before, + now."
    )
    assert result["changed"] in explained(folder)


@pytest.mark.parametrize("access", first(1, ["settable", "reset"]))
def test_what_steps_change_without_naming_it_becomes_a_constant(access: str, tmp_path: Path) -> None:
    agent, folder = changed_program(tmp_path, FOLLOWED), tmp_path / "run"
    done = command("--agent", agent, "--access", access, "--out", folder, cwd=tmp_path)
    assert "going on with objects that steps change without naming them" in done.stderr
    first = result_of(folder)
    assert first["status"] == "complete"
    model = read_domain(folder / "model.pddl")
    assert model.vocabulary.constants == {"rex": "dog"}
    here, there = LiftedAtom("dog-in", ("rex", 0)), LiftedAtom("dog-in", ("rex", 1))
    moved = {
        (here in schema.positive, Effects(schema.add & {here, there}, schema.delete & {here, there}))
        for schema in model.actions
        if schema.header.name.startswith("go")
    }
    goes = Effects(frozenset({there}), frozenset({here}))
    # where any state can be set, the dog is elsewhere at times; else it never is
    assert moved == ({(True, goes), (False, Effects())} if access == "settable" else {(True, goes)})
    sentence = "rex is a constant of the model: steps change facts of it without naming it."
    divided = (
        " go is 2 actions in the model: go-if-dog-in-rex-from where dog-in(rex, ?from), else go-otherwise."
    )
    assert first["invented"] == sentence + divided * (access == "settable")
    for text in (explained(folder), " ".join(done.stdout.split())):
        assert sentence in text
    shorten(folder, 2)
    command("--agent", agent, "--resume", folder, "--quiet", cwd=tmp_path)
    again = result_of(folder)
    for name in ("status", "steps", "queries"):
        assert again[name] == first[name]
    assert read_domain(folder / "model.pddl") == model


BROKEN = {
    '"walks": True': '"walks": False',
    '"actions": {\n': '"actions": {\n        "fly": [],\n',
    "    name, *things = action\n": '    name, *things = action\n    if name == "fly":\n        return None\n',
}
"""What the reference agent is given so that it may be told to fly, which it never does."""


def test_an_action_that_is_refused_everywhere_costs_no_other(tmp_path: Path) -> None:
    agent, folder = changed_program(tmp_path, BROKEN), tmp_path / "run"
    done = command("--agent", agent, "--exam", "60", "--out", folder, cwd=tmp_path)
    assert "going on with all actions but those that are refused everywhere" in done.stderr
    result = result_of(folder)
    assert (result["status"], result["missing"]) == ("open", "never executed: fly")
    assert result["why"] == "deterministic without fly: every line of the model is decided"
    assert result["invented"].startswith("fly is not in the model: it was refused wherever tried, ")
    assert result["invented"] in explained(folder)
    assert [header.name for header in read_domain(folder / "model.pddl").headers] == ["go", "take", "put"]
    assert_same_again(folder, agent, tmp_path / "again", 2)
    goal = ("--agent", agent, "--goal", "(holds red)")
    assert "Goal reached" in called("aam_vision.execute", folder, *goal, cwd=tmp_path, code=0).stdout
    asked = ("--agent", agent, "--prior", folder, "--out", tmp_path / "later")
    assert "leaves out what was refused everywhere" in command(*asked, cwd=tmp_path, code=2).stderr


DELAYED = {"action": "move", "predicate": "free", "places": [], "value": True, "after": 2, "undoes": False}
DELAYED |= {"restarts": False, "firm": False}
DERIVED = {"of": "at", "places": [1], "number": 2, "apart": []}
DIVIDED = {"action": "drop", "conditions": [], "over": ["at-least-2-at-any-x(?room)"]}


@pytest.mark.parametrize(
    ("note", "told"),
    [
        ({"fact": {"name": "free"}}, "an invented fact has no name of its own"),
        (
            {"deterministic": True, "divisions": [{"action": "pick", "conditions": ["heavy(?obj)"]}]},
            "a condition of a divided action is none of its atoms",
        ),
        *(
            ({"deterministic": True, "divisions": [{**DIVIDED, "derived": [one]}]}, told)
            for one, told in (
                ({**DERIVED, "of": "heavy"}, "none of this vocabulary"),
                ({**DERIVED, "places": [2]}, "what cannot be counted"),
                ({**DERIVED, "places": [1, 1]}, "what cannot be counted"),
                ({**DERIVED, "number": 0}, "what cannot be counted"),
                ({**DERIVED, "number": 10**9}, "what cannot be counted"),
                ({**DERIVED, "apart": ["ball"] * 3}, "what cannot be counted"),
                ({**DERIVED, "apart": ["cat"]}, "a type that there is not"),
                ({"of": "at", "places": [1], "apart": []}, "number"),
            )
        ),
        *(
            ({"deterministic": True, "refused": names}, "left out are none of the agent's, or were executed")
            for names in (["fly"], ["drop", "drop"], [1])
        ),
        *(
            ({"deterministic": True, "delays": [{**DELAYED, "places": [0], **wrong}]}, told)
            for wrong, told in (
                ({"predicate": "heavy"}, "comes later is none"),
                ({"action": "eat"}, "comes later is none"),
                ({"after": 0}, "comes later is none"),
                ({"after": 10**9}, "comes later is none"),
                ({"places": [0, 0]}, "none of its action's parameters"),
                ({"value": "yes"}, "value"),
                ({"undoes": None}, "undoes"),
            )
        ),
    ],
)
def test_a_journal_that_went_on_to_what_cannot_be_is_refused_in_a_line(
    note: dict[str, object], told: str, run_of: Runs, tmp_path: Path
) -> None:
    folder = copied(run_of("gripper"), tmp_path)
    noted(folder, after=3, explained=True, **note)
    assert told in told_by(lambda: account_of(read_run(folder)))
    goal = ("--goal", "(at_robby room1)")
    assert told in called("aam_vision.execute", folder, *goal, cwd=tmp_path, code=2).stderr
