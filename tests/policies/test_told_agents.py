"""Agents and programs that are told objectives: what they can do, and what their new version has lost."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import aam_vision
from aam_vision.envs.matched import KEPT, LOST, capability, gate
from aam_vision.envs.told_agents import ToldAgent
from aam_vision.model import strips
from aam_vision.model.query import Access, Query, Response, Situation
from aam_vision.model.strips import Atom, GroundAction, Objects, State, Types
from tests.refusals import told_by

PROGRAM = """
import json, random, sys
LAMPS, HELLO, hasty = ["left", "right"], json.loads(sys.argv[1]), "hasty" in sys.argv
rng = random.Random(int(sys.argv[2]))
for line in sys.stdin:
    question = json.loads(line)
    answer = HELLO
    if question["ask"] == "run":
        if question["from"] == "start":
            lit = {LAMPS[question["problem"]]} if question["problem"] < 2 else set()
        said = []
        for (_, lamp) in question["plan"]:
            if "broken" in sys.argv:
                sys.exit("no bulb")
            while lamp not in lit:
                if rng.random() < 0.8:
                    lit.add(lamp)
                if hasty:
                    break
            said = [["claimed"]]
            if "slow" in sys.argv:
                lit, said = set(), [["ended"]]
        state = {"true": [["lit", lamp] for lamp in sorted(lit)] + said}
        answer = {"executed": len(question["plan"]), "state": state}
    print(json.dumps({"id": question["id"], **answer}), flush=True)
"""
HELLO: dict[str, Any] = {
    "protocol": 1,
    "name": "lamps",
    "access": "reset",
    "types": {"lamp": "object"},
    "predicates": {"lit": ["lamp"], "claimed": [], "ended": []},
    "actions": {"achieve-lit": [["which", "lamp"]]},
    "problems": [{"objects": {"left": "lamp", "right": "lamp"}}] * 3,
}
LEFT = GroundAction("achieve-lit", ("left",))


@pytest.fixture
def program(tmp_path: Path) -> Any:
    """Makes the agent of a program with these words after its command."""
    (tmp_path / "lamps.py").write_text(PROGRAM, encoding="utf-8")

    def made(*words: str, seed: int = 0, **change: Any) -> ToldAgent:
        hello = json.dumps({**HELLO, **change})
        return ToldAgent(f"{sys.executable} {tmp_path / 'lamps.py'} '{hello}' {seed} {' '.join(words)}")

    return made


def test_the_gate_finds_what_the_new_version_of_a_program_has_lost(program: Any) -> None:
    told = gate(program(), program("hasty", seed=1))
    (found,) = told.comparisons
    assert (found.verdict, told.code) == (LOST, 5)
    assert "claimed falsely: 0 times" in str(told)
    assert found.rates()[0] == 1
    assert gate(program(), program(seed=1)).comparisons[0].verdict == KEPT


def test_how_often_a_program_achieves_an_objective(program: Any) -> None:
    found = capability(program("hasty"), "lit", at_least=0.5)
    assert found.shown
    assert 0.5 < sum(end.achieved for *_, end in found.ends) / len(found.ends) < 1
    learned = aam_vision.interrogate(program("hasty"), chance=True, within=0.2, max_steps=200)
    assert "claimed()" in str(learned)


@pytest.mark.parametrize(("words", "end"), [((), "achieved"), (("slow",), "timed out")])
def test_a_program_says_what_it_claims_and_that_time_is_over(program: Any, words: Any, end: str) -> None:
    assert str(program(*words).pursue_from(1, LEFT, 0)) == end


def test_a_program_that_breaks_down_is_no_loss(program: Any) -> None:
    with pytest.raises(aam_vision.AgentFailed, match="no bulb"):
        gate(program(), program("broken"))


class Refusing:
    """An agent in Python that refuses all objectives, and is told what is to be false."""

    vocabulary = strips.Vocabulary("lamps", (strips.Predicate("lit", ("lamp",)),), Types({"lamp": "object"}))
    headers = (strips.ActionHeader("undo-lit", ("which",), ("lamp",)),)
    access = Access.RESET

    def initial(self) -> list[Situation]:
        objects = Objects({"left": "lamp"}, self.vocabulary.types)
        return [Situation(0, State(frozenset({Atom("lit", ("left",))}), objects))]

    def ask(self, query: Query) -> Response:
        return Response(0, query.initial)

    def walk(self, *given: Any) -> tuple[()]:
        return ()


def test_a_refusal_is_no_success_of_an_agent_in_python() -> None:
    asked = ToldAgent(Refusing())
    assert asked.kind("undo-lit") == "not lit"
    assert str(asked.pursue_from(0, GroundAction("undo-lit", ("left",)), 0)) == "given up"
    assert capability(asked, "not lit", at_least=0.5).shown is False


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"access": "trajectory"}, "brought back to a start"),
        ({"actions": {"light": [["which", "lamp"]]}}, r"light\(.*\) is no objective: call it achieve-NAME"),
        ({"actions": {"achieve-lit": []}}, "is no objective"),
        ({"problems": [{"objects": {one: "lamp"}} for one in ("left", "right")]}, "have the same objects"),
        ({"controls": True, "access": "snapshot"}, "to be told objectives"),
        ({"protocol": 7}, "hello"),
    ],
)
def test_an_agent_that_is_not_told_objectives_is_refused(program: Any, change: Any, complaint: str) -> None:
    told_by(lambda: program(**change), complaint)
