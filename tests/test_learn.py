"""Learning from traces as a command: the files of any run, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

import aam_vision
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.model.pddl import domain_text, read_domain
from aam_vision.model.strips import ActionSchema, Model
from aam_vision.report.account import account_of
from aam_vision.report.evaluation import equivalent
from aam_vision.report.recorded import read_run
from tests.commands import called, refused
from tests.domains import packaged
from tests.finished import result_of
from tests.traces import LAMP, STARTS, trace, trace_of

ON = "(:state (robot a) (on a))"
FILES = {
    "lamp.pddl": LAMP,
    "good": trace(STARTS, "(:action (switch a))", ON),
    "bad": trace(STARTS, "(:refused (switch a))"),
    "gap": trace(STARTS, "(:action (switch a))", "(:state (robot b))"),
    "twice": trace(STARTS, "(:action (go a a))", STARTS),
    "empty": trace(),
    "once": trace(
        STARTS, "(:action (switch a))", ON, "(:action (go a b))", "(:state (robot b) (on a))", "(:action (go b c))",
        "(:state (robot c) (on a))", "(:refused (switch b))",
    ),
    "hall": trace(STARTS, "(:action (switch a))", "(:state (robot a) (on a) (on hall))"),
    "hall_b": trace("(:state (robot b))", "(:action (switch b))", "(:state (robot b) (on b) (on hall))"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def learn(*traces: str, cwd: Path, code: int = 0) -> CompletedProcess[str]:
    """The command, which writes to ``out``."""
    usual = () if "--domain" in traces else ("--domain", "lamp.pddl")
    return called("aam_vision.learn", *traces, *usual, "--out", "out", cwd=cwd, code=code)


def test_traces_of_a_domain_give_a_run_that_other_commands_read(tmp_path: Path) -> None:
    truth, problems = packaged("gripper", 3)
    agent, rng = SymbolicAgent(truth, problems), np.random.default_rng(0)
    for number, start in enumerate(agent.initial()):
        steps = [step.action for step in agent.walk(start, 30, rng)]
        (tmp_path / f"{number}_traj").write_text(trace_of(truth, start.state, steps))
    bare = Model(truth.vocabulary, tuple(ActionSchema(header) for header in truth.headers))
    (tmp_path / "d.pddl").write_text(domain_text(bare))
    done = learn("0_traj", "1_traj", "2_traj", "--domain", "d.pddl", cwd=tmp_path)
    learned, figures = read_domain(tmp_path / "out/model.pddl"), result_of(tmp_path / "out")
    assert equivalent(learned, truth, list(problems))
    assert domain_text(learned) in done.stdout
    assert (figures["status"], figures["access"], figures["queries"]) == ("open", "traces", 0)
    assert figures["steps"] == figures["walk_steps"] == 90
    assert {entry["kind"] for entry in figures["undetermined"]} == {"open"}
    told = called("aam_vision.explain", "out", cwd=tmp_path, code=0).stdout
    assert "Verdict: open" in told
    assert len(read_run(tmp_path / "out").transcript.entries) == 3
    assert "free(?gripper)" in (tmp_path / "out/report.html").read_text()


@pytest.mark.parametrize(("file", "twice"), [("good", False), ("twice", True)])
def test_objects_may_be_named_twice_if_a_step_names_one_so(file: str, twice: bool, folder: Path) -> None:
    learn(file, cwd=folder)
    assert result_of(folder / "out")["repeated_arguments"] is twice
    assert read_run(folder / "out").transcript.repeated is twice


def test_traces_that_contradict_each_other_end_with_a_diagnosis(folder: Path) -> None:
    done = learn("good", "bad", cwd=folder, code=4)
    where = "bad:3 (switch(a) refused) disagrees with good:4 (switch(a))"
    why = f"error: switch: refused, which its model rules out; {where}; what was learned"
    assert done.stderr.startswith(why)
    figures = result_of(folder / "out")
    assert figures["status"] == "not-strips"
    assert [one["outcome"] for one in figures["diagnosis"]["examples"]] == ["+on(a)", "refused"]
    told = called("aam_vision.explain", "out", cwd=folder, code=0).stdout
    assert "line good:4" in told
    assert "walk step" not in told


def test_an_action_that_was_done_once_is_no_more_certain_in_the_report(folder: Path) -> None:
    learn("once", cwd=folder)
    result = aam_vision.learn_from_traces([folder / "once"], domain=folder / "lamp.pddl")
    assert {pal.action for pal in result.certain} == {"go"}
    account = account_of(read_run(folder / "out"))
    told = {action.name: {line.status for line in action.changes} for action in account.actions}
    assert told == {"switch": {"seen once"}, "go": {"proven"}}


def test_an_undeclared_object_that_steps_change_is_read_as_a_constant_with_one_warning(folder: Path) -> None:
    (warning,) = learn("hall", "hall_b", cwd=folder).stderr.splitlines()
    told = "change what is true of hall, which they do not name; read as if the domain had (:constants hall - room)"
    assert warning.endswith(told)
    assert "(on hall)" in (folder / "out/model.pddl").read_text()
    assert read_run(folder / "out").transcript.vocabulary.constants == {"hall": "room"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["good"], "give either a domain"),
        (["--domain", "lamp.pddl"], "Missing argument 'traces'"),
        (["good", "--domain", "nowhere.pddl"], "nowhere.pddl: cannot be read"),
        (["good", "nowhere", "--domain", "lamp.pddl"], "nowhere: cannot be read"),
        (["good", "gap", "--domain", "lamp.pddl"], "gap:4: robot(b) has changed, which switch(a) does not"),
        (["empty", "--domain", "lamp.pddl"], "empty:1: holds no step"),
        (["lamp.pddl", "--domain", "lamp.pddl"], "lamp.pddl:1: expected '(:trajectory'"),
        (["good", "--domain", "good"], "good:1: expected '(define'"),
        (["good", "--domain", "lamp.pddl", "--out", "good"], "cannot write to good"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(arguments: list[str], told: str, folder: Path) -> None:
    assert told in refused("aam_vision.learn", *arguments, cwd=folder, kept=folder)


def test_a_run_from_traces_is_kept_and_nothing_is_asked_in_it(folder: Path) -> None:
    given = ("good", "--domain", "lamp.pddl", "--out", "out")
    learn("good", cwd=folder)
    assert "--force" in refused("aam_vision.learn", *given, cwd=folder, kept=folder)
    for again in (["--resume", "out"], ["--domain", "lamp.pddl", "--problem", "good", "--access", "traces"]):
        assert "nothing can be asked of traces" in refused("aam_vision.run", *again, cwd=folder, kept=folder)
    learn("good", "--force", cwd=folder)
