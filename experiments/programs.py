"""Agents as programs that speak the agent protocol, each with something that goes wrong.

``python -m experiments.programs KIND ARGUMENT...`` starts one of ``PROGRAMS``: the reference agent, slowed down or with random faults.
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


def answered(robot: reference_agent.Robot, access: str, question: JSON) -> JSON:
    """The right answer to a question."""
    hello = {**reference_agent.HELLO, "access": access}
    answers: dict[str, Callable[[JSON], JSON]] = {
        "hello": lambda _: hello,
        "run": robot.run,
        "walk": robot.walk,
    }
    return {"id": question["id"], **answers[question["ask"]](question)}


def questions() -> Iterator[JSON]:
    """What is asked, line by line."""
    return map(json.loads, sys.stdin)


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


PROGRAMS: dict[str, Callable[..., None]] = {"slow": slow, "faulty": faulty}


def command(kind: str, *arguments: object) -> str:
    """The command line that starts a program."""
    return shlex.join([sys.executable, "-m", "experiments.programs", kind, *map(str, arguments)])


def main() -> None:
    """Answer line by line until there are no more."""
    kind, *arguments = sys.argv[1:]
    PROGRAMS[kind](*arguments)


if __name__ == "__main__":
    main()
