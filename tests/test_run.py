"""The command, as a user runs it: what it prints, what it writes, and what it refuses.

Each domain is interrogated once (doors twice, to compare); every test of the results shares those runs.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import aam_vision
from aam_vision.summary import TIMES
from tests import documentation

ROOT = Path(aam_vision.__file__).parent.parent
WEIGHTS = ROOT / "aam_vision" / "classifiers" / "weights"
PROMISED = [
    "env",
    "seed",
    "access",
    "policy",
    "status",
    "predicates",
    "actions",
    "pal_tuples",
    "queries",
    "steps",
    "failed_steps",
    "walk_steps",
    "resets",
    "wall_s",
    "cpu_s",
    "interrogation_s",
    "planner_s",
    "perception_s",
    "accuracy",
    "exact",
    "equivalent",
    "undetermined",
    "lower_bound",
    "curve",
]


def _command(*arguments: str | Path, cwd: Path, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hash_seed}
    return subprocess.run(
        [sys.executable, "-m", "aam_vision.run", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
        check=False,
        timeout=300,
    )


@dataclass(frozen=True)
class Run:
    """A finished run and what it left behind."""

    env: str
    done: subprocess.CompletedProcess[str]
    folder: Path

    @property
    def figures(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return found

    @property
    def model(self) -> Path:
        return self.folder / "model.pddl"


class Runs:
    """Interrogates each environment once, however many processes share the tests."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def __getitem__(self, env: str) -> Run:
        place = self._place / f"run-{env}"
        place.mkdir(exist_ok=True)
        folder, answer = place / "out", place / "answer.json"
        with (place / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not answer.exists():
                (place / "envs").mkdir()  # a user's own package of that name is none of ours
                (place / "envs" / "__init__.py").write_text("raise RuntimeError('the wrong envs')")
                done = _command("--env", env, "--seed", "0", "--out", folder, cwd=place)
                answer.write_text(json.dumps([done.returncode, done.stdout, done.stderr]))
        return Run(env, subprocess.CompletedProcess([], *json.loads(answer.read_text())), folder)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    base = tmp_path_factory.getbasetemp()
    return Runs(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


def test_the_readme_shows_what_the_demo_prints(runs: Runs) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "-m aam_vision.run --env sokoban --seed 0 --out runs/demo" in makefile, "as the run here"
    demo, *_ = documentation.commands(documentation.blocks(ROOT / "README.md")[0])
    assert demo.words == ("make", "demo")
    assert len(demo.shown) > 20
    assert documentation.is_shown(demo.shown, runs["sokoban"].done.stdout)


@pytest.mark.parametrize(("env", "queries"), [("doors", 10), ("sokoban", 30)])
def test_the_agent_is_learned_exactly_with_few_questions(runs: Runs, env: str, queries: int) -> None:
    run = runs[env]
    assert run.done.returncode == 0, run.done.stderr
    figures = run.figures
    assert figures["status"] == "complete"
    assert figures["exact"] is True
    assert figures["equivalent"] is True
    assert figures["accuracy"] == 1.0
    assert figures["lower_bound"] <= figures["queries"] <= queries
    assert figures["walk_steps"] <= 400
    assert figures["failed_steps"] <= figures["queries"]


@pytest.mark.parametrize("env", ["doors", "sokoban"])
def test_the_figures_are_those_promised_and_add_up(runs: Runs, env: str) -> None:
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
    from aam_vision.envs.ground_truth import ground_truth_model
    from aam_vision.strips import lifted_atoms

    truth = ground_truth_model(env)
    atoms = [lifted_atoms(truth.vocabulary, schema.header) for schema in truth.actions]
    assert figures["pal_tuples"] == 2 * sum(map(len, atoms))
    assert figures["actions"] == len(truth.actions)


@pytest.mark.parametrize("env", ["doors", "sokoban"])
def test_the_model_is_pddl_that_other_tools_read(runs: Runs, env: str) -> None:
    from unified_planning.io import PDDLReader

    from aam_vision.envs.ground_truth import ground_truth_model
    from aam_vision.pddl import read_domain

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
def test_results_go_to_stdout_and_progress_to_stderr(runs: Runs, env: str) -> None:
    run = runs[env]
    assert run.model.read_text() in run.done.stdout
    assert "queries" in run.done.stdout
    assert "pal tuples" in run.done.stderr
    assert "(define" not in run.done.stderr
    assert "Warning" not in run.done.stderr
    assert "\x1b" not in run.done.stdout + run.done.stderr, "no terminal, no control characters"
    assert {"model.pddl", "result.json"} <= {path.name for path in run.folder.iterdir()}
    assert not list(run.folder.glob("*.partial"))


def test_the_same_seed_gives_the_same_figures_in_another_process(runs: Runs, tmp_path: Path) -> None:
    again = _command(
        "--env", "doors", "--seed", "0", "--out", "again", "--quiet", cwd=tmp_path, hash_seed="4711"
    )
    assert again.returncode == 0
    assert again.stderr == ""
    first, second = runs["doors"], Run("doors", again, tmp_path / "again")
    assert second.model.read_bytes() == first.model.read_bytes()
    assert {k: v for k, v in second.figures.items() if k not in TIMES} == {
        k: v for k, v in first.figures.items() if k not in TIMES
    }


@pytest.mark.parametrize("env", ["doors", "sokoban"])
def test_a_plan_with_the_learned_model_reaches_the_goal_in_the_simulator(
    runs: Runs, env: str, tmp_path: Path
) -> None:
    """PDDL files only, pyperplan's own parser, grounder and search, and PDDLGym to judge."""
    from pyperplan.grounding import ground
    from pyperplan.pddl.parser import Parser
    from pyperplan.search import breadth_first_search

    from aam_vision.envs.ground_truth import held_out_problems
    from aam_vision.envs.registry import board_domain, make_simulator

    number = {"doors": 0, "sokoban": 0}[env]
    problem = held_out_problems(env)[number]
    file = tmp_path / "problem.pddl"
    file.write_text(problem.pddl)
    parser = Parser(str(runs[env].model), str(file))
    plan = breadth_first_search(ground(parser.parse_problem(parser.parse_domain())))
    assert plan
    simulator = make_simulator(env, *board_domain(env).held_out[number])
    simulator.start()
    for position, operator in enumerate(plan):
        assert not simulator.board._node.goal_reached, f"reached after {position} of {len(plan)} steps"
        name, *objects = operator.name.strip("()").split()
        assert simulator.instruct(name, tuple(objects)), f"step {position}: {operator.name}"
    assert simulator.board._node.goal_reached


def test_an_agent_with_a_noisy_camera_is_learned_exactly(tmp_path: Path) -> None:
    done = _command(
        *("--env", "doors", "--seed", "1", "--image-noise", "0.2", "--out", "out", "--quiet"), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out" / "result.json").read_text())
    assert found["exact"]
    assert found["status"] == "complete"


def test_a_budget_of_questions_ends_the_run_and_is_said_to_have_done_so(tmp_path: Path) -> None:
    done = _command(
        *("--env", "doors", "--problem", "1", "--max-queries", "1", "--out", "out", "--quiet"), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    figures = Run("doors", done, tmp_path / "out").figures
    assert figures["status"] == "budget"
    assert figures["queries"] <= 1
    assert figures["undetermined"]
    assert "budget of 1 queries" in done.stdout


def test_arguments_may_be_named_twice_if_that_is_asked_for(tmp_path: Path) -> None:
    """Blocksworld has on(?x, ?x) then, and stack(a, a) is asked about."""
    pal_tuples = []
    for number, option in enumerate(([], ["--repeated-arguments"])):
        out = tmp_path / str(number)
        done = _command("--env", "blocksworld", *option, "--quiet", "--out", out, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        figures = Run("blocksworld", done, out).figures
        assert figures["repeated_arguments"] is bool(option)
        assert (figures["status"], figures["equivalent"]) == ("complete", True)
        pal_tuples.append(figures["pal_tuples"])
    assert pal_tuples[0] < pal_tuples[1]


def test_unreliable_answers_are_weighed_and_every_palm_tuple_has_a_confidence(tmp_path: Path) -> None:
    options = ("--env", "gripper", "--flip-rate", "0.1", "--refusal-rate", "0.02", "--out", "out")
    done = _command(*options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    figures = Run("gripper", done, tmp_path / "out").figures
    assert (figures["status"], figures["exact"], figures["confidence"]) == ("complete", True, 0.999)
    assert len(figures["palm_tuples"]) == figures["pal_tuples"]
    assert all(one["confidence"] > 0.999 for one in figures["palm_tuples"])
    assert all(0.02 < rate < 0.25 for rate in figures["noise"]["false_positives"].values())
    assert "weighed: at most" in done.stdout
    assert "weighed from here on" in done.stderr


def test_an_updated_agent_is_compared_with_the_model_learned_earlier(tmp_path: Path) -> None:
    first = _command("--env", "gripper", "--quiet", "--out", "first", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    learned = (tmp_path / "first" / "model.pddl").read_text()
    changed = tmp_path / "changed.pddl"
    changed.write_text(learned.replace("(free ?gripper)", "", 1) if "(free ?gripper)" in learned else "")
    for prior, count in (("first/model.pddl", 0), ("changed.pddl", 1)):
        out = f"again-{count}"
        done = _command("--env", "gripper", "--prior", prior, "--quiet", "--out", out, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        figures = Run("gripper", done, tmp_path / out).figures
        assert figures["exact"]
        assert figures["queries"] <= figures["lower_bound"] + count + 1
        assert len(figures["differences"]) == count
        assert "differences" in done.stdout


# --- what cannot be used ------------------------------------------------------------------------------


def _weights(folder: Path, source: str = "doors") -> Path:
    """A copy of the shipped weights for doors, or of others under that name."""
    folder.mkdir()
    for ending in ("safetensors", "json"):
        content = (WEIGHTS / f"{source}.{ending}").read_bytes()
        (folder / f"doors.{ending}").write_bytes(content)
    return folder


def _corrupt(folder: Path) -> None:
    """No safetensors any more, though the card agrees."""
    content = b"these are no tensors"
    (_weights(folder) / "doors.safetensors").write_bytes(content)
    card = json.loads((folder / "doors.json").read_text())
    card["weights_sha256"] = hashlib.sha256(content).hexdigest()
    (folder / "doors.json").write_text(json.dumps(card))


def _changed(folder: Path) -> None:
    """One byte of the weights is not what the card says."""
    path = _weights(folder) / "doors.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "--env"),
        (["--env", "chess"], "chess"),
        (["--domain", "d.pddl", "--agent", "true"], "give either"),
        (["--env", "doors", "--agent", "true"], "exit code 0"),
        (["--env", "gripper", "--problem-size", "101"], "--problem-size 101"),
        (["--env", "gripper", "--seed", "9" * 30], "--seed: give a number below 2^63"),
        (["--env", "doors", "--problem", "9" * 5000], "problems 0 to 4"),
        (["--agent", "no-such-program"], "no such program"),
        (["--agent", "true"], "exit code 0"),
        (["--agent", "true", "--agent-seconds", "0"], "--agent-seconds 0"),
        (["--env", "doors", "--problem", "5"], "problems 0 to 4"),
        (["--env", "doors", "--problem", "-1"], "-1"),
        (["--env", "doors", "--access", "telepathy"], "--access telepathy"),
        (
            ["--env", "doors", "--access", "trajectory", "--problem", "0", "--problem", "1"],
            "one problem only",
        ),
        (["--env", "doors", "--policy", "lazy"], "--policy lazy"),
        (["--env", "doors", "--planner", "oracle"], "--planner oracle"),
        (["--env", "doors", "--repeated-arguments"], "--repeated-arguments: doors"),
        (["--env", "doors", "--seed", "-3"], "-3"),
        (["--env", "doors", "--seed", "some"], "some"),
        (["--env", "doors", "--max-queries", "-1"], "-1"),
        (["--env", "doors", "--image-noise", "-0.1"], "--image-noise -0.1"),
        (["--env", "doors", "--image-noise", "nan"], "--image-noise nan"),
        (["--env", "gripper", "--image-noise", "0.1"], "gripper shows no images"),
        (["--env", "gripper", "--flip-rate", "2"], "--flip-rate 2: give a number from 0 to 1"),
        (["--env", "gripper", "--refusal-rate", "-1"], "--refusal-rate -1"),
        (["--env", "gripper", "--confidence", "1"], "--confidence 1"),
        (["--env", "doors", "--backend", "abacus"], "no backend 'abacus'"),
        (["--env", "doors", "--colour", "red"], "--colour"),
        (["--env", "doors", "--cache", "answers"], "--cache answers"),
        (["--env", "doors", "--classifiers", "nowhere"], "no classifiers at nowhere"),
        (["--env", "doors", "--classifiers", "foreign"], "another vocabulary"),
        (["--env", "doors", "--classifiers", "corrupt"], "no safetensors file"),
        (["--env", "doors", "--classifiers", "changed"], "sha256"),
        (["--env", "doors", "--out", "out/result.json"], "cannot write"),
        (["--env", "doors", "--out", "out/result.json/inside"], "cannot write"),
    ],
    ids=lambda value: " ".join(value[2:] or value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_exit_code_2_and_nothing_is_overwritten(
    arguments: Sequence[str], told: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "result.json").write_text('{"precious": true}\n')
    if "foreign" in arguments:
        _weights(tmp_path / "foreign", "sokoban")
    if "corrupt" in arguments:
        _corrupt(tmp_path / "corrupt")
    if "changed" in arguments:
        _changed(tmp_path / "changed")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    place = [] if "--out" in arguments else ["--out", "out"]
    done = _command(*arguments, *place, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("error: ")
    assert told in done.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_help_names_every_option_and_loads_nothing_heavy(tmp_path: Path) -> None:
    done = _command("--help", cwd=tmp_path)
    assert done.returncode == 0
    for option in (
        "--env",
        "--access",
        "--policy",
        "--planner",
        "--repeated-arguments",
        "--agent",
        "--resume",
        "--cache",
        "--classifiers",
        "--seed",
        "--out",
        "--quiet",
    ):
        assert option in done.stdout
    code = """
import sys
sys.argv = ["run", "--help"]
from aam_vision.commandline import run_command
from aam_vision.run import interrogate_agent
assert run_command(interrogate_agent) == 0
heavy = {"torch", "torchvision", "pddlgym", "gymnasium", "matplotlib", "unified_planning", "pyperplan"}
print("loaded:", sorted(heavy & set(sys.modules)))
"""
    probe = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    assert probe.stdout.splitlines()[-1] == "loaded: []"


# --- going on with a run ------------------------------------------------------------------------------


def _stripped(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figures.items() if name not in TIMES}


@pytest.mark.parametrize("env", ["doors"])
def test_a_run_that_has_ended_can_be_made_again_from_its_transcript_alone(
    runs: Runs, env: str, tmp_path: Path
) -> None:
    run = runs[env]
    folder = tmp_path / "moved"
    folder.mkdir()
    (folder / "transcript.sqlite").write_bytes((run.folder / "transcript.sqlite").read_bytes())
    done = _command("--resume", folder, "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = Run(env, done, folder)
    assert again.model.read_bytes() == run.model.read_bytes()
    assert _stripped(again.figures) == _stripped(run.figures)
    assert again.figures["perception_s"] == 0, "no image was looked at again"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--resume", "nowhere"], "nothing is recorded"),
        (["--resume", "here", "--seed", "3"], "options already"),
        (["--resume", "here", "--out", "there"], "options already"),
        (["--resume", "here"], "have changed"),
        (["--resume", "here", "--agent", "true"], "leave out --agent"),
        (["--resume", "program"], "give that --agent"),
        (["--resume", "program", "--agent", "true"], "give that --agent"),
        (["--resume", "foreign"], "cannot be used"),
        (["--env", "gripper", "--out", "here"], "unfinished run"),
    ],
)
def test_what_cannot_be_gone_on_with_is_refused_in_one_line(
    arguments: Sequence[str], told: str, tmp_path: Path
) -> None:
    from aam_vision.agents.journal import Journal
    from aam_vision.arguments import Arguments

    (tmp_path / "d.pddl").write_text("(define (domain d))")
    given = Arguments(domain=str(tmp_path / "d.pddl"))
    (tmp_path / "here").mkdir()
    Journal.create(tmp_path / "here", given.json(), given.inputs()).close()
    (tmp_path / "program").mkdir()
    program = Arguments(agent="touch marker")  # of a stranger: it must not run
    Journal.create(tmp_path / "program", program.json(), {}).close()
    (tmp_path / "foreign").mkdir()
    Journal.create(tmp_path / "foreign", {**given.json(), "seed": -1}, {}).close()
    (tmp_path / "d.pddl").write_text("(define (domain other))")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = _command(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert told in done.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


_NO_STRIPS_AGENT = """
import aam_vision.agents.reference_agent as reference

plain = reference.do

def fussy(state, action):
    after = plain(state, action)
    if after is None or action[:2] != ["take", "blue"]:
        return after
    return after | {("free",)}

reference.do = fussy
reference.main()
"""


def test_a_run_whose_agent_contradicts_itself_has_ended(tmp_path: Path) -> None:
    """To go on with it asks nothing again, and its folder may be used for another run."""
    (tmp_path / "agent.py").write_text(_NO_STRIPS_AGENT)
    agent = ["--agent", shlex.join([sys.executable, "agent.py"])]
    done = _command(*agent, "--out", "out", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "no STRIPS agent" in done.stderr
    kept = {name: (tmp_path / "out" / name).read_bytes() for name in ("model.pddl", "transcript.sqlite")}
    again = _command(*agent, "--resume", "out", cwd=tmp_path)
    assert (again.returncode, again.stderr.splitlines()[-1]) == (3, done.stderr.splitlines()[-1])
    assert (tmp_path / "out" / "model.pddl").read_bytes() == kept["model.pddl"]
    assert _command(*agent, "--out", "out", cwd=tmp_path).returncode == 3
