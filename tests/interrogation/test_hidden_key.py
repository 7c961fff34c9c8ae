"""The program has a key that its predicates do not speak of, and no run calls a model of it complete, or invents a precondition."""

from __future__ import annotations

import shlex
import sys
from collections import deque
from itertools import permutations
from typing import Any

import pytest

from aam_vision import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.strips import LiftedAtom, Location, Mode
from aam_vision.run import targets
from experiments.trust_runs import interrogated
from tests.interrogation.key_program import DOORS, HELLO, START, Corridor, World, do

AT, LOCKED, OPEN, LIT = (
    LiftedAtom(*one) for one in (("at", (0,)), ("locked", (0,)), ("open", (0,)), ("lit", ()))
)
TRUE = {
    **{(action, AT): Mode.POSITIVE for action in ("go", "unlock", "lock", "open", "close")},
    ("unlock", LOCKED): Mode.POSITIVE,
    ("lock", LOCKED): Mode.NEGATIVE,
    ("lock", OPEN): Mode.NEGATIVE,
    ("open", LOCKED): Mode.NEGATIVE,
    ("open", OPEN): Mode.NEGATIVE,
    ("close", OPEN): Mode.POSITIVE,
    ("switch-on", LIT): Mode.NEGATIVE,
    ("switch-off", LIT): Mode.POSITIVE,
}
"""The program's preconditions in its vocabulary, by action and atom. Others are never required, but may coincide with them."""


def _target(access: str) -> targets.Target:
    command = f"{shlex.quote(sys.executable)} -m tests.interrogation.key_program {access}"
    return targets.from_program(command, [], access=None, seconds=10, megabytes=1024)


def _invented(result: Result) -> list[str]:
    """The preconditions that the result calls certain, and that the program does not have."""
    return [
        f"{pal.action}: {mode.value}{pal.atom.predicate}"
        for pal, mode in result.certain.items()
        if pal.location is Location.PRE and mode not in (Mode.ABSENT, TRUE.get((pal.action, pal.atom)))
    ]


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


@pytest.mark.parametrize("access", ["reset", "snapshot"])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_run_is_complete(access: str, seed: int) -> None:
    target = _target(access)
    try:
        result, _ = interrogated(target.agent, seed, None)
    finally:
        target.close()
    assert result.status != "complete"


def test_no_precondition_is_invented() -> None:
    target = _target("reset")
    try:
        result = interrogate(target.agent, seed=0, exam=0)
    finally:
        target.close()
    assert any(TRUE.get((pal.action, pal.atom)) is mode for pal, mode in result.certain.items())
    assert _invented(result) == []
