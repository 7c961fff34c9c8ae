"""A robot in a corridor as a program, with keys that no predicate speaks of: ``python -m tests.interrogation.key_program ACCESS``.

``unlock`` uses up a key; once both are used, it is refused. A start begins with both keys, and a snapshot has those that were left.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from typing import Any

JSON = dict[str, Any]
Atoms = frozenset[tuple[str, ...]]
World = tuple[Atoms, int]
"""The atoms that are true, and the keys that are left."""

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


def main() -> None:
    """Answer line by line until there are no more."""
    corridor = Corridor()
    answers: dict[str, Callable[[JSON], JSON]] = {
        "hello": lambda _: {**HELLO, "access": sys.argv[1]},
        "run": corridor.run,
        "walk": corridor.walk,
    }
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps({"id": question["id"], **answers[question["ask"]](question)}), flush=True)


if __name__ == "__main__":
    main()
