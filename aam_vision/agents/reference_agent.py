"""A reference agent: a robot that carries balls, as a program that speaks the agent protocol.

Everything that a program has to do is here: read a line of JSON, answer with one.
"""

import json
import random
import sys
from typing import Any

Atoms = set[tuple[str, ...]]
JSON = dict[str, Any]

ROOMS, BALLS = ("kitchen", "hall", "garden"), ("red", "blue")
START: Atoms = {("robot-in", "hall"), ("lies-in", "red", "kitchen"), ("lies-in", "blue", "hall"), ("free",)}
HELLO = {
    "protocol": 1,
    "name": "robot",
    "access": "settable",  # it can be asked about any state
    "walks": True,  # and it can act on its own
    "types": {"room": "object", "ball": "object"},
    "predicates": {"robot-in": ["room"], "lies-in": ["ball", "room"], "holds": ["ball"], "free": []},
    "actions": {
        "go": [["from", "room"], ["to", "room"]],
        "take": [["what", "ball"], ["where", "room"]],
        "put": [["what", "ball"], ["where", "room"]],
    },
    "problems": [{"objects": {**dict.fromkeys(ROOMS, "room"), **dict.fromkeys(BALLS, "ball")}}],
}


def do(state: Atoms, action: list[str]) -> Atoms | None:
    """The state after an action, None if it cannot be carried out. The toolkit has to find this out."""
    name, *things = action
    before: Atoms = {("robot-in", things[0])}
    after: Atoms = {("robot-in", things[-1])}
    if name != "go":
        before, after = {("lies-in", *things), ("free",)}, {("holds", things[0])}
        if ("robot-in", things[1]) not in state:
            return None
    if name == "put":
        before, after = after, before
    return (state - before) | after if before <= state else None


class Robot:
    """The answers. Where it stands is kept for questions that begin ``here``."""

    def __init__(self) -> None:
        self.state = START

    def begin(self, where: Any) -> None:
        """Stand where a question begins."""
        if where == "start":
            self.state = START
        elif where != "here":
            self.state = {tuple(atom) for atom in where["true"]}

    def shown(self) -> JSON:
        """The state: all atoms that are true in it."""
        return {"true": sorted(self.state)}

    def run(self, question: JSON) -> JSON:
        """Execute a plan as far as it goes."""
        self.begin(question["from"])
        executed = 0
        while executed < len(question["plan"]) and (after := do(self.state, question["plan"][executed])):
            self.state, executed = after, executed + 1
        return {"executed": executed, "state": self.shown()}

    def walk(self, question: JSON) -> JSON:
        """Do something that can be done, step by step."""
        self.begin(question["from"])
        rng, steps = random.Random(question["seed"]), []
        every = [["go", a, b] for a in ROOMS for b in ROOMS if a != b]
        every += [[name, ball, room] for name in ("take", "put") for ball in BALLS for room in ROOMS]
        for _ in range(question["steps"]):
            action = rng.choice([action for action in every if do(self.state, action)])
            self.state = do(self.state, action) or START
            steps.append({"action": action, "state": self.shown()})
        return {"steps": steps}


def main() -> None:
    """Answer line by line until there are no more."""
    robot = Robot()
    answers = {"hello": lambda question: HELLO, "run": robot.run, "walk": robot.walk}
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps({"id": question["id"], **answers[question["ask"]](question)}), flush=True)


if __name__ == "__main__":
    main()
