"""The reference agent with a fault of a kind at one of its answers, once or always; run as a program.

Arguments: the fault, the number of the answer it comes at (from 1, the hello), a file that counts the answers of all
processes, the access that it claims, and whether it comes every time from then on (``always``).
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

from aam_vision.agents.reference_agent import BALLS, HELLO, ROOMS, Robot

ATOMS = [
    ("free",),
    *product(("robot-in",), ROOMS),
    *product(("holds",), BALLS),
    *product(("lies-in",), BALLS, ROOMS),
]
FLIPPED = 0.04
"""How often a noisy sensor shows an atom wrongly."""


def _answer(robot: Robot, question: dict[str, Any], hello: dict[str, Any]) -> dict[str, Any]:
    asked = {"hello": lambda _: hello, "run": robot.run, "walk": robot.walk}[question["ask"]]
    return {"id": question["id"], **asked(question)}


class NamedRobot(Robot):
    """It gives names to its situations, too, as an agent with snapshots does."""

    def begin(self, where: Any) -> None:
        if isinstance(where, dict) and "snapshot" in where:
            self.state = {tuple(atom) for atom in json.loads(where["snapshot"])}
        else:
            super().begin(where)

    def run(self, question: dict[str, Any]) -> dict[str, Any]:
        return {**super().run(question), "snapshot": json.dumps(sorted(self.state))}


def _seen(robot: Robot, noise: random.Random) -> dict[str, Any]:
    """What a noisy sensor shows."""
    return {"true": sorted(robot.state ^ {atom for atom in ATOMS if noise.random() < FLIPPED})}


CHANGED: dict[str, dict[str, Any]] = {
    "other-id": {"id": 10**6},
    "too-far": {"executed": 1000},
    "negative": {"executed": -1},
    "stranger": {"state": {"true": [["holds", "grail"]]}},
    "shape": {"state": [], "steps": {}, "problems": 7},
}
"""Answers that fit JSON and not the question."""


def _misbehave(fault: str, line: str) -> None:
    out = sys.stdout
    match fault:
        case "crash":
            os._exit(3)
        case "killed":
            os.kill(os.getpid(), 9)
        case "half" | "half-hang":
            out.write(line[: len(line) // 2])
            out.flush()
            if fault == "half":
                os._exit(0)
        case "garbage":
            print("Welcome to the agent! Loading...", flush=True)
        case "utf8":
            out.buffer.write(b'{"id": 1, "name": "\xff\xfe"}\n')
            out.flush()
        case "flood" | "flood-lines":
            while True:
                out.buffer.write(b"x" * (1 << 20) if fault == "flood" else b"{}\n" * (1 << 16))
        case "stderr":
            for _ in range(2000):  # far more than a pipe holds
                sys.stderr.write("help " * 1000 + "\n")
        case "memory":
            hoard = [bytearray(1 << 24) for _ in range(10_000)]
            print(len(hoard), flush=True)
        case "nested":
            print("[" * 1_000_000, flush=True)
        case "twice":
            os.write(1, f"{line}\n{line}\n".encode())  # at once, however this process buffers
        case "closed":
            os.close(1)
        case "children":
            if os.fork() == 0:
                time.sleep(1000)
            os._exit(0)
        case "hang":
            pass
        case _:
            print(json.dumps({**json.loads(line), **CHANGED.get(fault, {})}), flush=True)
    if fault in ("hang", "half-hang", "stderr", "closed"):
        time.sleep(1000)


def main() -> None:
    fault, at, counter, access, *always = sys.argv[1:]
    path = Path(counter)
    said = {"once": {"copies": 1}, "sure": {"refuses_surely": True}, "noisy": {"walks": False}}
    hello = {**HELLO, "access": access, **said.get(fault, {})}
    robot = NamedRobot() if access == "snapshot" and fault != "noisy, nameless" else Robot()
    if fault == "differs":  # no two that start one after the other are the same
        with path.with_suffix(".started").open("a") as started:
            room = ("kitchen", "hall", "garden")[(started.write("x") and started.tell()) % 3]
        robot.shown = lambda: {"true": [["robot-in", room]]}  # type: ignore[method-assign]
    if fault.startswith("noisy"):
        noise = random.Random(1)
        robot.shown = lambda: _seen(robot, noise)  # type: ignore[method-assign]
    for received in sys.stdin:
        with path.open("a") as file:
            file.write(received)
        number = path.read_text().count("\n")
        question = json.loads(received)
        answer = _answer(robot, question, hello)
        if fault == "moves" and question.get("plan") and not answer["executed"]:
            robot.state ^= {("free",)}
            answer["state"] = robot.shown()
        line = json.dumps(answer)
        if number == int(at) or (always and number >= int(at)):
            _misbehave(fault, line)
        else:
            print(line, flush=True)


if __name__ == "__main__":
    main()
