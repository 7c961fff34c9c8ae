"""Agents as programs that speak the agent protocol, each with something that goes wrong.

``python -m experiments.programs KIND ARGUMENT...`` starts one of ``PROGRAMS``: a robot in a corridor with keys that no predicate
speaks of, or the reference agent, slowed down or with random faults.
"""

import json
import os
import random
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from aam_vision.agents import reference_agent

JSON = dict[str, Any]
Atoms = frozenset[tuple[str, ...]]
World = tuple[Atoms, int]
"""The atoms that are true, and the keys that are left."""

# The corridor: ``unlock`` uses up a key; once both are used, it is refused. A start begins with both keys, and a snapshot has those
# that were left.

DOORS = ("red", "green", "blue")
START: World = (frozenset({("at", "red"), *(("locked", door) for door in DOORS)}), 2)
HELLO = {
    "protocol": 1,
    "name": "corridor",
    "walks": True,
    "types": {"door": "object"},
    "predicates": {"at": ["door"], "locked": ["door"], "open": ["door"], "lit": []},
    "actions": {
        "go": [["from", "door"], ["to", "door"]],
        "unlock": [["which", "door"]],
        "lock": [["which", "door"]],
        "open": [["which", "door"]],
        "close": [["which", "door"]],
        "switch-on": [],
        "switch-off": [],
    },
    "problems": [{"objects": dict.fromkeys(DOORS, "door")}],
}
EVERY = [
    *(["go", one, other] for one in DOORS for other in DOORS if one != other),
    *([name, door] for name in ("unlock", "lock", "open", "close") for door in DOORS),
    ["switch-on"],
    ["switch-off"],
]


def do(world: World, action: list[str]) -> World | None:
    """The world after an action; None if it is refused."""
    atoms, keys = world
    name, *doors = action
    if doors and ("at", doors[0]) not in atoms:
        return None
    if name == "go":
        return (atoms - {("at", doors[0])}) | {("at", doors[1])}, keys
    changed: tuple[str, ...] = ("open", doors[0]) if doors else ("lit",)
    locked = bool(doors) and ("locked", doors[0]) in atoms
    if name in ("unlock", "lock"):
        if ("open", doors[0]) in atoms or (name == "unlock" and not keys):
            return None
        changed, locked, keys = ("locked", doors[0]), False, keys - (name == "unlock")
    adds = name in ("switch-on", "open", "lock")
    if locked or (changed in atoms) is adds:
        return None
    return (atoms | {changed} if adds else atoms - {changed}), keys


class Corridor:
    """The answers. Snapshots are numbers of worlds that were shown."""

    def __init__(self) -> None:
        self.world = START
        self.shown: list[World] = []

    def begin(self, where: Any) -> None:
        """Stand where a question begins."""
        if where == "start":
            self.world = START
        elif where != "here":
            self.world = self.shown[int(where["snapshot"])]

    def situation(self) -> JSON:
        """The state that is seen, and its name."""
        self.shown.append(self.world)
        return {"state": {"true": sorted(self.world[0])}, "snapshot": str(len(self.shown) - 1)}

    def run(self, question: JSON) -> JSON:
        """Execute a plan as far as it goes."""
        self.begin(question["from"])
        executed = 0
        while executed < len(question["plan"]) and (after := do(self.world, question["plan"][executed])):
            self.world, executed = after, executed + 1
        return {"executed": executed, **self.situation()}

    def walk(self, question: JSON) -> JSON:
        """Do something that can be done, step by step."""
        self.begin(question["from"])
        rng, steps = random.Random(question["seed"]), []
        for _ in range(question["steps"]):
            action = rng.choice([action for action in EVERY if do(self.world, action)])
            self.world = do(self.world, action) or self.world
            steps.append({"action": action, **self.situation()})
        return {"steps": steps}


def answered(robot: Corridor | reference_agent.Robot, access: str, question: JSON) -> JSON:
    """The right answer to a question."""
    hello = {**(HELLO if isinstance(robot, Corridor) else reference_agent.HELLO), "access": access}
    answers: dict[str, Callable[[JSON], JSON]] = {
        "hello": lambda _: hello,
        "run": robot.run,
        "walk": robot.walk,
    }
    return {"id": question["id"], **answers[question["ask"]](question)}


def questions() -> Iterator[JSON]:
    """What is asked, line by line."""
    return map(json.loads, sys.stdin)


def corridor(access: str) -> None:
    """The corridor."""
    robot = Corridor()
    for question in questions():
        print(json.dumps(answered(robot, access, question)), flush=True)


def slow(path: str, access: str, seconds: str) -> None:
    """The reference agent, slowed down so that it can be killed at work; writes the number of its process, then every question."""
    robot = reference_agent.Robot()
    with Path(path).open("a", encoding="utf-8") as log:
        log.write(json.dumps({"process": os.getpid()}) + "\n")
        for question in questions():
            log.write(json.dumps({name: value for name, value in question.items() if name != "id"}) + "\n")
            log.flush()
            time.sleep(float(seconds))
            print(json.dumps(answered(robot, access, question)), flush=True)


FAULTS = ("crash", "hang", "half line", "garbage", "other answer", "too far", "another state", "refusal")
"""The kinds of faults. The last two are lies, which only the engine can detect."""


def faulty(fault: str, rate: str, seed: str, starts: str, access: str) -> None:
    """The reference agent, whose answers to plans have the fault with a probability.

    The file ``starts`` grows with every process, so that a fresh one does not repeat what the last one did.
    """
    with Path(starts).open("a", encoding="utf-8") as file:
        file.write("x")
    rng, robot = random.Random(f"{seed} {Path(starts).stat().st_size}"), reference_agent.Robot()
    for question in questions():
        wrong = fault if question["ask"] == "run" and rng.random() < float(rate) else ""
        if wrong == "refusal":
            question["plan"] = question["plan"][: rng.randrange(len(question["plan"]) + 1)]
        found = answered(robot, access, question)
        if wrong == "another state" and found["executed"]:
            found["state"]["true"] = found["state"]["true"][1:]
        answer = json.dumps(found)
        if wrong == "crash":
            os._exit(3)
        if wrong == "hang":
            time.sleep(1000)
        if wrong == "half line":
            print(answer[: len(answer) // 2], end="", flush=True)
            os._exit(0)
        if wrong == "garbage":
            answer = "Segmentation fault (core dumped)"
        if wrong == "other answer":
            answer = json.dumps({**found, "id": question["id"] + 1})
        if wrong == "too far":
            answer = json.dumps({**found, "executed": len(question["plan"]) + 1})
        print(answer, flush=True)


PROGRAMS: dict[str, Callable[..., None]] = {"corridor": corridor, "slow": slow, "faulty": faulty}


def command(kind: str, *arguments: object) -> str:
    """The command line that starts a program."""
    return shlex.join([sys.executable, "-m", "experiments.programs", kind, *map(str, arguments)])


def main() -> None:
    """Answer line by line until there are no more."""
    kind, *arguments = sys.argv[1:]
    PROGRAMS[kind](*arguments)


if __name__ == "__main__":
    main()
