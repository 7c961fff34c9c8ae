"""The reference agent as a program with random faults.

``python -m experiments.faulty_robot FAULT RATE SEED STARTS ACCESS``: each answer but the hello has the fault with this
probability; the file ``STARTS`` grows with every process, so that a fresh one does not repeat what the last one did.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

from aam_vision.agents.reference_agent import HELLO, Robot

FAULTS = ("crash", "hang", "half line", "garbage", "other answer", "too far", "another state", "refusal")
"""The kinds of faults. The last two are lies, which only the engine can detect."""


def main() -> None:
    """Answer line by line, sometimes wrongly or not at all."""
    fault, rate, seed, starts, access = sys.argv[1:]
    with Path(starts).open("a", encoding="utf-8") as file:
        file.write("x")
    rng = random.Random(f"{seed} {Path(starts).stat().st_size}")
    robot = Robot()
    for line in sys.stdin:
        question = json.loads(line)
        asked = {"hello": lambda _: {**HELLO, "access": access}, "run": robot.run, "walk": robot.walk}
        wrong = question["ask"] == "run" and rng.random() < float(rate)
        if wrong and fault == "refusal":
            question["plan"] = question["plan"][: rng.randrange(len(question["plan"]) + 1)]
        found = {"id": question["id"], **asked[question["ask"]](question)}
        if wrong and fault == "another state" and found["executed"]:
            found["state"]["true"] = found["state"]["true"][1:]
        answer = json.dumps(found)
        if wrong and fault == "crash":
            os._exit(3)
        if wrong and fault == "hang":
            time.sleep(1000)
        if wrong and fault == "half line":
            print(answer[: len(answer) // 2], end="", flush=True)
            os._exit(0)
        if wrong and fault == "garbage":
            answer = "Segmentation fault (core dumped)"
        if wrong and fault == "other answer":
            answer = json.dumps({**found, "id": question["id"] + 1})
        if wrong and fault == "too far":
            answer = json.dumps({**found, "executed": len(question["plan"]) + 1})
        print(answer, flush=True)


if __name__ == "__main__":
    main()
