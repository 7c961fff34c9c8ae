"""An image environment as a program that speaks the agent protocol: an example, and a way to try it.

``python -m aam_vision.envs.program ENV [ACCESS] [PROBLEMS] [--controls]``: it shows its situations as images, says what a user would
point out about its problems, and nothing more. With ``--controls`` it offers the environment's controls. To interrogate it:
``python -m aam_vision.run --env doors --agent "python -m aam_vision.envs.program doors"``.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from typing import Any

import numpy as np

from aam_vision.agents.encoding import vocabulary_json
from aam_vision.agents.protocol import shown_json
from aam_vision.envs.board_env import BoardEnv
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import Vocabulary
from aam_vision.support.pictures import encode

JSON = dict[str, Any]


class ShownEnvironment:
    """The answers. Situations have numbers for names, if the access allows any."""

    def __init__(
        self, name: str, access: str = "snapshot", problems: int | None = None, *, controls: bool = False
    ) -> None:
        self._domain = board_domain(name)
        self._access = access
        self._controls = controls
        asked = self._domain.interrogated[:problems]
        self._problems = [self._domain.simulator(problem, controls=controls) for problem in asked]
        self._named: list[object] = []

    def answer(self, question: JSON) -> JSON:
        """The answer to any question."""
        if question["ask"] == "hello":
            return self._hello()
        simulator = self._problems[question["problem"]]
        if question["from"] == "start":
            simulator.start()
        elif question["from"] != "here":
            simulator.restore(self._named[int(question["from"]["snapshot"])])
        if question["ask"] == "walk":
            return self._walk(simulator, question["steps"], question["seed"])
        executed, plan = 0, question["plan"]
        while executed < len(plan) and simulator.instruct(plan[executed][0], tuple(plan[executed][1:])):
            executed += 1
        return {"executed": executed, **self._seen(simulator)}

    def _hello(self) -> JSON:
        domain, visual = self._domain, self._domain.visual
        given = Vocabulary(domain.name, tuple(one.predicate for one in visual.given), visual.types)
        sizes = [simulator.frame().shape[:2] for simulator in self._problems]
        return {
            "protocol": 1,
            "access": self._access,
            "walks": True,
            "images": True,
            "controls": self._controls,
            **vocabulary_json(given, domain.control_headers if self._controls else domain.headers),
            "problems": [
                shown_json(one.scene, size) for one, size in zip(self._problems, sizes, strict=True)
            ],
        }

    def _walk(self, simulator: BoardEnv, steps: int, seed: int) -> JSON:
        """Do what can be done, step by step."""
        rng, walked = np.random.default_rng(seed), []
        for _ in range(steps):
            chosen = simulator.choose(rng)
            if chosen is None or not simulator.instruct(*chosen):
                break
            name, objects = chosen
            walked.append({"action": [name, *objects], **self._seen(simulator)})
        return {"steps": walked}

    def _seen(self, simulator: BoardEnv) -> JSON:
        image = b64encode(encode(simulator.frame())).decode()
        if self._access != "snapshot":
            return {"image": image}
        self._named.append(simulator.snapshot())
        return {"image": image, "snapshot": str(len(self._named) - 1)}


def main() -> None:
    """Answer line by line until there are no more."""
    words = [word for word in sys.argv[1:] if word != "--controls"]
    name, access, problems = [*words, *["doors", "snapshot", "1000"][len(words) :]]
    shown = ShownEnvironment(name, access, int(problems), controls="--controls" in sys.argv)
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps({"id": question["id"], **shown.answer(question)}), flush=True)


if __name__ == "__main__":
    main()
