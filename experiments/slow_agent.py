"""The reference agent, slowed down and with a log of its questions, so that it can be killed at work.

``python -m experiments.slow_agent LOG ACCESS SECONDS``: every process writes its number, then every question.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from aam_vision.agents.reference_agent import HELLO, Robot


def main() -> None:
    """Answer line by line, slowly."""
    path, access, seconds = sys.argv[1:]
    robot = Robot()
    with Path(path).open("a", encoding="utf-8") as log:
        log.write(json.dumps({"process": os.getpid()}) + "\n")
        for line in sys.stdin:
            question = json.loads(line)
            number = question.pop("id")
            log.write(json.dumps(question) + "\n")
            log.flush()
            time.sleep(float(seconds))
            asked = {"hello": lambda _: {**HELLO, "access": access}, "run": robot.run, "walk": robot.walk}
            print(json.dumps({"id": number, **asked[question["ask"]](question)}), flush=True)


if __name__ == "__main__":
    main()
