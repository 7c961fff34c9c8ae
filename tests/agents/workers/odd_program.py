"""The reference agent with a peculiarity: ``once`` (it says that it can run only once), ``differs`` (no two are the same)."""

from __future__ import annotations

import json
import os
import sys

from aam_vision.agents.reference_agent import HELLO, Robot


def main() -> None:
    robot = Robot()
    if sys.argv[1] == "differs":
        room = ("kitchen", "hall", "garden")[os.getpid() % 3]
        robot.shown = lambda: {"true": [["robot-in", room]]}  # type: ignore[method-assign]
    hello = {**HELLO, "copies": 1} if sys.argv[1] == "once" else HELLO
    for line in sys.stdin:
        question = json.loads(line)
        answers = {"hello": lambda _: hello, "run": robot.run, "walk": robot.walk}
        print(json.dumps({"id": question["id"], **answers[question["ask"]](question)}), flush=True)


if __name__ == "__main__":
    main()
