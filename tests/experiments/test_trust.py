"""The mixture has everything in it, and no run of a small one is silently wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aam_vision.agents.reference_agent import START
from aam_vision.model.strips import Atom, GroundAction, Objects, State
from experiments.faults.registry import FAMILIES
from experiments.programs import FAULTS
from experiments.trust import (
    ACCESSES,
    BOTH,
    DOMAINS,
    FLIPS,
    KINDS,
    by_access,
    by_fault,
    by_kind,
    kind_of,
    mixture,
    several_at_once,
    summary,
)
from experiments.trust_runs import PER_SITUATION, robot, trusted
from tests.commands import called
from tests.profiles import crossed, some


def test_the_mixture_has_all_kinds_of_agents_under_all_accesses() -> None:
    cases = mixture(DOMAINS)
    agents = {case["agent"] for case in cases}
    assert agents == {*DOMAINS, *(f"program: {f}" for f in FAULTS), *(f"fault: {f}" for f in FAMILIES)}
    for agent in agents - {"satellite"}:
        assert {case["access"] for case in cases if case["agent"] == agent} == set(ACCESSES)
    assert {case["flip_rate"] for case in cases} == set(FLIPS)
    assert {kind_of(case) for case in cases} == set(KINDS)
    assert len({tuple(sorted(case.items())) for case in cases}) == len(cases)


def test_agents_with_several_faults_are_interrogated_where_they_are_asked_for(tmp_path: Path) -> None:
    cases = several_at_once()
    assert {kind_of(case) for case in cases} == {BOTH}
    assert {case["access"] for case in cases} == set(ACCESSES)
    number = len(some(1, [case for case in cases if case["access"] == "snapshot"]))
    asked = f"--kind {BOTH} --access snapshot --runs {number} --size 1 --goes-on --exam 60".split()
    done = called("experiments.trust", *asked, "--out", tmp_path / "out", cwd=tmp_path, code=0)
    assert "chance and a condition" in done.stdout
    rows = [
        json.loads(line)["result"] for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    ]
    assert [row["learned_right"] for row in rows] == [True] * number
    assert not any(row["learned_false"] for row in rows)


@pytest.mark.parametrize(
    ("case", "access"),
    crossed(
        [
            {"agent": "gripper", "flip_rate": 0.1, "refusal_rate": 0.02},
            {"agent": "gripper", "flip_rate": 0.05, "flips": PER_SITUATION},
            {"agent": "program: crash"},
            {"agent": "program: refusal"},
            {"agent": "fault: effect depends on own atom"},
            {"agent": "fault: silent no-op"},
            {"agent": "fault: silent no-op", "flip_rate": 0.05},
        ],
        ACCESSES,
    ),
    ids=lambda one: one if isinstance(one, str) else " ".join(map(str, one.values())),
)
def test_a_run_ends_right_or_says_what_is_wrong(case: dict[str, object], access: str) -> None:
    row = trusted(**case, access=access, exam=None, seed=0, size=2)
    assert not row["silently_wrong"]
    assert row["wrong"] == 0


@pytest.mark.parametrize(
    ("agent", "access"),
    crossed(["miconic", "fault: honest", "fault: honest, arguments in another order"], ACCESSES),
)
def test_an_honest_agent_is_not_accused(agent: str, access: str) -> None:
    case = {"agent": agent, "access": access, "flip_rate": 0.0, "refusal_rate": 0.0, "flips": "per look"}
    row = trusted(**case, exam=None, seed=1, size=1)
    assert (row["accused"], row["diagnosis"], row["silently_wrong"]) == (False, None, False)
    assert row["equivalent"] is not False
    (line, *_) = summary([{**case, **row}]).rows
    assert "0/1" in line
    assert [kind for kind, *_ in by_kind([{**case, **row}]).rows] == ["honest", "all"]


def test_families_of_which_every_fault_was_named_share_a_line() -> None:
    found = {"status": "not-strips", "complete": False, "equivalent": None, "diagnosis": {}, "showed": True}
    found |= {"flip_rate": 0.0, "refusal_rate": 0.0, "silently_wrong": False}
    rows = [
        {**found, "agent": f"fault: {family}", "access": access, "right": right}
        for family, right in (("delayed effect", True), ("hidden fuel", False), ("stale state", True))
        for access in ("settable", "reset")
    ]
    assert by_fault(rows).rows == [["hidden fuel", 2, 2, 0, "0/2"], ["2 others", 4, 4, 0, "4/4"]]
    assert [line[:3] for line in by_access(rows).rows] == [["fault", "reset", 3], ["fault", "settable", 3]]


def test_the_command_runs_what_is_named_and_fails_if_a_run_is_silently_wrong(tmp_path: Path) -> None:
    asked = ["--runs", "2", "--kind", "honest", "--access", "reset", "--family", "honest", "--size", "1"]
    asked += ["--processes", "1", "--out", str(tmp_path)]
    called("experiments.trust", *asked, cwd=tmp_path, code=0)
    results = tmp_path / "results.jsonl"
    entries = [json.loads(line) for line in results.read_text().splitlines()]
    assert {entry["job"]["agent"] for entry in entries} == {"fault: honest"}
    page = (tmp_path / "trust.md").read_text()
    assert "| honest | 2 |" in page
    assert "`trust.csv`" in page
    entries[0]["result"]["silently_wrong"] = True
    results.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    assert "silently wrong: trusted(" in called("experiments.trust", *asked, cwd=tmp_path, code=1).stderr


def test_the_robots_model_is_what_the_reference_agent_does() -> None:
    model = robot()
    kinds = {"kitchen": "room", "hall": "room", "garden": "room", "red": "ball", "blue": "ball"}
    true = frozenset(Atom(name, tuple(rest)) for name, *rest in START)
    named = (("go", "hall", "kitchen"), ("take", "red", "kitchen"), ("take", "blue", "kitchen"))
    plan = [GroundAction(name, tuple(objects)) for name, *objects in named]
    executed, after = model.run(State(true, Objects(kinds, model.vocabulary.types)), plan)
    assert executed == 2
    assert after.value(Atom("holds", ("red",)))
    assert not after.value(Atom("free", ()))
