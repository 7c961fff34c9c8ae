"""The program has a key that its predicates do not speak of, and no run calls a model of it complete."""

from __future__ import annotations

import io
import json
import sys
from collections import deque
from itertools import permutations
from typing import Any

import pytest

from aam_vision import interrogate
from aam_vision.model.strips import Location, Mode
from aam_vision.run import targets
from experiments.key_counter import ACCESSES, TRUE, invented, summary, unlocking
from experiments.programs import DOORS, HELLO, START, Corridor, World, command, do, main


def _worlds() -> set[World]:
    """All that can be reached."""
    found, waiting = {START}, deque([START])
    while waiting:
        world = waiting.popleft()
        for action in _actions():
            if (after := do(world, action)) and after not in found:
                found.add(after)
                waiting.append(after)
    return found


def _actions() -> list[list[str]]:
    hello: dict[str, Any] = HELLO
    return [
        [name, *row]
        for name, parameters in hello["actions"].items()
        for row in permutations(DOORS, len(parameters))
    ]


def test_the_preconditions_are_the_programs_but_for_the_key() -> None:
    worlds = _worlds()
    assert {keys for _, keys in worlds} == {0, 1, 2}
    for atoms, keys in worlds:
        for name, *doors in _actions():
            wanted = [(atom, mode) for (action, atom), mode in TRUE.items() if action == name]
            met = all(
                ((atom.predicate, *(doors[int(place)] for place in atom.arguments)) in atoms)
                is (mode is Mode.POSITIVE)
                for atom, mode in wanted
            )
            used_up = name == "unlock" and keys == 0
            assert (do((atoms, keys), [name, *doors]) is not None) is (met and not used_up)


def test_a_snapshot_brings_back_the_keys_and_a_step_uses_one() -> None:
    corridor = Corridor()
    unlock = {"from": "start", "plan": [["unlock", "red"]]}
    one = corridor.run(unlock)
    plan = [["go", "red", "green"], ["unlock", "green"], ["go", "green", "blue"], ["unlock", "blue"]]
    assert corridor.run({"from": "here", "plan": plan})["executed"] == 3
    assert corridor.run({"from": {"snapshot": one["snapshot"]}, "plan": plan[:2]})["executed"] == 2
    steps = corridor.walk({"from": "start", "steps": 50, "seed": 3})["steps"]
    assert sum(step["action"][0] == "unlock" for step in steps) == 2


def test_the_program_answers_line_by_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [{"id": 1, "ask": "hello"}, {"id": 2, "ask": "run", "from": "start", "plan": [["switch-off"]]}]
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(json.dumps(one) + "\n" for one in asked)))
    monkeypatch.setattr(sys, "argv", ["programs", "corridor", "reset"])
    main()
    hello, answer = map(json.loads, capsys.readouterr().out.splitlines())
    assert (hello["access"], answer["id"], answer["executed"]) == ("reset", 2, 0)


@pytest.mark.parametrize("access", ACCESSES)
def test_no_run_is_complete(access: str) -> None:
    rows = [
        {"access": access, "seed": seed, **unlocking(access=access, seed=seed, exam=None)} for seed in (0, 1)
    ]
    assert all(row["status"] != "complete" for row in rows)
    (*_, total) = summary(rows).rows
    assert total[1:3] == [2, "0 complete"]


def test_a_precondition_that_the_program_does_not_have_is_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    target = targets.from_program(command("corridor", "reset"), [], access=None, seconds=10, megabytes=1024)
    try:
        result = interrogate(target.agent, seed=0, exam=0)
    finally:
        target.close()
    certain = [pal for pal, mode in result.certain.items() if TRUE.get((pal.action, pal.atom)) is mode]
    assert certain
    assert invented(result) == []
    pal = next(pal for pal in certain if pal.location is Location.PRE)
    monkeypatch.delitem(TRUE, (pal.action, pal.atom))
    assert invented(result) == [f"{pal.action}: {result.certain[pal].value}{pal.atom.predicate}"]
