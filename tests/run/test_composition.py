"""What goes with every kind of agent: a table of agents and of what is put around them, judged against the truth.

Each cell ends with the right model, or says that something is missing, and calls nothing certain that is wrong.
What is refused has a reason, which the reference tells.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from aam_vision.agents import reference_agent
from aam_vision.model.pddl import read_domain
from aam_vision.report.differences import differences
from aam_vision.run.checks import NOT_WITH_CHANCE, NOT_WITH_CONTROLS
from experiments.trust_runs import ROBOT
from tests.finished import Runs, copied_to, cut_short, result_of, timeless
from tests.interrogation.chance.domains import PROBLEM as HANDS
from tests.interrogation.chance.domains import SLIPPERY
from tests.profiles import crossed

from .commands import ROOT, command, refusal
from .test_controls import LAMP, PROBLEM

AGENTS = {
    "gripper": ("--env", "gripper"),
    "doors' controls": ("--env", "doors", "--controls", "--problem", "0"),
    "sokoban": ("--env", "sokoban"),
    "slippery": ("--domain", "d.pddl", "--problem", "p.pddl", "--chance", "--within", "0.2"),
    "explodingblocks": ("--env", "explodingblocks", "--problem", "0", "--chance", "--within", "0.2"),
    "program": ("--agent", shlex.join([sys.executable, reference_agent.__file__])),
    "tabletop": ("--env", "tabletop"),
    "tireworld": ("--env", "tireworld", "--access", "snapshot", "--within", "0.2"),
}
SHARED = ("sokoban", "gripper")
"""Agents of which other tests have a run."""
AROUND = {
    "workers": ("--workers", "2"),
    "record": ("--record", "film.gif"),
    "killed": (),
    "flips": ("--flip-rate", "0.05"),
    "exam": ("--exam", "60"),
    "prior": ("--prior", "earlier"),
    "max-steps": ("--max-steps", "8"),
}
LOOKED_AGAIN = {
    "doors' controls": ("--confirm",),
    "slippery": ("--confirm", "--access", "snapshot"),
    "explodingblocks": ("--confirm",),
}
"""Where one look does not tell a misread state from what the agent does."""
UNSIGNED = re.compile(r"^(not |[+-])| or .*$")
"""What is told of an atom beside it: ``not p(?x)``, ``+p(?x) or ∅``."""
NO_IMAGES = "shows no images"
REFUSED = {
    ("slippery", "workers"): NOT_WITH_CHANCE["workers"],
    ("explodingblocks", "workers"): NOT_WITH_CHANCE["workers"],
    ("tireworld", "workers"): NOT_WITH_CHANCE["workers"],
    **{(agent, "record"): NO_IMAGES for agent in ("gripper", "slippery", "tireworld", "program")},
}


@pytest.mark.parametrize(("agent", "around"), crossed(AGENTS, AROUND))
def test_all_goes_with_every_agent(agent: str, around: str, tmp_path: Path, run_of: Runs) -> None:
    _hands(tmp_path)
    given, run = AGENTS[agent], tmp_path / "run"
    if around in ("prior", "killed"):
        if agent in SHARED:
            copied_to(run_of(given[1]), tmp_path / "earlier")
        else:
            command(*given, "--out", "earlier", cwd=tmp_path)
    if around == "killed":
        shutil.copytree(tmp_path / "earlier", run)
        cut_short(run)
        command("--resume", run, *(given if agent == "program" else ()), cwd=tmp_path)
        assert timeless(run) == timeless(tmp_path / "earlier")
    else:
        looks = LOOKED_AGAIN.get(agent, ()) if around == "flips" else ()
        asked = (*given, *AROUND[around], *looks, "--out", run)
        if why := REFUSED.get((agent, around)):
            assert why in command(*asked, cwd=tmp_path, code=2).stderr.splitlines()[-1]  # after warnings
            assert not run.exists()
            return
        command(*asked, cwd=tmp_path)
    if around == "record":
        with Image.open(tmp_path / "film.gif") as shown:
            assert shown.n_frames > 1  # type: ignore[attr-defined]
    if around == "exam" and timeless(run)["status"] == "complete":
        assert timeless(run)["exam_steps"] >= 60
    _judge(run, complete=around not in ("max-steps", "flips") and agent != "explodingblocks")


def _hands(folder: Path) -> None:
    """Write the domain with chance and its problem."""
    (folder / "d.pddl").write_text(SLIPPERY, encoding="utf-8")
    (folder / "p.pddl").write_text(HANDS, encoding="utf-8")


def _lamps(folder: Path) -> None:
    (folder / "d.pddl").write_text(LAMP, encoding="utf-8")
    (folder / "p.pddl").write_text(PROBLEM, encoding="utf-8")


def _judge(run: Path, *, complete: bool) -> None:
    """Compare a run with the truth; ``complete``: whether it is to have ended so."""
    told = timeless(run)
    assert told["status"] in (("complete",) if complete else ("complete", "open", "budget"))
    if "native_equivalent" in told:
        assert told["native_equivalent"] == 1 or told["status"] == "budget"
        return
    if "wrong_certain" in told:
        assert told["wrong_certain"] == 0
        assert told["intervals_right"] == told["intervals"]
        return
    if not (run / "truth.pddl").exists():
        shutil.copy(ROBOT, run / "truth.pddl")
    wrong = differences(read_domain(run / "model.pddl"), read_domain(run / "truth.pddl"))
    unsure = {
        (one["action"], one["location"], UNSIGNED.sub("", text))
        for one in told["undetermined"]
        for text in one["group"]
    }
    assert {(one.action, one.location.value, one.text) for one in wrong} <= unsure
    assert told["equivalent"] or told["equivalent"] is None or not complete


def test_the_reference_says_why_what_is_refused_cannot_exist() -> None:
    text = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    for impossible in (NOT_WITH_CONTROLS, NOT_WITH_CHANCE):
        for name, why in impossible.items():
            assert any(
                f"`--{name.replace('_', '-')}`" in line and why in line for line in text.splitlines()
            ), name


BEHIND = ("--domain", "d.pddl", "--problem", "p.pddl", "--bare", "press(?l)=light,quench")
KINDS = {
    "told": ("--env", "logistics"),
    "controls": BEHIND,
    "chance": ("--domain", "d.pddl", "--problem", "p.pddl", "--chance", "--within", "0.15"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_run_goes_on(kind: str, tmp_path: Path) -> None:
    (_lamps if kind == "controls" else _hands)(tmp_path)
    if kind == "controls":  # with two lamps it would be over at once
        more = PROBLEM.replace("b - lamp", "b c d e f g h i j k l - lamp")
        (tmp_path / "p.pddl").write_text(more, encoding="utf-8")
    command(*KINDS[kind], "--out", "whole", cwd=tmp_path)
    started = subprocess.Popen(
        [sys.executable, "-m", "aam_vision.run", *KINDS[kind], "--out", "cut"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while started.poll() is None and _recorded(tmp_path / "cut") < 60_000:
        time.sleep(0.02)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=120)
    assert started.returncode == 130, said
    assert said.endswith("interrupted; go on with --resume cut\n")
    command("--resume", "cut", cwd=tmp_path)
    assert timeless(tmp_path / "whole") == timeless(tmp_path / "cut")


def _recorded(folder: Path) -> int:
    """The bytes that a run has recorded as yet."""
    path = folder / "transcript.sqlite-wal"
    return path.stat().st_size if path.exists() else 0


@pytest.mark.parametrize("kind", KINDS)
def test_any_run_ends_at_a_budget_of_queries(kind: str, tmp_path: Path) -> None:
    (_lamps if kind == "controls" else _hands)(tmp_path)
    done = command(*KINDS[kind], "--max-queries", "2", "--out", "run", cwd=tmp_path)
    found = result_of(tmp_path / "run")
    assert found["queries"] <= 2
    if kind == "told":
        assert found["missing"] == "the budget of 2 queries is spent"
        assert found["missing"] in done.stdout
        assert found["undetermined"]
    # of lamps all is told without a query: every control is given in every situation
    assert found["status"] == ("complete" if kind == "controls" else "budget")


def test_a_domain_behind_controls_is_learned_though_it_is_misread(tmp_path: Path) -> None:
    _lamps(tmp_path)
    why = refusal(*BEHIND, "--flip-rate", "0.05", "--out", "run", cwd=tmp_path)
    assert why.startswith("error: --flip-rate: one look does not tell what a control did")
    command(*BEHIND, "--flip-rate", "0.05", "--confirm", "--out", "run", cwd=tmp_path)
    found = timeless(tmp_path / "run")
    assert (found["status"], found["native_equivalent"]) == ("complete", 1.0)
    assert found["operators"] == ["press-off(?l - lamp)", "press-on(?l - lamp)"]
    assert found["looks"] > found["situations"] > 0
    assert 0.04 < found["misread"] < 0.06


def test_copies_and_a_cache_change_nothing_of_what_controls_are_given(tmp_path: Path) -> None:
    _lamps(tmp_path)
    command(*BEHIND, "--out", "alone", cwd=tmp_path)
    assert timeless(tmp_path / "alone")["case_bound"] < 0.05, "all controls were given in all four situations"
    cached = ("--cache", "answers")
    for around in (("--workers", "2"), cached, cached):  # the second time all answers are in the cache
        command(*BEHIND, *around, "--out", "run", "--force", cwd=tmp_path)
        assert timeless(tmp_path / "run") == timeless(tmp_path / "alone")


def test_what_an_earlier_run_found_of_controls_is_compared_and_not_believed(tmp_path: Path) -> None:
    """What has changed, or was never so, is told, and the model is the one that is found without the earlier run."""
    _lamps(tmp_path)
    command(*BEHIND, "--out", "before", cwd=tmp_path)
    command(*BEHIND, "--prior", "before", "--out", "same", cwd=tmp_path)
    assert not timeless(tmp_path / "same")["differences"]["different"]
    sticking = LAMP.replace("(and (off ?l) (not (on ?l)))", "(and (off ?l))")
    (tmp_path / "d.pddl").write_text(sticking, encoding="utf-8")
    command(*BEHIND, "--out", "anew", cwd=tmp_path)
    now = command(*BEHIND, "--prior", "before/model.pddl", "--out", "now", cwd=tmp_path)
    found = timeless(tmp_path / "now")
    assert (found["status"], found["native_equivalent"]) == ("complete", 1.0)
    assert (tmp_path / "now" / "model.pddl").read_text() == (tmp_path / "anew" / "model.pddl").read_text()
    assert found["differences"]["different"]
    assert "differences   only before: " in now.stdout
    command("--resume", "now", cwd=tmp_path)
    assert timeless(tmp_path / "now") == found
    (tmp_path / "before" / "controls.json").write_text("[]", encoding="utf-8")
    for given in (("--prior", "before", *BEHIND, "--out", "no"), ("--resume", "now")):
        refusal(*given, cwd=tmp_path)


def test_nothing_is_left_of_a_run_that_another_kind_overwrites(tmp_path: Path, lamps_run: Path) -> None:
    copied_to(lamps_run, tmp_path / "run")
    assert (tmp_path / "run" / "controls.json").exists()
    assert list((tmp_path / "run" / "operators").iterdir())
    command("--env", "gripper", "--out", "run", "--force", cwd=tmp_path)
    assert not (tmp_path / "run" / "controls.json").exists()
    assert not list((tmp_path / "run" / "operators").iterdir())
